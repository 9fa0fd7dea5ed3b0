//! The summary is computed again from the raw samples; a client's figures are never trusted.

use results::summary::summarise;
use results::{Summary, WorkloadRecord};

use super::bounds::{Checked, FieldPath};

/// Sums in another order, or another language's rounding, differ in the last digits only.
const TOLERANCE: f64 = 1e-9;

/// `path` is the summary's.
pub(super) fn check(path: &FieldPath<'_>, record: &WorkloadRecord) -> Checked {
    let (claimed, own) = (&record.summary, summarise(record));
    for ((name, claimed), (_, own)) in figures(claimed).into_iter().zip(figures(&own)) {
        if !agree(claimed, own) {
            let text = |value: Option<f64>| value.map_or_else(|| "none".to_owned(), |value| value.to_string());
            let message = format!("The raw samples give {} where the summary says {}.", text(own), text(claimed));
            return path.field(name).refuse("summary_mismatch", message);
        }
    }
    let counts = [
        ("stable", claimed.stable == own.stable),
        ("measured_windows", claimed.measured_windows == own.measured_windows),
        ("steps", claimed.steps == own.steps),
        ("samples", claimed.samples == own.samples),
    ];
    for (name, same) in counts {
        if !same {
            let message = "The raw samples give another value than the summary says.";
            return path.field(name).refuse("summary_mismatch", message);
        }
    }
    Ok(())
}

fn agree(a: Option<f64>, b: Option<f64>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => a.is_finite() && b.is_finite() && (a - b).abs() <= TOLERANCE * a.abs().max(b.abs()),
        (None, None) => true,
        _ => false,
    }
}

/// Every figure by its name; the pattern has no rest, so that a new field cannot be forgotten.
fn figures(summary: &Summary) -> [(&'static str, Option<f64>); 17] {
    let &Summary {
        samples_per_second,
        samples_per_second_low,
        samples_per_second_high,
        step_seconds_p50,
        step_seconds_p95,
        flops_per_second,
        share_of_peak,
        seconds_per_epoch,
        training_seconds,
        testing_seconds,
        accuracy,
        test_loss,
        seconds_to_target,
        sustained_ratio,
        joules_per_sample,
        joules_per_epoch,
        samples_per_joule,
        stable: _,
        measured_windows: _,
        steps: _,
        samples: _,
    } = summary;
    [
        ("samples_per_second", samples_per_second),
        ("samples_per_second_low", samples_per_second_low),
        ("samples_per_second_high", samples_per_second_high),
        ("step_seconds_p50", step_seconds_p50),
        ("step_seconds_p95", step_seconds_p95),
        ("flops_per_second", flops_per_second),
        ("share_of_peak", share_of_peak),
        ("seconds_per_epoch", seconds_per_epoch),
        ("training_seconds", Some(training_seconds)),
        ("testing_seconds", testing_seconds),
        ("accuracy", accuracy),
        ("test_loss", test_loss),
        ("seconds_to_target", seconds_to_target),
        ("sustained_ratio", sustained_ratio),
        ("joules_per_sample", joules_per_sample),
        ("joules_per_epoch", joules_per_epoch),
        ("samples_per_joule", samples_per_joule),
    ]
}
