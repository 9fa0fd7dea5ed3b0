//! The calls under `/api/v1`, one file per resource. The table of them is in `results::api`.

mod body;
mod data_sets;
mod run_id;
mod runs;
mod schema;
mod submissions;

use axum::Router;
use axum::extract::State;
use axum::routing::{get, post};

use crate::clock::Clock;
use crate::data_sets::DataFolder;
use crate::error::ApiError;
use crate::storage::Storage;

/// What the handlers work with.
#[derive(Clone)]
pub(crate) struct Leaderboard {
    pub(crate) storage: Storage,
    pub(crate) clock: Clock,
    pub(crate) data: DataFolder,
    pub(crate) run_lifetime_seconds: f64,
}

pub(crate) fn routes() -> Router<Leaderboard> {
    Router::new()
        .route("/v1/runs", get(runs::list).post(submissions::start))
        .route("/v1/runs/import", post(submissions::import))
        .route("/v1/runs/{id}", get(runs::show).put(submissions::upload).delete(runs::delete))
        .route("/v1/data-sets", get(data_sets::list))
        .route("/v1/schema", get(schema::run_record))
        .fallback(async || ApiError::unknown_route())
        .method_not_allowed_fallback(async || ApiError::method_not_allowed())
}

/// `ok` when the data base answers a query.
pub(crate) async fn health(State(leaderboard): State<Leaderboard>) -> Result<&'static str, ApiError> {
    leaderboard.storage.answers().await?;
    Ok("ok")
}
