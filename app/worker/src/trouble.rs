use engine::EngineError;
use results::FailureCause;
use serde::{Deserialize, Serialize};

/// What kind of trouble ended a run, for a page that tells it in its reader's language.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Trouble {
    /// A workload could not be trained, and after it no other one.
    Workload(FailureCause),
    DeviceLost,
    /// The device says nothing any more.
    NoAnswer,
    /// The device says that work is done which is not.
    WorkDropped,
    /// A framework other than ours gave up.
    Framework,
    /// The browser has no device that fits.
    NoAdapter,
    /// The device does not compute in the precision that was asked for.
    NoPrecision,
    Other,
}

impl From<&EngineError> for Trouble {
    fn from(error: &EngineError) -> Self {
        if let Some(cause) = error.failure_of_workload() {
            return Self::Workload(cause);
        }
        match error {
            EngineError::DeviceLost { .. } => Self::DeviceLost,
            EngineError::NoAnswer { .. } => Self::NoAnswer,
            EngineError::WorkDropped { .. } => Self::WorkDropped,
            EngineError::ProgramFailed { .. } | EngineError::Panicked { .. } => Self::Framework,
            EngineError::NoAdapter { .. } => Self::NoAdapter,
            EngineError::NoPrecision { .. } => Self::NoPrecision,
            _ => Self::Other,
        }
    }
}
