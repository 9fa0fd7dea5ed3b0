use std::path::PathBuf;
use std::sync::Arc;

use crate::{DataSet, data_set};

/// Returns a data set from `GRADMARK_DATA` or the workspace's data folder, or a generated one.
pub(crate) fn real_data(set: &str) -> Arc<DataSet> {
    let folder = std::env::var_os("GRADMARK_DATA")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../data"), PathBuf::from);
    let definition = data_set(set).unwrap();
    if let Some(generated) = DataSet::generated(definition) {
        // The golden traces use the same generated stories.
        return Arc::new(generated);
    }
    let read = |name: &str| {
        std::fs::read(folder.join(name))
            .unwrap_or_else(|error| panic!("{}: {error}; `cargo xtask data` fetches it", folder.join(name).display()))
    };
    let [train, test] = definition.file_names().expect("what is not generated has files").map(read);
    Arc::new(DataSet::from_files(definition, train, test).unwrap())
}
