use axum::extract::FromRequestParts;
use axum::http::StatusCode;
use axum::http::request::Parts;
use results::api::{IDEMPOTENCY_KEY, IDEMPOTENCY_KEY_LENGTHS};

use crate::error::ApiError;

/// The word of the header `Idempotency-Key`, if there is one: who sends it again with the same record asks once more, and not
/// for another run. Method: draft-ietf-httpapi-idempotency-key-header.
pub(crate) struct IdempotencyKey(pub(crate) Option<String>);

impl<S: Send + Sync> FromRequestParts<S> for IdempotencyKey {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, ApiError> {
        let Some(value) = parts.headers.get(IDEMPOTENCY_KEY) else { return Ok(Self(None)) };
        match value.to_str() {
            Ok(key) if IDEMPOTENCY_KEY_LENGTHS.contains(&key.len()) => Ok(Self(Some(key.to_owned()))),
            _ => Err(ApiError::new(
                StatusCode::BAD_REQUEST,
                "bad_idempotency_key",
                format!(
                    "An idempotency key is a word that cannot be guessed, of {} to {} visible ASCII characters.",
                    IDEMPOTENCY_KEY_LENGTHS.start(),
                    IDEMPOTENCY_KEY_LENGTHS.end()
                ),
            )),
        }
    }
}
