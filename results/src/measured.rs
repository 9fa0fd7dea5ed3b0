//! What every measurement beside a run leaves: windows of repetitions, and how something that was to be measured ended.

use serde::{Deserialize, Serialize};

/// Some repetitions between two readings of the clock; the device had nothing to do at both.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Window {
    /// Steps of a training, or repetitions of a kernel.
    pub repetitions: u32,
    /// Those that were trained on; absent where nothing is trained.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub samples: Option<u64>,
    pub seconds: f64,
    /// Peak of the device's arithmetic, measured right after the window; absent where nobody measured it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peak_flops_per_second: Option<f64>,
}

impl Window {
    /// Of something that trains on nothing, with no peak beside it.
    pub fn new(repetitions: u32, seconds: f64) -> Self {
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

/// What became of something that was to be measured: its figures, or why there are none. `Difference` says how a wrong
/// result differs from the right one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum Outcome<Figures, Difference> {
    Measured(Figures),
    /// Refused before anything was allocated, where that can be told; otherwise once it was built.
    DoesNotFit {
        what: String,
        needed_bytes: u64,
        allowed_bytes: u64,
    },
    /// Once would take longer than the budget allows.
    TooSlow {
        predicted_seconds: f64,
        allowed_seconds: f64,
    },
    /// Not asked of anybody, such as a batch of more samples than there are.
    Skipped {
        reason: String,
    },
    /// It cannot be done, or could not go on; or the data cannot be used.
    Failed {
        message: String,
    },
    /// It does not compute what it should, so nothing was timed.
    Wrong(Difference),
    /// Somebody stopped the measurements before there was a window.
    Cancelled,
}

impl<Figures, Difference> Outcome<Figures, Difference> {
    /// The figures, if there are any.
    pub fn measured(&self) -> Option<&Figures> {
        if let Self::Measured(figures) = self { Some(figures) } else { None }
    }
}
