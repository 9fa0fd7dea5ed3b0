//! Why a run ended without a result, with what to do.

use training_worker::Trouble;

use crate::t;
use crate::words::failure;

/// Reasons are parts of sentences, of browsers, drivers or the engine, in their language.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// Another tab of this browser is training.
    AnotherTab,
    /// The worker could not be made.
    NotOpened { reason: String },
    /// The worker gave no sign.
    NotStarted,
    /// What the worker is made of could not be fetched.
    NotLoaded { reason: String },
    /// The engine gave up; what it had finished before may be there.
    Failed { trouble: Trouble, reason: String, in_part: bool },
    /// The worker is gone.
    Crashed { reason: String },
}

impl Failure {
    /// For the status region.
    pub fn sentence(&self) -> String {
        match self {
            Self::AnotherTab => t!(running_another_tab).to_owned(),
            Self::NotOpened { reason } => t!(running_not_opened, reason = reason),
            Self::NotStarted => t!(running_not_started).to_owned(),
            Self::NotLoaded { reason } => t!(running_not_loaded, reason = reason),
            Self::Failed { trouble, reason, in_part: false } => {
                t!(running_failed, reason = failure::of_run(*trouble, reason))
            }
            Self::Failed { trouble, reason, in_part: true } => {
                t!(running_failed_in_part, reason = failure::of_run(*trouble, reason))
            }
            Self::Crashed { reason } => t!(running_crashed, reason = reason),
        }
    }
}
