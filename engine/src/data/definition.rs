use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

/// A compact data file as `reference/data-sets.json` lists it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DataFile {
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
    /// Values of one sample.
    pub fn features(&self) -> u32 {
        self.height * self.width * self.channels
    }
}

/// A data set: a training and a test file of equal shape.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DataSetDefinition {
    pub name: String,
    pub train: DataFile,
    pub test: DataFile,
}

/// Every data set there is, in the order of `reference/data-sets.json`.
pub static DATA_SETS: LazyLock<Vec<DataSetDefinition>> = LazyLock::new(|| {
    let files: Vec<DataFile> =
        serde_json::from_str(include_str!("../../../reference/data-sets.json")).expect("the file is checked in");
    let part = |set: &str, split: &str| {
        files.iter().find(|f| f.set == set && f.split == split).expect("each set has both parts").clone()
    };
    files
        .iter()
        .filter(|f| f.split == "train")
        .map(|f| DataSetDefinition { name: f.set.clone(), train: f.clone(), test: part(&f.set, "test") })
        .collect()
});

/// The data set with this name.
pub fn data_set(name: &str) -> Option<&'static DataSetDefinition> {
    DATA_SETS.iter().find(|set| set.name == name)
}
