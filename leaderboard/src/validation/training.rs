//! The course of training: windows, curve, evaluations, epochs and target, and their consistency.

use results::summary::summarise;
use results::{Outcome, WorkloadRecord};
use serde_json::Value;

use super::bounds::{Checked, FieldPath, Refusal};
use super::table::MAX_STEPS;

/// Relative tolerance for sums of the same seconds in another order.
const ROUNDING: f64 = 1e-6;

struct Totals {
    steps: u64,
    samples: u64,
    seconds: f64,
}

pub(super) fn check(path: &FieldPath<'_>, record: &WorkloadRecord) -> Checked {
    let totals = check_windows(&path.field("windows"), record)?;
    let peaks = path.field("peaks");
    peaks.list(record.peaks.len(), record.windows.len())?;
    peaks.each(&record.peaks, |path, peak| {
        path.field("window").holds((peak.window as usize) < record.windows.len(), "The record has no such window.")
    })?;
    let curve = record.curve.iter().map(|point| (point.step, point.training_seconds));
    check_moments(&path.field("curve"), curve, &totals)?;
    let evaluations = record.evaluations.iter().map(|evaluation| (evaluation.step, evaluation.training_seconds));
    check_moments(&path.field("evaluations"), evaluations, &totals)?;
    check_epochs(&path.field("epochs"), record, &totals)?;
    check_target(&path.field("target"), record)
}

fn check_windows(path: &FieldPath<'_>, record: &WorkloadRecord) -> Result<Totals, Refusal> {
    let mut totals = Totals { steps: 0, samples: 0, seconds: 0.0 };
    for (i, window) in record.windows.iter().enumerate() {
        let (steps, batch_size) = (u64::from(window.steps), u64::from(record.settings.batch_size));
        let message = "A step must train on at least one sample and at most one batch.";
        path.item(i).field("samples").holds((steps..=steps * batch_size).contains(&window.samples), message)?;
        totals.steps += steps;
        totals.samples += window.samples;
        totals.seconds += window.seconds;
    }
    path.holds(totals.steps <= MAX_STEPS, "The run has too many steps.")?;
    let message = "A completed workload must have at least one step and some training time.";
    path.holds(record.outcome != Outcome::Completed || (totals.steps > 0 && totals.seconds > 0.0), message)?;
    Ok(totals)
}

/// Checks that moments of training are within the windows' sum and in order. Seconds may be equal on a coarse clock.
fn check_moments(path: &FieldPath<'_>, moments: impl Iterator<Item = (u64, f64)>, totals: &Totals) -> Checked {
    let mut before: Option<(u64, f64)> = None;
    for (i, (step, seconds)) in moments.enumerate() {
        let item = path.item(i);
        let (step_field, seconds_field) = (item.field("step"), item.field("training_seconds"));
        step_field.holds(step <= totals.steps, "The step exceeds the total steps of the windows.")?;
        let message = "The training time exceeds the total time of the windows.";
        seconds_field.holds(seconds <= totals.seconds * (1.0 + ROUNDING) + ROUNDING, message)?;
        let (step_before, seconds_before) = before.unwrap_or((0, 0.0));
        let is_later = before.is_none() || step > step_before;
        step_field.require(is_later, "not_increasing", "Steps must increase.")?;
        seconds_field.require(seconds >= seconds_before, "not_increasing", "Training time must not decrease.")?;
        before = Some((step, seconds));
    }
    Ok(())
}

fn check_epochs(path: &FieldPath<'_>, record: &WorkloadRecord, totals: &Totals) -> Checked {
    let mut seconds = 0.0;
    for (i, epoch) in record.epochs.iter().enumerate() {
        let message = "Epochs must be numbered from 1 without gaps.";
        path.item(i).field("epoch").require(epoch.epoch as usize == i + 1, "not_increasing", message)?;
        seconds += epoch.seconds;
    }
    let message = "The epochs have more training time in total than the windows.";
    path.holds(seconds <= totals.seconds * (1.0 + ROUNDING) + ROUNDING, message)?;
    // An incomplete last batch of an epoch may be omitted.
    let (batch_size, samples) = (u64::from(record.settings.batch_size), u64::from(record.settings.training_samples));
    let epoch_samples = samples / batch_size * batch_size;
    let message = "The windows contain fewer samples than the epochs need.";
    path.holds(record.epochs.len() as u64 * epoch_samples <= totals.samples, message)
}

/// Checks that the target is reached at the first evaluation with its result, and at no other moment.
fn check_target(path: &FieldPath<'_>, record: &WorkloadRecord) -> Checked {
    let Some(target) = &record.target else { return Ok(()) };
    let first = record.evaluations.iter().find(|e| target.goal.is_reached(e));
    let message = "The step differs from the first evaluation that reached the target.";
    path.field("reached_step").holds(target.reached_step == first.map(|e| e.step), message)?;
    let message = "The time differs from the first evaluation that reached the target.";
    path.field("reached_seconds").holds(target.reached_seconds == first.map(|e| e.training_seconds), message)
}

/// Relative tolerance for sums in another order or another language's rounding.
const TOLERANCE: f64 = 1e-9;

pub(super) fn check_summary(path: &FieldPath<'_>, record: &WorkloadRecord) -> Checked {
    let own = summarise(record);
    for (name, figure) in [("share_of_peak", own.share_of_peak), ("samples_per_joule", own.samples_per_joule)] {
        let is_finite = figure.is_none_or(f64::is_finite);
        path.field(name).require(is_finite, "summary_mismatch", "The raw samples give no finite number.")?;
    }
    let summaries = [&record.summary, &own].map(|of| serde_json::to_value(of).expect("a summary is JSON"));
    for (name, _) in summaries.iter().filter_map(Value::as_object).flatten() {
        let [claimed, own] = summaries.each_ref().map(|summary| &summary[name]);
        if !agree(claimed, own) {
            let message = format!("The summary has {claimed}, but the raw samples give {own}.");
            return Err(Refusal { code: "summary_mismatch", message, field: format!("{path}.{name}") });
        }
    }
    Ok(())
}

fn agree(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) if a.is_f64() && b.is_f64() => {
            let [a, b] = [a, b].map(|number| number.as_f64().unwrap_or_default());
            (a - b).abs() <= TOLERANCE * a.abs().max(b.abs())
        }
        _ => a == b,
    }
}
