//! A device's page: what all its proven runs come to, in every category.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{DeviceSource, FigureOfDevice, RankedClass, RunRow};
use crate::{ClientKind, Precision, Suite};

/// Everything that the leaderboard has of a device.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DeviceSummary {
    /// Runs of one key are of one device. Where a moderator merged the device that was asked for into another one, this is
    /// that one's.
    pub device_key: String,
    /// Keys of devices that a moderator merged into this one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub merged_keys: Vec<String>,
    pub device_name: String,
    pub device_source: DeviceSource,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vendor: Option<String>,
    /// Which devices it may be, by its measured peak: a guess that decides nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inferred: Option<String>,
    /// Its figures in every category in which a run is proven, by suite, workload, back end, precision and client.
    pub figures: Vec<CategoryFigure>,
    /// What a browser costs on it, wherever both kinds of client have a figure of the same kernels.
    pub browser_taxes: Vec<BrowserTaxOfDevice>,
    /// What came last, of whatever tier, newest first: at most twenty results.
    pub recent: Vec<RunRow>,
}

/// A device's figure in one category.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CategoryFigure {
    pub suite: Suite,
    /// Absent for the score over all workloads of the suite.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workload: Option<String>,
    pub backend: String,
    pub precision: Precision,
    pub client_kind: ClientKind,
    pub class: RankedClass,
    /// In the table of its suite, workload, precision and class, as in tables of places.
    pub place: u64,
    /// Lines of that table.
    pub of: u64,
    #[serde(flatten)]
    pub figure: FigureOfDevice,
    /// The fastest run that does not stand apart.
    pub best_run_id: String,
}

/// How much faster the command line is than a browser, with equal kernels.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BrowserTaxOfDevice {
    pub suite: Suite,
    pub workload: String,
    pub backend: String,
    pub precision: Precision,
    /// Median rate of the command line over that of browsers: 1.25 means that a browser trains a fifth slower.
    pub native_over_browser: f64,
    /// Submitters behind the command line's median and behind that of browsers: with few, the ratio is one of machines.
    pub native_submitters: u64,
    pub browser_submitters: u64,
}
