//! How the rates of all proven runs of a workload lie, and where a run is among them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::RankedClass;
use crate::{ClientKind, Precision, Suite};

/// Query of a distribution; all but suite and workload is optional.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DistributionQuery {
    /// Name of the suite; its current version is answered.
    pub suite: String,
    pub workload: String,
    /// f32 where none is named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub precision: Option<Precision>,
    /// Only this back end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backend: Option<String>,
    /// Only this kind of client.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<ClientKind>,
    /// GPUs where none is named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<RankedClass>,
}

/// How many proven runs have which rate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Distribution {
    pub suite: Suite,
    pub workload: String,
    pub runs: u64,
    pub devices: u64,
    /// The slowest first; those that are empty are left out.
    pub bins: Vec<RateBin>,
}

/// Runs between two rates, in samples per second. Every bin is equally wide on a logarithmic scale.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RateBin {
    pub from: f64,
    /// Not included.
    pub to: f64,
    pub runs: u64,
}

/// Where a run stands: its score, and its share among the proven runs of its category.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunStanding {
    /// Key of the device that trained.
    pub device_key: String,
    /// The geometric mean over all workloads of the suite of rate over reference rate; absent for a run that does not
    /// rank in all of them, and where no reference is frozen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    /// What the score 1 is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score_reference: Option<String>,
    /// For each completed workload with a rate.
    pub workloads: Vec<WorkloadStanding>,
}

/// Where a run stands in one workload, from three distances: each is the share of proven runs of the same suite, workload,
/// back end, precision, kind of client and class that it is at or above, 0 to 1, with half of those that are equal within
/// one percent. Absent where there are none.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WorkloadStanding {
    pub workload: String,
    pub samples_per_second: f64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub among_all: Option<f64>,
    /// Among runs on the same device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of_device: Option<f64>,
    /// Among runs on devices of the same vendor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of_vendor: Option<f64>,
    /// How many runs it stands among: of all, of its device, of its vendor.
    pub runs: [u64; 3],
}
