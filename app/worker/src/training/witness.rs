use async_trait::async_trait;
use engine::{Clock, PendingAnswer, Witness};
use futures_channel::oneshot;
use gloo_timers::future::TimeoutFuture;
use results::api::{
    CommitSegment, CommittedSegment, ErrorBody, OpenLap, OpenedLap, ProofWanted, ProvePart, StartedRun,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::{JsFuture, spawn_local};
use web_sys::{AbortSignal, Headers, Request, RequestInit, Response};

use super::scope::{WorkerClock, scope};
use crate::adapter::describe;

/// Delays before retries of a lost message. The last one repeats.
const PAUSES_MILLISECONDS: [u32; 4] = [250, 1000, 4000, 12_000];
/// Maximum wait for a response in the proof after training, excluding the transfer time of its bytes …
const PROOF_TIMEOUT_MILLISECONDS: u32 = 60_000;
/// … on the slowest supported link: 30,000 bytes per second.
const MIN_BYTES_PER_MILLISECOND: usize = 30;
/// Time limit for retries of a message of the proof, added to the time limit of the first attempt.
const PROOF_PATIENCE_SECONDS: f64 = 600.0;

/// Connection to the leaderboard that serves this page and follows the run.
pub(super) struct PageWitness {
    pub(super) registration: StartedRun,
    /// Completes when the server has responded to the latest commitment, so that commitments arrive in order.
    pub(super) answered: Option<oneshot::Receiver<()>>,
}

impl PageWitness {
    /// Returns the message of a call with this method and content type. `proof_bytes` is its size in the proof after
    /// training: nothing is timed then, and an attempt may take minutes on a slow link. Other limits are short, so that
    /// a dead connection is detected early.
    fn message(
        &self,
        call: &str,
        [method, kind]: [&'static str; 2],
        body: JsValue,
        proof_bytes: Option<usize>,
    ) -> WitnessMessage {
        let (timeout_milliseconds, patience_seconds) = proof_bytes.map_or((10_000, 25.0), |bytes| {
            let sending = u32::try_from(bytes / MIN_BYTES_PER_MILLISECOND).unwrap_or(u32::MAX);
            let timeout = PROOF_TIMEOUT_MILLISECONDS.saturating_add(sending);
            (timeout, PROOF_PATIENCE_SECONDS + f64::from(timeout) / 1e3)
        });
        let StartedRun { run_id, nonce, .. } = self.registration.clone();
        let address = format!("/api/v1/runs/{run_id}/{call}");
        WitnessMessage { method, address, kind, nonce, body, timeout_milliseconds, patience_seconds }
    }

    /// Returns the message of a call with a JSON body.
    fn post(&self, call: &str, body: &impl Serialize, is_proof: bool) -> WitnessMessage {
        let json = serde_json::to_string(body).expect("every message can be written as JSON");
        let proof_bytes = is_proof.then_some(json.len());
        self.message(call, ["POST", "application/json"], JsValue::from_str(&json), proof_bytes)
    }
}

#[async_trait(?Send)]
impl Witness for PageWitness {
    async fn open_lap(&mut self, lap: OpenLap) -> Result<OpenedLap, String> {
        let nonce = self.registration.nonce.clone();
        self.post("laps", &OpenLap { nonce, ..lap }, false).answer().await
    }

    fn commit(&mut self, commitment: CommitSegment) -> PendingAnswer {
        let nonce = self.registration.nonce.clone();
        let message = self.post("segments", &CommitSegment { nonce, ..commitment }, false);
        let (done, answered) = oneshot::channel::<()>();
        let before = self.answered.replace(answered);
        let (sender, answer) = oneshot::channel();
        spawn_local(async move {
            if let Some(before) = before {
                // The sender is only dropped, never used.
                let _ = before.await;
            }
            let committed: Result<CommittedSegment, _> = message.answer().await;
            drop(done);
            // A cancelled run does not wait for the response.
            let _ = sender.send(committed);
        });
        Box::pin(async { answer.await.unwrap_or_else(|_| Err("the worker dropped the request".to_owned())) })
    }

    async fn prove(&mut self, part: ProvePart) -> Result<ProofWanted, String> {
        let nonce = self.registration.nonce.clone();
        self.post("proof", &ProvePart { nonce, ..part }, true).answer().await
    }

    async fn show(&mut self, workload: &str, step: u64, state: Vec<u8>) -> Result<(), String> {
        let call = format!("states/{workload}/{step}");
        let body = js_sys::Uint8Array::from(state.as_slice()).into();
        self.message(&call, ["PUT", "application/octet-stream"], body, Some(state.len())).send().await.map(drop)
    }
}

struct WitnessMessage {
    method: &'static str,
    address: String,
    kind: &'static str,
    nonce: String,
    body: JsValue,
    timeout_milliseconds: u32,
    /// Time limit for retries, since the first attempt.
    patience_seconds: f64,
}

impl WitnessMessage {
    async fn answer<T: DeserializeOwned>(&self) -> Result<T, String> {
        let answer = self.send().await?;
        serde_json::from_str(&answer).map_err(|_| "the server answered with something else".to_owned())
    }

    /// Sends a message and returns the response text. Lost messages are retried, because messages are idempotent.
    async fn send(&self) -> Result<String, String> {
        let clock = WorkerClock::new();
        let start = clock.now_seconds();
        let mut pauses = PAUSES_MILLISECONDS.into_iter();
        loop {
            let pause = pauses.next().unwrap_or(PAUSES_MILLISECONDS[PAUSES_MILLISECONDS.len() - 1]);
            match self.try_send().await {
                Err((_, true)) if clock.now_seconds() - start + f64::from(pause) / 1e3 < self.patience_seconds => {
                    TimeoutFuture::new(pause).await;
                }
                sent => return sent.map_err(|(reason, _)| reason),
            }
        }
    }

    /// Sends a message once. An error comes with true if the message or the response may have been lost.
    async fn try_send(&self) -> Result<String, (String, bool)> {
        let lost = |error: JsValue| (describe(&error), true);
        let headers = Headers::new().map_err(lost)?;
        headers.set("content-type", self.kind).map_err(lost)?;
        headers.set("authorization", &format!("Bearer {}", self.nonce)).map_err(lost)?;
        let options = RequestInit::new();
        options.set_method(self.method);
        options.set_headers(&headers);
        options.set_body(&self.body);
        options.set_signal(Some(&AbortSignal::timeout_with_u32(self.timeout_milliseconds)));
        let request = Request::new_with_str_and_init(&self.address, &options).map_err(lost)?;
        let response: Response =
            JsFuture::from(scope().fetch_with_request(&request)).await.map_err(lost)?.unchecked_into();
        let text = JsFuture::from(response.text().map_err(lost)?).await.map_err(lost)?.as_string().unwrap_or_default();
        if response.ok() {
            return Ok(text);
        }
        let refusal: Result<ErrorBody, _> = serde_json::from_str(&text);
        let reason = refusal.map_or_else(|_| format!("status {}", response.status()), |body| body.message);
        let may_pass = response.status() >= 500 || response.status() == 408;
        Err((reason.trim_end_matches('.').to_owned(), may_pass))
    }
}
