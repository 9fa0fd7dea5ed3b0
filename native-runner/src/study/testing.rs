//! Cells for the tests of this folder.

use results::Precision;
use results::kernels::Suite;

use super::kernel_settings::KernelSettings;
use super::run_settings::RunSettings;

/// A cell of `workload` that leaves everything else as it is.
pub(super) fn run_settings(workload: &str) -> RunSettings {
    RunSettings {
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

/// A cell of kernels with the usual budgets.
pub(super) fn kernel_settings(suite: Suite) -> KernelSettings {
    KernelSettings { suite, adapter: "any".to_owned(), budget_seconds: 2.0, budget_mib: 1024 }
}
