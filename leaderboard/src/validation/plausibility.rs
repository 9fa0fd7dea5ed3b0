//! Doubts about values that may be honest, such as new hardware or an unusual build, for a manual check.

use results::summary::MINIMUM_WINDOW_SECONDS;
use results::{ClientKind, Outcome, RunRecord, Warning, WorkloadRecord};

use crate::devices;

/// More single-precision operations per second than any single device performs.
const CEILING_FLOPS_PER_SECOND: f64 = 2e15;

/// Resolution of a clock that is certainly too coarse. Windows in milliseconds may be even by chance.
const COARSE_SECONDS: f64 = 0.005;
/// Resolution of the durations in a record.
const ROUNDING_SECONDS: f64 = 1e-5;
/// Smallest number of windows to check. Fewer may share a common step by chance.
const MIN_WINDOWS: usize = 10;

pub(super) fn find_doubts(record: &RunRecord) -> Vec<String> {
    let mut doubts = Vec::new();
    // A client's own statement that its adapter is software is accepted.
    doubts.extend(devices::is_software(record).filter(|_| !record.device.adapter.software));
    doubts.extend(devices::contradiction(record));
    for of in record.workloads.iter().filter(|of| of.outcome == Outcome::Completed) {
        let fastest = fastest_flops_per_second(of);
        let correctness = match &of.correctness {
            None => Some("the backend was not compared with the reference."),
            Some(correctness) if !correctness.is_complete() => {
                Some("the backend was only partly compared with the reference.")
            }
            Some(_) => None,
        };
        let evaluated = "the network was never evaluated, so there is no evidence that it learned.";
        let losses = "the losses of the first steps are missing, so the run cannot be recomputed.";
        let found = [
            (fastest > CEILING_FLOPS_PER_SECOND).then(|| format!("{fastest:.1e} FLOP/s exceeds every known device.")),
            correctness.map(str::to_owned),
            of.evaluations.is_empty().then(|| evaluated.to_owned()),
            of.first_losses.is_empty().then(|| losses.to_owned()),
        ];
        doubts.extend(found.into_iter().flatten().map(|doubt| format!("{}: {doubt}", of.workload)));
    }
    doubts
}

/// Returns a sentence if all windows are multiples of a coarse clock's resolution without a warning.
pub(super) fn unmarked_coarse_clock(record: &RunRecord) -> Option<String> {
    // Only browsers have such clocks.
    let is_marked = record.warnings.iter().any(|warning| matches!(warning, Warning::CoarseTimer { .. }));
    if is_marked || record.provenance.client.kind != ClientKind::Browser {
        return None;
    }
    let windows: Vec<f64> = record.workloads.iter().flat_map(|of| &of.windows).map(|window| window.seconds).collect();
    let step = windows.iter().copied().fold(0.0, common_step);
    (windows.len() >= MIN_WINDOWS && step > COARSE_SECONDS).then(|| {
        let milliseconds = step * 1e3;
        format!(
            "All windows are multiples of {milliseconds:.1} ms, but the record has no warning about a coarse clock."
        )
    })
}

fn common_step(mut a: f64, mut b: f64) -> f64 {
    while b > ROUNDING_SECONDS {
        let rest = a % b;
        (a, b) = (b, rest.min(b - rest));
    }
    a
}

/// Returns the highest speed of any window that is long enough to be timed well, and of all windows together.
fn fastest_flops_per_second(record: &WorkloadRecord) -> f64 {
    let flops = |samples: u64| samples as f64 * record.settings.training_flops_per_sample as f64;
    let windows = record.windows.iter().filter(|w| w.seconds >= MINIMUM_WINDOW_SECONDS);
    let samples = record.windows.iter().map(|w| w.samples).sum();
    let seconds: f64 = record.windows.iter().map(|w| w.seconds).sum();
    windows.map(|w| flops(w.samples) / w.seconds).fold(flops(samples) / seconds, f64::max)
}

#[cfg(test)]
mod tests {
    use results::Window;

    use super::*;
    use crate::devices::testing::{claimed, in_browser, native};

    #[test]
    fn a_coarse_clock_shows_in_the_windows() {
        let windows = |seconds: [f64; 5]| {
            let mut record = in_browser("nvidia", "ampere");
            record.workloads[0].windows = seconds.map(|seconds| Window { steps: 1, samples: 1, seconds }).repeat(2);
            record
        };
        let steps_of_60_hertz = windows([61.0, 62.0, 60.0, 64.0, 61.0].map(|steps| steps / 60.0));
        assert!(unmarked_coarse_clock(&steps_of_60_hertz).unwrap().contains("multiples of 16.7 ms"));
        assert_eq!(unmarked_coarse_clock(&windows([1.0312, 1.0148, 1.0071, 1.0232, 1.0015])), None);
        let mut marked = steps_of_60_hertz.clone();
        marked.warnings = vec![Warning::CoarseTimer { resolution_seconds: 0.0167 }];
        assert_eq!(unmarked_coarse_clock(&marked), None);
        let mut native = steps_of_60_hertz;
        native.provenance.client.kind = ClientKind::Native;
        assert_eq!(unmarked_coarse_clock(&native), None);
    }

    #[test]
    fn a_program_that_says_so_is_believed() {
        let mut record = native("llvmpipe (LLVM 19.1.7, 256 bits)", "Mesa");
        record.device.adapter.software = true;
        assert!(!find_doubts(&record).iter().any(|doubt| doubt.contains("program")));
    }

    #[test]
    fn a_claim_that_cannot_be_true_is_doubted() {
        let found = find_doubts(&claimed(in_browser("amd", "rdna-3"), "RTX 4090"));
        assert!(found.iter().any(|doubt| doubt.contains("claimed to be NVIDIA GeForce RTX 4090")), "{found:?}");
    }
}
