//! The calls under `/api/v1`, one file per resource. [`calls`] is the table of them.

mod call;
mod calls;
mod compare;
mod comparisons;
mod devices;
mod export;
mod extract;
mod list;
mod open;
mod openapi;
mod pictures;
mod runs;
mod segments;
mod speedrun;
mod standings;
mod submissions;

use std::path::PathBuf;

use axum::extract::State;
use axum::middleware::from_fn;
use axum::routing::get;
use axum::{Json, Router};
use results::api::DataSetList;

use crate::Protection;
use crate::card::Cards;
use crate::config::ServerClock;
use crate::data_sets;
use crate::error::ApiError;
use crate::etag;
use crate::limits::{ClientPlaces, day_of};
use crate::proof::ServerKey;
use crate::snapshots::Snapshots;
use crate::storage::Database;
use crate::verification::Verifiers;
pub(crate) use export::{PARQUET, export_places};
pub(crate) use extract::RunId;
pub(crate) use list::{list_query, next_page};
pub(crate) use pictures::visible_card;

#[derive(Clone)]
pub(crate) struct Leaderboard {
    pub(crate) storage: Database,
    pub(crate) clock: ServerClock,
    pub(crate) key: ServerKey,
    pub(crate) verifiers: Verifiers,
    pub(crate) data: Option<PathBuf>,
    pub(crate) run_lifetime_seconds: f64,
    /// The seed of every run; `None` for random seeds.
    pub(crate) seed: Option<u32>,
    pub(crate) exports: ClientPlaces,
    pub(crate) cards: Cards,
    pub(crate) snapshots: Snapshots,
    pub(crate) protection: Protection,
}

impl Leaderboard {
    /// Takes the bytes of an import from the budget of the day.
    async fn take_import_bytes(&self, bytes: u64) -> Result<(), ApiError> {
        let (now, most) = (self.clock.unix_seconds(), self.protection.import_bytes_per_day);
        if most == 0 || self.storage.take_import_bytes(day_of(now), bytes, most).await? {
            return Ok(());
        }
        Err(ApiError::too_many_imports(now))
    }
}

pub(crate) fn routes() -> Router<Leaderboard> {
    let (exports, others): (Vec<_>, Vec<_>) = calls::all().partition(|call| call.path == "/v1/export");
    let add = |router: Router<Leaderboard>, call: call::Call| router.route(call.path, call.handler);
    let tagged = others.into_iter().fold(Router::new(), add).route_layer(from_fn(etag::tag));
    // An export is never complete in memory and so has no entity tag.
    exports
        .into_iter()
        .fold(tagged, add)
        .route("/page.css", get(openapi::style))
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
    Json(data_sets::list(leaderboard.data.as_deref()).await)
}
