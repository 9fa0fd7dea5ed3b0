//! How the figures of a device changed, from version to version and from month to month.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::FigureOfDevice;
use crate::{ClientKind, Precision, Suite};

/// Query of a device's history. What is not named is that of the category in which the device has most proven runs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct DeviceHistoryQuery {
    pub suite: Option<String>,
    pub workload: Option<String>,
    pub backend: Option<String>,
    pub precision: Option<Precision>,
    pub client: Option<ClientKind>,
}

/// Proven results of a device in one category, grouped by what may have changed them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DeviceHistory {
    pub device_key: String,
    /// Absent where no run of the device is proven in any that fits the query.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub category: Option<HistoryCategory>,
    /// Results that the groups are made from: the latest, at most 2,000, among the latest 20,000 of the device.
    pub results: u64,
    /// Whether older ones were left out.
    pub older_left_out: bool,
    /// By version of the engine, the latest seen last.
    pub engine_versions: Vec<HistoryLine>,
    /// By driver, where the platform tells it, likewise.
    pub drivers: Vec<HistoryLine>,
    /// By month (UTC), such as `2026-11`.
    pub months: Vec<HistoryLine>,
}

/// What is compared: figures never mix any of these.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HistoryCategory {
    pub suite: Suite,
    pub workload: String,
    pub backend: String,
    pub precision: Precision,
    pub client_kind: ClientKind,
}

/// What the results of one group come to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HistoryLine {
    /// The version, the driver or the month.
    pub label: String,
    /// Of samples per second, each submitter once a day.
    #[serde(flatten)]
    pub figure: FigureOfDevice,
    /// When the first and the last of them were handed in, in seconds since 1970 UTC.
    pub first_unix_seconds: f64,
    pub last_unix_seconds: f64,
}
