//! Figures of one workload, computed from its raw samples and from nothing else.

use crate::energy;
use crate::record::{PeakSample, Summary, Window, WorkloadRecord};
use crate::statistics::{median, median_interval, quantile};

/// Timed training before the first window that counts: caches fill and clocks rise.
pub const WARM_UP_SECONDS: f64 = 1.0;
/// How long the steps of a window must take, at the speed of the window before it, for it to count for a figure.
pub const MINIMUM_WINDOW_SECONDS: f64 = 1.0;
/// Fewer counted windows than this are too few for a figure that ranks.
pub const MINIMUM_WINDOWS: usize = 5;
/// A run is stable when the interval's half-width is within this share of the median.
pub const STABLE_HALF_WIDTH: f64 = 0.025;
/// A run whose worst window reaches this share of its best is called sustained.
pub const SUSTAINED_RATIO: f64 = 0.97;

/// The windows that count for figures: those after the warm-up that are long enough. Both follow from what was known
/// before a window began, so that none counts, or does not, because of how fast it was itself.
pub fn counted_windows(windows: &[Window]) -> impl Iterator<Item = &Window> {
    let mut seconds_before = 0.0;
    let mut step_seconds_before = None;
    windows.iter().filter(move |window| {
        let steps = f64::from(window.steps);
        let expected_seconds = step_seconds_before.map_or(0.0, |seconds: f64| seconds * steps);
        let has_figures = window.samples > 0 && window.seconds > 0.0;
        let counts = has_figures && seconds_before >= WARM_UP_SECONDS && expected_seconds >= MINIMUM_WINDOW_SECONDS;
        seconds_before += window.seconds;
        step_seconds_before = (window.steps > 0).then(|| window.seconds / steps);
        counts
    })
}

/// Whether the last test shows that the network learned: that its accuracy is higher than that of always answering the
/// most frequent class, by more than three standard deviations of such an accuracy on as many samples.
pub fn has_learned(record: &WorkloadRecord) -> bool {
    let settings = &record.settings;
    let (Some(last), Some(chance)) = (record.evaluations.last(), settings.chance_accuracy) else { return false };
    let deviation = (chance * (1.0 - chance) / f64::from(settings.test_samples.max(1))).sqrt();
    last.accuracy > chance + 3.0 * deviation
}

/// The arithmetic of windows over the peaks that were measured after them.
fn shares_of_peak(record: &WorkloadRecord) -> Vec<f64> {
    let share = |peak: &PeakSample| {
        let window = record.windows.get(peak.window as usize).filter(|window| window.seconds > 0.0)?;
        let flops = window.samples as f64 * record.settings.training_flops_per_sample as f64;
        (peak.flops_per_second > 0.0).then(|| flops / window.seconds / peak.flops_per_second)
    };
    record.peaks.iter().filter_map(share).collect()
}

/// Summarises the raw samples of `record`; its own `summary` field is not read.
pub fn summarise(record: &WorkloadRecord) -> Summary {
    let counted: Vec<&Window> = counted_windows(&record.windows).collect();
    let rates: Vec<f64> = counted.iter().map(|w| w.samples as f64 / w.seconds).collect();
    let steps: Vec<f64> = counted.iter().map(|w| w.seconds / f64::from(w.steps)).collect();
    let epochs: Vec<f64> = record.epochs.iter().map(|e| e.seconds).collect();
    let interval = median_interval(&rates, 0.95);
    let samples_per_second = median(&rates);
    let last = record.evaluations.last();
    let mut summary = Summary {
        samples_per_second,
        samples_per_second_low: interval.map(|i| i.0),
        samples_per_second_high: interval.map(|i| i.1),
        step_seconds_p50: median(&steps),
        step_seconds_p95: quantile(&steps, 0.95),
        flops_per_second: samples_per_second.map(|rate| rate * record.settings.training_flops_per_sample as f64),
        share_of_peak: median(&shares_of_peak(record)),
        seconds_per_epoch: median(&epochs),
        // A sum of nothing is -0.
        training_seconds: record.windows.iter().map(|w| w.seconds).sum::<f64>() + 0.0,
        testing_seconds: last.map(|e| e.seconds),
        accuracy: last.map(|e| e.accuracy),
        test_loss: last.map(|e| e.loss),
        seconds_to_target: record.target.and_then(|t| t.reached_seconds),
        sustained_ratio: quantile(&rates, 0.0).zip(quantile(&rates, 1.0)).map(|(worst, best)| worst / best),
        joules_per_sample: None,
        joules_per_epoch: None,
        samples_per_joule: None,
        stable: false,
        measured_windows: u32::try_from(counted.len()).unwrap_or(u32::MAX),
        steps: record.windows.iter().map(|w| u64::from(w.steps)).sum(),
        samples: record.windows.iter().map(|w| w.samples).sum(),
    };
    if let Some(joules) = energy::of_timed_training(record).filter(|_| summary.samples > 0) {
        let per_sample = joules / summary.samples as f64;
        summary.joules_per_sample = Some(per_sample);
        summary.joules_per_epoch = Some(per_sample * f64::from(record.settings.training_samples));
        summary.samples_per_joule = Some(1.0 / per_sample);
    }
    summary.stable =
        rates.len() >= MINIMUM_WINDOWS && summary.relative_half_width().is_some_and(|h| h <= STABLE_HALF_WIDTH);
    summary
}
