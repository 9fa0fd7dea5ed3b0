//! The calls under `/api/v1`, one file per resource. The table of them is in `results::api`.

mod compare;
mod comparisons;
mod devices;
mod export;
mod extract;
mod list;
mod openapi;
mod pictures;
mod runs;
mod segments;
mod standings;
mod submissions;

use axum::extract::State;
use axum::middleware::from_fn;
use axum::routing::{get, post, put};
use axum::{Json, Router};
use results::api::DataSetList;

use crate::card::Cards;
use crate::config::Clock;
use crate::data_sets::DataFolder;
use crate::error::ApiError;
use crate::etag;
use crate::limits::{Budgets, ProxyHeader};
use crate::proof::Key;
use crate::snapshots::Snapshots;
use crate::storage::Storage;
use crate::verification::Verifiers;
pub(crate) use export::{ExportPlaces, PARQUET};
pub(crate) use extract::RunId;
pub(crate) use list::{list_query, next_page};

/// The state of the handlers.
#[derive(Clone)]
pub(crate) struct Leaderboard {
    pub(crate) storage: Storage,
    pub(crate) clock: Clock,
    pub(crate) key: Key,
    pub(crate) verifiers: Verifiers,
    pub(crate) data: DataFolder,
    pub(crate) run_lifetime_seconds: f64,
    /// The seed of every run; `None` for random seeds.
    pub(crate) seed: Option<u32>,
    pub(crate) budgets: Budgets,
    pub(crate) exports: ExportPlaces,
    pub(crate) cards: Cards,
    pub(crate) snapshots: Snapshots,
    /// The header in which a proxy writes the address of its client.
    pub(crate) trusted_proxy_header: Option<ProxyHeader>,
}

pub(crate) fn routes() -> Router<Leaderboard> {
    Router::new()
        .route("/", get(openapi::html))
        .route("/v1/openapi.json", get(openapi::json))
        .route("/v1/runs", get(list::show).post(submissions::start))
        .route("/v1/runs/import", post(submissions::import))
        .route("/v1/runs/{id}", get(runs::show).put(submissions::upload).delete(runs::delete))
        .route("/v1/runs/{id}/laps", post(segments::open_lap))
        .route("/v1/runs/{id}/segments", post(segments::commit))
        .route("/v1/runs/{id}/proof", post(segments::prove))
        .route("/v1/runs/{id}/states/{workload}/{step}", put(segments::show))
        .route("/v1/runs/{id}/verdict", get(runs::verdict))
        .route("/v1/runs/{id}/badge.svg", get(pictures::badge_svg))
        .route("/v1/runs/{id}/badge.json", get(pictures::badge_json))
        .route("/v1/runs/{id}/card.png", get(pictures::card_png))
        .route("/v1/runs/{id}/card.svg", get(pictures::card_svg))
        .route("/v1/runs/{id}/standing", get(standings::of_run))
        .route("/v1/standings", get(standings::show))
        .route("/v1/distribution", get(standings::show_distribution))
        .route("/v1/devices/{key}", get(devices::show))
        .route("/v1/moderation", get(list::moderation_log))
        .route("/v1/devices/{key}/history", get(devices::show_history))
        .route("/v1/compare", get(compare::show))
        .route("/v1/comparisons", post(comparisons::share))
        .route("/v1/comparisons/{id}", get(comparisons::show).delete(comparisons::delete))
        .route("/v1/data-sets", get(list_data_sets))
        .route("/v1/export/about", get(export::about))
        .route("/v1/snapshots", get(export::list_snapshots))
        .route("/v1/schema", get(runs::schema))
        .route_layer(from_fn(etag::tag))
        // An export is never complete in memory and so has no entity tag.
        .route("/v1/export", get(export::all))
        .fallback(async || ApiError::unknown_route())
        .method_not_allowed_fallback(async || ApiError::method_not_allowed())
}

/// Answers `ok` if the database can be read and written.
pub(crate) async fn health(State(leaderboard): State<Leaderboard>) -> Result<&'static str, ApiError> {
    leaderboard.storage.answers().await?;
    leaderboard.storage.takes_writes().await?;
    Ok("ok")
}

/// Lists the data sets that a page can fetch from this server, and why others are missing.
pub(crate) async fn list_data_sets(State(leaderboard): State<Leaderboard>) -> Json<DataSetList> {
    Json(leaderboard.data.list().await)
}
