//! The leaderboard's API, as `results::api` describes it.

use std::fmt;

use results::api::{
    AcceptedRun, DataSetList, ErrorBody, ListRuns, RankedClass, RunList, Standings, StandingsQuery, StartRun,
    StartedRun, StoredRun, Verdict,
};
use results::{ClientKind, Precision, Suite};
use serde::de::DeserializeOwned;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;
use web_sys::{AbortSignal, Headers, Request, RequestInit, Response};

use super::{describe, window};
use crate::bundle::BurnState;

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

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreachable(reason) => write!(f, "the leaderboard cannot be reached: {reason}"),
            Self::Refused(body) => match &body.field {
                Some(field) => write!(f, "{} ({}, at {field})", body.message, body.code),
                None => write!(f, "{} ({})", body.message, body.code),
            },
            Self::Unexpected { status } => {
                write!(f, "the server answered with something that is not the leaderboard's (status {status})")
            }
        }
    }
}

pub(crate) async fn register(suite: Suite) -> Result<StartedRun, Refusal> {
    let start = StartRun { suite, engine_version: env!("CARGO_PKG_VERSION").to_owned() };
    let body = serde_json::to_string(&start).expect("every request can be written as JSON");
    answer(&send("POST", "/api/v1/runs", Some(&body), None).await?).await
}

/// Sends a record, as the very text that was shown. One that the leaderboard gave no id is imported as unverified.
pub(crate) async fn upload(run_id: Option<&str>, record: &str) -> Result<AcceptedRun, Refusal> {
    let response = match run_id {
        Some(id) => send("PUT", &format!("/api/v1/runs/{id}"), Some(record), None).await?,
        None => send("POST", "/api/v1/runs/import", Some(record), None).await?,
    };
    answer(&response).await
}

pub(crate) async fn list(query: &ListRuns) -> Result<RunList, Refusal> {
    let mut address = format!("/api/v1/runs?ranked={}", query.ranked);
    let encode = |text: &str| String::from(js_sys::encode_uri_component(text));
    if let Some(workload) = &query.workload {
        address.push_str(&format!("&workload={}", encode(workload)));
    }
    if let Some(limit) = query.limit {
        address.push_str(&format!("&limit={limit}"));
    }
    answer(&send("GET", &address, None, None).await?).await
}

/// The places of devices: all tables of a suite.
pub(crate) async fn standings(query: &StandingsQuery) -> Result<Standings, Refusal> {
    let encode = |text: &str| String::from(js_sys::encode_uri_component(text));
    let mut address = format!("/api/v1/standings?suite={}", encode(&query.suite));
    let rest = [
        ("precision", query.precision.map(Precision::name)),
        ("backend", query.backend.as_deref()),
        ("client", query.client.map(ClientKind::name)),
        ("class", query.class.map(RankedClass::name)),
    ];
    for (name, value) in rest.into_iter().filter_map(|(name, value)| Some((name, value?))) {
        address.push_str(&format!("&{name}={}", encode(value)));
    }
    answer(&send("GET", &address, None, None).await?).await
}

pub(crate) async fn stored(run_id: &str) -> Result<StoredRun, Refusal> {
    answer(&send("GET", &format!("/api/v1/runs/{run_id}"), None, None).await?).await
}

/// What has become of a run that is being verified.
pub(crate) async fn verdict(run_id: &str) -> Result<Verdict, Refusal> {
    answer(&send("GET", &format!("/api/v1/runs/{run_id}/verdict"), None, None).await?).await
}

pub(crate) async fn delete(run_id: &str, secret: &str) -> Result<(), Refusal> {
    send("DELETE", &format!("/api/v1/runs/{run_id}"), None, Some(secret)).await.map(drop)
}

/// Which data sets the server has.
pub(crate) async fn data_sets() -> Result<DataSetList, Refusal> {
    answer(&send("GET", "/api/v1/data-sets", None, None).await?).await
}

/// Whether the server has the worker with Burn.
///
/// # Errors
/// The server does not answer, so that nothing is known. Any answer says something.
pub(crate) async fn burn() -> Result<BurnState, Refusal> {
    match send("GET", BurnState::FILE, None, None).await {
        Ok(response) => Ok(BurnState::parse(&text(&response).await?)),
        Err(Refusal::Unexpected { status: 404 }) => {
            Ok(BurnState::missing("its page was put together without a word on Burn"))
        }
        Err(refusal @ Refusal::Unreachable(_)) => Err(refusal),
        Err(refusal) => Ok(BurnState::missing(refusal.to_string())),
    }
}

/// Sends a request and gives the answer, if it is a success.
async fn send(method: &str, address: &str, body: Option<&str>, secret: Option<&str>) -> Result<Response, Refusal> {
    let unreachable = |error: JsValue| Refusal::Unreachable(describe(&error));
    let headers = Headers::new().map_err(unreachable)?;
    if body.is_some() {
        headers.set("content-type", "application/json").map_err(unreachable)?;
    }
    if let Some(secret) = secret {
        headers.set("authorization", &format!("Bearer {secret}")).map_err(unreachable)?;
    }
    let options = RequestInit::new();
    options.set_method(method);
    options.set_headers(&headers);
    options.set_signal(Some(&AbortSignal::timeout_with_u32(PATIENCE_MILLISECONDS)));
    if let Some(body) = body {
        options.set_body(&JsValue::from_str(body));
    }
    let request = Request::new_with_str_and_init(address, &options).map_err(unreachable)?;
    let response: Response =
        JsFuture::from(window().fetch_with_request(&request)).await.map_err(unreachable)?.unchecked_into();
    if response.ok() {
        return Ok(response);
    }
    let status = response.status();
    Err(match text(&response).await.map(|text| serde_json::from_str(&text)) {
        Ok(Ok(body)) => Refusal::Refused(body),
        _ => Refusal::Unexpected { status },
    })
}

async fn answer<T: DeserializeOwned>(response: &Response) -> Result<T, Refusal> {
    let text = text(response).await?;
    serde_json::from_str(&text).map_err(|_| Refusal::Unexpected { status: response.status() })
}

async fn text(response: &Response) -> Result<String, Refusal> {
    let broken = |error: JsValue| Refusal::Unreachable(describe(&error));
    let text = JsFuture::from(response.text().map_err(broken)?).await.map_err(broken)?;
    Ok(text.as_string().unwrap_or_default())
}
