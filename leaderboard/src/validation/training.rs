//! The course of training: windows, curve, evaluations, epochs and target, and their consistency.

use results::summary::summarise;
use results::{Outcome, Summary, WorkloadRecord};

use super::bounds::{Checked, FieldPath};
use super::run::MAX_SECONDS;

/// Maximum length of any list of points in time. A run of six hours has some 20,000 windows.
pub(super) const POINTS: usize = 50_000;
const EPOCHS: usize = 10_000;
pub(super) const MAX_STEPS: u64 = 1 << 40;
/// More operations or bytes per second than any machine has.
const MAX_PER_SECOND: f64 = 1e18;
/// Smallest loss. Rounding may put a loss just below zero.
const MIN_LOSS: f64 = -1e-3;
/// Relative tolerance for sums of the same seconds in another order.
const ROUNDING: f64 = 1e-6;

/// Sums over the windows.
struct Totals {
    steps: u64,
    samples: u64,
    seconds: f64,
}

pub(super) fn check(path: &FieldPath<'_>, record: &WorkloadRecord) -> Checked {
    let totals = check_windows(&path.field("windows"), record)?;
    check_peaks(&path.field("peaks"), record)?;
    check_curve(&path.field("curve"), record, &totals)?;
    check_evaluations(&path.field("evaluations"), record, &totals)?;
    check_epochs(&path.field("epochs"), record, &totals)?;
    check_target(&path.field("target"), record)
}

fn check_windows(path: &FieldPath<'_>, record: &WorkloadRecord) -> Result<Totals, super::Refusal> {
    path.list(record.windows.len(), POINTS)?;
    let mut totals = Totals { steps: 0, samples: 0, seconds: 0.0 };
    for (i, window) in record.windows.iter().enumerate() {
        let item = path.item(i);
        item.field("seconds").number(window.seconds, 0.0..=MAX_SECONDS)?;
        let (steps, batch_size) = (u64::from(window.steps), u64::from(record.settings.batch_size));
        item.field("samples").holds(
            (steps..=steps * batch_size).contains(&window.samples),
            "A step must train on at least one sample and at most one batch.",
        )?;
        totals.steps += steps;
        totals.samples += window.samples;
        totals.seconds += window.seconds;
    }
    path.holds(totals.steps <= MAX_STEPS, "The run has too many steps.")?;
    path.holds(
        record.outcome != Outcome::Completed || (totals.steps > 0 && totals.seconds > 0.0),
        "A completed workload must have at least one step and some training time.",
    )?;
    Ok(totals)
}

fn check_peaks(path: &FieldPath<'_>, record: &WorkloadRecord) -> Checked {
    path.list(record.peaks.len(), record.windows.len())?;
    path.each(&record.peaks, |path, peak| {
        path.field("window").holds((peak.window as usize) < record.windows.len(), "The record has no such window.")?;
        path.field("flops_per_second").number(peak.flops_per_second, 1.0..=MAX_PER_SECOND)?;
        path.field("copied_bytes_per_second").optional_number(peak.copied_bytes_per_second, 1.0..=MAX_PER_SECOND)
    })
}

fn check_curve(path: &FieldPath<'_>, record: &WorkloadRecord, totals: &Totals) -> Checked {
    path.list(record.curve.len(), POINTS)?;
    path.each(&record.curve, |path, point| {
        check_loss(&path, point.loss, point.accuracy)?;
        check_moment(&path, (point.step, point.training_seconds), totals)
    })?;
    check_order(path, record.curve.iter().map(|p| (p.step, p.training_seconds)))
}

fn check_evaluations(path: &FieldPath<'_>, record: &WorkloadRecord, totals: &Totals) -> Checked {
    path.list(record.evaluations.len(), POINTS)?;
    path.each(&record.evaluations, |path, evaluation| {
        check_loss(&path, evaluation.loss, evaluation.accuracy)?;
        path.field("seconds").number(evaluation.seconds, 0.0..=MAX_SECONDS)?;
        check_moment(&path, (evaluation.step, evaluation.training_seconds), totals)
    })?;
    check_order(path, record.evaluations.iter().map(|e| (e.step, e.training_seconds)))
}

fn check_loss(path: &FieldPath<'_>, loss: f64, accuracy: f64) -> Checked {
    path.field("loss").number(loss, MIN_LOSS..=f64::MAX)?;
    path.field("accuracy").share(accuracy)
}

/// Checks that a moment of training is within the windows' sum.
fn check_moment(path: &FieldPath<'_>, (step, seconds): (u64, f64), totals: &Totals) -> Checked {
    path.field("step").holds(step <= totals.steps, "The step exceeds the total steps of the windows.")?;
    let seconds_field = path.field("training_seconds");
    seconds_field.number(seconds, 0.0..=f64::MAX)?;
    seconds_field.holds(
        seconds <= totals.seconds * (1.0 + ROUNDING) + ROUNDING,
        "The training time exceeds the total time of the windows.",
    )
}

/// Checks that steps increase. Seconds may be equal if the clock is coarse.
fn check_order(path: &FieldPath<'_>, moments: impl Iterator<Item = (u64, f64)>) -> Checked {
    let mut before: Option<(u64, f64)> = None;
    for (i, (step, seconds)) in moments.enumerate() {
        let (step_before, seconds_before) = before.unwrap_or((0, 0.0));
        if before.is_some() && step <= step_before {
            return path.item(i).field("step").refuse("not_increasing", "Steps must increase.");
        }
        if seconds < seconds_before {
            let field = path.item(i);
            return field.field("training_seconds").refuse("not_increasing", "Training time must not decrease.");
        }
        before = Some((step, seconds));
    }
    Ok(())
}

fn check_epochs(path: &FieldPath<'_>, record: &WorkloadRecord, totals: &Totals) -> Checked {
    path.list(record.epochs.len(), EPOCHS)?;
    let mut seconds = 0.0;
    for (i, epoch) in record.epochs.iter().enumerate() {
        let item = path.item(i);
        if u64::from(epoch.epoch) != i as u64 + 1 {
            return item.field("epoch").refuse("not_increasing", "Epochs must be numbered from 1 without gaps.");
        }
        item.field("seconds").number(epoch.seconds, 0.0..=MAX_SECONDS)?;
        check_loss(&item, epoch.loss, epoch.accuracy)?;
        seconds += epoch.seconds;
    }
    path.holds(
        seconds <= totals.seconds * (1.0 + ROUNDING) + ROUNDING,
        "The epochs have more training time in total than the windows.",
    )?;
    // An incomplete last batch of an epoch may be omitted.
    let (batch_size, samples) = (u64::from(record.settings.batch_size), u64::from(record.settings.training_samples));
    let epoch_samples = samples / batch_size * batch_size;
    path.holds(
        record.epochs.len() as u64 * epoch_samples <= totals.samples,
        "The windows contain fewer samples than the epochs need.",
    )
}

/// Checks that the target is reached at the first evaluation with its accuracy, and at no other moment.
fn check_target(path: &FieldPath<'_>, record: &WorkloadRecord) -> Checked {
    let Some(target) = &record.target else { return Ok(()) };
    path.field("accuracy").share(target.accuracy)?;
    path.field("reached_seconds").optional_number(target.reached_seconds, 0.0..=MAX_SECONDS)?;
    let first = record.evaluations.iter().find(|e| e.accuracy >= target.accuracy);
    path.field("reached_step").holds(
        target.reached_step == first.map(|e| e.step),
        "The step differs from the first evaluation that reached the target accuracy.",
    )?;
    path.field("reached_seconds").holds(
        target.reached_seconds == first.map(|e| e.training_seconds),
        "The time differs from the first evaluation that reached the target accuracy.",
    )
}

/// Relative tolerance for sums in another order or another language's rounding.
const TOLERANCE: f64 = 1e-9;

pub(super) fn check_summary(path: &FieldPath<'_>, record: &WorkloadRecord) -> Checked {
    let (claimed, own) = (&record.summary, summarise(record));
    for ((name, claimed), (_, own)) in figures(claimed).into_iter().zip(figures(&own)) {
        if !agree(claimed, own) {
            let text = |value: Option<f64>| value.map_or_else(|| "none".to_owned(), |value| value.to_string());
            let message = format!("The summary has {}, but the raw samples give {}.", text(claimed), text(own));
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
            let message = "The summary does not match the raw samples.";
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

/// Defines the list of all metrics with their names.
macro_rules! figures {
    ($($name:ident)+) => {
        fn figures(summary: &Summary) -> [(&'static str, Option<f64>); 17] {
            // An exhaustive pattern, so that a new field cannot be forgotten.
            let &Summary { $($name,)+ stable: _, measured_windows: _, steps: _, samples: _ } = summary;
            [$((stringify!($name), Option::from($name)),)+]
        }
    };
}

figures! {
    samples_per_second samples_per_second_low samples_per_second_high step_seconds_p50 step_seconds_p95
    flops_per_second share_of_peak seconds_per_epoch training_seconds testing_seconds accuracy test_loss
    seconds_to_target sustained_ratio joules_per_sample joules_per_epoch samples_per_joule
}
