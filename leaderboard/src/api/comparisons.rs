//! Shared comparisons of backends.

use axum::Json;
use axum::extract::{FromRequestParts, Path, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use results::api::{AcceptedComparison, SharedComparison, StoredComparison};
use serde::Deserialize;

use super::Leaderboard;
use super::extract::{IdempotencyKey, JsonBytes, RunId};
use super::runs::deletion_secret;
use super::submissions::run_blocking;
use crate::error::{ApiError, Result};
use crate::limits::day_of;
use crate::secrets::{RUN_ID_BYTES, SECRET_BYTES, random_word};
use crate::storage::NewComparison;
use crate::validation::{FieldPath, Networks, check_networks};
use crate::{secrets, validation};

/// The id in the path, which has the form of a run's id.
pub(crate) struct ComparisonId(String);

impl<S: Send + Sync> FromRequestParts<S> for ComparisonId {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self> {
        let id = Path::<String>::from_request_parts(parts, state).await.map_err(|_rejected| unknown())?;
        RunId::parse(id.0).map(|RunId(id)| Self(id)).map_err(|_refused| unknown())
    }
}

fn unknown() -> ApiError {
    let message = "No comparison has this id. It may have been deleted, or the link may be incomplete.";
    ApiError::new(StatusCode::NOT_FOUND, "unknown_comparison", message)
}

/// `POST /api/v1/comparisons`: stores a comparison. Its records are not runs. Repeating an idempotency key repeats the
/// answer: id and secret are derived from the server's secret, the key and the comparison.
pub(crate) async fn share(
    State(leaderboard): State<Leaderboard>,
    IdempotencyKey(key): IdempotencyKey,
    body: JsonBytes,
) -> Result<Response> {
    let bytes = body.len();
    let (comparison, digest) = run_blocking(move || {
        check_size(&body)?;
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
    if let Some(most) = leaderboard.budgets.import_bytes_per_day
        && !leaderboard.storage.take_import_bytes(day_of(now), bytes, most).await?
    {
        return Err(ApiError::too_many_imports(now));
    }
    let (comparison_id, secret) = match &key {
        Some(key) => leaderboard.key.comparison(key, &digest),
        None => (random_word::<RUN_ID_BYTES>()?, random_word::<SECRET_BYTES>()?),
    };
    let new = NewComparison {
        comparison_id: &comparison_id,
        submitted_unix_seconds: now,
        deletion_secret_hash: &secrets::sha256(secret.as_bytes()),
        comparison: &comparison,
    };
    let is_new = leaderboard.storage.keep_comparison(&new).await?;
    let status = if is_new { StatusCode::CREATED } else { StatusCode::OK };
    let mut response = (status, Json(accepted(&comparison_id, secret))).into_response();
    if let Ok(location) = HeaderValue::from_str(&format!("/api/v1/comparisons/{comparison_id}")) {
        response.headers_mut().insert(header::LOCATION, location);
    }
    Ok(response)
}

/// Checks the sizes that the types of a comparison do not limit.
fn check_size(body: &JsonBytes) -> Result<()> {
    #[derive(Deserialize)]
    struct Records {
        #[serde(default)]
        records: Vec<Networks>,
    }
    let Records { records } = body.parse()?;
    Ok(FieldPath::ROOT.field("records").each(&records, |path, record| check_networks(&path, record))?)
}

fn accepted(id: &str, secret: String) -> AcceptedComparison {
    AcceptedComparison {
        comparison_id: id.to_owned(),
        permalink: format!("/comparisons/{id}"),
        deletion_link: format!("/comparisons/{id}/delete#{secret}"),
        deletion_secret: secret,
    }
}

/// `GET /api/v1/comparisons/{id}`: the records of its tables.
pub(crate) async fn show(
    State(leaderboard): State<Leaderboard>,
    ComparisonId(id): ComparisonId,
) -> Result<Json<StoredComparison>> {
    leaderboard.storage.comparison(&id).await?.map(Json).ok_or_else(unknown)
}

/// `DELETE /api/v1/comparisons/{id}`: requires the secret of its upload.
pub(crate) async fn delete(
    State(leaderboard): State<Leaderboard>,
    ComparisonId(id): ComparisonId,
    headers: HeaderMap,
) -> Result<StatusCode> {
    let secret = deletion_secret(&headers, "a comparison")?;
    let kept = leaderboard.storage.comparison_secret(&id).await?.ok_or_else(unknown)?;
    if !secrets::same(&kept, &secrets::sha256(secret.as_bytes())) {
        let message = "This is not the deletion secret of this comparison. Use the deletion link from the upload.";
        return Err(ApiError::new(StatusCode::FORBIDDEN, "wrong_secret", message));
    }
    if leaderboard.storage.delete_comparison(&id, None).await? { Ok(StatusCode::NO_CONTENT) } else { Err(unknown()) }
}
