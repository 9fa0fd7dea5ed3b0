//! What a run tells while it trains, and the weights that it is asked for.

use axum::Json;
use axum::extract::{FromRequestParts, Path, State};
use axum::http::StatusCode;
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use engine::Standard;
use results::api::{CheckpointAnswer, TellCheckpoint};

use super::Leaderboard;
use super::announced::Announced;
use super::body::{BinaryBytes, JsonBytes, LIMIT_OF_WORDS};
use super::run_id::RunId;
use super::runs::bearer;
use crate::error::ApiError;
use crate::limits::WEIGHTS_SHARE_OF_PREFIX;
use crate::proof::challenge;
use crate::proof::told::Told;
use crate::secrets;
use crate::storage::Started;
use crate::validation::{self, FieldPath};

/// `POST /api/v1/runs/{id}/checkpoints`: notes what is told, with the time, and asks for weights or not.
pub(crate) async fn tell(
    State(leaderboard): State<Leaderboard>,
    Announced(started): Announced,
    body: JsonBytes<LIMIT_OF_WORDS>,
) -> Result<Json<CheckpointAnswer>, ApiError> {
    let now = leaderboard.clock.unix_seconds();
    let request: TellCheckpoint = body.parse()?;
    validation::check_checkpoint(&request)?;
    check_open(&leaderboard, &started, &request.nonce, now)?;
    let id = started.run_id.as_str();
    let known = engine::suite(&started.suite.name)
        .and_then(|suite| Standard::of(suite, &request.workload, started.seed).map(|known| (suite, known)));
    let Some((suite, known)) = known else {
        let message = format!("This leaderboard knows no network named {}.", request.workload);
        return Err(unprocessable("unknown_workload", message).at("workload"));
    };
    // The start, each evaluation, and the end.
    let planned = known.workload.evaluations_per_epoch.max(1) * suite.epochs;
    if request.number > planned + 1 {
        return Err(unexpected(format!("This network has {} checkpoints and no more.", planned + 2)).at("number"));
    }
    let told = leaderboard.storage.told(id).await?;
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
    let (key, name) = (&leaderboard.key, &now_told.workload);
    let is_challenged = challenge::is_challenged(key, id, suite, name)
        || challenge::stands_in(key, id, suite, started.seed, &told, name);
    now_told.weights_wanted = is_challenged && challenge::wants_weights(key, id, &known, planned, &before, &now_told);
    if now_told.weights_wanted {
        check_room(&leaderboard, &started, &now_told.workload, now).await?;
    }
    if !leaderboard.storage.tell(id, &now_told).await? {
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

/// Weights that a run was asked for. Run, nonce and room are checked before any of them are received.
pub(crate) struct Asked {
    run_id: String,
    told: Told,
}

impl FromRequestParts<Leaderboard> for Asked {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, leaderboard: &Leaderboard) -> Result<Self, ApiError> {
        let now = leaderboard.clock.unix_seconds();
        let path = Path::<(String, String, u32)>::from_request_parts(parts, leaderboard).await;
        let Path((id, workload, number)) = path.map_err(|_rejected| ApiError::unknown_route())?;
        let RunId(id) = RunId::parse(id)?;
        FieldPath::ROOT.field("workload").name(&workload)?;
        let nonce = bearer(&parts.headers).ok_or_else(|| {
            let message = "Weights come with the nonce of their run, as `Authorization: Bearer <nonce>`.";
            ApiError::new(StatusCode::UNAUTHORIZED, "missing_nonce", message)
        })?;
        let started = Announced::find(leaderboard, &id).await?;
        check_open(leaderboard, &started, nonce, now)?;
        let told = leaderboard.storage.told(&started.run_id).await?;
        let is_asked = |told: &Told| told.workload == workload && told.number == number && told.weights_wanted;
        let told = told.into_iter().find(is_asked);
        let told = told.ok_or_else(|| unexpected("The leaderboard did not ask for these weights."))?;
        if told.shown_unix_seconds.is_none() {
            check_room(leaderboard, &started, &told.workload, now).await?;
        }
        Ok(Self { run_id: started.run_id, told })
    }
}

/// `PUT /api/v1/runs/{id}/weights/{workload}/{number}`: takes the weights that were asked for.
pub(crate) async fn show(
    State(leaderboard): State<Leaderboard>,
    Asked { run_id, told }: Asked,
    body: BinaryBytes,
) -> Result<Response, ApiError> {
    if results::weights_sha256(&body.0) != told.weights_sha256 {
        let message = "These weights have another hash than was told of this checkpoint.";
        return Err(unprocessable("wrong_weights", message));
    }
    let (workload, expected) = (&told.workload, challenge::weights_bytes(&told.workload));
    if body.0.len() as u64 != expected {
        let message = format!("The weights of {workload} have {expected} bytes, and these have {}.", body.0.len());
        return Err(unprocessable("wrong_weights", message));
    }
    leaderboard.storage.show(&run_id, &told, &STANDARD.encode(&body.0), leaderboard.clock.unix_seconds()).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}

/// Refuses weights that exceed the budget, or the share of the prefix that announced their run.
async fn check_room(leaderboard: &Leaderboard, started: &Started, workload: &str, now: f64) -> Result<(), ApiError> {
    let Some(most) = leaderboard.budgets.weights_bytes else { return Ok(()) };
    let more = challenge::weights_bytes(workload);
    let [all, of_prefix] = leaderboard.storage.waiting_weights(started.prefix.as_deref(), now).await?;
    let is_prefix_full = started.prefix.is_some() && of_prefix + more > most / WEIGHTS_SHARE_OF_PREFIX;
    if is_prefix_full || all + more > most { Err(ApiError::too_many_weights()) } else { Ok(()) }
}

/// Refuses a wrong nonce, and a run that no longer accepts checkpoints.
fn check_open(leaderboard: &Leaderboard, started: &Started, nonce: &str, now: f64) -> Result<(), ApiError> {
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
    Ok(())
}

fn unexpected(message: impl Into<String>) -> ApiError {
    ApiError::new(StatusCode::CONFLICT, "unexpected_checkpoint", message)
}

fn unprocessable(code: &str, message: impl Into<String>) -> ApiError {
    ApiError::new(StatusCode::UNPROCESSABLE_ENTITY, code, message)
}
