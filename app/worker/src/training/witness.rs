use async_trait::async_trait;
use engine::Witness;
use gloo_timers::future::TimeoutFuture;
use results::Checkpoint;
use results::api::{CheckpointAnswer, ErrorBody, TellCheckpoint};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;
use web_sys::{AbortSignal, Headers, Request, RequestInit, Response};

use super::port;
use crate::messages::Registration;

/// A server that has not answered a question by then will not …
const PATIENCE_MILLISECONDS: u32 = 15_000;
/// … and weights are a few megabytes.
const PATIENCE_FOR_WEIGHTS_MILLISECONDS: u32 = 120_000;
/// Something lost on the way is sent again after so long, once.
const PAUSE_MILLISECONDS: u32 = 1000;

/// The leaderboard that serves this page, which is told how far the training has come.
pub(super) struct PageWitness {
    pub(super) registration: Registration,
}

#[async_trait(?Send)]
impl Witness for PageWitness {
    async fn tell(&mut self, workload: &str, number: u32, checkpoint: &Checkpoint, last: bool) -> Result<bool, String> {
        let told = TellCheckpoint::of(&self.registration.nonce, workload, number, checkpoint, last);
        let body = serde_json::to_string(&told).expect("every message can be written as JSON");
        let message = Message {
            method: "POST",
            address: format!("/api/v1/runs/{}/checkpoints", self.registration.run_id),
            kind: "application/json",
            body: JsValue::from_str(&body),
            patience_milliseconds: PATIENCE_MILLISECONDS,
        };
        let answer = self.send(&message).await?;
        let answer: CheckpointAnswer =
            serde_json::from_str(&answer).map_err(|_| "the server answered with something else".to_owned())?;
        Ok(answer.weights_wanted)
    }

    async fn show(&mut self, workload: &str, number: u32, weights: Vec<u8>) -> Result<(), String> {
        let message = Message {
            method: "PUT",
            address: format!("/api/v1/runs/{}/weights/{workload}/{number}", self.registration.run_id),
            kind: "application/octet-stream",
            body: js_sys::Uint8Array::from(weights.as_slice()).into(),
            patience_milliseconds: PATIENCE_FOR_WEIGHTS_MILLISECONDS,
        };
        self.send(&message).await.map(drop)
    }
}

struct Message {
    method: &'static str,
    address: String,
    kind: &'static str,
    body: JsValue,
    patience_milliseconds: u32,
}

/// Why there is no good answer.
enum Failure {
    /// Perhaps only lost on the way.
    Lost(String),
    Refused(String),
}

impl PageWitness {
    /// The text of the answer. What was lost on the way is sent once more: the leaderboard takes the same thing twice.
    async fn send(&self, message: &Message) -> Result<String, String> {
        match self.try_send(message).await {
            Ok(text) => Ok(text),
            Err(Failure::Refused(reason)) => Err(reason),
            Err(Failure::Lost(_)) => {
                TimeoutFuture::new(PAUSE_MILLISECONDS).await;
                self.try_send(message).await.map_err(|failure| match failure {
                    Failure::Lost(reason) | Failure::Refused(reason) => reason,
                })
            }
        }
    }

    async fn try_send(&self, message: &Message) -> Result<String, Failure> {
        let lost = |error: JsValue| Failure::Lost(port::describe(&error));
        let headers = Headers::new().map_err(lost)?;
        headers.set("content-type", message.kind).map_err(lost)?;
        headers.set("authorization", &format!("Bearer {}", self.registration.nonce)).map_err(lost)?;
        let options = RequestInit::new();
        options.set_method(message.method);
        options.set_headers(&headers);
        options.set_body(&message.body);
        options.set_signal(Some(&AbortSignal::timeout_with_u32(message.patience_milliseconds)));
        let request = Request::new_with_str_and_init(&message.address, &options).map_err(lost)?;
        let response: Response =
            JsFuture::from(port::scope().fetch_with_request(&request)).await.map_err(lost)?.unchecked_into();
        let text = JsFuture::from(response.text().map_err(lost)?).await.map_err(lost)?.as_string().unwrap_or_default();
        if response.ok() {
            return Ok(text);
        }
        let refusal: Result<ErrorBody, _> = serde_json::from_str(&text);
        let reason = refusal.map_or_else(|_| format!("status {}", response.status()), |body| body.message);
        let reason = reason.trim_end_matches('.').to_owned();
        Err(if response.status() >= 500 { Failure::Lost(reason) } else { Failure::Refused(reason) })
    }
}
