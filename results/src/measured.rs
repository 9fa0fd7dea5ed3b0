//! Windows and outcomes of measurements that are not runs.

use serde::{Deserialize, Serialize};

/// Repetitions between two readings of the clock, both taken while the device was idle.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Window {
    /// Steps of a training, or repetitions of a kernel.
    pub repetitions: u32,
    /// Training samples; absent if nothing is trained.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub samples: Option<u64>,
    pub seconds: f64,
    /// Peak of the device's arithmetic, measured right after the window; absent if not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peak_flops_per_second: Option<f64>,
}

impl Window {
    /// Creates a window without samples and peak.
    pub fn new(repetitions: u32, seconds: f64) -> Self {
        Self { repetitions, samples: None, seconds, peak_flops_per_second: None }
    }

    /// Seconds of one repetition.
    pub fn seconds_each(&self) -> f64 {
        self.seconds / f64::from(self.repetitions.max(1))
    }

    /// Samples per second, or repetitions per second if nothing is trained.
    pub fn rate(&self) -> f64 {
        self.samples.map_or(f64::from(self.repetitions), |samples| samples as f64) / self.seconds
    }

    /// Share of the peak that was measured after it, given the operations of each item that [`Self::rate`] counts.
    pub fn share_of_peak(&self, flops_each: f64) -> Option<f64> {
        Some(self.rate() * flops_each / self.peak_flops_per_second?)
    }
}

/// Outcome of a measurement: its metrics, or the reason why there are none. `Difference` is the difference of a wrong
/// result from the right one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum Outcome<Figures, Difference> {
    Measured(Figures),
    /// Refused before anything was allocated, if sizes show that; otherwise after it was built.
    DoesNotFit {
        what: String,
        needed_bytes: u64,
        allowed_bytes: u64,
    },
    /// One repetition would take longer than the budget allows.
    TooSlow {
        predicted_seconds: f64,
        allowed_seconds: f64,
    },
    /// Not measured, such as a batch with more samples than the data set.
    Skipped {
        reason: String,
    },
    /// It cannot be measured, or the data cannot be used.
    Failed {
        message: String,
    },
    /// It computes wrong results, so nothing was timed.
    Wrong(Difference),
    /// Cancelled before the first window.
    Cancelled,
}

impl<Figures, Difference> Outcome<Figures, Difference> {
    /// Returns the metrics, if any.
    pub fn measured(&self) -> Option<&Figures> {
        if let Self::Measured(figures) = self { Some(figures) } else { None }
    }
}
