//! Reading and deleting what was uploaded.

use std::error::Error;

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, StatusCode, header};
use results::api::{ListRuns, RunList, StoredRun, Verdict};

use super::Leaderboard;
use super::run_id::RunId;
use crate::error::ApiError;
use crate::secrets;
use crate::validation::{self, FieldPath};

pub(super) const MOST_ROWS: u64 = 500;
/// Nobody pages further than this; every row before a page is counted again.
pub(super) const LARGEST_OFFSET: u64 = 10_000;

pub(crate) async fn list(
    State(leaderboard): State<Leaderboard>,
    query: Result<Query<ListRuns>, QueryRejection>,
) -> Result<Json<RunList>, ApiError> {
    let query = read_query(query)?;
    check(&query).map_err(|refusal| bad_query(refusal.message).at(refusal.field))?;
    Ok(Json(leaderboard.storage.list(&query).await?))
}

/// The query, or what is wrong with it.
pub(super) fn read_query<T>(query: Result<Query<T>, QueryRejection>) -> Result<T, ApiError> {
    let Query(query) = query.map_err(|rejection| {
        let cause = rejection.source().map_or_else(|| rejection.body_text(), ToString::to_string);
        bad_query(format!("The query cannot be read: {cause}."))
    })?;
    Ok(query)
}

fn check(query: &ListRuns) -> validation::Checked {
    let path = FieldPath::ROOT;
    if let Some(workload) = &query.workload {
        path.field("workload").name(workload)?;
    }
    if let Some(backend) = &query.backend {
        path.field("backend").name(backend)?;
    }
    let alone = query.workload.is_none() && (query.backend.is_some() || query.precision.is_some());
    if alone {
        let field = if query.backend.is_some() { "backend" } else { "precision" };
        let message = "Name a `workload` as well: rates of different workloads cannot be compared.";
        return path.field(field).refuse("bad_query", message);
    }
    if query.class.is_some() && !query.ranked {
        return path.field("class").refuse("bad_query", "A class is one of rankings: ask for `ranked=true` as well.");
    }
    path.field("limit").whole(u64::from(query.limit.unwrap_or(1)), 1..=MOST_ROWS)?;
    path.field("offset").whole(u64::from(query.offset.unwrap_or(0)), 0..=LARGEST_OFFSET)
}

pub(super) fn bad_query(message: impl Into<String>) -> ApiError {
    ApiError::new(StatusCode::BAD_REQUEST, "bad_query", message)
}

pub(crate) async fn show(
    State(leaderboard): State<Leaderboard>,
    RunId(id): RunId,
) -> Result<Json<StoredRun>, ApiError> {
    leaderboard.storage.visible_run(&id).await?.map(Json).ok_or_else(ApiError::unknown_run)
}

/// What has become of a run, for whoever waits for it.
pub(crate) async fn verdict(
    State(leaderboard): State<Leaderboard>,
    RunId(id): RunId,
) -> Result<Json<Verdict>, ApiError> {
    leaderboard.storage.verdict(&id).await?.map(Json).ok_or_else(ApiError::unknown_run)
}

pub(crate) async fn delete(
    State(leaderboard): State<Leaderboard>,
    RunId(id): RunId,
    headers: HeaderMap,
) -> Result<StatusCode, ApiError> {
    let secret = bearer(&headers).ok_or_else(|| {
        ApiError::new(
            StatusCode::UNAUTHORIZED,
            "missing_secret",
            "Deleting a run takes its deletion secret, as `Authorization: Bearer <secret>`. The answer to the upload \
             had it.",
        )
    })?;
    let hashes = leaderboard.storage.deletion_secrets(&id).await?;
    if hashes.is_empty() {
        return Err(ApiError::unknown_run());
    }
    let hash = secrets::sha256(secret.as_bytes());
    // Every hash is compared, so that the time taken does not tell which one came close.
    if !hashes.iter().fold(false, |found, stored| found | secrets::same(stored, &hash)) {
        return Err(ApiError::new(
            StatusCode::FORBIDDEN,
            "wrong_secret",
            "This is not the deletion secret of this run. Use the deletion link that the upload gave.",
        ));
    }
    if leaderboard.storage.delete(&id).await? { Ok(StatusCode::NO_CONTENT) } else { Err(ApiError::unknown_run()) }
}

pub(super) fn bearer(headers: &HeaderMap) -> Option<&str> {
    let (scheme, secret) = headers.get(header::AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| secret.trim())
}
