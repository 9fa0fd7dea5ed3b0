use std::fmt;

use results::kernels::KernelReport;
use results::measured::MeasurementOutcome;
pub(crate) use view::text::{figure, mebibytes, peak as amount};

pub(crate) fn list_peaks(report: &KernelReport) -> String {
    report.peaks.iter().map(|peak| amount(peak.unit, peak.value)).collect::<Vec<_>>().join(", ")
}

/// Reason why a measurement has no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Unmeasured {
    /// Text shared by all results with the same reason.
    pub(crate) reason: String,
    /// Details of this result; may be empty.
    pub(crate) detail: String,
}

impl Unmeasured {
    pub(crate) fn of<F, D: fmt::Display>(outcome: &MeasurementOutcome<F, D>) -> Option<Self> {
        let bytes = |bytes: u64| format!("{bytes} bytes, {}", mebibytes(bytes as f64));
        let (reason, detail) = match outcome {
            MeasurementOutcome::Measured(_) => return None,
            MeasurementOutcome::DoesNotFit { what, needed_bytes, allowed_bytes } => {
                (format!("does not fit: {what} is limited to {}", bytes(*allowed_bytes)), bytes(*needed_bytes))
            }
            MeasurementOutcome::TooSlow { predicted_seconds, allowed_seconds } => (
                format!("exceeds {} per repetition (--budget-seconds)", figure("training_seconds", *allowed_seconds)),
                format!("about {}", figure("training_seconds", *predicted_seconds)),
            ),
            MeasurementOutcome::Skipped { reason } => (format!("skipped: {reason}"), String::new()),
            MeasurementOutcome::Failed { message } => (format!("failed: {message}"), String::new()),
            MeasurementOutcome::Wrong(difference) => {
                (format!("{difference}, so it was not timed; a newer GPU driver may help"), String::new())
            }
            MeasurementOutcome::Cancelled => ("cancelled before its first window".to_owned(), String::new()),
        };
        Some(Self { reason, detail })
    }
}

impl fmt::Display for Unmeasured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason)?;
        if self.detail.is_empty() { Ok(()) } else { write!(f, " ({})", self.detail) }
    }
}

pub(crate) fn wrong(report: &KernelReport) -> Vec<String> {
    let wrong = report.entries.iter().filter(|entry| matches!(entry.outcome, MeasurementOutcome::Wrong(_)));
    let named = wrong.filter_map(|entry| {
        let refusal = Unmeasured::of(&entry.outcome)?;
        Some(format!("{} {}, {}: {refusal}", entry.suite.name(), entry.size, entry.pass.title()))
    });
    named.collect()
}

#[cfg(test)]
mod tests {
    use results::{Compared, Disagreement};

    use super::*;

    #[test]
    fn reason_has_both_numbers() {
        type Any = MeasurementOutcome<(), Disagreement>;

        let wrong = Disagreement { compared: Compared::Losses, largest_difference: 0.5, tolerance: 0.001 };
        let what = "the workload as a whole".to_owned();
        for (outcome, parts) in [
            (
                Any::DoesNotFit { what, needed_bytes: 3 << 20, allowed_bytes: 1 << 20 },
                ["the workload as a whole is limited to 1048576 bytes, 1.0 MiB", " (3145728 bytes, 3.0 MiB)"],
            ),
            (
                Any::TooSlow { predicted_seconds: 3.0, allowed_seconds: 0.5 },
                ["exceeds 500.0 ms per repetition (--budget-seconds)", " (about 3.000 s)"],
            ),
            (Any::Wrong(wrong), ["5.00e-1", "1e-3"]),
        ] {
            let text = Unmeasured::of(&outcome).unwrap().to_string();
            assert!(parts.iter().all(|part| text.contains(part)), "{text}");
        }
        assert_eq!(Unmeasured::of(&Any::Measured(())), None);
    }
}
