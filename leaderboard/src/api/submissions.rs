//! Announcing a run and submitting its record.

use axum::Json;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use results::RunRecord;
use results::api::{AcceptedRun, StartRun, StartedRun, StoredRun, Verdict};
use serde::Deserialize;
use tokio::sync::Semaphore;

use super::Leaderboard;
use super::extract::{Announced, IdempotencyKey, JsonBytes, MAX_NETWORK_BYTES, Requester};
use crate::counted_event::CountedEvent;
use crate::error::{ApiError, Result};
use crate::proof::{ServerKey, Started};
use crate::secrets::{RUN_ID_BYTES, SECRET_BYTES, fingerprint, random_word};
use crate::storage::{Acceptance, NewRun, Submitter};
use crate::validation::{Checked, FieldPath, Networks, RecordOrigin, check_networks};
use crate::{secrets, validation};

/// Time in which a repeated upload of a record counts as a lost answer.
const LOST_ANSWER_SECONDS: f64 = 600.0;
/// Maximum number of deletion secrets of a run: the first one, and those for lost answers.
const MAX_SECRETS: u32 = 5;
/// Limits blocking work. A record that is being checked takes up to 35 times its length in memory.
static ASIDE: Semaphore = Semaphore::const_new(2);

pub(crate) async fn start(
    State(leaderboard): State<Leaderboard>,
    requester: Requester,
    body: JsonBytes<MAX_NETWORK_BYTES>,
) -> Result<Response> {
    let request: StartRun = body.parse()?;
    validation::check_start(&request)?;
    let now = leaderboard.clock.unix_seconds();
    let submitter = requester.submitter(&leaderboard, now).await?;
    let started = Started {
        run_id: random_word::<RUN_ID_BYTES>()?,
        seed: leaderboard.seed.map_or_else(getrandom::u32, Ok)?,
        suite: request.suite,
        engine_version: request.engine_version,
        created_unix_seconds: now,
        expires_unix_seconds: now + leaderboard.run_lifetime_seconds,
        used: false,
        submitter: submitter.word,
        prefix: submitter.prefix,
        network: request.network,
    };
    let most = Some(leaderboard.protection.open_runs).filter(|&most| most > 0);
    if !leaderboard.storage.start(&started, most).await? {
        return Err(ApiError::too_many_open_runs());
    }
    let answer = StartedRun {
        nonce: leaderboard.key.nonce(&started),
        run_id: started.run_id,
        seed: started.seed,
        expires_unix_seconds: started.expires_unix_seconds,
    };
    let mut response = (StatusCode::CREATED, Json(answer)).into_response();
    CountedEvent::Announced.travels_with(&mut response);
    Ok(response)
}

pub(crate) async fn upload(
    State(leaderboard): State<Leaderboard>,
    Announced(started): Announced,
    body: JsonBytes,
) -> Result<Response> {
    let id = started.run_id.clone();
    let (announced, key) = (started.clone(), leaderboard.key.clone());
    let mut record = run_blocking(move || {
        check_credentials(&body, &announced, &key)?;
        read_record(&body, announced.network.is_some())
    })
    .await?;
    belongs_to(&record, &started)?;
    let fingerprint = fingerprint(&mut record)?;
    if started.used {
        return answer_repeated(&leaderboard, &id, &fingerprint).await;
    }
    let now = leaderboard.clock.unix_seconds();
    if now > started.expires_unix_seconds {
        return Err(ApiError::expired());
    }
    let seen = leaderboard.storage.seen(&id).await?;
    record.run_id = Some(id.clone());
    let seconds_ago = now - started.created_unix_seconds;
    let mut run = run_blocking(move || {
        Ok(validation::check(record, &RecordOrigin::Announced { seconds_ago, seen: &seen }, id, now)?)
    })
    .await?;
    let secret = random_word::<SECRET_BYTES>()?;
    let deletion_secret_hash = Some(secrets::sha256(secret.as_bytes()));
    // Exports continue after the newest time, so a run must not wait between its time and its storage.
    run.submitted_unix_seconds = leaderboard.clock.unix_seconds();
    let new = NewRun { run, fingerprint, deletion_secret_hash, submitter: started.submitter(), registered: true };
    match leaderboard.storage.accept(&new).await? {
        Acceptance::Stored => Ok(stored_now(&leaderboard, new.run, secret)),
        // Another request with the same nonce was faster.
        Acceptance::AlreadyUsed => answer_repeated(&leaderboard, &started.run_id, &new.fingerprint).await,
        Acceptance::Deleted => Err(ApiError::deleted()),
        Acceptance::SameRecord(other) => Err(stored_as(&other)),
    }
}

/// `POST /api/v1/runs/import`: accepts a record with a seed of another origin as unverified. Its run id and nonce are
/// dropped, because nothing here proves them.
///
/// Records are published without ids and nonces, so having one does not identify its submitter. A client whose answer
/// was lost repeats the idempotency key, from which the same secret is derived.
pub(crate) async fn import(
    State(leaderboard): State<Leaderboard>,
    requester: Requester,
    IdempotencyKey(key): IdempotencyKey,
    body: JsonBytes,
) -> Result<Response> {
    let (bytes, id, now) = (body.len(), random_word::<RUN_ID_BYTES>()?, leaderboard.clock.unix_seconds());
    let (mut run, fingerprint) = run_blocking(move || {
        let mut run = validation::check(read_record(&body, false)?, &RecordOrigin::Imported, id, now)?;
        let fingerprint = fingerprint(&mut run.record)?;
        Ok((run, fingerprint))
    })
    .await?;
    leaderboard.take_import_bytes(bytes).await?;
    // Only announced runs have a prefix.
    let submitter = Submitter { prefix: None, ..requester.submitter(&leaderboard, now).await? };
    let secret = match &key {
        Some(key) => leaderboard.key.import_secret(key, &fingerprint),
        None => random_word::<SECRET_BYTES>()?,
    };
    let deletion_secret_hash = Some(secrets::sha256(secret.as_bytes()));
    run.submitted_unix_seconds = leaderboard.clock.unix_seconds();
    let new = NewRun { run, fingerprint, deletion_secret_hash, submitter, registered: false };
    match leaderboard.storage.accept(&new).await? {
        Acceptance::Stored => Ok(stored_now(&leaderboard, new.run, secret)),
        Acceptance::SameRecord(other) if key.is_some() => imported_again(&leaderboard, &other, secret).await,
        Acceptance::SameRecord(other) => Err(stored_as(&other)),
        Acceptance::Deleted => Err(ApiError::deleted()),
        Acceptance::AlreadyUsed => Err(ApiError::failed_inside()),
    }
}

/// Answers an import whose record is stored as run `id`, if `secret` is its secret.
async fn imported_again(leaderboard: &Leaderboard, id: &str, secret: String) -> Result<Response> {
    let hash = secrets::sha256(secret.as_bytes());
    let hashes = leaderboard.storage.deletion_secrets(id).await?;
    if !hashes.iter().any(|stored| secrets::same(stored, &hash)) {
        return Err(stored_as(id));
    }
    let stored = leaderboard.storage.stored_row(id).await?.ok_or_else(|| stored_as(id))?;
    Ok(accepted_response(StatusCode::OK, id, stored.verdict, secret))
}

/// Does slow work on a blocking thread, so that it does not delay other requests.
pub(super) async fn run_blocking<T: Send + 'static>(work: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
    let place = ASIDE.acquire().await.map_err(|_closed| ApiError::failed_inside())?;
    let placed = move || {
        let _place = place;
        work()
    };
    match tokio::task::spawn_blocking(placed).await {
        Ok(done) => done,
        // Continues a panic of the work.
        Err(ended) => match ended.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            Err(_cancelled) => Err(ApiError::failed_inside()),
        },
    }
}

/// Reads a record. It may contain a network only if it was announced with one.
fn read_record(body: &JsonBytes, may_have_network: bool) -> Result<RunRecord> {
    #[derive(Deserialize)]
    struct Versioned {
        schema_version: u32,
    }
    // A record of another version may have other fields.
    let of_version = |error: ApiError| match body.parse::<Versioned>() {
        Ok(of) => validation::check_schema_version(of.schema_version).map_or_else(ApiError::from, |()| error),
        Err(_) => error,
    };
    if !may_have_network {
        let networks: Networks = body.parse().map_err(of_version)?;
        check_networks(&FieldPath::ROOT, &networks)?;
    }
    body.parse().map_err(of_version)
}

/// Refuses a record with an id or nonce other than the announced run's, before the rest of it takes memory.
fn check_credentials(body: &JsonBytes, started: &Started, key: &ServerKey) -> Result<()> {
    #[derive(Deserialize)]
    struct Credentials {
        run_id: Option<String>,
        nonce: Option<String>,
    }
    let Credentials { run_id, nonce } = body.parse()?;
    let message = "The run id of the record differs from the one in the URL.";
    FieldPath::ROOT.field("run_id").require(run_id.as_ref() == Some(&started.run_id), "wrong_run_id", message)?;
    if !nonce.is_some_and(|nonce| secrets::same(&nonce, &key.nonce(started))) {
        return Err(ApiError::wrong_nonce());
    }
    Ok(())
}

fn belongs_to(record: &RunRecord, started: &Started) -> Checked {
    let root = FieldPath::ROOT;
    let message = "The run must use the seed that the leaderboard assigned.";
    root.field("seed").require(record.requested.seed == started.seed, "wrong_seed", message)?;
    let message = "The run was announced with another suite or version.";
    root.field("suite").require(record.suite == started.suite, "wrong_suite", message)?;
    let message = "The run was announced with another engine version.";
    let is_same = record.provenance.engine_version == started.engine_version;
    root.field("provenance.engine_version").require(is_same, "wrong_engine_version", message)?;
    let Some(announced) = &started.network else { return Ok(()) };
    let is_same = matches!(&*record.workloads, [of] if of.network.as_ref() == Some(announced));
    let message = "The network differs from the one that the run was announced with.";
    root.field("workloads").item(0).field("network").require(is_same, "other_network", message)
}

fn stored_now(leaderboard: &Leaderboard, run: StoredRun, secret: String) -> Response {
    leaderboard.verifiers.wake();
    let StoredRun { run_id, tier, notes, being_verified, .. } = run;
    let verdict = Verdict { tier, notes, being_verified };
    let mut response = accepted_response(StatusCode::CREATED, &run_id, verdict, secret);
    CountedEvent::Accepted(tier).travels_with(&mut response);
    response
}

/// Answers a record for a run that already has one.
///
/// A client with a lost answer sends the same record again and needs a deletion secret, which is stored only as a hash.
/// It gets one more secret, and earlier ones stay valid. This works only for ten minutes and four times, so that a
/// published record gives no power over its run.
async fn answer_repeated(leaderboard: &Leaderboard, id: &str, fingerprint: &str) -> Result<Response> {
    let other = || already_submitted("This run was already uploaded. Start a new run.");
    let stored = leaderboard.storage.stored_row(id).await?.ok_or_else(other)?;
    let age = leaderboard.clock.unix_seconds() - stored.submitted_unix_seconds;
    if stored.fingerprint != fingerprint || age > LOST_ANSWER_SECONDS {
        return Err(other());
    }
    let secret = random_word::<SECRET_BYTES>()?;
    let hash = secrets::sha256(secret.as_bytes());
    if !leaderboard.storage.add_deletion_secret(id, &hash, MAX_SECRETS).await? {
        return Err(other());
    }
    Ok(accepted_response(StatusCode::OK, id, stored.verdict, secret))
}

fn stored_as(other: &str) -> ApiError {
    already_submitted(&format!("This record is already stored as run {other}."))
}

fn already_submitted(message: &str) -> ApiError {
    ApiError::new(StatusCode::CONFLICT, "already_submitted", message)
}

fn accepted_response(status: StatusCode, id: &str, verdict: Verdict, secret: String) -> Response {
    let answer = AcceptedRun {
        run_id: id.to_owned(),
        verdict,
        permalink: format!("/runs/{id}"),
        deletion_link: format!("/runs/{id}/delete#{secret}"),
        deletion_secret: secret,
    };
    (status, [(header::LOCATION, format!("/api/v1/runs/{id}"))], Json(answer)).into_response()
}
