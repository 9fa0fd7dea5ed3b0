//! Cells for the tests of this folder.

use std::num::NonZero;

use results::kernels::Suite;
use results::{InputMode, Layout, Precision};

use crate::study::cell::{KernelSettings, Length, RunSettings};

pub(crate) fn run_settings(workload: &str) -> RunSettings {
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

pub(crate) fn unusual_run_settings(workload: &str) -> RunSettings {
    RunSettings {
        threads: Some(2),
        input: Some(InputMode::Stream),
        layout: Some(Layout::Nchw),
        batch_size: Some(500),
        learning_rate: Some(1e-4),
        limit: NonZero::new(20_000).map(Length::Steps),
        ..run_settings(workload)
    }
}

pub(crate) fn kernel_settings(suite: Suite) -> KernelSettings {
    KernelSettings { suite, adapter: "any".to_owned(), budget_seconds: 2.0, budget_mib: 1024 }
}
