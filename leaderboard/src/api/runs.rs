//! Reading and deleting uploads.

use std::sync::LazyLock;

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::IntoResponse;
use results::RunRecord;
use results::api::{StoredRun, Verdict};

use super::Leaderboard;
use super::extract::RunId;
use crate::error::{ApiError, Result};
use crate::secrets;

pub(crate) async fn show(State(leaderboard): State<Leaderboard>, RunId(id): RunId) -> Result<Json<StoredRun>> {
    leaderboard.storage.uploaded_run(&id).await?.map(Json).ok_or_else(ApiError::unknown_run)
}

pub(crate) async fn verdict(State(leaderboard): State<Leaderboard>, RunId(id): RunId) -> Result<Json<Verdict>> {
    leaderboard.storage.verdict(&id).await?.map(Json).ok_or_else(ApiError::unknown_run)
}

pub(crate) async fn delete(
    State(leaderboard): State<Leaderboard>,
    RunId(id): RunId,
    headers: HeaderMap,
) -> Result<StatusCode> {
    let hashes = leaderboard.storage.deletion_secrets(&id).await?;
    check_deletion(&headers, &hashes, "run", ApiError::unknown_run())?;
    if leaderboard.storage.delete(&id).await? { Ok(StatusCode::NO_CONTENT) } else { Err(ApiError::unknown_run()) }
}

/// Checks the deletion secret of a `thing` with one of these hashes; none if there is no such thing. Compares every hash,
/// so that the duration does not reveal a near match.
pub(super) fn check_deletion(headers: &HeaderMap, hashes: &[String], thing: &str, unknown: ApiError) -> Result<()> {
    let secret = bearer(headers).ok_or_else(|| {
        let message = format!(
            "Deleting a {thing} takes its deletion secret, as `Authorization: Bearer <secret>`. The answer to the upload \
             had it."
        );
        ApiError::new(StatusCode::UNAUTHORIZED, "missing_secret", message)
    })?;
    if hashes.is_empty() {
        return Err(unknown);
    }
    let hash = secrets::sha256(secret.as_bytes());
    if hashes.iter().fold(false, |found, stored| found | secrets::same(stored, &hash)) {
        return Ok(());
    }
    let message = format!("This is not the deletion secret of this {thing}. Use the deletion link from the upload.");
    Err(ApiError::new(StatusCode::FORBIDDEN, "wrong_secret", message))
}

pub(super) fn bearer(headers: &HeaderMap) -> Option<&str> {
    let (scheme, secret) = headers.get(header::AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| secret.trim())
}

pub(crate) async fn schema() -> impl IntoResponse {
    static SCHEMA: LazyLock<String> = LazyLock::new(|| {
        serde_json::to_string_pretty(&schemars::schema_for!(RunRecord)).expect("a schema can be written as JSON")
    });
    ([(header::CONTENT_TYPE, "application/schema+json")], SCHEMA.as_str())
}
