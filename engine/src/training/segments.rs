use std::ops::Range;

use results::Beacon;
use shaders::reference::pcg4d::pcg4d;

/// Segments of a training run that a leaderboard proves. From its first step, a segment's seed determines sample order,
/// dropout and augmentation. Without segments, the run's seed determines everything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Segments {
    /// First step (zero-based) and seed of each segment, in order.
    starts: Vec<(u64, u32)>,
}

impl Segments {
    /// Begins a segment at `first_step`, which must follow the first step of the previous segment.
    pub fn begin(&mut self, first_step: u64, seed: u32) {
        debug_assert!(self.starts.last().is_none_or(|&(last, _)| last < first_step), "segments have steps");
        self.starts.push((first_step, seed));
    }

    pub(crate) fn seed_at(&self, step: u64) -> Option<u32> {
        let after = self.starts.partition_point(|&(first_step, _)| first_step <= step);
        after.checked_sub(1).map(|place| self.starts[place].1)
    }

    pub(crate) fn begins_at(&self, step: u64) -> bool {
        self.starts.binary_search_by_key(&step, |&(first_step, _)| first_step).is_ok()
    }

    /// Returns the first steps of the segments that begin within `steps`, in order.
    pub(crate) fn beginning_in(&self, steps: Range<u64>) -> impl Iterator<Item = u64> {
        self.starts.iter().map(|&(first_step, _)| first_step).filter(move |first_step| steps.contains(first_step))
    }
}

pub fn segment_seed(beacon: Beacon, run_seed: u32) -> u32 {
    let [a, b, c, d] = beacon.words();
    let [x, y, z, w] = pcg4d([a, b, c, d]);
    pcg4d([x ^ run_seed, y, z, w])[0]
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
        assert_eq!([1..5, 5..5].map(|steps| segments.beginning_in(steps).count()), [1, 0]);
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
