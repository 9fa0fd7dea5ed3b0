use axum::extract::FromRequestParts;
use axum::http::request::Parts;

use super::Leaderboard;
use super::run_id::RunId;
use crate::error::ApiError;
use crate::storage::Started;

/// The announced run of the path, looked up before the body is received.
pub(crate) struct Announced(pub(crate) Started);

impl FromRequestParts<Leaderboard> for Announced {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, leaderboard: &Leaderboard) -> Result<Self, ApiError> {
        let RunId(id) = RunId::from_request_parts(parts, leaderboard).await?;
        Self::find(leaderboard, &id).await.map(Self)
    }
}

impl Announced {
    pub(crate) async fn find(leaderboard: &Leaderboard, id: &str) -> Result<Started, ApiError> {
        leaderboard.storage.started(id).await?.ok_or_else(ApiError::unknown_run)
    }
}
