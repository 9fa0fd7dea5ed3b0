//! What a run tells while it trains, and the weights that it is asked for.

use axum::Json;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use engine::Standard;
use results::api::{CheckpointAnswer, TellCheckpoint};

use super::Leaderboard;
use super::body::{BinaryBytes, JsonBytes};
use super::run_id::RunId;
use super::runs::bearer;
use crate::error::ApiError;
use crate::proof::challenge;
use crate::proof::told::Told;
use crate::secrets;
use crate::storage::Started;
use crate::validation::{self, FieldPath};

/// `POST /api/v1/runs/{id}/checkpoints`: notes what is told, with the time, and asks for weights or not.
pub(crate) async fn tell(
    State(leaderboard): State<Leaderboard>,
    RunId(id): RunId,
    body: JsonBytes,
) -> Result<Json<CheckpointAnswer>, ApiError> {
    let now = leaderboard.clock.unix_seconds();
    let request: TellCheckpoint = body.parse()?;
    validation::check_checkpoint(&request)?;
    let started = open_run(&leaderboard, &id, &request.nonce, now).await?;
    let known = engine::suite(&started.suite.name)
        .and_then(|suite| Standard::of(suite, &request.workload, started.seed).map(|known| (suite, known)));
    let Some((suite, known)) = known else {
        let message = format!("This leaderboard knows no network named {}.", request.workload);
        return Err(unprocessable("unknown_workload", message).at("workload"));
    };
    let told = leaderboard.storage.told(&id).await?;
    let before: Vec<Told> = told.iter().filter(|told| told.workload == request.workload).cloned().collect();
    let mut now_told = Told {
        workload: request.workload,
        number: request.number,
        step: request.step,
        weights_sha256: request.weights_sha256,
        measured_sha256: request.measured_sha256,
        is_last: request.last,
        told_unix_seconds: now,
        ..Told::default()
    };
    if let Some(same) = before.iter().find(|told| told.number == now_told.number) {
        return answer_again(same, &now_told);
    }
    follows(&before, &now_told)?;
    let planned = known.workload.evaluations_per_epoch.max(1) * suite.epochs;
    let (key, name) = (&leaderboard.key, &now_told.workload);
    let is_challenged = challenge::is_challenged(key, &id, suite, name)
        || challenge::stands_in(key, &id, suite, started.seed, &told, name);
    now_told.weights_wanted =
        is_challenged && challenge::wants_weights(&leaderboard.key, &id, &known, planned, &before, &now_told);
    if now_told.weights_wanted && !leaderboard.storage.has_room_for_weights().await? {
        return Err(ApiError::busy());
    }
    if !leaderboard.storage.tell(&id, &now_told).await? {
        // The same one came twice at once.
        return Err(unexpected("Another checkpoint of this number came at the same moment.").at("number"));
    }
    Ok(Json(CheckpointAnswer { weights_wanted: now_told.weights_wanted }))
}

/// A client whose answer was lost asks again and gets the same one; its first words count.
fn answer_again(same: &Told, again: &Told) -> Result<Json<CheckpointAnswer>, ApiError> {
    let is_same = same.step == again.step
        && same.weights_sha256 == again.weights_sha256
        && same.measured_sha256 == again.measured_sha256
        && same.is_last == again.is_last;
    if !is_same {
        return Err(unexpected("Something else was told of this checkpoint before, and only that counts.").at("number"));
    }
    Ok(Json(CheckpointAnswer { weights_wanted: same.weights_wanted && same.shown_unix_seconds.is_none() }))
}

/// Checkpoints come one after the other, from the start to the last one.
fn follows(before: &[Told], now: &Told) -> Result<(), ApiError> {
    let expected = u32::try_from(before.len()).unwrap_or(u32::MAX);
    if now.number != expected {
        let message = format!("The next checkpoint of this network is number {expected}, and not {}.", now.number);
        return Err(unexpected(message).at("number"));
    }
    let Some(previous) = before.last() else {
        let at_start = now.step == 0 && !now.is_last;
        let message = "The first checkpoint of a network is its start, before the first step.";
        return if at_start { Ok(()) } else { Err(unexpected(message).at("step")) };
    };
    if previous.is_last {
        return Err(unexpected("The last checkpoint of this network was told before.").at("number"));
    }
    if now.step < previous.step || (now.step == previous.step && !now.is_last) {
        let message = format!("The checkpoint before was at step {}, and training only goes on.", previous.step);
        return Err(unexpected(message).at("step"));
    }
    if previous.weights_wanted && previous.shown_unix_seconds.is_none() {
        return Err(unexpected("The weights of the checkpoint before are still missing, which were asked for."));
    }
    Ok(())
}

/// `PUT /api/v1/runs/{id}/weights/{workload}/{number}`: takes the weights that were asked for.
pub(crate) async fn show(
    State(leaderboard): State<Leaderboard>,
    Path((id, workload, number)): Path<(String, String, u32)>,
    headers: HeaderMap,
    body: BinaryBytes,
) -> Result<Response, ApiError> {
    let now = leaderboard.clock.unix_seconds();
    let id = RunId::parse(id)?.0;
    FieldPath::ROOT.field("workload").name(&workload)?;
    let nonce = bearer(&headers).ok_or_else(|| {
        let message = "Weights come with the nonce of their run, as `Authorization: Bearer <nonce>`.";
        ApiError::new(StatusCode::UNAUTHORIZED, "missing_nonce", message)
    })?;
    open_run(&leaderboard, &id, nonce, now).await?;
    let told = leaderboard.storage.told(&id).await?;
    let asked = told.iter().find(|told| told.workload == workload && told.number == number && told.weights_wanted);
    let Some(asked) = asked else {
        return Err(unexpected("The leaderboard did not ask for these weights."));
    };
    if results::weights_sha256(&body.0) != asked.weights_sha256 {
        let message = "These weights have another hash than was told of this checkpoint.";
        return Err(unprocessable("wrong_weights", message));
    }
    let expected = challenge::weights_bytes(&workload);
    if body.0.len() as u64 != expected {
        let message = format!("The weights of {workload} have {expected} bytes, and these have {}.", body.0.len());
        return Err(unprocessable("wrong_weights", message));
    }
    leaderboard.storage.show(&id, asked, &STANDARD.encode(&body.0), now).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}

/// The announced run of this id and nonce, if it may still tell something.
async fn open_run(leaderboard: &Leaderboard, id: &str, nonce: &str, now: f64) -> Result<Started, ApiError> {
    let started = leaderboard.storage.started(id).await?.ok_or_else(ApiError::unknown_run)?;
    if !secrets::same(nonce, &started.nonce(&leaderboard.key)) {
        return Err(ApiError::wrong_nonce());
    }
    if started.used {
        let message = "The record of this run is here already, and nothing can be told of it any more.";
        return Err(ApiError::new(StatusCode::CONFLICT, "already_submitted", message));
    }
    if now > started.expires_unix_seconds {
        return Err(ApiError::expired());
    }
    Ok(started)
}

fn unexpected(message: impl Into<String>) -> ApiError {
    ApiError::new(StatusCode::CONFLICT, "unexpected_checkpoint", message)
}

fn unprocessable(code: &str, message: impl Into<String>) -> ApiError {
    ApiError::new(StatusCode::UNPROCESSABLE_ENTITY, code, message)
}
