//! The data sets that the page trains on, and their presence in the folder.

use std::io::ErrorKind;
use std::path::Path;
use std::sync::LazyLock;

use results::api::{DataSetList, ServedDataSet};
use serde::Deserialize;

/// Name and size of a compact data file. The page itself checks the content after fetching it.
#[derive(Clone, Debug, Deserialize)]
struct RequiredFile {
    set: String,
    file: String,
    bytes: u64,
}

/// The required files. The engine and `cargo xtask data` read the same list.
static REGISTERED: LazyLock<Vec<RequiredFile>> = LazyLock::new(|| {
    serde_json::from_str(include_str!("../../reference/data-sets.json")).expect("the file is checked in")
});

/// Returns every registered data set with its current presence, because files may be added while the server runs.
pub(crate) async fn list(folder: Option<&Path>) -> DataSetList {
    let mut list = DataSetList::default();
    for file in REGISTERED.iter() {
        let missing = match folder {
            None => Some("it was started without a data folder (`--data`)".to_owned()),
            Some(folder) => fault(folder, file).await.map(|fault| {
                format!("{fault}; `native-runner fetch-data` or, in a checkout, `cargo xtask data` fetches it")
            }),
        };
        match list.data_sets.iter_mut().find(|set| set.name == file.set) {
            Some(set) => set.missing = set.missing.take().or(missing),
            None => list.data_sets.push(ServedDataSet { name: file.set.clone(), missing }),
        }
    }
    list
}

async fn fault(folder: &Path, RequiredFile { file, bytes, .. }: &RequiredFile) -> Option<String> {
    match tokio::fs::metadata(folder.join(file)).await {
        Ok(found) if !found.is_file() => Some(format!("{file} in its data folder is not a file")),
        Ok(found) if found.len() != *bytes => {
            Some(format!("{file} in its data folder has {} bytes instead of {bytes}", found.len()))
        }
        Ok(_) => None,
        Err(cause) if cause.kind() == ErrorKind::NotFound => Some(format!("{file} is missing in its data folder")),
        Err(cause) => {
            tracing::warn!(cause = &cause as &dyn std::error::Error, file, "cannot read the metadata of a data file");
            Some(format!("{file} in its data folder cannot be read"))
        }
    }
}
