use serde::Serialize;

use crate::error::EngineError;

/// What became of something that was to be measured: its figures, or why there are none. `Difference` says how a wrong
/// result differs from the right one.
#[derive(Clone, Debug, PartialEq, Serialize)]
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
    pub(crate) fn of(error: &EngineError) -> Self {
        match error {
            EngineError::DoesNotFit { what, needed_bytes, allowed_bytes } => {
                Self::DoesNotFit { what: what.clone(), needed_bytes: *needed_bytes, allowed_bytes: *allowed_bytes }
            }
            EngineError::InvalidSetting { .. } => Self::Skipped { reason: error.to_string() },
            other => Self::Failed { message: other.to_string() },
        }
    }

    /// The figures, if there are any.
    pub fn measured(&self) -> Option<&Figures> {
        if let Self::Measured(figures) = self { Some(figures) } else { None }
    }
}
