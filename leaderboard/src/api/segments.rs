//! Requests of a run while it trains, and the states that the server requests afterwards.

use std::time::Duration;

use axum::Json;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, Request, State};
use axum::http::{HeaderMap, StatusCode};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use engine::Standard;
use results::api::{CommitSegment, CommittedSegment, OpenLap, OpenedLap, PartHashes, ProofWanted, ProvePart};
use results::{Beacon, losses_sha256};

use super::Leaderboard;
use super::extract::{Announced, JsonBytes, MAX_FIELDS_BYTES, MAX_LOSSES_BYTES, RunId, receive_state};
use super::runs::bearer;
use super::submissions::run_blocking;
use crate::error::{ApiError, Result};
use crate::limits::PREFIX_STATES_DIVISOR;
use crate::proof::{
    BegunProof, SeenLap, SeenSegment, SeenWorkload, Started, StateSize, SurroundingSegments, TrainingKey, draws,
};
use crate::validation::FieldPath;
use crate::{secrets, validation};

/// Number of segments of a workload that may be committed at once …
const SEGMENTS_AT_ONCE: f64 = 100.0;
/// … and further ones for each second since the announcement. Windows last a second, or less at an epoch's end.
const SEGMENTS_PER_SECOND: f64 = 4.0;

pub(crate) async fn open_lap(
    State(leaderboard): State<Leaderboard>,
    Announced(started): Announced,
    body: JsonBytes<MAX_FIELDS_BYTES>,
) -> Result<Json<OpenedLap>> {
    let request: OpenLap = body.parse()?;
    validation::check_request(&request)?;
    let OpenLap { nonce, workload, segment, state_sha256 } = request;
    open_workload(&leaderboard, &started, &nonce, &workload)?;
    let (storage, id) = (&leaderboard.storage, started.run_id.as_str());
    let around = storage.surroundings(id, &workload, segment).await?;
    let opened_unix_seconds = leaderboard.clock.unix_seconds();
    let lap = SeenLap { first_segment: segment, state_sha256, opened_unix_seconds };
    match around.lap.as_ref().filter(|same| same.first_segment == segment) {
        Some(same) if same.state_sha256 == lap.state_sha256 => {}
        Some(_) => return Err(unexpected("This lap was already opened with another state.")),
        None => {
            may_open(&around, &lap)?;
            // The same request is being handled. Its repetition gets the same answer.
            if !storage.open_lap(id, &workload, &lap).await? {
                return Err(ApiError::busy());
            }
        }
    }
    let beacons = TrainingKey::new(&leaderboard.key, leaderboard.seed, id, &workload).first_beacons(&lap);
    Ok(Json(OpenedLap { beacons }))
}

/// Refuses a lap that does not continue the previous one from its final state.
fn may_open(around: &SurroundingSegments, lap: &SeenLap) -> Result<()> {
    if around.is_proof_begun {
        return Err(training_has_ended());
    }
    if lap.first_segment == 0 {
        return Ok(());
    }
    let (field, message) = match &around.before {
        None => ("segment", format!("The segments before number {} are not committed yet.", lap.first_segment)),
        Some(before) if !before.ends_lap => ("segment", "The previous lap has not ended.".to_owned()),
        Some(before) if before.state_sha256 != lap.state_sha256 => {
            ("state_sha256", "A lap must start with the final state of the previous lap.".to_owned())
        }
        Some(_) => return Ok(()),
    };
    Err(unexpected(message).at(field))
}

pub(crate) async fn commit(
    State(leaderboard): State<Leaderboard>,
    Announced(started): Announced,
    body: JsonBytes<MAX_FIELDS_BYTES>,
) -> Result<Json<CommittedSegment>> {
    let committed_unix_seconds = leaderboard.clock.unix_seconds();
    let request: CommitSegment = body.parse()?;
    validation::check_request(&request)?;
    let CommitSegment { nonce, workload, segment, step, state_sha256, losses_sha256, ends_lap } = request;
    open_workload(&leaderboard, &started, &nonce, &workload)?;
    let (storage, id) = (&leaderboard.storage, started.run_id.as_str());
    let key = TrainingKey::new(&leaderboard.key, leaderboard.seed, id, &workload);
    let around = storage.surroundings(id, &workload, segment).await?;
    let next = (!ends_lap).then(|| key.beacon_after(&state_sha256, segment + 2));
    let is_same = |same: &SeenSegment| {
        (same.step, same.ends_lap) == (step, ends_lap)
            && (&same.state_sha256, &same.losses_sha256) == (&state_sha256, &losses_sha256)
    };
    let before = around.before.as_ref().map_or(0, |before| before.step);
    let draws = match &around.same {
        Some(same) if is_same(same) => draws::falling_on(same, before, &key),
        Some(_) => return Err(unexpected("This segment already has another commitment.")),
        None => {
            check_pace(segment, committed_unix_seconds - started.created_unix_seconds)?;
            let beacon = beacon_of(&around, segment, step, &key)?;
            let seen = SeenSegment { step, beacon, state_sha256, losses_sha256, ends_lap, committed_unix_seconds };
            if !storage.commit(id, &workload, segment, &seen).await? {
                return Err(ApiError::busy());
            }
            draws::falling_on(&seen, before, &key)
        }
    };
    Ok(Json(CommittedSegment { beacon: next, draws }))
}

fn check_pace(segment: u32, seconds: f64) -> Result<()> {
    let too_early = (f64::from(segment) - SEGMENTS_AT_ONCE) / SEGMENTS_PER_SECOND - seconds;
    if too_early <= 0.0 {
        return Ok(());
    }
    let message = "The run sends segments faster than any training produces them.";
    let refusal = ApiError::new(StatusCode::TOO_MANY_REQUESTS, "too_many_segments", message).at("segment");
    Err(refusal.retry_after(Duration::from_secs_f64(too_early)).refused_by("segments"))
}

fn beacon_of(around: &SurroundingSegments, segment: u32, step: u64, key: &TrainingKey<'_>) -> Result<Beacon> {
    if around.is_proof_begun {
        return Err(training_has_ended());
    }
    let lap = around.lap.as_ref().ok_or_else(|| unexpected("No lap is open.").at("segment"))?;
    let place = segment - lap.first_segment;
    let follows = around.before.as_ref().is_some_and(|before| !before.ends_lap);
    if place > 0 && !follows {
        let message = format!("Segment number {segment} does not follow the last committed segment.");
        return Err(unexpected(message).at("segment"));
    }
    let before = around.before.as_ref().map_or(0, |before| before.step);
    if step <= before {
        let message = format!("The step must be greater than {before}, the last step of the previous segment.");
        return Err(unexpected(message).at("step"));
    }
    Ok(match (place, &around.two_before) {
        (0, _) => key.first_beacons(lap)[0],
        (1, _) | (_, None) => key.first_beacons(lap)[1],
        (_, Some(two_before)) => key.beacon_after(&two_before.state_sha256, segment),
    })
}

pub(crate) async fn prove(
    State(leaderboard): State<Leaderboard>,
    Announced(started): Announced,
    body: JsonBytes<MAX_LOSSES_BYTES>,
) -> Result<Json<ProofWanted>> {
    let request: ProvePart = body.parse()?;
    validation::check_request(&request)?;
    let known = open_workload(&leaderboard, &started, &request.nonce, &request.workload)?;
    let (storage, id, workload) = (&leaderboard.storage, started.run_id.as_str(), request.workload.as_str());
    let mut seen = storage.seen_workload(id, workload).await?;
    if seen.proof.is_none() {
        let proof = begun(&seen, &request, &TrainingKey::new(&leaderboard.key, leaderboard.seed, id, workload))?;
        check_room(&leaderboard, &started, draws::MAX_STATES * StateSize::of(&known.workload).of_body(false)).await?;
        storage.begin_proof(id, workload, &proof).await?;
        // Another request may have been faster.
        seen = storage.seen_workload(id, workload).await?;
    }
    if let Some(hashes) = request.hashes
        && are_new(&seen, &hashes, &known)?
    {
        check_room(&leaderboard, &started, body.len()).await?;
        storage.keep_hashes(id, workload, &hashes).await?;
        seen.hashes.push(hashes);
    }
    Ok(Json(draws::next_wanted(&seen, &known)))
}

/// Returns a new proof, or refuses if the training may not end now.
fn begun(seen: &SeenWorkload, request: &ProvePart, key: &TrainingKey<'_>) -> Result<BegunProof> {
    let last = seen.segments.last().filter(|_| seen.has_ended());
    let last = last.ok_or_else(|| unexpected("The proof can start only after the last lap has ended."))?;
    let &ProvePart { tested_step, target_step, .. } = request;
    let is_end = |step| seen.segments.iter().any(|segment| segment.step == step);
    for (field, step) in [("tested_step", Some(tested_step)), ("target_step", target_step)] {
        if !step.is_none_or(is_end) {
            return Err(unexpected("No segment ended with this step.").at(field));
        }
    }
    let word = key.word_of_draws(&last.state_sha256);
    let drawn = draws::drawn_segments(seen, key);
    Ok(BegunProof { word, segments: seen.segments.len(), drawn, tested_step, target_step })
}

fn are_new(seen: &SeenWorkload, hashes: &PartHashes, known: &Standard) -> Result<bool> {
    let is_of_part = |same: &&PartHashes| same.draw == hashes.draw && same.steps == hashes.steps;
    if let Some(same) = seen.hashes.iter().find(is_of_part) {
        let message = "This part already has other hashes.";
        return if same == hashes { Ok(false) } else { Err(unexpected(message).at("hashes")) };
    }
    let wanted = draws::next_wanted(seen, known).hashes.filter(|wanted| {
        (wanted.draw, wanted.steps, wanted.at.len()) == (hashes.draw, hashes.steps, hashes.state_sha256.len())
    });
    let wanted = wanted.ok_or_else(|| unexpected("The leaderboard did not request these hashes.").at("hashes"))?;
    let mut pairs = wanted.at.iter().zip(&hashes.state_sha256);
    if pairs.any(|(step, hash)| seen.hash_at(*step).is_some_and(|known| known != hash)) {
        return Err(unexpected("One of these steps already has another hash.").at("hashes"));
    }
    let committed = seen.segments.iter().find(|segment| wanted.losses && segment.step == wanted.steps[1]);
    let are_committed = match committed {
        Some(segment) => {
            let number = wanted.steps[1] - wanted.steps[0];
            hashes.losses.len() as u64 == number && losses_sha256(&hashes.losses) == segment.losses_sha256
        }
        None => hashes.losses.is_empty(),
    };
    if !are_committed {
        let message = "The losses differ from the commitment of the segment.";
        return Err(unprocessable("wrong_losses", message).at("hashes.losses"));
    }
    Ok(true)
}

/// Receives a requested state. Run, nonce and free space are checked before any of its body is received.
pub(crate) async fn show(
    State(leaderboard): State<Leaderboard>,
    path: Result<Path<(String, String, u64)>, PathRejection>,
    headers: HeaderMap,
    request: Request,
) -> Result<StatusCode> {
    let Path((id, workload, step)) = path.map_err(|_rejected| ApiError::unknown_route())?;
    let RunId(id) = RunId::parse(id)?;
    FieldPath::ROOT.field("workload").name(&workload)?;
    let nonce = bearer(&headers).ok_or_else(|| {
        let message = "Sending a state requires the nonce of its run, as `Authorization: Bearer <nonce>`.";
        ApiError::new(StatusCode::UNAUTHORIZED, "missing_nonce", message)
    })?;
    let started = leaderboard.storage.started(&id).await?.ok_or_else(ApiError::unknown_run)?;
    let known = open_workload(&leaderboard, &started, nonce, &workload)?;
    let seen = leaderboard.storage.seen_workload(&id, &workload).await?;
    let wanted = draws::wanted_state(&seen, &known, step);
    let wanted = wanted.and_then(|state| Some((state, seen.hash_at(step)?.to_owned())));
    let (state, state_sha256) = wanted.ok_or_else(|| unexpected("The leaderboard did not request this state."))?;
    let size = StateSize::of(&known.workload);
    let expected = size.of_body(state.weights_only);
    if !seen.states.contains(&state) {
        check_room(&leaderboard, &started, expected).await?;
    }
    let body = receive_state(request).await?;
    let bytes = body.len();
    let encoded = run_blocking(move || {
        let Some(found) = size.sha256(&body, state.weights_only) else {
            let message = format!("The state must have {expected} bytes, but the body has {bytes}.");
            return Err(unprocessable("wrong_state", message));
        };
        if found != state_sha256 {
            return Err(unprocessable("wrong_state", "The hash of the state differs from the commitment of its step."));
        }
        Ok(STANDARD.encode(&body))
    })
    .await?;
    leaderboard.storage.show(&id, &workload, state, bytes, &encoded).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Refuses states and hashes that exceed the budget, or the share of the prefix from which their run was announced.
async fn check_room(leaderboard: &Leaderboard, started: &Started, more: u64) -> Result<()> {
    let most = leaderboard.protection.weights_bytes;
    if most == 0 {
        return Ok(());
    }
    let now = leaderboard.clock.unix_seconds();
    let [all, of_prefix] = leaderboard.storage.waiting_bytes(started.prefix.as_deref(), now).await?;
    let is_prefix_full = started.prefix.is_some() && of_prefix + more > most / PREFIX_STATES_DIVISOR;
    if is_prefix_full || all + more > most { Err(ApiError::busy().refused_by("weights")) } else { Ok(()) }
}

/// Returns the network of a run that is open. Refuses a wrong nonce, a run that has ended, and an unprovable network.
fn open_workload(leaderboard: &Leaderboard, started: &Started, nonce: &str, workload: &str) -> Result<Standard> {
    if !secrets::same(nonce, &leaderboard.key.nonce(started)) {
        return Err(ApiError::wrong_nonce());
    }
    if started.used {
        let message = "The record of this run is already uploaded, so its proof is closed.";
        return Err(ApiError::new(StatusCode::CONFLICT, "already_submitted", message));
    }
    if leaderboard.clock.unix_seconds() > started.expires_unix_seconds {
        return Err(ApiError::expired());
    }
    let known = known_workload(started, workload).ok_or_else(|| {
        let message = format!("This run has no network named {workload}.");
        unprocessable("unknown_workload", message).at("workload")
    })?;
    if let Some(obstacle) = known.workload.proof_obstacle() {
        let message = format!("The leaderboard cannot prove the training of {workload}: {obstacle}.");
        return Err(unprocessable("not_provable", message).at("workload"));
    }
    Ok(known)
}

fn known_workload(started: &Started, workload: &str) -> Option<Standard> {
    if let Some(network) = started.network.as_ref().filter(|network| network["name"] == workload) {
        return Standard::of_network(network).ok();
    }
    let suite = engine::suite(&started.suite.name).filter(|suite| suite.workloads.contains(&workload))?;
    Standard::of(suite, workload)
}

fn training_has_ended() -> ApiError {
    unexpected("The proof of this network has started, so its training is closed.")
}

fn unexpected(message: impl Into<String>) -> ApiError {
    ApiError::new(StatusCode::CONFLICT, "unexpected_segment", message)
}

fn unprocessable(code: &str, message: impl Into<String>) -> ApiError {
    ApiError::new(StatusCode::UNPROCESSABLE_ENTITY, code, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_come_no_faster_than_windows() {
        let code = |segment, seconds| check_pace(segment, seconds).err().map(|refusal| refusal.code().to_owned());
        for (segment, seconds) in [(100, 0.0), (140, 10.0), (14_500, 3600.0)] {
            assert_eq!(code(segment, seconds), None);
            assert_eq!(code(segment + 1, seconds).as_deref(), Some("too_many_segments"));
        }
    }
}
