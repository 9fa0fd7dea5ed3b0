//! The data files that must exist, read from `reference/data-sets.json`, which the engine reads too.

use serde::Deserialize;

/// One file: a split of a data set in the compact format of `convert`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct DataFile {
    pub set: String,
    pub split: String,
    pub file: String,
    pub samples: u32,
    pub height: u32,
    pub width: u32,
    pub channels: u32,
    pub classes: u32,
    pub bytes: u64,
    pub sha256: String,
}

impl DataFile {
    pub(crate) fn compressed_name(&self) -> String {
        format!("{}.gz", self.file)
    }
}

pub(crate) fn registered() -> Vec<DataFile> {
    let registry = include_str!("../../reference/data-sets.json");
    serde_json::from_str(registry).expect("the file is checked in, and a test reads it")
}
