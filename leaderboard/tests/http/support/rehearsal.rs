//! A run that really trains with the engine's plain loops, while a simulated clock makes it last as long as on a slow
//! GPU. It is made once on a server of rehearsals; all such servers with the same seed give the same beacons and draws.
//! Tests replay it against other servers, unchanged or modified.

use std::sync::{Arc, LazyLock};

use leaderboard::{Protection, ProxyHeader};
use results::api::{StartedRun, Tier, Verdict};
use results::{Outcome, Phase, RunRecord, Warning};

use super::kept::computed_once;
use super::pretended::{Tricks, data_folder};
use super::requests::{RunCall, TimedCall, taken, train};
use super::{HttpAnswer, TestClient, TestServer, record};

/// The seed that the servers of these tests give.
pub(crate) const SEED: u32 = 20_261_123;
/// The network that is faster to verify …
pub(crate) const SMALL: &str = "keras-mnist-mlp";
/// … and the other one of the suite.
pub(crate) const LARGE: &str = "caffe-mnist";
/// Address of the honest client, in a /24 without attackers.
pub(crate) const HONEST: &str = "198.51.100.1";

#[derive(Clone)]
pub(crate) struct Rehearsal {
    pub(crate) messages: Vec<TimedCall>,
    pub(crate) record: RunRecord,
}

pub(crate) fn server() -> TestServer {
    server_with_seed(SEED)
}

pub(crate) fn server_with_seed(seed: u32) -> TestServer {
    TestServer::with(|config| (config.data, config.seed) = (Some(data_folder()), Some(seed)))
}

/// Returns [`server`] with these limits and budgets, behind a proxy that reports the client's address.
pub(crate) fn server_behind_a_proxy(protection: Protection) -> TestServer {
    TestServer::with(|config| {
        config.protection = Protection { trusted_proxy_header: Some(ProxyHeader::XForwardedFor), ..protection };
        (config.data, config.seed) = (Some(data_folder()), Some(SEED));
    })
}

/// Replays [`light`] against a server behind a proxy, as a client at `address`, and asserts that the run is proven.
/// Works once per server, because a second run would have the same record.
#[track_caller]
pub(crate) fn prove_honest_run(server: &TestServer, address: &'static str) {
    let client = server.seen_at(address);
    let (started, answer) = light().play_as(&client, server);
    assert_proven(&client, &started, answer);
}

#[track_caller]
pub(super) fn assert_proven(client: &TestClient, started: &StartedRun, uploaded: HttpAnswer) {
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

/// Returns an honest run of the quick suite from [`SEED`].
pub(crate) fn honest() -> Rehearsal {
    static HONEST: LazyLock<Rehearsal> = LazyLock::new(|| {
        let program = std::env::current_exe().unwrap();
        Rehearsal::from_bytes(&computed_once("rehearsal", &program, || rehearse().to_bytes()))
    });
    HONEST.clone()
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
    /// Returns a line of JSON, and then all states.
    fn to_bytes(&self) -> Vec<u8> {
        let states: Vec<&[u8]> = self.messages.iter().filter_map(|message| message.call.state()).collect();
        let lengths: Vec<usize> = states.iter().map(|state| state.len()).collect();
        let json = serde_json::to_vec(&(&self.record, &self.messages, lengths)).unwrap();
        [&json, &b"\n"[..], &states.concat()].concat()
    }

    fn from_bytes(bytes: &[u8]) -> Self {
        let end = bytes.iter().position(|byte| *byte == b'\n').unwrap();
        let (json, mut rest) = (&bytes[..end], &bytes[end + 1..]);
        let (record, mut messages, lengths): (_, Vec<TimedCall>, Vec<usize>) = serde_json::from_slice(json).unwrap();
        let mut lengths = lengths.into_iter();
        for message in &mut messages {
            if let RunCall::Show { state, .. } = &mut message.call {
                let (bytes, after) = rest.split_at(lengths.next().unwrap());
                (*state, rest) = (Arc::new(bytes.to_vec()), after);
            }
        }
        Self { messages, record }
    }

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

    /// Returns the record with the run's values from the server.
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
