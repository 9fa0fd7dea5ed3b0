//! Verdicts on runs that vary as real ones do: a program passes beside itself, and fails once it is slower.

use crate::support::run;
use results::regression::{Rules, compare};
use results::{RunRecord, Window};

/// What runs of one program differ by, and windows of one run among themselves, as standard deviations.
const BETWEEN_RUNS: f64 = 0.01;
const BETWEEN_WINDOWS: f64 = 0.005;
const TRIALS: u32 = 10;

/// Numbers that look random, the same in each test (Steele, Lea and Flood, "Fast splittable pseudorandom number
/// generators", 2014).
struct Noise(u64);

impl Noise {
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Nearly normal with deviation 1: the sum of twelve uniform numbers has that variance.
    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0
    }

    fn run(&mut self, samples_per_second: f64, seed: u32) -> RunRecord {
        let mut record = run("wgsl", seed, 2.0, 0.97);
        let of_run = samples_per_second * (1.0 + BETWEEN_RUNS * self.normal());
        // Of a second and a half: what is shorter than one counts for nothing.
        let window = |noise: f64| Window {
            steps: 10,
            samples: 1500,
            seconds: 1500.0 / (of_run * (1.0 + BETWEEN_WINDOWS * noise)),
        };
        record.workloads[0].windows = (0..12).map(|_| window(self.normal())).collect();
        record
    }

    fn side(&mut self, samples_per_second: f64, runs: u32, first_seed: u32) -> Vec<RunRecord> {
        (first_seed..first_seed + runs).map(|seed| self.run(samples_per_second, seed)).collect()
    }
}

/// In how many of ten trials a program with this throughput fails beside one with 1000 samples a second.
fn failures(samples_per_second: f64, runs: u32) -> usize {
    let mut noise = Noise(u64::from(runs));
    let rules = Rules { fail_if_slower: Some(0.05), fail_if_missing: false };
    let fails = |_| {
        let (base, head) = (noise.side(1000.0, runs, 1), noise.side(samples_per_second, runs, 1 + runs));
        compare(&base, &head, rules).failures().next().is_some()
    };
    (0..TRIALS).map(fails).filter(|fails| *fails).count()
}

#[test]
fn a_program_passes_beside_itself_ten_times_of_ten() {
    for runs in [1, 3, 5] {
        assert_eq!(failures(1000.0, runs), 0, "{runs} runs a side");
    }
}

#[test]
fn a_program_that_was_slowed_by_a_tenth_fails_ten_times_of_ten() {
    for runs in [3, 5] {
        assert_eq!(failures(900.0, runs), 10, "{runs} runs a side");
    }
}

#[test]
fn a_program_that_is_slower_by_less_than_the_tolerance_passes() {
    for runs in [3, 5] {
        assert_eq!(failures(980.0, runs), 0, "{runs} runs a side");
    }
}
