//! Side-by-side comparisons of runs or devices, and shared comparisons of backends.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use crate::environment::SideDifference;
pub use crate::estimate::SideVerdict;
use crate::{ClientKind, Precision, Refused, RunRecord, Suite};

/// Query of a comparison: two to four of one kind, with commas between them. The first is what the others are compared
/// with.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ComparingQuery {
    /// Ids of runs.
    pub runs: Option<String>,
    /// Keys of devices, compared in every category with proven runs of several of them.
    pub devices: Option<String>,
}

/// Result of a comparison of runs or devices.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Comparing {
    /// In the order of the query.
    pub sides: Vec<ComparedSide>,
    /// Differences of machines and programs, which may explain different metrics.
    pub differences: Vec<SideDifference>,
    /// Workloads with results from at least two sides.
    pub workloads: Vec<ComparedWorkload>,
}

/// A run, or a device.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ComparedSide {
    /// The run's id, or the device's key.
    pub id: String,
    /// Name of the device.
    pub name: String,
}

/// One workload, with the metrics of each side.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ComparedWorkload {
    pub workload: String,
    /// Only for devices: their metrics never mix suites, back ends and kinds of client.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suite: Option<Suite>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backend: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_kind: Option<ClientKind>,
    /// In the order of the sides; absent if a side has no result.
    pub figures: Vec<Option<ComparedFigure>>,
}

/// Metrics of one side.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ComparedFigure {
    /// Absent for devices, whose runs are all of the batch size of their suite.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batch_size: Option<u32>,
    pub precision: Precision,
    /// Of a run the median over its windows and the 95 % interval of that median; of a device the median over its
    /// submitters, each once a day, and the quartiles. Absent if not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub samples_per_second: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub samples_per_second_low: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub samples_per_second_high: Option<f64>,
    /// Ratio to the rate of the first side: 2 is twice as fast. Absent for the first, if either has no rate, and if
    /// batch sizes differ.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to_first: Option<f64>,
    /// Present together with `to_first`, if both have an interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<SideVerdict>,
    /// On the test set, 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accuracy: Option<f64>,
    /// Mean loss on the test set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test_loss: Option<f64>,
    /// Training seconds until the target was first seen; absent if it was not reached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds_to_target: Option<f64>,
}

/// Records from which readers make the tables of a comparison.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SharedComparison {
    /// One for each back end and seed, in the order of the runs. Back ends may have any name.
    pub records: Vec<RunRecord>,
    /// Back ends that could not train.
    #[serde(default)]
    pub refused: Vec<Refused>,
}

/// A stored comparison. Its records are only checked for contradictions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StoredComparison {
    pub comparison_id: String,
    /// Time of upload in seconds since 1970 UTC.
    pub submitted_unix_seconds: f64,
    pub comparison: SharedComparison,
}

/// Answer to a comparison that was stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AcceptedComparison {
    pub comparison_id: String,
    /// Path of its page.
    pub permalink: String,
    /// Path of the page that deletes it, with the secret as fragment, which browsers never send.
    pub deletion_link: String,
    /// Secret that allows deleting it; only its hash is stored.
    pub deletion_secret: String,
}
