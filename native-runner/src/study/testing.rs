//! Cells for the tests of this folder.

use results::Precision;

use super::cell::Settings;

/// A cell of `workload` that leaves everything else as it is.
pub(super) fn settings(workload: &str) -> Settings {
    Settings {
        workload: workload.to_owned(),
        file: None,
        backend: "burn-flex".to_owned(),
        adapter: "any".to_owned(),
        precision: Precision::F32,
        threads: None,
        devices: None,
        input: None,
        layout: None,
        batch_size: None,
        learning_rate: None,
        limit: None,
        seed: 1,
    }
}
