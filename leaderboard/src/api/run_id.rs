use axum::extract::{FromRequestParts, Path};
use axum::http::request::Parts;

use crate::error::ApiError;
use crate::secrets::RUN_ID_BYTES;

/// The run id of the path. What cannot be one is unknown before the data base is asked.
pub(crate) struct RunId(pub(crate) String);

impl<S: Send + Sync> FromRequestParts<S> for RunId {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let Path(id) =
            Path::<String>::from_request_parts(parts, state).await.map_err(|_rejected| ApiError::unknown_run())?;
        Self::parse(id)
    }
}

impl RunId {
    pub(crate) fn parse(id: String) -> Result<Self, ApiError> {
        let possible =
            id.len() == 2 * RUN_ID_BYTES && id.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'a'..=b'f'));
        if possible { Ok(Self(id)) } else { Err(ApiError::unknown_run()) }
    }
}
