//! Windows and outcomes of measurements other than runs.

use serde::{Deserialize, Serialize};

/// Repetitions between two clock readings, both taken while the device was idle.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Window {
    /// Training steps, or repetitions of a kernel.
    pub repetitions: u32,
    /// Training samples; absent if nothing is trained.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub samples: Option<u64>,
    pub seconds: f64,
    /// Peak FLOP/s of the device, measured right after the window; absent if not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peak_flops_per_second: Option<f64>,
}

impl Window {
    /// Creates a window without samples or peak.
    pub fn new(repetitions: u32, seconds: f64) -> Self {
        Self { repetitions, samples: None, seconds, peak_flops_per_second: None }
    }

    pub fn seconds_each(&self) -> f64 {
        self.seconds / f64::from(self.repetitions.max(1))
    }

    /// Returns samples per second, or repetitions per second if nothing is trained.
    pub fn rate(&self) -> f64 {
        self.samples.map_or(f64::from(self.repetitions), |samples| samples as f64) / self.seconds
    }

    /// Returns the share of the peak measured after the window, given the operations per item of [`Self::rate`].
    pub fn share_of_peak(&self, flops_each: f64) -> Option<f64> {
        Some(self.rate() * flops_each / self.peak_flops_per_second?)
    }
}

/// Outcome of a measurement: its metrics, or the reason for having none. `Difference` describes a wrong result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum MeasurementOutcome<Figures, Difference> {
    Measured(Figures),
    /// Refused for lack of memory: before any allocation if the sizes show it, otherwise after the build.
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
    /// Not measured, for example because the batch is larger than the data set.
    Skipped {
        reason: String,
    },
    /// The measurement failed, or the data could not be used.
    Failed {
        message: String,
    },
    /// Results were wrong, so nothing was timed.
    Wrong(Difference),
    /// Cancelled before the first window.
    Cancelled,
}

impl<Figures, Difference> MeasurementOutcome<Figures, Difference> {
    pub fn measured(&self) -> Option<&Figures> {
        if let Self::Measured(figures) = self { Some(figures) } else { None }
    }
}
