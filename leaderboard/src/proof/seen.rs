//! History of the training of a workload, as received by the server and stored.

use std::ops::Range;

use engine::Workload;
use results::api::{PartHashes, WantedState};
use results::{Beacon, StateBytes};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// Largest number of hashes in a round. More mean more hashed states; fewer mean more steps to retrain.
pub(crate) const MAX_HASHES: u32 = 7;

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct SeenWorkload {
    pub(crate) workload: String,
    pub(crate) laps: Vec<SeenLap>,
    /// In order and without gaps.
    pub(crate) segments: Vec<SeenSegment>,
    pub(crate) proof: Option<BegunProof>,
    /// Requested hashes that were received. The first ones of each draw have the losses of its segment.
    pub(crate) hashes: Vec<PartHashes>,
    pub(crate) states: Vec<WantedState>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct SeenLap {
    pub(crate) first_segment: u32,
    pub(crate) state_sha256: String,
    pub(crate) opened_unix_seconds: f64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct SeenSegment {
    pub(crate) step: u64,
    pub(crate) beacon: Beacon,
    /// Hash of the state at its end.
    pub(crate) state_sha256: String,
    pub(crate) losses_sha256: String,
    pub(crate) ends_lap: bool,
    pub(crate) committed_unix_seconds: f64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct BegunProof {
    /// Word from which the draws inside segments are derived.
    pub(crate) word: String,
    pub(crate) segments: usize,
    /// Number of the segment on which each draw stayed.
    pub(crate) drawn: Vec<usize>,
    /// Number of steps before the last evaluation.
    pub(crate) tested_step: u64,
    /// Absent if the target was not reached.
    pub(crate) target_step: Option<u64>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct SurroundingSegments {
    /// The latest lap that begins with the segment or before it.
    pub(crate) lap: Option<SeenLap>,
    pub(crate) two_before: Option<SeenSegment>,
    pub(crate) before: Option<SeenSegment>,
    pub(crate) same: Option<SeenSegment>,
    pub(crate) is_proof_begun: bool,
}

impl SeenWorkload {
    /// Returns the ended laps: their segments, and their duration in seconds on the server's clock.
    pub(crate) fn ended_laps(&self) -> impl Iterator<Item = (Range<usize>, f64)> {
        let ends = self.laps.iter().map(|lap| lap.first_segment as usize).skip(1).chain([self.segments.len()]);
        self.laps.iter().zip(ends).filter_map(|(lap, end)| {
            let segments = lap.first_segment as usize..end;
            let last = self.segments.get(segments.clone())?.last().filter(|last| last.ends_lap)?;
            Some((segments, last.committed_unix_seconds - lap.opened_unix_seconds))
        })
    }

    /// Returns true if there is at least one segment and every segment is in a lap that has ended.
    pub(crate) fn has_ended(&self) -> bool {
        self.segments.last().is_some_and(|last| last.ends_lap)
            && self.laps.last().is_some_and(|lap| (lap.first_segment as usize) < self.segments.len())
    }

    /// Returns the steps done before a segment and at its end.
    pub(crate) fn steps_of(&self, segment: usize) -> [u64; 2] {
        let before = segment.checked_sub(1).map_or(0, |before| self.segments[before].step);
        [before, self.segments[segment].step]
    }

    pub(crate) fn hash_at(&self, step: u64) -> Option<&str> {
        if step == 0 {
            return self.laps.first().map(|lap| lap.state_sha256.as_str());
        }
        if let Ok(place) = self.segments.binary_search_by_key(&step, |segment| segment.step) {
            return Some(&self.segments[place].state_sha256);
        }
        self.hashes.iter().find_map(|part| {
            let place = inner_steps(part.steps).position(|inner| inner == step)?;
            part.state_sha256.get(place).map(String::as_str)
        })
    }
}

/// Returns the steps inside a part after which states are hashed, spaced as evenly as possible.
pub(super) fn inner_steps([begin, end]: [u64; 2]) -> impl Iterator<Item = u64> {
    let steps = end.saturating_sub(begin);
    let number = steps.saturating_sub(1).min(MAX_HASHES.into());
    (1..=number).map(move |place| begin + steps * place / (number + 1))
}

const BYTES_OF_SHA256: u64 = 32;

/// Length of the states of a workload, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StateSize {
    weights: u64,
    memory: u64,
}

impl StateSize {
    /// Returns the size of a state of this workload, or zero if its model cannot be built.
    pub(crate) fn of(workload: &Workload) -> Self {
        let [weights, memory] = workload.bytes_of_state().unwrap_or_default();
        Self { weights, memory }
    }

    pub(crate) fn of_body(self, weights_only: bool) -> u64 {
        self.weights + if weights_only { BYTES_OF_SHA256 } else { self.memory }
    }

    /// Returns [`StateBytes::sha256`] of a received body, or `None` if it has the wrong length.
    pub(crate) fn sha256(self, body: &[u8], weights_only: bool) -> Option<String> {
        if body.len() as u64 != self.of_body(weights_only) {
            return None;
        }
        let (weights, rest) = body.split_at_checked(usize::try_from(self.weights).ok()?)?;
        Some(match weights_only {
            true => StateBytes::joined_sha256(weights, rest),
            false => StateBytes::joined_sha256(weights, Sha256::digest(rest).as_slice()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proof::testing::seen;

    #[test]
    fn a_lap_lasts_until_the_commitment_that_ends_it() {
        let mut seen = seen(&[2, 3], 10);
        assert_eq!(seen.ended_laps().collect::<Vec<_>>(), [(0..2, 2.0), (2..5, 3.0)]);
        assert!(seen.has_ended());
        seen.segments[4].ends_lap = false;
        assert_eq!(seen.ended_laps().collect::<Vec<_>>(), [(0..2, 2.0)]);
        assert!(!seen.has_ended());
        seen.segments.truncate(2);
        assert_eq!(seen.ended_laps().count(), 1);
        assert!(!seen.has_ended(), "the second lap has begun");
    }

    #[test]
    fn hashes_are_known_of_what_was_committed() {
        let mut seen = seen(&[2], 32);
        assert_eq!(seen.hash_at(0), Some("state 0"));
        assert_eq!(seen.hash_at(32), Some("state 32"));
        assert_eq!(seen.hash_at(36), None);
        let state_sha256 = (1..=7).map(|place| format!("state {}", 32 + 4 * place)).collect();
        seen.hashes.push(PartHashes { draw: 0, steps: [32, 64], state_sha256, losses: Vec::new() });
        assert_eq!(seen.hash_at(36), Some("state 36"));
        assert_eq!(seen.hash_at(34), None);
    }

    #[test]
    fn inner_steps_are_evenly_spaced_and_inside() {
        assert_eq!(inner_steps([10, 12]).collect::<Vec<_>>(), [11]);
        assert_eq!(inner_steps([10, 11]).count() + inner_steps([10, 10]).count(), 0);
        assert_eq!(inner_steps([0, 8]).collect::<Vec<_>>(), (1..8).collect::<Vec<_>>());
        let steps: Vec<u64> = inner_steps([100, 1101]).collect();
        assert_eq!(steps.len(), MAX_HASHES as usize);
        assert!(steps.windows(2).all(|pair| (125..=126).contains(&(pair[1] - pair[0]))), "{steps:?}");
    }

    #[test]
    fn state_has_weights_and_memory_or_their_hash() {
        let size = StateSize { weights: 8, memory: 4 };
        let state = StateBytes { weights: vec![1; 8], memory: vec![2; 4] };
        for weights_only in [false, true] {
            let body = state.body(weights_only);
            assert_eq!(body.len() as u64, size.of_body(weights_only));
            assert_eq!(size.sha256(&body, weights_only), Some(state.sha256()));
            assert_eq!(size.sha256(&body[1..], weights_only), None);
        }
    }

    #[test]
    fn the_size_follows_from_the_network_and_its_optimizer() {
        let size = StateSize::of(&engine::workload("keras-mnist-mlp").unwrap());
        assert_eq!((size.of_body(true), size.of_body(false)), (4 * 669_706 + 32, 8 * 669_706));
    }
}
