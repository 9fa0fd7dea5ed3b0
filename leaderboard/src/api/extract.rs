use std::error::Error;
use std::net::IpAddr;
use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{FromRequest, FromRequestParts, Path, Query, Request};
use axum::http::request::Parts;
use axum::http::{StatusCode, Uri, header};
use results::api::{IDEMPOTENCY_KEY, IDEMPOTENCY_KEY_LENGTHS};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::error::Category;

use super::Leaderboard;
use crate::client_address::{Peer, counted_address, prefix_of};
use crate::error::{ApiError, Result};
use crate::limits::day_of;
use crate::proof::Started;
use crate::receiving::Intake;
use crate::secrets::is_run_id;
use crate::storage::Submitter;
use crate::validation::{self, Refusal};

const MAX_RECORD_BYTES: usize = 4 << 20;
/// Largest body whose fields are all short strings and numbers.
pub(crate) const MAX_FIELDS_BYTES: usize = 16 << 10;
/// Largest body of an announcement, which may contain a network.
pub(crate) const MAX_NETWORK_BYTES: usize = 64 << 10;
/// Largest body of a `proof` request: hashes, and the losses of a segment.
pub(crate) const MAX_LOSSES_BYTES: usize = 1 << 20;
/// Largest body of a state.
#[expect(clippy::cast_possible_truncation, reason = "some megabytes")]
const MAX_STATE_BYTES: usize = engine::MAX_STATE_BYTES as usize;
/// Maximum length of an invalid value in a message.
const QUOTED_CHARACTERS: usize = 300;

/// A body with the declared type JSON, received after all other arguments of its handler were checked.
pub(crate) struct JsonBytes<const LIMIT: usize = MAX_RECORD_BYTES>(Bytes);

impl<const LIMIT: usize, S: Send + Sync> FromRequest<S> for JsonBytes<LIMIT> {
    type Rejection = ApiError;

    async fn from_request(request: Request, _state: &S) -> Result<Self> {
        Ok(Self(read_declared(request, "application/json", "JSON", LIMIT).await?))
    }
}

pub(super) async fn receive_state(request: Request) -> Result<Bytes> {
    read_declared(request, "application/octet-stream", "bytes", MAX_STATE_BYTES).await
}

/// Receives the whole body if its declared type is this media type, called `what` in messages.
async fn read_declared(request: Request, media_type: &str, what: &str, limit: usize) -> Result<Bytes> {
    let declared = request.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let essence = declared.unwrap_or_default().split(';').next().unwrap_or_default().trim();
    if !essence.eq_ignore_ascii_case(media_type) {
        let message = format!("The body must be {what}. Send it with the header `Content-Type: {media_type}`.");
        return Err(ApiError::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "wrong_content_type", message));
    }
    // The guard adds one to each request.
    let intake = request.extensions().get::<Arc<Intake>>().cloned().ok_or_else(ApiError::failed_inside)?;
    intake.receive(limit).await
}

impl<const LIMIT: usize> JsonBytes<LIMIT> {
    pub(crate) fn len(&self) -> u64 {
        self.0.len() as u64
    }

    pub(crate) fn parse<T: DeserializeOwned>(&self) -> Result<T> {
        // Most bodies are valid. Tracking the path of a possible error doubles the time.
        if let Ok(value) = serde_json::from_slice(&self.0) {
            return Ok(value);
        }
        let mut json = serde_json::Deserializer::from_slice(&self.0);
        let value = serde_path_to_error::deserialize(&mut json).map_err(|error| {
            let field = error.path().to_string();
            let refusal = refusal(error.inner());
            // A dot means the whole document and not a field.
            if field == "." { refusal } else { refusal.at(field) }
        })?;
        json.end().map_err(|error| refusal(&error))?;
        Ok(value)
    }
}

fn refusal(error: &serde_json::Error) -> ApiError {
    // Only the text of serde's error distinguishes these cases.
    let text = error.to_string();
    let code = match error.classify() {
        Category::Syntax if text.starts_with("number out of range") => "out_of_range",
        Category::Data if text.starts_with("unknown field") => "unknown_field",
        Category::Data if text.starts_with("missing field") => "missing_field",
        Category::Data => "wrong_type",
        Category::Io | Category::Syntax | Category::Eof => "malformed_json",
    };
    let shown: String = text.chars().take(QUOTED_CHARACTERS).collect();
    let place = format!("… at line {} column {}", error.line(), error.column());
    let rest = if shown == text { String::new() } else { place };
    ApiError::new(StatusCode::BAD_REQUEST, code, format!("The body cannot be read: {shown}{rest}."))
}

/// Reads a query and checks the values that all queries have in common.
pub(super) fn read_query<T: DeserializeOwned + Serialize>(uri: &Uri) -> Result<T> {
    let Query(query) = Query::try_from_uri(uri).map_err(|rejection| {
        let cause = rejection.source().map_or_else(|| rejection.body_text(), ToString::to_string);
        bad_query(format!("The query cannot be read: {cause}."))
    })?;
    validation::check_query(&query).map_err(bad_query_of)?;
    Ok(query)
}

pub(super) fn bad_query(message: impl Into<String>) -> ApiError {
    ApiError::new(StatusCode::BAD_REQUEST, "bad_query", message)
}

pub(super) fn bad_query_of(refusal: Refusal) -> ApiError {
    bad_query(refusal.message).at(refusal.field)
}

pub(crate) struct ReadQuery<T>(pub(crate) T);

impl<T: DeserializeOwned + Serialize, S: Send + Sync> FromRequestParts<S> for ReadQuery<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self> {
        read_query(&parts.uri).map(Self)
    }
}

/// The announced run of the path, looked up before the body is received.
pub(crate) struct Announced(pub(crate) Started);

impl FromRequestParts<Leaderboard> for Announced {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, leaderboard: &Leaderboard) -> Result<Self> {
        let RunId(id) = RunId::from_request_parts(parts, leaderboard).await?;
        leaderboard.storage.started(&id).await?.map(Self).ok_or_else(ApiError::unknown_run)
    }
}

/// The run id of the path. Invalid ids are refused without a query.
pub(crate) struct RunId(pub(crate) String);

impl<S: Send + Sync> FromRequestParts<S> for RunId {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self> {
        let path = Path::<String>::from_request_parts(parts, state).await;
        Self::parse(path.map_err(|_rejected| ApiError::unknown_run())?.0)
    }
}

impl RunId {
    pub(crate) fn parse(id: String) -> Result<Self> {
        if is_run_id(&id) { Ok(Self(id)) } else { Err(ApiError::unknown_run()) }
    }
}

/// The value of the header `Idempotency-Key`, if any. A request with the same key and record is a repetition and not a
/// new run. Method: draft-ietf-httpapi-idempotency-key-header.
pub(crate) struct IdempotencyKey(pub(crate) Option<String>);

impl<S: Send + Sync> FromRequestParts<S> for IdempotencyKey {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self> {
        let Some(value) = parts.headers.get(IDEMPOTENCY_KEY) else { return Ok(Self(None)) };
        let (least, most) = IDEMPOTENCY_KEY_LENGTHS.into_inner();
        let message =
            format!("An idempotency key must be an unguessable string of {least} to {most} visible ASCII characters.");
        let key = value.to_str().ok().filter(|key| (least..=most).contains(&key.len()));
        let key = key.ok_or_else(|| ApiError::new(StatusCode::BAD_REQUEST, "bad_idempotency_key", message))?;
        Ok(Self(Some(key.to_owned())))
    }
}

/// The client of a request. Its address is used only here, and there is no `Debug`, so that no log can contain it.
pub(crate) struct Requester(IpAddr);

impl FromRequestParts<Leaderboard> for Requester {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, leaderboard: &Leaderboard) -> Result<Self> {
        let Some(&Peer(peer)) = parts.extensions.get::<Peer>() else { return Err(ApiError::failed_inside()) };
        let counted = counted_address(peer, &parts.headers, leaderboard.protection.trusted_proxy_header);
        Ok(Self(counted.unwrap_or(peer)))
    }
}

impl Requester {
    /// Returns the pseudonyms of the submitter. This machine has no prefix.
    pub(crate) async fn submitter(&self, leaderboard: &Leaderboard, now: f64) -> Result<Submitter> {
        let day = day_of(now);
        let salt = leaderboard.storage.submitter_salt(day).await?;
        let prefix = self.counted().map(|address| salt.word(prefix_of(address)));
        Ok(Submitter { word: Some(salt.word(self.0)), day, prefix })
    }

    pub(crate) fn counted(&self) -> Option<IpAddr> {
        (!self.0.is_loopback()).then_some(self.0)
    }
}
