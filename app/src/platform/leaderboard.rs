//! The leaderboard's API, as `results::api` describes it.

use std::fmt;

use gloo_net::http::{Method, RequestBuilder, Response};
use results::Suite;
use results::api::{
    AcceptedComparison, AcceptedRun, Comparing, ComparingQuery, DataSetList, DeviceHistory, DeviceSummary,
    Distribution, DistributionQuery, ErrorBody, IDEMPOTENCY_KEY, ListRuns, ModerationLog, ModerationQuery, RunList,
    RunStanding, Standings, StandingsQuery, StartRun, StartedRun, StoredComparison, StoredRun, Verdict,
};
use serde::de::DeserializeOwned;
use web_sys::AbortSignal;

use super::meta;
use crate::bundle::BurnState;
use crate::documents::{self, Document};
use crate::frameworks::FrameworksState;
use crate::{queries, t, words};

/// A server that has not answered by then will not.
const PATIENCE_MILLISECONDS: u32 = 15_000;

/// Why the leaderboard did not do what was asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// No answer.
    Unreachable(String),
    /// An answer that says why not.
    Refused(ErrorBody),
    /// An answer that is not the leaderboard's.
    Unexpected { status: u16 },
}

impl Refusal {
    /// Whether this is what was refused, by the code of the answer.
    pub(crate) fn is(&self, code: &str) -> bool {
        matches!(self, Self::Refused(body) if body.code == code)
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreachable(reason) => f.write_str(&t!(refusal_unreachable, reason = reason)),
            Self::Refused(body) => f.write_str(&words::refusal::refusal(body)),
            Self::Unexpected { status } => f.write_str(&t!(refusal_unexpected, status = status.to_string())),
        }
    }
}

pub(crate) async fn register(suite: Suite) -> Result<StartedRun, Refusal> {
    let start = StartRun { suite, engine_version: env!("CARGO_PKG_VERSION").to_owned() };
    let body = serde_json::to_string(&start).expect("every request can be written as JSON");
    answer(&send(Method::POST, "/api/v1/runs", Some(&body), None).await?).await
}

/// Sends a record, as the very text that was shown. One that the leaderboard gave no id is imported as unverified; tried
/// again with the same key, it is answered as if it had been sent once.
pub(crate) async fn upload(run_id: Option<&str>, record: &str, idempotency_key: &str) -> Result<AcceptedRun, Refusal> {
    let response = match run_id {
        Some(id) => send(Method::PUT, &format!("/api/v1/runs/{id}"), Some(record), None).await?,
        None => {
            send(Method::POST, "/api/v1/runs/import", Some(record), Some((IDEMPOTENCY_KEY, idempotency_key))).await?
        }
    };
    answer(&response).await
}

pub(crate) async fn list(query: &ListRuns) -> Result<RunList, Refusal> {
    get(&queries::runs(query)).await
}

/// The places of devices: all tables of a suite.
pub(crate) async fn standings(query: &StandingsQuery) -> Result<Standings, Refusal> {
    get(&queries::standings(query)).await
}

/// How the rates of a network lie.
pub(crate) async fn distribution(query: &DistributionQuery) -> Result<Distribution, Refusal> {
    get(&queries::distribution(query)).await
}

/// Stored runs, or devices, beside each other.
pub(crate) async fn comparing(query: &ComparingQuery) -> Result<Comparing, Refusal> {
    get(&queries::comparing(query)).await
}

/// What is known of a device, whose key is written as in an address.
pub(crate) async fn device(key: &str) -> Result<DeviceSummary, Refusal> {
    get(&format!("/api/v1/devices/{key}")).await
}

/// What moderators did, the newest first.
pub(crate) async fn moderation(query: &ModerationQuery) -> Result<ModerationLog, Refusal> {
    get(&queries::moderation(query)).await
}

/// How the figures of a device changed, in the category in which it has most runs.
pub(crate) async fn history(key: &str) -> Result<DeviceHistory, Refusal> {
    get(&format!("/api/v1/devices/{key}/history")).await
}

pub(crate) async fn stored(run_id: &str) -> Result<StoredRun, Refusal> {
    get(&format!("/api/v1/runs/{run_id}")).await
}

/// Where a run stands among others.
pub(crate) async fn standing(run_id: &str) -> Result<RunStanding, Refusal> {
    get(&format!("/api/v1/runs/{run_id}/standing")).await
}

/// What has become of a run that is being verified.
pub(crate) async fn verdict(run_id: &str) -> Result<Verdict, Refusal> {
    get(&format!("/api/v1/runs/{run_id}/verdict")).await
}

pub(crate) async fn delete(run_id: &str, secret: &str) -> Result<(), Refusal> {
    let bearer = format!("Bearer {secret}");
    send(Method::DELETE, &format!("/api/v1/runs/{run_id}"), None, Some(("authorization", &bearer))).await.map(drop)
}

/// Hands in a comparison, as this text; tried again with the same key, it is answered as if it had been sent once.
pub(crate) async fn share_comparison(comparison: &str, idempotency_key: &str) -> Result<AcceptedComparison, Refusal> {
    let key = Some((IDEMPOTENCY_KEY, idempotency_key));
    answer(&send(Method::POST, "/api/v1/comparisons", Some(comparison), key).await?).await
}

pub(crate) async fn comparison(id: &str) -> Result<StoredComparison, Refusal> {
    get(&format!("/api/v1/comparisons/{id}")).await
}

pub(crate) async fn delete_comparison(id: &str, secret: &str) -> Result<(), Refusal> {
    let bearer = format!("Bearer {secret}");
    send(Method::DELETE, &format!("/api/v1/comparisons/{id}"), None, Some(("authorization", &bearer))).await.map(drop)
}

/// Which data sets the server has.
pub(crate) async fn data_sets() -> Result<DataSetList, Refusal> {
    get("/api/v1/data-sets").await
}

/// Whether the server has the worker with Burn.
///
/// # Errors
/// The server does not answer, so that nothing is known. Any answer says something.
pub(crate) async fn burn() -> Result<BurnState, Refusal> {
    match send(Method::GET, BurnState::FILE, None, None).await {
        Ok(response) => Ok(BurnState::parse(&text(&response).await?)),
        Err(Refusal::Unexpected { status: 404 }) => Ok(BurnState::missing(t!(backend_without_burn))),
        Err(refusal @ Refusal::Unreachable(_)) => Err(refusal),
        Err(refusal) => Ok(BurnState::missing(refusal.to_string())),
    }
}

/// What the server has of other frameworks. It does not change while the server runs.
pub(crate) async fn frameworks() -> FrameworksState {
    let told = match send(Method::GET, FrameworksState::FILE, None, None).await {
        Ok(response) => text(&response).await,
        Err(refusal) => Err(refusal),
    };
    match told {
        Ok(told) => FrameworksState::parse(&told),
        Err(Refusal::Unexpected { status: 404 }) => FrameworksState::missing(t!(backend_without_frameworks)),
        Err(refusal) => FrameworksState::missing(refusal.to_string()),
    }
}

/// The HTML of a document.
pub(crate) async fn document(document: &Document) -> Result<String, Refusal> {
    let address = document.fragment(meta(documents::META).as_deref()).map_err(Refusal::Unreachable)?;
    text(&send(Method::GET, &address, None, None).await?).await
}

async fn get<T: DeserializeOwned>(address: &str) -> Result<T, Refusal> {
    answer(&send(Method::GET, address, None, None).await?).await
}

/// Sends a request, perhaps with a header of its own, and gives the answer, if it is a success.
async fn send(
    method: Method,
    address: &str,
    body: Option<&str>,
    header: Option<(&str, &str)>,
) -> Result<Response, Refusal> {
    let mut builder = RequestBuilder::new(address).method(method);
    builder = builder.abort_signal(Some(&AbortSignal::timeout_with_u32(PATIENCE_MILLISECONDS)));
    if let Some((name, value)) = header {
        builder = builder.header(name, value);
    }
    let request = match body {
        Some(body) => builder.header("content-type", "application/json").body(body),
        None => builder.build(),
    };
    let response = request.map_err(unreachable)?.send().await.map_err(unreachable)?;
    if response.ok() {
        return Ok(response);
    }
    let status = response.status();
    Err(match response.text().await.map(|text| serde_json::from_str(&text)) {
        Ok(Ok(body)) => Refusal::Refused(body),
        _ => Refusal::Unexpected { status },
    })
}

async fn answer<T: DeserializeOwned>(response: &Response) -> Result<T, Refusal> {
    let text = text(response).await?;
    serde_json::from_str(&text).map_err(|_| Refusal::Unexpected { status: response.status() })
}

async fn text(response: &Response) -> Result<String, Refusal> {
    response.text().await.map_err(unreachable)
}

fn unreachable(error: gloo_net::Error) -> Refusal {
    Refusal::Unreachable(match error {
        gloo_net::Error::JsError(error) => error.message,
        other => other.to_string(),
    })
}
