use results::measured::Window;
use results::statistics;

use crate::clock::Clock;
use crate::error::EngineError;
use crate::trainer::{StepReport, Trainer};

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
