//! What moderators did, for anyone to read.

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use results::api::{ModerationLog, ModerationQuery};

use super::Leaderboard;
use super::list::{LARGEST_OFFSET, MOST_ROWS};
use super::runs::{bad_query, read_query};
use crate::error::ApiError;
use crate::validation::{Checked, FieldPath};

/// `GET /api/v1/moderation`: the log, the newest entry first.
pub(crate) async fn log(
    State(leaderboard): State<Leaderboard>,
    query: Result<Query<ModerationQuery>, QueryRejection>,
) -> Result<Json<ModerationLog>, ApiError> {
    let query = read_query(query)?;
    check(&query).map_err(|refusal| bad_query(refusal.message).at(refusal.field))?;
    Ok(Json(leaderboard.storage.moderation_log(&query).await?))
}

fn check(query: &ModerationQuery) -> Checked {
    let path = FieldPath::ROOT;
    path.field("limit").whole(u64::from(query.limit.unwrap_or(1)), 1..=MOST_ROWS)?;
    path.field("offset").whole(u64::from(query.offset.unwrap_or(0)), 0..=LARGEST_OFFSET)
}
