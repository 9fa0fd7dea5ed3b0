use axum::Json;
use axum::extract::State;
use results::open_data::SnapshotList;

use super::Leaderboard;
use crate::error::ApiError;

/// `GET /api/v1/snapshots`: which files of the last days can be downloaded.
pub(crate) async fn list(State(leaderboard): State<Leaderboard>) -> Result<Json<SnapshotList>, ApiError> {
    leaderboard.snapshots.list().await.map(Json).map_err(|cause| ApiError::internal(&cause))
}
