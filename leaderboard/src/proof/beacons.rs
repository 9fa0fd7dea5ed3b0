//! Beacons, draws of segments, and the word from which draws inside of segments are derived.

use results::Beacon;

use super::{Key, SeenLap, SeenSegment};

/// Derives the random words for the training of a workload.
pub(crate) struct TrainingKey<'a> {
    key: Key,
    run_id: &'a str,
    workload: &'a str,
}

impl<'a> TrainingKey<'a> {
    /// `test_seed` is the fixed seed of a test server. All servers with the same one derive the same words, so that a
    /// recorded run can be replayed against any of them.
    pub(crate) fn new(key: &Key, test_seed: Option<u32>, run_id: &'a str, workload: &'a str) -> Self {
        match test_seed {
            Some(seed) => Self { key: Key::of_word(&format!("test seed {seed}")), run_id: "", workload },
            None => Self { key: key.clone(), run_id, workload },
        }
    }

    /// Returns the beacons of the first two segments of a lap.
    pub(crate) fn first_beacons(&self, lap: &SeenLap) -> [Beacon; 2] {
        let basis = [lap.state_sha256.as_bytes(), &lap.first_segment.to_le_bytes()];
        [0, 1].map(|place| self.beacon(lap.first_segment + place, &basis))
    }

    /// Returns the beacon of a segment from the final state hash of the segment two before it in the same lap.
    pub(crate) fn beacon_after(&self, two_before_sha256: &str, segment: u32) -> Beacon {
        self.beacon(segment, &[two_before_sha256.as_bytes()])
    }

    /// Returns a number from 0 to below 1 for a draw and the commitment that ended a segment.
    pub(super) fn draw_after(&self, segment: &SeenSegment, draw: u32) -> f64 {
        let (step, draw) = (segment.step.to_le_bytes(), draw.to_le_bytes());
        let [run_id, workload] = [self.run_id, self.workload].map(str::as_bytes);
        let hashes = [&segment.state_sha256, &segment.losses_sha256].map(|hash| hash.as_bytes());
        self.key.draw(&[b"segment", run_id, workload, &step, hashes[0], hashes[1], &draw])
    }

    /// Returns the word from which the draws inside of segments are derived, from the hash of the last commitment.
    pub(crate) fn word_of_draws(&self, last_sha256: &str) -> String {
        let parts = [b"draw".as_slice(), self.run_id.as_bytes(), self.workload.as_bytes(), last_sha256.as_bytes()];
        crate::secrets::hex(&self.key.code(&parts))
    }

    fn beacon(&self, segment: u32, basis: &[&[u8]]) -> Beacon {
        let segment = segment.to_le_bytes();
        let parts = [b"beacon".as_slice(), self.run_id.as_bytes(), self.workload.as_bytes(), &segment];
        let code = self.key.code(&[&parts, basis].concat());
        Beacon(std::array::from_fn(|place| code[place]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lap(first_segment: u32, state_sha256: &str) -> SeenLap {
        SeenLap { first_segment, state_sha256: state_sha256.to_owned(), opened_unix_seconds: 0.0 }
    }

    #[test]
    fn a_beacon_follows_from_all_that_came_before() {
        let (key, other_key) = (Key::of_word("one"), Key::of_word("another"));
        let of = |key, run_id, workload, first_segment, state_sha256| {
            TrainingKey::new(key, None, run_id, workload).first_beacons(&lap(first_segment, state_sha256))
        };
        let first = of(&key, "run", "network", 0, "a");
        assert_eq!(first, of(&key, "run", "network", 0, "a"));
        assert_ne!(first[0], first[1]);
        for other in [
            of(&other_key, "run", "network", 0, "a"),
            of(&key, "run2", "network", 0, "a"),
            of(&key, "run", "network2", 0, "a"),
            of(&key, "run", "network", 0, "b"),
            of(&key, "run", "network", 1, "a"),
        ] {
            assert!(other.iter().all(|beacon| !first.contains(beacon)));
        }
        let key = TrainingKey::new(&key, None, "run", "network");
        assert_ne!(key.beacon_after("a", 2), key.beacon_after("b", 2));
        assert_ne!(key.beacon_after("a", 2), key.beacon_after("a", 3));
        assert_ne!(key.word_of_draws("a"), key.word_of_draws("b"));
    }

    #[test]
    fn servers_for_tests_make_the_same_words() {
        let words = |key, seed, run_id| {
            let key = TrainingKey::new(&Key::of_word(key), seed, run_id, "network");
            (key.beacon_after("a", 2), key.word_of_draws("a"))
        };
        assert_eq!(words("one", Some(7), "run"), words("another", Some(7), "run2"));
        assert_ne!(words("one", Some(7), "run"), words("one", Some(8), "run"));
    }
}
