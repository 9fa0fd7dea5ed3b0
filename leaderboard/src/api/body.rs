use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{FromRequest, Request};
use axum::http::{HeaderMap, StatusCode, header};
use serde::de::DeserializeOwned;
use serde_json::error::Category;

use crate::error::ApiError;
use crate::receiving::Intake;

/// Largest record, or comparison.
const LIMIT_OF_RECORDS: usize = 4 << 20;
/// Largest body whose fields are all short strings and numbers.
pub(crate) const LIMIT_OF_WORDS: usize = 16 << 10;
/// Largest body of a `proof` request: hashes, and the losses of a segment.
pub(crate) const LIMIT_OF_LOSSES: usize = 1 << 20;
/// Largest body of a state. The largest network of a suite has states of 39 MB.
const LIMIT_OF_STATES: usize = 44 << 20;
/// What a wrong value may contribute to a message.
const QUOTED_CHARACTERS: usize = 300;

/// A body that is declared to be JSON. Like every body, it is received after all other arguments of its handler were checked.
pub(crate) struct JsonBytes<const LIMIT: usize = LIMIT_OF_RECORDS>(Bytes);

impl<const LIMIT: usize, S: Send + Sync> FromRequest<S> for JsonBytes<LIMIT> {
    type Rejection = ApiError;

    async fn from_request(request: Request, _state: &S) -> Result<Self, ApiError> {
        Ok(Self(declared(request, "application/json", "JSON", LIMIT).await?))
    }
}

/// A body of bytes that are no text.
pub(crate) struct BinaryBytes(pub(crate) Bytes);

impl<S: Send + Sync> FromRequest<S> for BinaryBytes {
    type Rejection = ApiError;

    async fn from_request(request: Request, _state: &S) -> Result<Self, ApiError> {
        Ok(Self(declared(request, "application/octet-stream", "bytes", LIMIT_OF_STATES).await?))
    }
}

/// The whole body, if it is declared to be of this media type, which people call `what`.
async fn declared(request: Request, media_type: &str, what: &str, limit: usize) -> Result<Bytes, ApiError> {
    if essence(request.headers()) != media_type {
        return Err(ApiError::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "wrong_content_type",
            format!("The body must be {what}. Send it with the header `Content-Type: {media_type}`."),
        ));
    }
    // The guard gives one to each request.
    let intake = request.extensions().get::<Arc<Intake>>().cloned().ok_or_else(ApiError::failed_inside)?;
    intake.receive(limit).await
}

impl<const LIMIT: usize> JsonBytes<LIMIT> {
    pub(crate) fn len(&self) -> u64 {
        self.0.len() as u64
    }

    /// Reads the body as `T`; a refusal names line, column and field.
    pub(crate) fn parse<T: DeserializeOwned>(&self) -> Result<T, ApiError> {
        let mut json = serde_json::Deserializer::from_slice(&self.0);
        let value = serde_path_to_error::deserialize(&mut json).map_err(|error| {
            let field = error.path().to_string();
            let refusal = refusal(error.inner());
            // A dot is the whole document, which is no field.
            if field == "." { refusal } else { refusal.at(field) }
        })?;
        json.end().map_err(|error| refusal(&error))?;
        Ok(value)
    }
}

/// The declared type of the content, in small letters and without parameters; empty where none is declared.
fn essence(headers: &HeaderMap) -> String {
    let declared = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    declared.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

fn refusal(error: &serde_json::Error) -> ApiError {
    // The text of the error is the only place where serde says which of these it is.
    let text = error.to_string();
    let code = match error.classify() {
        Category::Syntax if text.starts_with("number out of range") => "out_of_range",
        Category::Data if text.starts_with("unknown field") => "unknown_field",
        Category::Data if text.starts_with("missing field") => "missing_field",
        Category::Data => "wrong_type",
        Category::Io | Category::Syntax | Category::Eof => "malformed_json",
    };
    let shown: String = if text.chars().count() > QUOTED_CHARACTERS {
        text.chars()
            .take(QUOTED_CHARACTERS)
            .chain(format!("… at line {} column {}", error.line(), error.column()).chars())
            .collect()
    } else {
        text
    };
    ApiError::new(StatusCode::BAD_REQUEST, code, format!("The body cannot be read: {shown}."))
}
