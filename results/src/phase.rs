use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::RunRecord;

/// The parts of a measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    LoadingData,
    Building,
    Checking,
    /// Steps that no window counts.
    WarmingUp,
    Training,
    /// Classifying samples that are not trained on.
    Testing,
    /// More windows after training, until the figure has settled.
    Measuring,
    /// Measuring what the device can do at best.
    MeasuringPeak,
    /// Telling the leaderboard how far the training has come, and sending it the weights where it asks for them.
    Proving,
    /// Waiting between windows because whoever watches wants it: the page is hidden.
    Paused,
}

impl Phase {
    /// For people.
    pub fn title(self) -> &'static str {
        match self {
            Self::LoadingData => "loading the data",
            Self::Building => "compiling kernels",
            Self::Checking => "checking results",
            Self::WarmingUp => "warming up",
            Self::Training => "training",
            Self::Testing => "testing",
            Self::Measuring | Self::MeasuringPeak => "measuring",
            Self::Proving => "telling the leaderboard",
            Self::Paused => "waiting",
        }
    }

    /// Whether windows of training are timed in it, and little else is done.
    pub fn is_timed(self) -> bool {
        matches!(self, Self::Training | Self::Measuring)
    }
}

impl RunRecord {
    /// How long the run waited while nothing was timed, all workloads together.
    pub fn paused_seconds(&self) -> f64 {
        let stretches = self.workloads.iter().flat_map(|workload| &workload.timeline);
        stretches.filter(|stretch| stretch.phase == Phase::Paused).map(|stretch| stretch.seconds).sum()
    }
}
