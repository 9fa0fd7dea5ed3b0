//! Shared comparisons of backends.

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use results::api::{AcceptedComparison, SharedComparison, StoredComparison};
use serde::Deserialize;

use super::Leaderboard;
use super::extract::{IdempotencyKey, JsonBytes, RunId};
use super::runs::check_deletion;
use super::submissions::run_blocking;
use crate::error::{ApiError, Result};
use crate::secrets::{RUN_ID_BYTES, SECRET_BYTES, random_word};
use crate::validation::{FieldPath, Networks, check_networks};
use crate::{secrets, validation};

/// `POST /api/v1/comparisons`: stores a comparison. Its records are not runs. Repeating an idempotency key repeats the
/// answer: id and secret are derived from the server's secret, the key and the comparison.
pub(crate) async fn share(
    State(leaderboard): State<Leaderboard>,
    IdempotencyKey(key): IdempotencyKey,
    body: JsonBytes,
) -> Result<Response> {
    #[derive(Deserialize)]
    struct Records {
        #[serde(default)]
        records: Vec<Networks>,
    }
    let bytes = body.len();
    let (comparison, digest) = run_blocking(move || {
        let Records { records } = body.parse()?;
        FieldPath::ROOT.field("records").each(&records, |path, record| check_networks(&path, record))?;
        let mut comparison: SharedComparison = body.parse()?;
        for record in &mut comparison.records {
            // They may belong to a run, here or elsewhere, but there is no proof.
            (record.run_id, record.nonce) = (None, None);
        }
        validation::check_comparison(&comparison)?;
        let digest = secrets::sha256(&serde_json::to_vec(&comparison)?);
        Ok((comparison, digest))
    })
    .await?;
    let now = leaderboard.clock.unix_seconds();
    leaderboard.take_import_bytes(bytes).await?;
    let (comparison_id, secret) = match &key {
        Some(key) => leaderboard.key.comparison(key, &digest),
        None => (random_word::<RUN_ID_BYTES>()?, random_word::<SECRET_BYTES>()?),
    };
    let hash = secrets::sha256(secret.as_bytes());
    let is_new = leaderboard.storage.keep_comparison(&comparison_id, now, &hash, &comparison).await?;
    let status = if is_new { StatusCode::CREATED } else { StatusCode::OK };
    let location = format!("/api/v1/comparisons/{comparison_id}");
    let accepted = AcceptedComparison {
        permalink: format!("/comparisons/{comparison_id}"),
        deletion_link: format!("/comparisons/{comparison_id}/delete#{secret}"),
        deletion_secret: secret,
        comparison_id,
    };
    Ok((status, [(header::LOCATION, location)], Json(accepted)).into_response())
}

pub(crate) async fn show(State(leaderboard): State<Leaderboard>, id: Result<RunId>) -> Result<Json<StoredComparison>> {
    let RunId(id) = id.map_err(|_refused| ApiError::unknown_comparison())?;
    leaderboard.storage.comparison(&id).await?.map(Json).ok_or_else(ApiError::unknown_comparison)
}

pub(crate) async fn delete(
    State(leaderboard): State<Leaderboard>,
    id: Result<RunId>,
    headers: HeaderMap,
) -> Result<StatusCode> {
    let RunId(id) = id.map_err(|_refused| ApiError::unknown_comparison())?;
    let hash = leaderboard.storage.comparison_secret(&id).await?;
    check_deletion(&headers, hash.as_slice(), "comparison", ApiError::unknown_comparison())?;
    if leaderboard.storage.delete_comparison(&id, None).await? {
        Ok(StatusCode::NO_CONTENT)
    } else {
        Err(ApiError::unknown_comparison())
    }
}
