//! What was measured of kernels, in words.

use results::kernels::{Entry, KernelReport, Outcome, Unit};

use crate::figures::figure;
use crate::refusal::Refusal;

/// What each entry computed wrongly.
pub(crate) fn wrong(report: &KernelReport) -> Vec<String> {
    report.entries.iter().filter_map(of_entry).collect()
}

fn of_entry(entry: &Entry) -> Option<String> {
    let Outcome::Wrong(_) = entry.outcome else { return None };
    let refusal = Refusal::of(&entry.outcome)?;
    Some(format!("{} {}, {}: {refusal}", entry.suite.name(), entry.size, entry.pass.title()))
}

/// The value of a peak.
pub(crate) fn amount(unit: Unit, value: f64) -> String {
    match unit {
        Unit::FlopsPerSecond => figure("flops_per_second", value),
        Unit::Seconds => figure("training_seconds", value),
        // Bytes and launches come in the same steps of a thousand as operations and samples.
        Unit::BytesPerSecond => figure("flops_per_second", value).replace("FLOP", "B"),
        Unit::LaunchesPerSecond => figure("samples_per_second", value).replace("samples", "launches"),
    }
}

#[cfg(test)]
mod tests {
    use results::kernels::{Difference, Pass, Suite};

    use super::*;

    #[test]
    fn bytes_and_launches_are_shown_in_thousands() {
        assert_eq!(amount(Unit::BytesPerSecond, 12_345_678_901.0), "12.35 GB/s");
        assert_eq!(amount(Unit::LaunchesPerSecond, 54_321.0), "54.32 k launches/s");
        assert_eq!(amount(Unit::Seconds, 0.002), "2.000 ms");
    }

    #[test]
    fn a_wrong_entry_is_named_with_both_values() {
        let entry = Entry {
            suite: Suite::Gemm,
            size: "8 × 8 × 8".to_owned(),
            pass: Pass::Forward,
            flops: 1024,
            bytes: 768,
            kernels: vec!["dense_forward".to_owned()],
            outcome: Outcome::Wrong(Difference { at: 3, found: 1.5, expected: 2.5 }),
        };
        let text = of_entry(&entry).unwrap();
        assert!(text.contains("gemm 8 × 8 × 8, forward: value 3 is 1.5e0 where a plain sum gives 2.5e0"), "{text}");
    }
}
