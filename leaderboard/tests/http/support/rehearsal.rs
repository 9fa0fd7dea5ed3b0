//! A run that really trains with the engine's plain loops, while a simulated clock makes it last as long as on a slow
//! GPU. It is made once on a server of rehearsals; all such servers with the same seed give the same beacons and draws.
//! Tests replay it against other servers, unchanged or modified.

use std::fs::{self, File};
use std::path::Path;
use std::sync::LazyLock;

use leaderboard::Config;
use results::api::{StartedRun, Tier, Verdict};
use results::{Outcome, Phase, RunRecord, Warning};
use serde::{Deserialize, Serialize};

use super::pretended::{Tricks, data_folder, train};
use super::record::LARGE;
use super::requests::{RunCall, TimedCall, taken};
use super::{HttpAnswer, TestClient, TestServer, record};

pub(crate) const SEED: u32 = 20_261_123;
/// Address of the honest client, in a /24 without attackers.
pub(crate) const HONEST: &str = "198.51.100.1";

#[derive(Clone, Deserialize, Serialize)]
pub(crate) struct Rehearsal {
    pub(crate) messages: Vec<TimedCall>,
    pub(crate) record: RunRecord,
}

pub(crate) fn server() -> TestServer {
    server_with(|_| {})
}

pub(crate) fn server_with(change: impl FnOnce(&mut Config)) -> TestServer {
    TestServer::with(|config, _| {
        (config.data, config.seed) = (Some(data_folder()), Some(SEED));
        change(config);
    })
}

/// Replays [`light`] against a server, as a client at `address`, and asserts that the run is proven. Works once per
/// server, because a second run would have the same record.
#[track_caller]
pub(crate) fn prove_honest_run(server: &TestServer, address: &'static str) {
    let client = server.seen_at(address);
    let (started, answer) = light().play_as(&client, server);
    assert_proven(&client, &started, answer);
}

#[track_caller]
fn assert_proven(client: &TestClient, started: &StartedRun, uploaded: HttpAnswer) {
    assert_tier(&verdict_on(client, started, uploaded), Tier::Proven, "");
}

/// Asserts the tier of a verdict, and that one of its notes contains a text, unless it is empty.
#[track_caller]
pub(crate) fn assert_tier(verdict: &Verdict, tier: Tier, reason: &str) {
    assert_eq!(verdict.tier, tier, "{:?}", verdict.notes);
    let is_noted = reason.is_empty() || verdict.notes.iter().any(|note| note.to_string().contains(reason));
    assert!(is_noted, "{reason}: {:?}", verdict.notes);
}

#[track_caller]
pub(crate) fn verdict_on(client: &TestClient, started: &StartedRun, uploaded: HttpAnswer) -> Verdict {
    uploaded.with_status(201);
    client.verdict_of(&started.run_id)
}

/// Starts a server process with the real clock, and a server in this process that shares its database. The second one
/// announces runs of the rehearsal's seed in the past.
#[cfg(target_os = "linux")]
pub(crate) fn announcer_and_process(mut command: std::process::Command) -> (TestServer, super::ServerProcess) {
    let mut announcer = server();
    announcer.restart_with_verifiers(0);
    command.args(["--trusted-proxy-header", "x-forwarded-for", "--data"]).arg(data_folder());
    let process = super::ServerProcess::start_as(command, announcer.database());
    (announcer, process)
}

/// Sends an honest client's requests during training to the announcer, whose clock is behind by their duration, and the
/// record to the process through `client`. Asserts that the run is proven.
#[cfg(target_os = "linux")]
#[track_caller]
pub(crate) fn prove_announced_run(announcer: &TestServer, client: &TestClient) {
    let run = light();
    let now = std::time::UNIX_EPOCH.elapsed().unwrap().as_secs_f64();
    // One second more than the duration of the run.
    *announcer.now.lock().unwrap() = now - run.record.provenance.wall_seconds - 1.0;
    let honest = announcer.seen_at(HONEST);
    let started = honest.begin();
    run.send_all_as(&honest, announcer, &started);
    let answer = client.upload(&started.run_id, &run.record_of(&started));
    assert_proven(client, &started, answer);
}

/// Returns an honest run of the quick suite from [`SEED`].
pub(crate) fn honest() -> Rehearsal {
    static HONEST: LazyLock<Rehearsal> = LazyLock::new(rehearse_once);
    HONEST.clone()
}

/// Returns the rehearsal from a file if any process has made it since this program was built, because it takes seconds
/// and tests may run in separate processes. Other processes that need it at the same time wait for the first one.
fn rehearse_once() -> Rehearsal {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    fs::create_dir_all(folder).unwrap();
    let [file, partial, lock] = ["json", "partial", "lock"].map(|ending| folder.join(format!("rehearsal.{ending}")));
    let lock = File::create(lock).unwrap();
    lock.lock().unwrap();
    let modified = |path: &Path| fs::metadata(path).and_then(|metadata| metadata.modified());
    let built = modified(&std::env::current_exe().unwrap()).unwrap();
    if modified(&file).is_ok_and(|kept| kept > built) {
        return serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    }
    let rehearsal = rehearse();
    fs::write(&partial, serde_json::to_vec(&rehearsal).unwrap()).unwrap();
    fs::rename(&partial, &file).unwrap();
    rehearsal
}

/// Returns the same run with a failure of the larger network at its beginning, so that it is faster to verify.
pub(crate) fn light() -> Rehearsal {
    let mut run = honest();
    run.fail(LARGE, 0);
    run
}

/// Trains on a server of rehearsals, which must prove the run.
fn rehearse() -> Rehearsal {
    let server = server();
    let started = server.begin();
    let (messages, record) = train(&server, &started, Tricks::default());
    let rehearsal = Rehearsal { messages, record };
    let missed = |warning: &&Warning| matches!(warning, Warning::CheckpointMissed { .. });
    assert_eq!(rehearsal.record.warnings.iter().find(missed), None);
    for workload in &rehearsal.record.workloads {
        assert_eq!(workload.outcome, Outcome::Completed);
        let long = workload.windows.iter().filter(|window| window.steps > 1).count();
        assert!(workload.segments.len() == workload.windows.len() && long >= 8, "{:?}", workload.windows);
    }
    let answer = server.upload(&started.run_id, &rehearsal.record_of(&started));
    assert_proven(&server, &started, answer);
    rehearsal
}

impl Rehearsal {
    /// Plays it, and asserts that the record is accepted.
    #[track_caller]
    pub(crate) fn play_accepted(&self, server: &TestServer) -> StartedRun {
        let (started, answer) = self.play_as(server, server);
        answer.with_status(201);
        started
    }

    /// Sends all requests to the server as one of its clients, each at its time, and uploads the record.
    pub(crate) fn play_as(&self, client: &TestClient, server: &TestServer) -> (StartedRun, HttpAnswer) {
        let started = client.begin();
        self.send_all_as(client, server, &started);
        let answer = client.upload(&started.run_id, &self.record_of(&started));
        (started, answer)
    }

    pub(crate) fn send_all_as(&self, client: &TestClient, server: &TestServer, started: &StartedRun) {
        let mut now = 0.0;
        for message in &self.messages {
            server.pass(message.at - now);
            now = message.at;
            taken(client, started, &message.call);
        }
        server.pass((self.record.provenance.wall_seconds - now).max(0.0));
    }

    pub(crate) fn record_of(&self, started: &StartedRun) -> RunRecord {
        RunRecord { run_id: Some(started.run_id.clone()), nonce: Some(started.nonce.clone()), ..self.record.clone() }
    }

    pub(crate) fn verdict(&self, server: &TestServer) -> Verdict {
        server.verdict_of(&self.play_accepted(server).run_id)
    }

    /// Returns the samples per second of the last lap, on the server's clock, for a run of one network with a first lap
    /// of one window.
    pub(crate) fn server_rate(&self) -> f64 {
        let at = |wanted: fn(&RunCall) -> bool| self.messages.iter().rfind(|message| wanted(&message.call)).unwrap().at;
        let seconds = at(|call| matches!(call, RunCall::Commit(_))) - at(|call| matches!(call, RunCall::OpenLap(_)));
        let windows = self.record.workloads.iter().flat_map(|of| of.windows.iter().skip(1));
        windows.map(|window| window.samples).sum::<u64>() as f64 / seconds
    }

    /// Makes a network fail after `requests` of its requests.
    pub(crate) fn fail(&mut self, name: &str, requests: usize) {
        let workload = self.record.workloads.iter_mut().find(|of| of.workload == name).unwrap();
        let mut timeline = workload.timeline.clone();
        if requests == 0 {
            timeline.retain(|stretch| matches!(stretch.phase, Phase::LoadingData | Phase::Building | Phase::Checking));
        }
        record::fail(workload, timeline);
        let mut number = 0;
        self.messages.retain(|message| {
            number += usize::from(message.call.workload() == name);
            message.call.workload() != name || number <= requests
        });
    }
}
