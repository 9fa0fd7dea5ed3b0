use serde::{Deserialize, Serialize};

/// The parts of a measurement, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    LoadingData,
    Building,
    Checking,
    /// Steps that no window counts.
    WarmingUp,
    Training,
    /// More windows after training, until the figure has settled.
    Measuring,
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
            Self::Measuring => "measuring",
        }
    }
}
