//! State of the proof of learning, and the leaderboard that follows it.

use std::collections::{BTreeMap, VecDeque};
use std::pin::Pin;
use std::rc::Rc;

use async_trait::async_trait;
use results::api::{CommitSegment, CommittedSegment, OpenLap, OpenedLap, ProofWanted, ProvePart};
use results::{Beacon, StateBytes};

use crate::trainer::Backend;
use crate::training::Segments;
use crate::workload::Workload;

/// Number of recent states kept. When a segment begins, the draws for the segment between the oldest two are known.
const STATES_UNTIL_ANSWER: usize = 3;
/// Minimum window length as a multiple of the time to read and hash a state: 2.5 % of the total at most.
pub(super) const COMMITMENTS_PER_WINDOW: f64 = 40.0;

/// Commitments sent to a leaderboard, and states kept to retrain parts.
#[derive(Default)]
pub(super) struct Proof {
    pub(super) lap: Option<Lap>,
    pub(super) segments: Segments,
    /// State hashes sent to the leaderboard, by step. Retraining must reproduce them.
    pub(super) sent: BTreeMap<u64, String>,
    /// Losses of each segment, by its first step.
    pub(super) losses: BTreeMap<u64, Vec<f32>>,
    pub(super) kept: Kept,
    pub(super) commitment_seconds: f64,
    /// True while windows only warm up the device. Counted windows are in a separate lap.
    pub(super) is_warming_up: bool,
}

/// Uninterrupted sequence of segments.
pub(super) struct Lap {
    pub(super) beacons: VecDeque<Beacon>,
    /// First step of the second-to-last segment, and the answer to its commitment.
    pub(super) pending: Option<(u64, PendingAnswer)>,
    /// First step of the latest segment, and its commitment, which is sent once it is known if the lap ends.
    pub(super) unsent: Option<(u64, CommitSegment)>,
}

/// States that the leaderboard may request or that parts are retrained from, each with its step.
#[derive(Default)]
pub(super) struct Kept {
    /// States after the most recent segments, in order. Their draws may not be known yet.
    latest: VecDeque<(u64, Rc<StateBytes>)>,
    /// States that the leaderboard will certainly or probably request.
    pub(super) pinned: BTreeMap<KeptReason, (u64, Rc<StateBytes>)>,
    /// States inside the most recently retrained part.
    pub(super) inside: Vec<(u64, Rc<StateBytes>)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum KeptReason {
    Tested,
    Target,
    /// State at the start of this draw's part.
    Part(u32),
}

/// Returns the reason that a training of `workload` on `backend` cannot be proven, if any, as a sentence fragment.
pub(super) fn obstacle(workload: &Workload, backend: &dyn Backend) -> Option<String> {
    if !backend.facts().repeats_itself {
        return Some("this backend does not train reproducibly to the bit".to_owned());
    }
    workload.proof_obstacle().map(|obstacle| obstacle.to_string())
}

impl Proof {
    pub(super) fn new() -> Self {
        Self { is_warming_up: true, ..Self::default() }
    }

    pub(super) fn pin(&mut self, reason: KeptReason) {
        if let Some(latest) = self.kept.latest.back() {
            self.kept.pinned.insert(reason, latest.clone());
        }
    }
}

impl Kept {
    pub(super) fn push(&mut self, step: u64, state: StateBytes) {
        self.latest.push_back((step, Rc::new(state)));
        if self.latest.len() > STATES_UNTIL_ANSWER {
            self.latest.pop_front();
        }
    }

    /// Keeps the state before a segment for the draws that selected it, replacing their earlier states.
    pub(super) fn pin_parts(&mut self, draws: &[u32], begin: u64) {
        if let Some(state) = self.latest.iter().find(|&&(step, _)| step == begin) {
            self.pinned.extend(draws.iter().map(|&draw| (KeptReason::Part(draw), state.clone())));
        }
    }

    /// Returns the latest kept state at or before `step` steps.
    pub(super) fn before(&self, step: u64) -> Option<(u64, Rc<StateBytes>)> {
        let all = self.latest.iter().chain(self.pinned.values()).chain(&self.inside);
        all.filter(|&&(kept, _)| kept <= step).max_by_key(|&&(kept, _)| kept).cloned()
    }
}

/// Leaderboard that follows a run during training and times it with its own clock. docs/PROOF.md describes the
/// protocol.
///
/// Messages come without the run's nonce, which the witness adds. An error is a sentence fragment that explains the
/// missing answer. The run then continues without a witness.
#[async_trait(?Send)]
pub trait Witness {
    async fn open_lap(&mut self, lap: OpenLap) -> Result<OpenedLap, String>;

    /// Sends a commitment. Training continues while the answer is pending.
    fn commit(&mut self, commitment: CommitSegment) -> PendingAnswer;

    /// Returns the leaderboard's request for hashes or states of a trained workload.
    async fn prove(&mut self, part: ProvePart) -> Result<ProofWanted, String>;

    /// Sends a requested state, as [`results::StateBytes::body`].
    async fn show(&mut self, workload: &str, step: u64, state: Vec<u8>) -> Result<(), String>;
}

/// Answer to a commitment, which may not have arrived yet.
pub type PendingAnswer = Pin<Box<dyn Future<Output = Result<CommittedSegment, String>>>>;
