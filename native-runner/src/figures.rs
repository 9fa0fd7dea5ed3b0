use std::fmt;

use results::kernels::KernelReport;
use results::measured::MeasurementOutcome;
pub(crate) use view::text::{figure, goal, loss, mebibytes, peak as amount, reads_text};

pub(crate) fn list_peaks(report: &KernelReport) -> String {
    report.peaks.iter().map(|peak| amount(peak.unit, peak.value)).collect::<Vec<_>>().join(", ")
}

/// Returns the reason why a measurement has no result, and the details of this one in parentheses, if any.
pub(crate) fn unmeasured<F, D: fmt::Display>(outcome: &MeasurementOutcome<F, D>) -> Option<(String, String)> {
    let bytes = |bytes: u64| format!("{bytes} bytes, {}", mebibytes(bytes as f64));
    let reason = match outcome {
        MeasurementOutcome::Measured(_) => return None,
        MeasurementOutcome::DoesNotFit { what, needed_bytes, allowed_bytes } => {
            let reason = format!("does not fit: {what} is limited to {}", bytes(*allowed_bytes));
            return Some((reason, format!(" ({})", bytes(*needed_bytes))));
        }
        MeasurementOutcome::TooSlow { predicted_seconds, allowed_seconds } => {
            let [predicted, allowed] = [predicted_seconds, allowed_seconds].map(|of| figure("training_seconds", *of));
            let reason = format!("exceeds {allowed} per repetition (--budget-seconds)");
            return Some((reason, format!(" (about {predicted})")));
        }
        MeasurementOutcome::Skipped { reason } => format!("skipped: {reason}"),
        MeasurementOutcome::Failed { message } => format!("failed: {message}"),
        MeasurementOutcome::Wrong(how) => format!("{how}, so it was not timed; a newer GPU driver may help"),
        MeasurementOutcome::Cancelled => "cancelled before its first window".to_owned(),
    };
    Some((reason, String::new()))
}

pub(crate) fn wrong(report: &KernelReport) -> Vec<String> {
    let wrong = report.entries.iter().filter(|entry| matches!(entry.outcome, MeasurementOutcome::Wrong(_)));
    let named = wrong.filter_map(|entry| {
        let (reason, detail) = unmeasured(&entry.outcome)?;
        Some(format!("{} {}, {}: {reason}{detail}", entry.suite.name(), entry.size, entry.pass.title()))
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
            let (reason, detail) = unmeasured(&outcome).unwrap();
            let text = reason + &detail;
            assert!(parts.iter().all(|part| text.contains(part)), "{text}");
        }
        assert_eq!(unmeasured(&Any::Measured(())), None);
    }
}
