//! What the leaderboard says of its open data.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::api::ListRuns;

/// The licence of everything that is exported, as SPDX calls it: anyone may do anything with it.
pub const LICENCE: &str = "CC0-1.0";
/// Where that licence can be read.
pub const LICENCE_ADDRESS: &str = "https://creativecommons.org/publicdomain/zero/1.0/";

/// How results are written into one file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ExportFormat {
    /// A table for spreadsheets and statistics: a line for each workload of a run, with the figures that are shown.
    #[default]
    Csv,
    /// Everything: a line for each run, each an `api::StoredRun` with all raw samples, without its nonce.
    Jsonl,
    /// The table with types, for programs that analyse it: an Apache Parquet file.
    Parquet,
}

impl ExportFormat {
    pub const ALL: [Self; 3] = [Self::Csv, Self::Jsonl, Self::Parquet];

    /// As it is written in addresses, on command lines, and at the end of a file's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Csv => "csv",
            Self::Jsonl => "jsonl",
            Self::Parquet => "parquet",
        }
    }

    /// The one of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.name() == name)
    }
}

/// Query of an export: the format, and the filters and the order of a list where only that is wanted. All of that list is
/// exported, so that it has no `limit`, `cursor` or `offset`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ExportQuery {
    /// `csv` when absent.
    #[serde(default)]
    pub format: ExportFormat,
    #[serde(flatten)]
    pub list: ListRuns,
}

/// What an export holds, and what one may do with it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExportAbout {
    /// [`LICENCE`].
    pub licence: String,
    pub licence_address: String,
    /// Runs that an export has at this moment, if all of them can be read.
    pub runs: u64,
    /// How the table is written, and how to read a text that could be taken for a formula.
    pub csv: String,
    /// In the order in which a line has them.
    pub csv_columns: Vec<ExportColumn>,
    /// What a line of JSON Lines is.
    pub jsonl: String,
    /// What is different in the table with types.
    pub parquet: String,
    /// What is exported where the query has filters of a list.
    pub of_a_list: String,
    /// What becomes of the files of each day.
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

/// Files of the last days that anyone may download, newest first; none where a host keeps none.
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
