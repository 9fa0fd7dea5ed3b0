use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::RunRecord;

/// A part of the measurement of a workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Reading or fetching the data set and checking it.
    LoadingData,
    /// Compiling kernels, choosing among them, and uploading data and weights.
    Building,
    /// Comparing the back end with the plain reference.
    Checking,
    /// Steps that no window counts.
    WarmingUp,
    /// Training in timed windows, until the limit of the workload.
    Training,
    /// Classifying samples that are not trained on.
    Testing,
    /// More timed windows after training, until the throughput has settled.
    Measuring,
    /// Measuring the peak performance of the device.
    MeasuringPeak,
    /// Hashing the state for the leaderboard, training parts again that it asks for, and sending it states.
    Proving,
    /// Waiting because the page is hidden.
    Paused,
}

impl Phase {
    /// Returns the words for people.
    pub fn title(self) -> &'static str {
        match self {
            Self::LoadingData => "loading the data",
            Self::Building => "compiling kernels",
            Self::Checking => "checking results",
            Self::WarmingUp => "warming up",
            Self::Training => "training",
            Self::Testing => "testing",
            Self::Measuring | Self::MeasuringPeak => "measuring",
            Self::Proving => "proving the run",
            Self::Paused => "waiting",
        }
    }

    /// Returns true if windows of training are timed in it, and little else is done.
    pub fn is_timed(self) -> bool {
        matches!(self, Self::Training | Self::Measuring)
    }
}

impl RunRecord {
    /// Returns the seconds for which the run waited with nothing timed, over all workloads.
    pub fn paused_seconds(&self) -> f64 {
        let stretches = self.workloads.iter().flat_map(|workload| &workload.timeline);
        stretches.filter(|stretch| stretch.phase == Phase::Paused).map(|stretch| stretch.seconds).sum()
    }
}
