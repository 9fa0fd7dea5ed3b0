//! Requests during and right after training that let the leaderboard prove a run.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Beacon;

/// Begins a lap: segments that follow each other with nothing in between.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OpenLap {
    /// Of the run.
    pub nonce: String,
    pub workload: String,
    /// Number of the first segment, from 0 within the workload.
    pub segment: u32,
    /// [`crate::StateBytes::sha256`] of the state with which it begins.
    pub state_sha256: String,
}

/// The answer to [`OpenLap`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OpenedLap {
    /// Beacons of the lap's first two segments.
    pub beacons: [Beacon; 2],
}

/// Commits to the state with which a segment ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CommitSegment {
    /// Of the run.
    pub nonce: String,
    pub workload: String,
    /// From 0 within the workload, without gaps.
    pub segment: u32,
    /// Steps done so far.
    pub step: u64,
    /// [`crate::StateBytes::sha256`] at this step.
    pub state_sha256: String,
    /// [`crate::losses_sha256`] of the segment's steps.
    pub losses_sha256: String,
    /// True if something other than training follows. Unused beacons are then void.
    pub ends_lap: bool,
}

/// The answer to [`CommitSegment`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CommittedSegment {
    /// Beacon of the segment after the next one; absent at the end of a lap.
    pub beacon: Option<Beacon>,
    /// Draws that fall on this segment. A draw stays until it falls on a later segment; the part that the leaderboard
    /// checks is inside the last one.
    pub draws: Vec<u32>,
}

/// Ends the training of a workload, the first time, and answers what the leaderboard wanted the last time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProvePart {
    /// Of the run.
    pub nonce: String,
    pub workload: String,
    /// Steps done at the last evaluation: the end of a segment. Only the first request counts.
    pub tested_step: u64,
    /// Steps done when the target was reached, if it was: the end of a segment. Only the first request counts.
    pub target_step: Option<u64>,
    /// Hashes that were wanted; absent in the first request.
    pub hashes: Option<PartHashes>,
}

/// Hashes of states inside of a part of the training, which was computed again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PartHashes {
    pub draw: u32,
    /// The part's first and last step, as the leaderboard named them.
    pub steps: [u64; 2],
    /// [`crate::StateBytes::sha256`] after each of the wanted steps.
    pub state_sha256: Vec<String>,
    /// Losses of all steps of the segment as they were committed, if requested; otherwise empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub losses: Vec<f32>,
}

/// Data of a workload that the leaderboard requests; empty once it has everything.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProofWanted {
    /// Part of the training to send hashes of next.
    pub hashes: Option<WantedHashes>,
    /// States that must be sent, once no more hashes are wanted.
    pub states: Vec<WantedState>,
}

/// Hashes that the leaderboard wants.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WantedHashes {
    pub draw: u32,
    /// Steps done before the part and at its end.
    pub steps: [u64; 2],
    /// Steps in between after which the state is hashed.
    pub at: Vec<u64>,
    /// True if the losses of all steps are requested as well: the part is a whole segment.
    pub losses: bool,
}

/// A state that the leaderboard wants, sent to `PUT /api/v1/runs/{id}/states/{workload}/{step}`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WantedState {
    /// Steps done.
    pub step: u64,
    /// True if the SHA-256 of the memory is enough: [`crate::StateBytes::body`].
    pub weights_only: bool,
}
