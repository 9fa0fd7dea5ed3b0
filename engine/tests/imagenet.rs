//! Networks of ImageNet's size, forward and backward: their layers on smaller images, held to plain loops in double precision.

mod common;

use std::sync::Arc;

use common::opened;
use engine::{DataSet, Workload, check_workload, data_set};

/// The back ends of this build that every machine can run.
const BACKENDS: &[&str] = &[
    "wgsl",
    #[cfg(feature = "burn-flex")]
    "burn-flex",
];

/// Batches of two images, which the plain loops train on in some seconds.
fn in_small_batches(name: &str) -> Workload {
    Workload { batch_size: 2, ..engine::workload(name).unwrap() }
}

/// Losses, logits, the gradient of each tensor, what the steps change of it, and tests before and after them.
fn is_computed_as_the_plain_loops_do(name: &str) {
    let workload = in_small_batches(name);
    let definition = data_set(workload.data_set).unwrap();
    let data = Arc::new(DataSet::generated(definition).expect("nobody has files of it"));
    for backend in BACKENDS {
        let Some(backend) = opened(backend) else { continue };
        let found = pollster::block_on(check_workload(&workload, 3, Arc::clone(&data), backend.as_ref())).unwrap();
        let differences: Vec<String> = found.differences.iter().map(|of| format!("{of:?}")).collect();
        eprintln!("{name} on {}: {:.1e}, {}", backend.name(), found.largest_difference, differences.join(", "));
        assert!(found.passed, "{name} on {}: {:?}", backend.name(), found.disagreement());
        assert_eq!(found.batch_size, 2);
    }
}

#[test]
fn resnet50_is_computed_as_the_plain_loops_do() {
    is_computed_as_the_plain_loops_do("resnet50-synthetic");
}
