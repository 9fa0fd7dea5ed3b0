//! Metrics of one workload, computed from its raw samples alone.

use crate::estimate::Estimate;
use crate::record::{CurvePoint, Outcome, PeakSample, RunRecord, Summary, Window, WorkloadRecord};
use crate::resources::energy_of_timed_training;
use crate::software::may_be_a_program;
use crate::statistics::{median, median_interval, quantile};
use crate::{Contender, Warning};

/// Seconds of timed training before the first counted window, while caches fill and clocks ramp up.
pub const WARM_UP_SECONDS: f64 = 1.0;
/// Minimum expected duration of a counted window, at the speed of the window before it.
pub const MINIMUM_WINDOW_SECONDS: f64 = 1.0;
/// Minimum number of counted windows for a ranked metric.
pub const MINIMUM_WINDOWS: usize = 5;
/// Maximum half-width of a stable run's interval, as a share of the median.
pub const STABLE_HALF_WIDTH: f64 = 0.025;
/// Minimum ratio of the worst to the best window of a sustained run.
pub const SUSTAINED_RATIO: f64 = 0.97;

/// Smallest relative length of a stretch with a separate point. Shorter ones, whose means are noisy, are merged.
const MIN_POINT_SHARE: f64 = 0.4;

impl Summary {
    /// Returns samples per second over the counted windows. Fewer than [`MINIMUM_WINDOWS`] give no interval.
    pub fn throughput(&self) -> Option<Estimate> {
        let low = self.samples_per_second_low.filter(|_| self.measured_windows as usize >= MINIMUM_WINDOWS);
        Estimate::new(self.samples_per_second, low, self.samples_per_second_high)
    }

    /// Returns samples per second over all timed training, warm-up included.
    pub fn samples_per_second_of_all_training(&self) -> Option<f64> {
        (self.samples > 0 && self.training_seconds > 0.0).then(|| self.samples as f64 / self.training_seconds)
    }

    /// Returns the half-width of the throughput's interval, relative to the median.
    pub fn relative_half_width(&self) -> Option<f64> {
        let (low, high) = (self.samples_per_second_low?, self.samples_per_second_high?);
        Some((high - low) / 2.0 / self.samples_per_second?)
    }
}

/// Workload of a record with a recomputed summary. The summary stored in the record is not read.
#[derive(Clone, Debug)]
pub struct MeasuredWorkload<'a> {
    pub record: &'a RunRecord,
    pub workload: &'a WorkloadRecord,
    pub summary: Summary,
}

impl<'a> MeasuredWorkload<'a> {
    pub fn all(record: &'a RunRecord) -> impl Iterator<Item = Self> {
        record.workloads.iter().map(move |workload| Self { record, workload, summary: summarise(workload) })
    }

    pub fn seed(&self) -> u32 {
        self.record.requested.seed
    }

    pub fn contender(&self) -> Contender {
        Contender { backend: self.record.device.backend.clone(), precision: self.workload.settings.precision }
    }

    pub fn is_completed(&self) -> bool {
        self.workload.outcome == Outcome::Completed
    }

    /// Returns the steps until the last evaluation, without steps trained afterwards only for measurement.
    pub fn steps(&self) -> u64 {
        self.workload.evaluations.last().map_or(self.summary.steps, |last| last.step)
    }

    /// Returns the passes over the training set until the last evaluation.
    pub fn epochs(&self) -> f64 {
        self.epochs_of(self.steps())
    }

    /// Converts steps to passes over the training set.
    pub fn epochs_of(&self, steps: u64) -> f64 {
        let settings = &self.workload.settings;
        let summary = &self.summary;
        // The last batch of an epoch may be short.
        let exact = (summary.steps > 0).then(|| summary.samples as f64 / summary.steps as f64);
        let mean = exact.unwrap_or_else(|| f64::from(settings.batch_size));
        let epochs = steps as f64 * mean / f64::from(settings.training_samples.max(1));
        // The mean over all steps is approximate, but finished epochs are whole numbers.
        let finished = self.workload.epochs.iter().filter(|epoch| steps > 0 && epoch.epoch > 0);
        let nearest = finished.map(|epoch| f64::from(epoch.epoch)).find(|whole| (whole / epochs - 1.0).abs() < 0.005);
        nearest.unwrap_or(epochs)
    }
}

/// Returns the windows that count: those after the warm-up that are long enough. Both criteria use only what was known
/// before a window began, so its own speed does not matter.
pub fn counted_windows(windows: &[Window]) -> impl Iterator<Item = &Window> {
    let mut seconds_before = 0.0;
    let mut step_seconds_before = None;
    windows.iter().filter(move |window| {
        let steps = f64::from(window.steps);
        let expected_seconds = step_seconds_before.map_or(0.0, |seconds: f64| seconds * steps);
        let has_samples = window.samples > 0 && window.seconds > 0.0;
        let counts = has_samples && seconds_before >= WARM_UP_SECONDS && expected_seconds >= MINIMUM_WINDOW_SECONDS;
        seconds_before += window.seconds;
        step_seconds_before = (window.steps > 0).then(|| window.seconds / steps);
        counts
    })
}

/// Returns true if the last accuracy exceeds the share of the most frequent class by more than three standard
/// deviations of the sampling error. Answers for characters of a window depend on each other, so that the error is that
/// of its samples.
pub fn has_learned(record: &WorkloadRecord) -> bool {
    let settings = &record.settings;
    let (Some(last), Some(chance)) = (record.evaluations.last(), settings.chance_accuracy) else { return false };
    let deviation = (chance * (1.0 - chance) / f64::from(settings.test_samples.max(1))).sqrt();
    last.accuracy > chance + 3.0 * deviation
}

/// Summarizes the raw samples of `record`, ignoring its `summary` field.
pub fn summarise(record: &WorkloadRecord) -> Summary {
    let counted: Vec<&Window> = counted_windows(&record.windows).collect();
    let rates: Vec<f64> = counted.iter().map(|w| w.samples as f64 / w.seconds).collect();
    let steps: Vec<f64> = counted.iter().map(|w| w.seconds / f64::from(w.steps)).collect();
    let epochs: Vec<f64> = record.epochs.iter().map(|e| e.seconds).collect();
    // A single window says nothing about variation.
    let several = rates.len() > 1;
    let interval = median_interval(&rates, 0.95).filter(|_| several);
    let extremes = quantile(&rates, 0.0).zip(quantile(&rates, 1.0)).filter(|_| several);
    let samples_per_second = median(&rates);
    let last = record.evaluations.last();
    let share_of_peak = |peak: &PeakSample| {
        let window = record.windows.get(peak.window as usize).filter(|window| window.seconds > 0.0)?;
        let flops = window.samples as f64 * record.settings.training_flops_per_sample as f64;
        (peak.flops_per_second > 0.0).then(|| flops / window.seconds / peak.flops_per_second)
    };
    let samples: u64 = record.windows.iter().map(|w| w.samples).sum();
    let joules = energy_of_timed_training(record).filter(|_| samples > 0);
    let joules_per_sample = joules.map(|joules| joules / samples as f64);
    let mut summary = Summary {
        samples_per_second,
        samples_per_second_low: interval.map(|i| i.0),
        samples_per_second_high: interval.map(|i| i.1),
        step_seconds_p50: median(&steps),
        step_seconds_p95: quantile(&steps, 0.95),
        flops_per_second: samples_per_second.map(|rate| rate * record.settings.training_flops_per_sample as f64),
        share_of_peak: median(&record.peaks.iter().filter_map(share_of_peak).collect::<Vec<_>>()),
        seconds_per_epoch: median(&epochs),
        // An empty sum is -0.
        training_seconds: record.windows.iter().map(|w| w.seconds).sum::<f64>() + 0.0,
        testing_seconds: last.map(|e| e.seconds),
        accuracy: last.map(|e| e.accuracy),
        test_loss: last.map(|e| e.loss),
        seconds_to_target: record.target.and_then(|t| t.reached_seconds),
        sustained_ratio: extremes.map(|(worst, best)| worst / best),
        joules_per_sample,
        joules_per_epoch: joules_per_sample.map(|joules| joules * f64::from(record.settings.training_samples)),
        samples_per_joule: joules_per_sample.map(f64::recip),
        stable: false,
        measured_windows: u32::try_from(counted.len()).unwrap_or(u32::MAX),
        steps: record.windows.iter().map(|w| u64::from(w.steps)).sum(),
        samples,
    };
    summary.stable =
        rates.len() >= MINIMUM_WINDOWS && summary.relative_half_width().is_some_and(|h| h <= STABLE_HALF_WIDTH);
    summary
}

/// Returns a curve with at most `max_points` points, each the mean since the previous one, for charts.
pub fn thin_curve(points: &[CurvePoint], max_points: usize) -> Vec<CurvePoint> {
    let together = points.len().div_ceil(max_points).max(1);
    let mut drawn: Vec<CurvePoint> = Vec::new();
    let (mut before, mut last_steps, mut in_last) = (0, 0.0, together);
    for point in points {
        let steps = point.step.saturating_sub(before) as f64;
        before = point.step;
        match drawn.last_mut() {
            Some(last) if in_last < together || steps < MIN_POINT_SHARE * last_steps / in_last.min(together) as f64 => {
                last_steps += steps;
                let share = if last_steps > 0.0 { steps / last_steps } else { 1.0 };
                let mean = |old: f64, new: f64| old + (new - old) * share;
                let (loss, accuracy) = (mean(last.loss, point.loss), mean(last.accuracy, point.accuracy));
                *last = CurvePoint { loss, accuracy, ..*point };
                in_last += 1;
            }
            _ => {
                (last_steps, in_last) = (steps, 1);
                drawn.push(*point);
            }
        }
    }
    drawn
}

/// Reason not to rank a completed workload of a standard run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RankingObstacle {
    /// Too few windows, or windows that do not agree.
    #[error("not steady enough")]
    NotSteady,
    #[error("no better than chance")]
    NotLearned,
    #[error("the tab was hidden")]
    TabHidden,
    #[error("the clock is too coarse")]
    CoarseTimer,
    #[error("trained on generated data")]
    GeneratedData,
    /// The browser hides the adapter, and a software adapter could reach its speed.
    #[error("the adapter may be a program")]
    PerhapsSoftware,
    /// Rankings compare single devices.
    #[error("several devices trained it together")]
    SeveralDevices,
    /// Rankings require the data set on the device.
    #[error("batches were streamed from the host")]
    StreamedInput,
}

/// Returns the first obstacle to ranking a workload of a run.
pub fn obstacle(record: &RunRecord, workload: &WorkloadRecord) -> Option<RankingObstacle> {
    let warned = record.warnings.iter().find_map(|warning| match warning {
        Warning::TabHidden { .. } => Some(RankingObstacle::TabHidden),
        Warning::CoarseTimer { .. } => Some(RankingObstacle::CoarseTimer),
        Warning::GeneratedData { workload: name } if *name == workload.workload => Some(RankingObstacle::GeneratedData),
        _ => None,
    });
    match () {
        () if !workload.summary.stable => Some(RankingObstacle::NotSteady),
        () if !has_learned(workload) => Some(RankingObstacle::NotLearned),
        () if workload.communication.is_some() => Some(RankingObstacle::SeveralDevices),
        () if workload.input.is_some() => Some(RankingObstacle::StreamedInput),
        () if may_be_a_program(record) => Some(RankingObstacle::PerhapsSoftware),
        () => warned,
    }
}
