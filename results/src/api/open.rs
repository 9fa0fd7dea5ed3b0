//! The open class: networks from files, ranked by the loss that the leaderboard computed from their weights.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Name of the suite of the open class, which has no networks of its own.
pub const OPEN_SUITE: &str = "open";

/// Query of the open class.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OpenQuery {
    /// Name of the data set, such as `moby-dick`.
    pub data_set: String,
}

/// The open class of a data set: proven runs that are not hidden.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OpenTable {
    pub data_set: String,
    /// Lowest loss first, at most 100.
    pub entries: Vec<OpenEntry>,
}

/// A run of the open class.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OpenEntry {
    pub run_id: String,
    /// Title of the network, from its file.
    pub title: String,
    /// Loss on the whole test text in nats per character, computed by the leaderboard from the run's last weights.
    pub loss: f64,
    /// Number of the network's parameters.
    pub parameters: u64,
    /// Seconds of training, at least the leaderboard's own measurement divided by 1.03.
    pub training_seconds: f64,
    /// Name of the device.
    pub device: String,
    pub backend: String,
    /// `Chrome 142`, `native-runner 0.1.0`.
    pub client: String,
    pub submitted_unix_seconds: f64,
}
