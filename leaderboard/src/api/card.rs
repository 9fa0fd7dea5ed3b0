//! A result as a picture of the size that previews of links have.

use axum::extract::State;
use axum::http::header;
use axum::response::IntoResponse;

use super::Leaderboard;
use super::run_id::RunId;
use crate::card::{Card, Cards};
use crate::error::ApiError;

/// `GET /api/v1/runs/{id}/card.png`
pub(crate) async fn png(
    State(leaderboard): State<Leaderboard>,
    RunId(id): RunId,
) -> Result<impl IntoResponse, ApiError> {
    let card = of(&leaderboard, &id).await?;
    Ok(([(header::CONTENT_TYPE, "image/png")], leaderboard.cards.png(&card).await?))
}

/// `GET /api/v1/runs/{id}/card.svg`
pub(crate) async fn svg(
    State(leaderboard): State<Leaderboard>,
    RunId(id): RunId,
) -> Result<impl IntoResponse, ApiError> {
    Ok(([(header::CONTENT_TYPE, "image/svg+xml")], Cards::svg(&of(&leaderboard, &id).await?)))
}

async fn of(leaderboard: &Leaderboard, id: &str) -> Result<Card, ApiError> {
    let run = leaderboard.storage.visible_run(id).await?.ok_or_else(ApiError::unknown_run)?;
    Ok(Card::of(&run))
}
