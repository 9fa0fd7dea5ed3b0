use axum::Json;
use axum::extract::State;
use results::api::DataSetList;

use super::Leaderboard;

/// Which data sets a page can fetch from this server, and why not the others.
pub(crate) async fn list(State(leaderboard): State<Leaderboard>) -> Json<DataSetList> {
    Json(leaderboard.data.list().await)
}
