//! Two to four runs, or devices, side by side.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{ClientKind, Precision, Suite};

/// Query of a comparison: two to four of one kind, with commas between them. The first is what the others are compared
/// with.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ComparingQuery {
    /// Ids of runs.
    pub runs: Option<String>,
    /// Keys of devices, in all categories in which several of them have proven runs.
    pub devices: Option<String>,
}

/// What is compared, and what it comes to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Comparing {
    /// In the order of the query.
    pub sides: Vec<ComparedSide>,
    /// What differs around them, and may be why figures do.
    pub differences: Vec<SideDifference>,
    /// Everything that at least two of them have a result of.
    pub workloads: Vec<ComparedWorkload>,
}

/// A run, or a device.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ComparedSide {
    /// The run's id, or the device's key.
    pub id: String,
    /// What the device is called.
    pub name: String,
}

/// Something that not all sides have alike.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SideDifference {
    /// Such as `adapter`, `driver`, `backend`, `precision`, `engine_version`.
    pub what: String,
    /// One for each side; absent where it does not say.
    pub values: Vec<Option<String>>,
}

/// One workload, with a figure for each side.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ComparedWorkload {
    pub workload: String,
    /// Only where devices are compared: what figures of theirs never mix.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suite: Option<Suite>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backend: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_kind: Option<ClientKind>,
    /// In the order of the sides; absent where a side has no result.
    pub figures: Vec<Option<ComparedFigure>>,
}

/// What one side has of a workload.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ComparedFigure {
    /// Absent for devices, whose runs are all of the batch size of their suite.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batch_size: Option<u32>,
    pub precision: Precision,
    /// Of a run the median over its windows and the 95 % interval of that median; of a device the median over its
    /// submitters, each once a day, and the quartiles. Absent where there is no figure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub samples_per_second: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub samples_per_second_low: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub samples_per_second_high: Option<f64>,
    /// Over the rate of the first side: 2 is twice as fast. Absent for the first, where either has no rate, and where
    /// batch sizes differ.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to_first: Option<f64>,
    /// Present together with `to_first`, where both have an interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<SideVerdict>,
    /// On the test set, 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accuracy: Option<f64>,
    /// Training seconds until the target accuracy was first seen; absent where it was not reached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds_to_target: Option<f64>,
}

/// Whether a side can be told apart from the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SideVerdict {
    Faster,
    Slower,
    /// The interval of the ratio holds 1 and lies within a tenth of it.
    Tied,
    /// The interval holds 1 and ratios that are further away: more windows or runs would decide.
    Undecided,
}
