use results::statistics;
use serde::Serialize;

use crate::clock::Clock;
use crate::error::EngineError;
use crate::trainer::{StepReport, Trainer};

/// Some repetitions between two readings of the clock; the device had nothing to do at both.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Window {
    /// Steps of a training, or repetitions of a kernel.
    pub repetitions: u32,
    /// Those that were trained on; absent where nothing is trained.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub samples: Option<u64>,
    pub seconds: f64,
    /// Peak of the device's arithmetic, measured right after the window; absent where nobody measured it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub peak_flops_per_second: Option<f64>,
}

impl Window {
    pub(crate) fn new(repetitions: u32, seconds: f64) -> Self {
        Self { repetitions, samples: None, seconds, peak_flops_per_second: None }
    }

    /// Seconds of one repetition.
    pub fn seconds_each(&self) -> f64 {
        self.seconds / f64::from(self.repetitions.max(1))
    }

    /// Samples per second where something is trained, otherwise repetitions per second.
    pub fn rate(&self) -> f64 {
        self.samples.map_or(f64::from(self.repetitions), |samples| samples as f64) / self.seconds
    }

    /// Share of the peak that was measured after it, of something that needs so many operations for each that
    /// [`Self::rate`] counts.
    pub fn share_of_peak(&self, flops_each: f64) -> Option<f64> {
        Some(self.rate() * flops_each / self.peak_flops_per_second?)
    }
}

/// The lowest, the median and the highest of some figures.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Spread {
    pub(crate) lowest: f64,
    pub(crate) median: f64,
    pub(crate) highest: f64,
}

impl Spread {
    /// `None` without figures.
    pub(crate) fn of(figures: impl Iterator<Item = f64>) -> Option<Self> {
        let figures: Vec<f64> = figures.collect();
        let quantile = |q| statistics::quantile(&figures, q);
        Some(Self { lowest: quantile(0.0)?, median: quantile(0.5)?, highest: quantile(1.0)? })
    }

    /// Half the distance of the highest from the lowest, as a share of the median; 0 for a single figure.
    pub(crate) fn relative(self) -> f64 {
        (self.highest - self.lowest) / 2.0 / self.median
    }
}

/// The peak beside these windows, and their share of it, each with its own: medians.
pub(crate) fn of_peak(windows: &[Window], flops_each: f64) -> (Option<f64>, Option<f64>) {
    let peaks = Spread::of(windows.iter().filter_map(|window| window.peak_flops_per_second));
    let shares = Spread::of(windows.iter().filter_map(|window| window.share_of_peak(flops_each)));
    (peaks.map(|peaks| peaks.median), shares.map(|shares| shares.median))
}

/// Trains so many steps and times them.
///
/// # Errors
/// The trainer's.
pub(crate) async fn timed_steps(
    trainer: &mut dyn Trainer,
    steps: u32,
    clock: &dyn Clock,
) -> Result<(StepReport, Window), EngineError> {
    let start = clock.now_seconds();
    let report = trainer.train_steps(steps).await?;
    let passed = clock.now_seconds() - start;
    // No clock is so coarse that a step takes no time at all.
    let seconds = report.seconds.unwrap_or(passed).max(1e-9);
    let window = Window { samples: Some(report.samples), ..Window::new(steps, seconds) };
    Ok((report, window))
}
