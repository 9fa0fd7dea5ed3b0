//! Pictures of a result for other sites: badges, also in the format of shields.io, and cards.

use axum::Json;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;
use results::Outcome;
use results::api::Tier;
use results::badge::{Badge, BadgeQuery};
use view::card::{Card, Letters, svg};

use super::Leaderboard;
use super::extract::{ReadQuery, RunId, bad_query_of};
use super::standings::rank_score;
use crate::badge;
use crate::card::card_of;
use crate::error::{ApiError, Result};
use crate::storage::{Database, StorageError};
use crate::validation::FieldPath;

pub(crate) async fn badge_svg(
    State(leaderboard): State<Leaderboard>,
    RunId(id): RunId,
    ReadQuery(query): ReadQuery<BadgeQuery>,
) -> Result<impl IntoResponse> {
    let badge = badge_of(&leaderboard, &id, &query).await?;
    Ok(([(header::CONTENT_TYPE, "image/svg+xml")], badge::svg(&badge)))
}

pub(crate) async fn badge_json(
    State(leaderboard): State<Leaderboard>,
    RunId(id): RunId,
    ReadQuery(query): ReadQuery<BadgeQuery>,
) -> Result<Json<Badge>> {
    badge_of(&leaderboard, &id, &query).await.map(Json)
}

async fn badge_of(leaderboard: &Leaderboard, id: &str, query: &BadgeQuery) -> Result<Badge> {
    if let Some(name) = &query.workload {
        FieldPath::ROOT.field("workload").name(name).map_err(bad_query_of)?;
    }
    let run = leaderboard.storage.visible_run(id).await?.ok_or_else(ApiError::unknown_run)?;
    if let (None, Some(score)) = (&query.workload, engine::score(&run.record)) {
        return Ok(badge::of_score(&run.record.device, score.value, run.tier));
    }
    let mut workloads = run.record.workloads.iter();
    let workload = match &query.workload {
        Some(name) => workloads.find(|workload| workload.workload == *name),
        None => workloads.find(|workload| workload.outcome == Outcome::Completed),
    };
    let workload = workload.ok_or_else(|| {
        let message = "This run has no such workload. Its page lists the workloads.";
        ApiError::new(StatusCode::NOT_FOUND, "unknown_workload", message).at("workload")
    })?;
    Ok(badge::of_workload(&run.record.device, workload, run.tier))
}

pub(crate) async fn card_png(State(leaderboard): State<Leaderboard>, RunId(id): RunId) -> Result<impl IntoResponse> {
    let card = existing_card(&leaderboard, &id).await?;
    Ok(([(header::CONTENT_TYPE, "image/png")], leaderboard.cards.png(&card).await?))
}

pub(crate) async fn card_svg(State(leaderboard): State<Leaderboard>, RunId(id): RunId) -> Result<impl IntoResponse> {
    let card = existing_card(&leaderboard, &id).await?;
    Ok(([(header::CONTENT_TYPE, "image/svg+xml")], svg(&card, Letters::Any)))
}

pub(crate) async fn start_card(State(leaderboard): State<Leaderboard>) -> Result<impl IntoResponse> {
    Ok(([(header::CONTENT_TYPE, "image/png")], leaderboard.cards.start_png().await?))
}

async fn existing_card(leaderboard: &Leaderboard, id: &str) -> Result<Card> {
    visible_card(&leaderboard.storage, id).await?.ok_or_else(ApiError::unknown_run)
}

/// Returns the card of a visible run with its rank, or `None` if there is no such run.
pub(crate) async fn visible_card(storage: &Database, id: &str) -> Result<Option<Card>, StorageError> {
    let Some(run) = storage.visible_run(id).await? else { return Ok(None) };
    let mut card = card_of(&run);
    let is_comparable = run.tier != Tier::Flagged && run.record.is_standard();
    if let Some(score) = card.score.filter(|_| is_comparable) {
        card.rank = rank_score(storage, id, score.value).await?;
    }
    Ok(Some(card))
}
