//! Requests of a client during and after training.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use async_trait::async_trait;
use engine::{BackendFacts, Clock, Commitment, Edges, NoMeter, PendingAnswer, RunRequest, Witness};
use results::api::{
    CommitSegment, CommittedSegment, OpenLap, OpenedLap, PartHashes, ProofWanted, ProvePart, StartedRun, WantedHashes,
};
use results::{Beacon, Precision, RunRecord, losses_sha256};
use serde::{Deserialize, Serialize};

use super::pretended::{Files, Nobody, Pretended, PretendedClock, Tricks};
use super::rehearsal::SMALL;
use super::{HttpAnswer, TestClient, TestServer, record};

#[derive(Clone, Deserialize, Serialize)]
pub(crate) struct TimedCall {
    /// Seconds since the run was announced, on the server's clock.
    pub(crate) at: f64,
    pub(crate) call: RunCall,
}

/// A request of a run, without its nonce.
#[derive(Clone, Deserialize, Serialize)]
pub(crate) enum RunCall {
    OpenLap(OpenLap),
    Commit(CommitSegment),
    Prove(ProvePart),
    Show {
        workload: String,
        step: u64,
        /// Separate from the JSON, because megabytes of numbers would be slow there.
        #[serde(skip)]
        state: Arc<Vec<u8>>,
    },
}

impl RunCall {
    pub(crate) fn workload(&self) -> &str {
        match self {
            Self::OpenLap(lap) => &lap.workload,
            Self::Commit(segment) => &segment.workload,
            Self::Prove(part) => &part.workload,
            Self::Show { workload, .. } => workload,
        }
    }

    pub(crate) fn state(&self) -> Option<&[u8]> {
        if let Self::Show { state, .. } = self { Some(state) } else { None }
    }

    pub(crate) fn send(&self, client: &TestClient, run: &StartedRun) -> HttpAnswer {
        let nonce = run.nonce.clone();
        let path = |end: &str| format!("/api/v1/runs/{}/{end}", run.run_id);
        match self {
            Self::OpenLap(lap) => client.json("POST", &path("laps"), &OpenLap { nonce, ..lap.clone() }),
            Self::Commit(segment) => {
                client.json("POST", &path("segments"), &CommitSegment { nonce, ..segment.clone() })
            }
            Self::Prove(part) => client.json("POST", &path("proof"), &ProvePart { nonce, ..part.clone() }),
            Self::Show { workload, step, state } => {
                let bearer = format!("Bearer {nonce}");
                let headers = [("content-type", "application/octet-stream"), ("authorization", bearer.as_str())];
                client.send("PUT", &path(&format!("states/{workload}/{step}")), &headers, state)
            }
        }
    }
}

/// Trains the suite for an announced run of `server`, with all requests during and after training. Returns the
/// requests and the record, which is not uploaded.
pub(crate) fn train(server: &TestServer, run: &StartedRun, tricks: Tricks) -> (Vec<TimedCall>, RunRecord) {
    let model = record::unregistered(run.seed);
    let clock = Rc::new(PretendedClock::default());
    let adapter = model.device.adapter.clone();
    let facts = BackendFacts { repeats_itself: true, ..BackendFacts::new("wgsl", adapter, Precision::F32) };
    let backend = Pretended { clock: Rc::clone(&clock), facts, tricks, begun: RefCell::default() };
    let suite = &engine::SUITES[0];
    let request = RunRequest {
        spec: model.requested,
        suite,
        workloads: suite.workloads.iter().map(|name| engine::workload(name).unwrap()).collect(),
        registration: None,
        provenance: model.provenance,
        claimed_name: None,
    };
    let mut witness = LiveWitness { server, run, tricks, clock: &clock, before: 0.0, at: 0.0, messages: Vec::new() };
    let mut edges = Edges {
        data: &mut Files::default(),
        observer: &mut Nobody,
        clock: clock.as_ref(),
        meter: &mut NoMeter,
        witness: Some(&mut witness),
    };
    let mut record = pollster::block_on(engine::run(&request, &backend, &mut edges)).unwrap();
    (tricks.record)(&mut record);
    record::summarise(&mut record);
    server.pass((record.provenance.wall_seconds - witness.at).max(0.0));
    (witness.messages, record)
}

/// Sends requests to a server whose clock follows the client's.
struct LiveWitness<'a> {
    server: &'a TestServer,
    run: &'a StartedRun,
    tricks: Tricks,
    clock: &'a PretendedClock,
    /// Time of the latest request on the client's clock …
    before: f64,
    /// … and on the server's, since the run was announced.
    at: f64,
    messages: Vec<TimedCall>,
}

impl LiveWitness<'_> {
    fn send(&mut self, mut call: RunCall) -> Result<HttpAnswer, String> {
        (self.tricks.request)(&mut call);
        let now = self.clock.now_seconds();
        let passed = now - self.before;
        let passed = passed + (self.tricks.hidden_seconds)(&call, passed);
        self.server.pass(passed);
        self.before = now;
        self.at += passed;
        let answer = call.send(self.server, self.run);
        self.messages.push(TimedCall { at: self.at, call });
        if answer.status.is_success() { Ok(answer) } else { Err(answer.text()) }
    }
}

#[async_trait(?Send)]
impl Witness for LiveWitness<'_> {
    async fn open_lap(&mut self, workload: &str, segment: u32, state_sha256: &str) -> Result<[Beacon; 2], String> {
        let (workload, state_sha256) = (workload.to_owned(), state_sha256.to_owned());
        let lap = OpenLap { nonce: String::new(), workload, segment, state_sha256 };
        Ok(self.send(RunCall::OpenLap(lap))?.parse::<OpenedLap>().beacons)
    }

    fn commit(&mut self, commitment: Commitment) -> PendingAnswer {
        let Commitment { workload, segment, step, state_sha256, losses_sha256, ends_lap } = commitment;
        let nonce = String::new();
        let segment = CommitSegment { nonce, workload, segment, step, state_sha256, losses_sha256, ends_lap };
        let answer = self.send(RunCall::Commit(segment)).map(|answer| answer.parse::<CommittedSegment>());
        Box::pin(std::future::ready(answer))
    }

    async fn prove(
        &mut self,
        workload: &str,
        tested_step: u64,
        target_step: Option<u64>,
        hashes: Option<PartHashes>,
    ) -> Result<ProofWanted, String> {
        let (nonce, workload) = (String::new(), workload.to_owned());
        let part = ProvePart { nonce, workload, tested_step, target_step, hashes };
        Ok(self.send(RunCall::Prove(part))?.parse())
    }

    async fn show(&mut self, workload: &str, step: u64, state: Vec<u8>) -> Result<(), String> {
        self.send(RunCall::Show { workload: workload.to_owned(), step, state: Arc::new(state) }).map(drop)
    }
}

const NO_NONCE: String = String::new();

/// Returns an invented hash of the state after `step` steps.
pub(crate) fn hash(step: u64) -> String {
    format!("{step:064x}")
}

pub(crate) fn lap(segment: u32, state_sha256: &str) -> RunCall {
    let state_sha256 = state_sha256.to_owned();
    RunCall::OpenLap(OpenLap { nonce: NO_NONCE, workload: SMALL.to_owned(), segment, state_sha256 })
}

/// Commits to a segment of these steps with the losses of [`losses`].
pub(crate) fn segment(number: u32, steps: [u64; 2], state_sha256: &str, ends_lap: bool) -> CommitSegment {
    CommitSegment {
        nonce: NO_NONCE,
        workload: SMALL.to_owned(),
        segment: number,
        step: steps[1],
        state_sha256: state_sha256.to_owned(),
        losses_sha256: losses_sha256(&losses(steps)),
        ends_lap,
    }
}

pub(crate) fn losses(steps: [u64; 2]) -> Vec<f32> {
    (steps[0]..steps[1]).map(|step| 1.0 / (1.0 + step as f32)).collect()
}

/// Returns a `proof` request for a training whose last test was after `tested_step` steps, at the end of a segment.
pub(crate) fn proof(tested_step: u64, target_step: Option<u64>, hashes: Option<PartHashes>) -> RunCall {
    RunCall::Prove(ProvePart { nonce: NO_NONCE, workload: SMALL.to_owned(), tested_step, target_step, hashes })
}

/// Returns the requested hashes, from [`hash`] and [`losses`].
pub(crate) fn hashes(wanted: &WantedHashes) -> PartHashes {
    let losses = if wanted.losses { losses(wanted.steps) } else { Vec::new() };
    let state_sha256 = wanted.at.iter().map(|&step| hash(step)).collect();
    PartHashes { draw: wanted.draw, steps: wanted.steps, state_sha256, losses }
}

pub(crate) fn send_lap(client: &TestClient, run: &StartedRun, first_sha256: &str, ends: &[(u64, String)]) {
    taken(client, run, &lap(0, first_sha256));
    let mut before = 0;
    for (number, (step, sha256)) in (0..).zip(ends) {
        let is_last = number as usize + 1 == ends.len();
        taken(client, run, &RunCall::Commit(segment(number, [before, *step], sha256, is_last)));
        before = *step;
    }
}

/// Answers requests for hashes until the server requests states, for a training whose last test was after `tested_step`
/// steps.
pub(crate) fn send_hashes(client: &TestClient, run: &StartedRun, tested_step: u64) -> ProofWanted {
    let mut wanted: ProofWanted = taken(client, run, &proof(tested_step, None, None)).parse();
    while let Some(part) = &wanted.hashes {
        wanted = taken(client, run, &proof(tested_step, None, Some(hashes(part)))).parse();
    }
    wanted
}

#[track_caller]
pub(crate) fn taken(client: &TestClient, run: &StartedRun, call: &RunCall) -> HttpAnswer {
    let answer = call.send(client, run);
    assert!(answer.status.is_success(), "{}", answer.text());
    answer
}
