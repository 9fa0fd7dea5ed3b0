use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::text::is_plain;

/// The way in which a workload ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Outcome {
    /// The workload was trained and measured to its end.
    Completed,
    /// The loss was not a finite number, or was above a thousand times the first step's loss.
    Diverged {
        /// Steps done before that loss.
        step: u64,
    },
    /// The back end disagreed with the reference, so nothing was timed.
    Incorrect,
    /// The run was cancelled during this workload.
    Cancelled,
    /// The workload could not be trained here, for a reason that does not affect the other workloads of the run. It has
    /// no figures.
    Failed {
        /// Cause of the failure.
        cause: FailureCause,
        /// Description of the failure, in one line of at most 300 characters.
        reason: String,
    },
}

impl Outcome {
    /// Largest number of characters in a reason. Longer ones are cut.
    pub const MOST_REASON_CHARACTERS: usize = 300;

    /// Returns the word that tables show.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Diverged { .. } => "diverged",
            Self::Incorrect => "incorrect",
            Self::Cancelled => "cancelled",
            Self::Failed { .. } => "failed",
        }
    }

    /// Returns the outcome of a workload that could not be trained. Drivers explain themselves at length and in several
    /// lines; a record keeps the beginning of that, in one line.
    pub fn failed(cause: FailureCause, message: &str) -> Self {
        let one_line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let plain: String = message.chars().map(|c| if is_plain(c) { c } else { ' ' }).collect();
        let mut reason = one_line(&plain);
        if reason.chars().count() > Self::MOST_REASON_CHARACTERS {
            reason = reason.chars().take(Self::MOST_REASON_CHARACTERS - 1).chain(['…']).collect();
        }
        Self::Failed { cause, reason }
    }
}

/// Cause that kept a workload from being trained.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FailureCause {
    /// The workload needs more than the device allows. Its sizes show that before anything is allocated.
    DoesNotFit,
    /// The device ran out of memory.
    OutOfMemory,
    /// The device or its driver refused a part of the work, such as a kernel.
    DeviceRefused,
    /// The data set could not be loaded.
    Data,
    /// The back end lacks something that the network needs.
    Unsupported,
}
