//! Networks of ImageNet's size, forward and backward: layers of the same kinds on smaller images, held to plain loops in double precision.

use crate::common::{data, gpu};
use engine::{Backend, Workload, check_workload};

/// The back ends of this build that every machine can run.
fn backends() -> impl Iterator<Item = Box<dyn Backend>> {
    let mut all = vec![gpu()];
    if cfg!(feature = "burn-flex") {
        all.push(crate::common::opened("burn-flex"));
    }
    all.into_iter().flatten()
}

/// Losses, logits, the gradient of each tensor, what the steps change of it, and tests before and after them.
fn is_computed_as_the_plain_loops_do(name: &str) {
    // Four images in a batch, which the plain loops train on in some seconds.
    let workload = Workload { batch_size: 4, ..engine::workload(name).unwrap() };
    let data = data(workload.data_set);
    for backend in backends() {
        let found = pollster::block_on(check_workload(&workload, 3, data.clone(), backend.as_ref())).unwrap();
        let differences = found.differences.iter().map(|of| format!("{:?} {:.1e}", of.compared, of.largest_difference));
        let differences: Vec<String> = differences.collect();
        eprintln!("{name} on {}: {:.1e}, {}", backend.name(), found.largest_difference, differences.join(", "));
        assert_eq!(found.disagreement(), None, "{name} on {}", backend.name());
        assert_eq!(found.batch_size, 4);
    }
}

#[test]
#[ignore = "computes networks of ImageNet's size"]
fn resnet50_is_computed_as_the_plain_loops_do() {
    is_computed_as_the_plain_loops_do("resnet50-synthetic");
}

#[test]
#[ignore = "computes networks of ImageNet's size"]
fn inception_v3_is_computed_as_the_plain_loops_do() {
    is_computed_as_the_plain_loops_do("inception-v3-synthetic");
}
