use results::{Beacon, StateBytes, weights_bytes};
use shaders::reference::pcg4d::pcg4d;

use crate::error::EngineError;
use crate::model::ModelError;
use crate::trainer::TrainingJob;

/// Segments of a training run that a leaderboard proves. From its first step, a segment's seed determines sample order,
/// dropout and augmentation. Without segments, the run's seed determines everything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Segments(Vec<SegmentStart>);

/// First step (zero-based) and seed of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SegmentStart {
    pub(crate) first_step: u64,
    pub(crate) seed: u32,
}

impl Segments {
    /// Begins a segment at `first_step`, which must follow the first step of the previous segment.
    pub fn begin(&mut self, first_step: u64, seed: u32) {
        debug_assert!(self.0.last().is_none_or(|last| last.first_step < first_step), "segments have steps");
        self.0.push(SegmentStart { first_step, seed });
    }

    pub(crate) fn seed_at(&self, step: u64) -> Option<u32> {
        let after = self.0.partition_point(|segment| segment.first_step <= step);
        after.checked_sub(1).map(|place| self.0[place].seed)
    }

    pub(crate) fn begins_at(&self, step: u64) -> bool {
        self.0.binary_search_by_key(&step, |segment| segment.first_step).is_ok()
    }

    /// Returns the segments that begin within `steps`, in order.
    pub(crate) fn beginning_in(&self, steps: std::ops::Range<u64>) -> &[SegmentStart] {
        let place = |step: u64| self.0.partition_point(|segment| segment.first_step < step);
        &self.0[place(steps.start)..place(steps.end)]
    }
}

pub fn segment_seed(beacon: Beacon, run_seed: u32) -> u32 {
    let [a, b, c, d] = beacon.words();
    let [x, y, z, w] = pcg4d([a, b, c, d]);
    pcg4d([x ^ run_seed, y, z, w])[0]
}

impl TrainingJob {
    /// Returns the state before the first step: initial weights, no optimizer state, and averages equal to the weights.
    pub fn initial_state(&self) -> Result<StateBytes, ModelError> {
        let weights = weights_bytes(&self.initial_weights()?);
        let mut memory = vec![0; self.optimizer.rule.states() * weights.len()];
        if self.average.is_some() {
            memory.extend_from_slice(&weights);
        }
        Ok(StateBytes { weights, memory })
    }

    /// Splits a state into tensors: first the weights, then each optimizer or average state. Returns `None` if the
    /// state has the wrong length for this job or contains non-finite values.
    pub(crate) fn split_state(&self, state: &StateBytes) -> Result<Option<Vec<Vec<Vec<f32>>>>, ModelError> {
        let lengths: Vec<usize> = self.model.tensors()?.iter().map(|tensor| tensor.elements()).collect();
        let memories = self.optimizer.rule.states() + usize::from(self.average.is_some());
        let bytes = 4 * lengths.iter().sum::<usize>();
        if state.weights.len() != bytes || state.memory.len() != memories * bytes {
            return Ok(None);
        }
        let words = state.weights.chunks_exact(4).chain(state.memory.chunks_exact(4));
        let mut values = words.map(|word| f32::from_le_bytes([word[0], word[1], word[2], word[3]]));
        let mut list = || lengths.iter().map(|&length| values.by_ref().take(length).collect()).collect();
        let lists: Vec<Vec<Vec<f32>>> = (0..=memories).map(|_| list()).collect();
        let finite = lists.iter().flatten().flatten().all(|value| value.is_finite());
        Ok(finite.then_some(lists))
    }

    /// Splits a state to be restored, and fails where [`Self::split_state`] returns `None`.
    pub(crate) fn tensors_of_state(&self, state: &StateBytes) -> Result<Vec<Vec<Vec<f32>>>, EngineError> {
        self.split_state(state)?.ok_or_else(|| EngineError::InvalidSetting {
            what: "the state to restore",
            allowed: "finite numbers, as many as this network and its optimizer have".to_owned(),
            value: format!("{} + {} bytes", state.weights.len(), state.memory.len()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn step_has_the_seed_of_its_segment() {
        let mut segments = Segments::default();
        assert_eq!(segments.seed_at(3), None);
        segments.begin(0, 7);
        segments.begin(4, 8);
        assert_eq!([0, 3, 4, 9].map(|step| segments.seed_at(step)), [Some(7), Some(7), Some(8), Some(8)]);
        assert!(segments.begins_at(4) && !segments.begins_at(3));
        assert_eq!(segments.beginning_in(1..5).len(), 1);
        assert_eq!(segments.beginning_in(5..5).len(), 0);
    }

    #[test]
    fn segment_seed_depends_on_beacon_and_run_seed() {
        let seed = segment_seed(Beacon([0; 16]), 1);
        assert_ne!(seed, segment_seed(Beacon([0; 16]), 2));
        for byte in 0..16 {
            let mut other = [0; 16];
            other[byte] = 128;
            assert_ne!(seed, segment_seed(Beacon(other), 1), "byte {byte}");
        }
    }
}
