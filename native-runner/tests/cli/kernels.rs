//! Measuring kernels, shortly, on whatever adapter the tests use.

use results::statistics::median;
use serde_json::Value;

use crate::support::{Finished, Runner, any_adapter, one_line};

/// `kernels` with these arguments, on an adapter. The words for a training's back end are left out.
fn run(test: &str, arguments: &str) -> Option<Finished> {
    let adapter = any_adapter(test)?;
    let adapter = adapter.trim_start_matches("--backend wgsl ");
    Some(Runner::new(&format!("kernels {adapter} {arguments}")).run())
}

fn document(finished: &Finished) -> Value {
    serde_json::from_str(&finished.stdout).expect("standard output holds one document")
}

#[test]
fn launches_are_measured_with_every_sample_and_nothing_else_is() {
    let test = "launches_are_measured_with_every_sample_and_nothing_else_is";
    let Some(finished) = run(test, "--suite launch --json") else { return };
    let document = document(&finished.expect_status(0));
    assert_eq!(document["schema_version"], 1);
    assert!(document["adapter"]["name"].is_string() && document["provenance"]["engine_version"].is_string());
    let launches = &document["peaks"]["launches"];
    let windows = launches["timing"]["windows"].as_array().unwrap();
    assert_eq!(windows.len(), 5);
    for window in windows {
        assert!(window["seconds"].as_f64().unwrap() > 0.0 && window["repetitions"].as_u64().unwrap() > 0, "{window}");
    }
    let seconds = launches["timing"]["seconds"].as_f64().unwrap();
    let expected = launches["work_per_repetition"].as_f64().unwrap() / seconds;
    assert!((launches["value"].as_f64().unwrap() / expected - 1.0).abs() < 1e-9);
    assert!(document["peaks"]["round_trip"]["value"].as_f64().unwrap() > 0.0);
    assert!(document["peaks"]["arithmetic"].is_null() && document["entries"].as_array().unwrap().is_empty());
}

#[test]
#[ignore = "measures every product"]
fn products_that_fit_the_budget_have_a_share_of_the_peak_and_the_others_a_reason() {
    let test = "products_that_fit_the_budget_have_a_share_of_the_peak_and_the_others_a_reason";
    // Some milliseconds each time: small products on any device, and the largest ones on none.
    let Some(finished) = run(test, "--suite gemm --budget-seconds 0.1 --budget-mib 100 --json") else { return };
    let document = document(&finished.expect_status(0));
    let entries = document["entries"].as_array().unwrap();
    let of = |outcome: &str| entries.iter().filter(|entry| entry["outcome"] == outcome).collect::<Vec<_>>();
    let (measured, too_large) = (of("measured"), of("does_not_fit"));
    assert_eq!(measured.len() + too_large.len() + of("too_slow").len(), entries.len());
    assert!(!measured.is_empty() && !too_large.is_empty(), "{} and {}", measured.len(), too_large.len());
    for entry in measured {
        let rate = entry["flops_per_second"].as_f64().unwrap();
        let share = entry["peak_share"].as_f64().unwrap();
        let peak = entry["peak_flops_per_second"].as_f64().unwrap();
        // Each window has the peak of its own moment, and the share is their median.
        let windows = entry["timing"]["windows"].as_array().unwrap();
        let number = |value: &Value| value.as_f64().unwrap();
        let peak_of = |window: &Value| number(&window["peak_flops_per_second"]);
        let rate_of =
            |window: &Value| number(&entry["flops"]) * number(&window["repetitions"]) / number(&window["seconds"]);
        let peaks: Vec<f64> = windows.iter().map(peak_of).collect();
        let shares: Vec<f64> = windows.iter().map(|window| rate_of(window) / peak_of(window)).collect();
        assert!((peak / median(&peaks).unwrap() - 1.0).abs() < 1e-9, "{entry}");
        assert!((share / median(&shares).unwrap() - 1.0).abs() < 1e-9, "{entry}");
        assert!(share > 0.0 && share < 1.5 && rate > 0.0, "{entry}");
        assert!(entry["kernels"][0].as_str().unwrap().starts_with("dense_"), "{entry}");
    }
    let largest = too_large.iter().find(|entry| entry["size"] == "4096 × 7000 × 4096").unwrap();
    assert!(largest["needed_bytes"].as_u64() > largest["allowed_bytes"].as_u64(), "{largest}");
}

#[test]
#[ignore = "measures every recurrent layer"]
fn recurrent_layers_have_a_share_of_the_peak_in_every_pass_and_those_that_do_not_fit_both_figures() {
    let test = "recurrent_layers_have_a_share_of_the_peak_in_every_pass_and_those_that_do_not_fit_both_figures";
    // Enough for the second layer of our own network on any device, be it busy with something else.
    let Some(finished) = run(test, "--suite rnn --budget-seconds 2 --budget-mib 8 --json") else { return };
    let document = document(&finished.expect_status(0));
    let entries = document["entries"].as_array().unwrap();
    let of = |size: &str| entries.iter().filter(|entry| entry["size"] == size).collect::<Vec<_>>();
    let small = of("LSTM, 128 units, 32 × 28 steps");
    let passes: Vec<&str> = small.iter().map(|entry| entry["pass"].as_str().unwrap()).collect();
    assert_eq!(passes, ["forward", "weight_gradient", "input_gradient"]);
    for (entry, kernel) in small.iter().zip(["lstm_forward", "dense_weight_gradient", "lstm_backward"]) {
        assert_eq!(entry["outcome"], "measured", "{entry}");
        assert!(entry["kernels"][0].as_str().unwrap().starts_with(kernel), "{entry}");
        let share = entry["peak_share"].as_f64().unwrap();
        assert!(share > 0.0 && share < 1.5, "{entry}");
    }
    for entry in of("LSTM, 1024 units, 128 × 25 steps") {
        assert_eq!(entry["outcome"], "does_not_fit", "{entry}");
        assert!(entry["needed_bytes"].as_u64() > entry["allowed_bytes"].as_u64(), "{entry}");
    }
    // DeepBench's vanilla layers and GRUs as well, of which one has a single step.
    for (cell, sizes) in [("LSTM", 24), ("vanilla", 12), ("GRU", 19)] {
        let is_of_cell = |entry: &&Value| entry["size"].as_str().unwrap().starts_with(cell);
        assert_eq!(entries.iter().filter(is_of_cell).count(), 3 * sizes, "{cell}");
    }
    for entry in of("GRU, 512 units, 32 × 1 steps") {
        assert_eq!(entry["outcome"], "skipped", "{entry}");
        assert!(entry["reason"].as_str().unwrap().contains("multiplies nothing"), "{entry}");
    }
}

#[test]
fn the_table_shows_what_was_measured_and_how() {
    let test = "the_table_shows_what_was_measured_and_how";
    let Some(finished) = run(test, "--suite launch") else { return };
    let finished = finished.expect_status(0);
    let text = one_line(&finished.stdout);
    for part in ["Peaks of the device", "Launches of a small kernel", "launches/s", "16 in a row", "Round trip"] {
        assert!(text.contains(part), "`{part}` is missing in:\n{}", finished.stdout);
    }
    finished.expect_errors(&["device"]);
}

#[test]
fn unknown_suites_and_impossible_budgets_are_refused() {
    let cases = [
        ("--suite gru", ["gru", "arithmetic, memory, launch, gemm, conv, rnn"]),
        ("--budget-seconds 0", ["--budget-seconds", "above 0"]),
        ("--budget-mib 0", ["--budget-mib", "0"]),
        ("--adapter no-such-gpu", ["no adapter fits", "no-such-gpu"]),
    ];
    for (arguments, parts) in cases {
        Runner::new(&format!("kernels {arguments}")).run().expect_status(2).expect_errors(&parts);
    }
    let help = Runner::new("kernels --help").run().expect_status(0).stdout;
    assert!(help.contains("Examples:") && help.contains("--budget-seconds"), "{help}");
}
