use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::support::Runner;

#[test]
fn a_trace_has_the_golden_layout_and_the_golden_numbers() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../reference/golden/keras-mnist-mlp-small.json");
    let golden: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    let seed = &golden["seed"];
    let batch_size = &golden["batch_size"];
    let line = format!(
        "trace --workload keras-mnist-mlp --backend reference --seed {seed} --batch-size {batch_size} --steps 3 --json trace.json"
    );
    let finished = Runner::new(&line).run().expect_status(0);
    assert_eq!(finished.stdout, "");
    let trace = fs::read_to_string(finished.folder.path().join("trace.json")).unwrap();
    let trace: Value = serde_json::from_str(&trace).unwrap();
    assert_eq!(trace["workload"], "keras-mnist-mlp");
    assert_eq!(trace["adapter"]["api"], "CPU");
    assert_eq!(trace["dropout"], false);

    let tensors = golden["tensors"].as_array().unwrap();
    assert_eq!(trace["losses"].as_array().unwrap().len(), 3);
    assert_eq!(trace["logits"].as_array().unwrap().len(), 4);
    assert_eq!(trace["logits"][0].as_array().unwrap().len(), 10);
    for field in ["grad_norms", "first_update_norms", "final_norms"] {
        assert_eq!(trace[field].as_array().unwrap().len(), tensors.len(), "{field}");
    }
    let accuracy = trace["test_accuracy"].as_f64().unwrap();
    assert!((0.0..=1.0).contains(&accuracy), "{accuracy}");

    // The other figures are compared by the engine's tests; here it matters that the right run was traced.
    for (step, tolerance) in golden["tolerance"]["loss_rel"].as_array().unwrap().iter().enumerate().take(3) {
        let expected = golden["losses_f64"][step].as_f64().unwrap();
        assert_close(&trace["losses"][step], expected, tolerance.as_f64().unwrap() * expected);
    }
    let tolerance = golden["tolerance"]["logits_abs"].as_f64().unwrap();
    assert_close(&trace["logits"][3][9], golden["logits"][3][9].as_f64().unwrap(), tolerance);
}

#[track_caller]
fn assert_close(found: &Value, expected: f64, tolerance: f64) {
    let found = found.as_f64().unwrap();
    assert!((found - expected).abs() <= tolerance, "{found} instead of {expected} ± {tolerance}");
}

#[test]
fn a_trace_goes_to_standard_output_unless_told_otherwise() {
    let line = "trace --workload keras-mnist-mlp --backend reference --seed 1 --batch-size 2 --steps 1 --dropout on";
    let finished = Runner::new(line).run().expect_status(0);
    let trace: Value = serde_json::from_str(&finished.stdout).unwrap();
    assert_eq!(trace["dropout"], true);
    // As many rows of logits as the batch has samples, where it has fewer than four.
    assert_eq!(trace["logits"].as_array().unwrap().len(), 2);
}
