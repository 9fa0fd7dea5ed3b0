//! Requests to the leaderboard's API, which `results::api` describes.

use std::fmt;

use gloo_net::http::{Method, RequestBuilder, Response};
use results::Suite;
use results::api::{AcceptedComparison, AcceptedRun, ErrorBody, IDEMPOTENCY_KEY, StartRun, StartedRun};
use serde::de::DeserializeOwned;
use web_sys::AbortSignal;

use super::{folder, is_offline};
use crate::documents::DocumentPage;
use crate::supplies::BundleState;
use crate::{json, t, words};

const TIMEOUT_MILLISECONDS: u32 = 15_000;

type Fetched<T> = Result<T, RequestError>;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RequestError {
    Offline,
    Unreachable,
    /// The page was not put together completely; a part of a sentence.
    Incomplete(String),
    Refused(ErrorBody),
    /// Response from something other than the leaderboard.
    Unexpected {
        status: u16,
    },
}

impl fmt::Display for RequestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Offline => f.write_str(t!(refusal_offline)),
            Self::Unreachable => f.write_str(t!(refusal_unreachable)),
            Self::Incomplete(reason) => f.write_str(reason),
            Self::Refused(body) => f.write_str(&words::leaderboard::refusal(body)),
            Self::Unexpected { status } => f.write_str(&t!(refusal_unexpected, status = status.to_string())),
        }
    }
}

pub(crate) async fn register(suite: Suite) -> Fetched<StartedRun> {
    let start = StartRun { suite, engine_version: env!("CARGO_PKG_VERSION").to_owned(), network: None };
    let body = json::compact(&start);
    answer(&send(Method::POST, "/api/v1/runs", Some(&body), None).await?).await
}

/// Uploads a record; one without an id is imported as unverified. Uploads with the same key are idempotent.
pub(crate) async fn upload(run_id: Option<&str>, record: &str, key: &str) -> Fetched<AcceptedRun> {
    let key = Some((IDEMPOTENCY_KEY, key));
    let response = match run_id {
        Some(id) => send(Method::PUT, &format!("/api/v1/runs/{id}"), Some(record), None).await?,
        None => send(Method::POST, "/api/v1/runs/import", Some(record), key).await?,
    };
    answer(&response).await
}

/// Uploads a comparison as JSON text. Uploads with the same key are idempotent.
pub(crate) async fn share_comparison(comparison: &str, key: &str) -> Fetched<AcceptedComparison> {
    let key = Some((IDEMPOTENCY_KEY, key));
    answer(&send(Method::POST, "/api/v1/comparisons", Some(comparison), key).await?).await
}

pub(crate) async fn delete(address: &str, secret: &str) -> Fetched<()> {
    let bearer = format!("Bearer {secret}");
    send(Method::DELETE, address, None, Some(("authorization", &bearer))).await.map(drop)
}

/// Fetches the file with the availability of bundles; `absent` is the note if the file does not exist.
pub(crate) async fn availability(file: &str, absent: &str) -> Fetched<BundleState> {
    match send(Method::GET, &format!("/{file}"), None, None).await {
        Ok(response) => Ok(BundleState::parse(file, &text(&response).await?)),
        Err(RequestError::Unexpected { status: 404 }) => Ok(BundleState::Missing { note: absent.to_owned() }),
        Err(refusal @ (RequestError::Offline | RequestError::Unreachable)) => Err(refusal),
        Err(refusal) => Ok(BundleState::Missing { note: refusal.to_string() }),
    }
}

pub(crate) async fn html_of(document: &DocumentPage) -> Fetched<String> {
    let folder = folder("gradmark-documents", "contents.json").map_err(RequestError::Incomplete)?;
    text(&send(Method::GET, &format!("{folder}{}.html", document.name), None, None).await?).await
}

pub(crate) async fn get<T: DeserializeOwned>(address: &str) -> Fetched<T> {
    answer(&send(Method::GET, address, None, None).await?).await
}

async fn send(method: Method, address: &str, body: Option<&str>, header: Option<(&str, &str)>) -> Fetched<Response> {
    let timeout = AbortSignal::timeout_with_u32(TIMEOUT_MILLISECONDS);
    let mut builder = RequestBuilder::new(address).method(method).abort_signal(Some(&timeout));
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
    Err(match response.text().await.map(|text| json::parse(&text)) {
        Ok(Ok(body)) => RequestError::Refused(body),
        _ => RequestError::Unexpected { status },
    })
}

async fn answer<T: DeserializeOwned>(response: &Response) -> Fetched<T> {
    let text = text(response).await?;
    json::parse(&text).map_err(|_| RequestError::Unexpected { status: response.status() })
}

async fn text(response: &Response) -> Fetched<String> {
    response.text().await.map_err(unreachable)
}

/// Browsers word a failed request as "Failed to fetch", whatever the cause.
fn unreachable(_: gloo_net::Error) -> RequestError {
    if is_offline() { RequestError::Offline } else { RequestError::Unreachable }
}
