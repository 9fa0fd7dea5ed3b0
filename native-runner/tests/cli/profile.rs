//! Where the time of a step goes, shortly, on whatever adapter the tests use.

use serde_json::Value;

use crate::support::{Finished, Runner, any_adapter, one_line};

/// `profile` with these arguments, on an adapter. The words for a training's back end are left out.
fn run(test: &str, arguments: &str) -> Option<Finished> {
    let adapter = any_adapter(test)?;
    let adapter = adapter.trim_start_matches("--backend wgsl ");
    Some(Runner::new(&format!("profile {adapter} {arguments}")).run())
}

#[test]
fn every_launch_of_a_step_has_its_cost_and_every_product_its_operations() {
    let test = "every_launch_of_a_step_has_its_cost_and_every_product_its_operations";
    let arguments = "--workload keras-mnist-mlp --batch-size 16 --seconds-per-launch 0.01 --json";
    let Some(finished) = run(test, arguments) else { return };
    let document: Value = serde_json::from_str(&finished.expect_status(0).stdout).unwrap();
    assert_eq!((&document["schema_version"], &document["batch_size"]), (&1.into(), &16.into()));
    assert_eq!(document["workload"], "keras-mnist-mlp");
    let launches = document["launches"].as_array().unwrap();
    let kernels: Vec<&str> = launches.iter().map(|launch| launch["kernel"].as_str().unwrap()).collect();
    assert_eq!((kernels.first(), kernels.last()), (Some(&"gather"), Some(&"rmsprop")));
    for launch in launches {
        assert!(launch["cost"]["seconds"].as_f64().unwrap() > 0.0, "{launch}");
        assert!(launch["bytes"].as_u64().unwrap() > 0 && launch["workgroups"].as_u64().unwrap() > 0, "{launch}");
    }
    // Ten classes are stored as twelve. The first layer needs no gradient of its input.
    let [all, first] = [784 * 512 + 512 * 512 + 512 * 12, 784 * 512];
    let flops: u64 = launches.iter().map(|launch| launch["flops"].as_u64().unwrap()).sum();
    assert_eq!(flops, 2 * 16 * (3 * all - first));
    assert!(document["step"]["seconds"].as_f64().unwrap() > 0.0);
}

#[test]
fn without_json_there_is_a_table_in_the_order_of_the_step() {
    let test = "without_json_there_is_a_table_in_the_order_of_the_step";
    let Some(finished) = run(test, "--workload caffe-mnist --batch-size 4 --seconds-per-launch 0.01") else { return };
    let finished = finished.expect_status(0);
    let text = one_line(&finished.stdout);
    for part in ["caffe-mnist in batches of 4", "gather", "max_pool_backward", "sgd", "a step as a whole", "100.0 %"] {
        assert!(text.contains(part), "`{part}` is missing in:\n{}", finished.stdout);
    }
}

#[test]
fn what_cannot_be_profiled_is_wrong_usage_and_says_why() {
    let refused = [
        ("--workload no-such-net", "no-such-net"),
        ("--workload keras-mnist-mlp --batch-size 0", "--batch-size"),
        ("--workload keras-mnist-mlp --adapter no-such-gpu", "no-such-gpu"),
        ("--workload keras-mnist-mlp --batch-size 60001", "from 1 to 60000"),
    ];
    for (arguments, part) in refused {
        Runner::new(&format!("profile {arguments}")).run().expect_status(2).expect_errors(&[part]);
    }
}
