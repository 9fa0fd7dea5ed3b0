//! Open data of the leaderboard.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// SPDX identifier of the license of all exports, a public-domain dedication.
pub const LICENCE: &str = "CC0-1.0";
/// URL of the license.
pub const LICENCE_ADDRESS: &str = "https://creativecommons.org/publicdomain/zero/1.0/";

/// Format of an export.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ExportFormat {
    /// A table for spreadsheets and statistics: a line for each workload of a run, with the metrics that are shown.
    #[default]
    Csv,
    /// Everything: a line for each run, each an `api::StoredRun` with all raw samples, without its nonce.
    Jsonl,
    /// The table with types, for programs that analyse it: an Apache Parquet file.
    Parquet,
}

names!(ExportFormat, "format", { Csv = "csv", Jsonl = "jsonl", Parquet = "parquet" });

/// Query of an export: the format, and the filters and order of a list to export. All of that list is exported, so `limit`,
/// `cursor` and `offset` are not allowed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ExportQuery {
    /// `csv` when absent.
    #[serde(default)]
    pub format: ExportFormat,
    #[serde(flatten)]
    pub list: crate::api::ListRuns,
}

/// Description of exports.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExportAbout {
    /// [`LICENCE`].
    pub licence: String,
    pub licence_address: String,
    /// Number of runs that an export has now, if all of them can be read.
    pub runs: u64,
    /// Format of the table, and of texts that look like formulas.
    pub csv: String,
    /// Columns in the order of a line.
    pub csv_columns: Vec<ExportColumn>,
    /// Content of a line of JSON Lines.
    pub jsonl: String,
    /// Differences of the table with types.
    pub parquet: String,
    /// Content of exports with filters of a list.
    pub of_a_list: String,
    /// Storage of the daily files.
    pub snapshots: String,
}

/// A column of the table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExportColumn {
    pub name: String,
    /// Such as `s` or `samples/s`; absent for words and plain numbers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    pub meaning: String,
}

/// Files of the last days for download, the newest first; empty if the host keeps none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SnapshotList {
    pub snapshots: Vec<Snapshot>,
}

/// An export of a day, which never changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Snapshot {
    /// The file is at `/snapshots/NAME`, and its sum at `/snapshots/NAME.sha256` as `sha256sum --check` reads it.
    pub name: String,
    /// UTC, such as `2026-11-23`.
    pub day: String,
    pub bytes: u64,
    pub sha256: String,
}
