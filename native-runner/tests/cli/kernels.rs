//! Short kernel measurements, on the adapter of the tests.

use std::fs;

use results::statistics::median;
use serde_json::Value;

use crate::support::*;

fn run_on_adapter(line: &str) -> Option<RunnerOutput> {
    Some(Runner::new(line).args(&any_adapter()?).run())
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is not a number"))
}

/// Checks that peak and share of an entry are the medians of its windows. Each window has its own peak.
fn expect_peak_share(entry: &Value, windows: &Value, flops: impl Fn(&Value) -> f64) {
    let peak_of = |window: &Value| number(&window["peak_flops_per_second"]);
    let share_of = |window: &Value| flops(window) / number(&window["seconds"]) / peak_of(window);
    let windows = windows.as_array().unwrap();
    let [peaks, shares]: [Vec<f64>; 2] =
        [windows.iter().map(peak_of).collect(), windows.iter().map(share_of).collect()];
    for (name, expected) in [("peak_flops_per_second", median(&peaks)), ("peak_share", median(&shares))] {
        assert!((number(&entry[name]) / expected.unwrap() - 1.0).abs() < 1e-9, "{name}: {entry}");
    }
}

#[test]
fn launches_are_measured_shown_and_reported_alone() {
    let Some(finished) = run_on_adapter("kernels --suite launch --json launches.json") else { return };
    let shown = ["Peaks of the device", "Launches of a small kernel", "launches/s", "16 in a row", "Round trip"];
    let finished = finished.expect_status(0).expect_output(&shown).expect_errors(&["device"]);
    let document: Value = finished.json_file("launches.json");
    assert_eq!(document["schema_version"], 1);
    assert!(document["adapter"]["name"].is_string() && document["provenance"]["engine_version"].is_string());
    let launches = &document["peaks"]["launches"];
    let windows = launches["timing"]["windows"].as_array().unwrap();
    assert_eq!(windows.len(), 5);
    for window in windows {
        assert!(number(&window["seconds"]) > 0.0 && window["repetitions"].as_u64().unwrap() > 0, "{window}");
    }
    let seconds = number(&launches["timing"]["seconds"]);
    let expected = number(&launches["work_per_repetition"]) / seconds;
    assert!((number(&launches["value"]) / expected - 1.0).abs() < 1e-9);
    assert!(number(&document["peaks"]["round_trip"]["value"]) > 0.0);
    assert!(document["peaks"]["arithmetic"].is_null() && document["entries"].as_array().unwrap().is_empty());

    let folder = finished.folder.path();
    for records in [folder, &folder.join("launches.json")] {
        let line = format!("report --force --output {0}/r.html {1}", folder.display(), records.display());
        run(&line, 0).expect_output(&["Kernel benchmarks"]);
    }
    assert!(fs::read_to_string(folder.join("r.html")).unwrap().contains("Round trip to the device"));
}

#[test]
#[ignore = "measures every product"]
fn products_have_a_share_of_peak_or_a_reason() {
    // A few milliseconds per entry, enough for small products on any device and for the largest ones on none.
    let line = "kernels --suite gemm --budget-seconds 0.1 --budget-mib 100 --json";
    let Some(finished) = run_on_adapter(line) else { return };
    let document: Value = finished.expect_status(0).json();
    let entries = document["entries"].as_array().unwrap();
    let of = |outcome: &str| entries.iter().filter(|entry| entry["outcome"] == outcome).collect::<Vec<_>>();
    let (measured, too_large) = (of("measured"), of("does_not_fit"));
    assert_eq!(measured.len() + too_large.len() + of("too_slow").len(), entries.len());
    assert!(!measured.is_empty() && !too_large.is_empty(), "{} and {}", measured.len(), too_large.len());
    for entry in measured {
        let windows = &entry["timing"]["windows"];
        expect_peak_share(entry, windows, |window| number(&entry["flops"]) * number(&window["repetitions"]));
        let share = number(&entry["peak_share"]);
        assert!(share > 0.0 && share < 1.5 && number(&entry["flops_per_second"]) > 0.0, "{entry}");
        assert!(entry["kernels"][0].as_str().unwrap().starts_with("dense_"), "{entry}");
    }
    let largest = too_large.iter().find(|entry| entry["size"] == "4096 × 7000 × 4096").unwrap();
    assert!(largest["needed_bytes"].as_u64() > largest["allowed_bytes"].as_u64(), "{largest}");
}

#[test]
#[ignore = "measures every recurrent layer"]
fn recurrent_layers_have_shares_of_peak_in_every_pass() {
    // Enough for the second layer of our own network on any device, even a busy one.
    let Some(finished) = run_on_adapter("kernels --suite rnn --budget-seconds 2 --budget-mib 8 --json") else { return };
    let document: Value = finished.expect_status(0).json();
    let entries = document["entries"].as_array().unwrap();
    let of = |size: &str| entries.iter().filter(|entry| entry["size"] == size).collect::<Vec<_>>();
    let small = of("LSTM, 128 units, 32 × 28 steps");
    let passes: Vec<&str> = small.iter().map(|entry| entry["pass"].as_str().unwrap()).collect();
    assert_eq!(passes, ["forward", "weight_gradient", "input_gradient"]);
    for (entry, kernel) in small.iter().zip(["lstm_forward", "dense_weight_gradient", "lstm_backward"]) {
        assert_eq!(entry["outcome"], "measured", "{entry}");
        assert!(entry["kernels"][0].as_str().unwrap().starts_with(kernel), "{entry}");
        let share = number(&entry["peak_share"]);
        assert!(share > 0.0 && share < 1.5, "{entry}");
    }
    for entry in of("GRU, 512 units, 32 × 1 steps") {
        assert_eq!(entry["outcome"], "skipped", "{entry}");
        assert!(entry["reason"].as_str().unwrap().contains("multiplies nothing"), "{entry}");
    }
}

#[test]
fn profile_has_costs_of_launches_and_operations_of_products() {
    let Some(adapter) = any_adapter() else { return };
    let line = format!("profile {adapter} --seconds-per-launch 0.01 --data no-such-folder --noise");
    let shown = Runner::new(&line).args("--batch-size 4").tiny().run().expect_status(0);
    shown.expect_output(&["tiny in batches of 4 of noise", "gather", "sgd", "whole step", "100.0 %"]);
    let document: Value = run(&format!("{line} --workload keras-mnist-mlp --batch-size 16 --json"), 0).json();
    assert_eq!((&document["schema_version"], &document["batch_size"]), (&1.into(), &16.into()));
    assert_eq!(document["workload"], "keras-mnist-mlp");
    let launches = document["launches"].as_array().unwrap();
    let kernels: Vec<&str> = launches.iter().map(|launch| launch["kernel"].as_str().unwrap()).collect();
    assert_eq!((kernels.first(), kernels.last()), (Some(&"gather"), Some(&"rmsprop")));
    for launch in launches {
        assert!(number(&launch["cost"]["seconds"]) > 0.0, "{launch}");
        assert!(launch["bytes"].as_u64().unwrap() > 0 && launch["workgroups"].as_u64().unwrap() > 0, "{launch}");
    }
    // Ten classes are stored as twelve. The first layer needs no gradient of its input.
    let [all, first] = [784 * 512 + 512 * 512 + 512 * 12, 784 * 512];
    let flops: u64 = launches.iter().map(|launch| launch["flops"].as_u64().unwrap()).sum();
    assert_eq!(flops, 2 * 16 * (3 * all - first));
    assert!(number(&document["step"]["seconds"]) > 0.0);
}

#[test]
fn two_back_ends_stand_side_by_side_with_every_window() {
    let Some(adapter) = any_adapter() else { return };
    let line = "steps --backend wgsl,reference --reference-steps 2 --batch-sizes 32,8..8,8 --seconds-per-workload 0.5";
    let document: Value = Runner::new(line).args(&adapter).tiny().args("--json").run().expect_status(0).json();
    assert_eq!(document["schema_version"], 1);
    assert_eq!((&document["checked"], &document["cancelled"]), (&true.into(), &false.into()));
    assert!(document["provenance"]["engine_version"].is_string() && document["requested_adapter"].is_string());
    let workload = &document["workloads"][0];
    assert_eq!((&workload["workload"], &workload["own_batch_size"]), (&"tiny".into(), &16.into()));
    assert_eq!(workload["network"]["batch_size"], 16);
    let flops = number(&workload["training_flops_per_sample"]);
    for (size, batch) in workload["sizes"].as_array().unwrap().iter().zip([8.0, 32.0]) {
        assert_eq!(number(&size["batch_size"]), batch);
        let [ours, reference] = [&size["entries"][0], &size["entries"][1]];
        assert_eq!((&ours["backend"], &reference["backend"]), (&"wgsl".into(), &"reference".into()));
        assert_eq!(reference["windows"].as_array().unwrap().len(), 2);
        assert_eq!(reference["peak_share"], Value::Null);
        // The faster backend for a small batch depends on the machine.
        let rates = [ours, reference].map(|entry| number(&entry["samples_per_second"]));
        let ratios = [ours, reference].map(|entry| number(&entry["ratio_to_fastest"]));
        assert_eq!(ratios[0].max(ratios[1]), 1.0);
        assert!((ratios[0] / ratios[1] * rates[1] / rates[0] - 1.0).abs() < 1e-9);
        let rate = number(&ours["samples_per_second"]) * flops;
        assert!((number(&ours["flops_per_second"]) / rate - 1.0).abs() < 1e-9);
        expect_peak_share(ours, &ours["windows"], |window| number(&window["samples"]) * flops);
        assert!(reference["windows"].as_array().unwrap().iter().all(|of| of["peak_flops_per_second"].is_null()));
        assert!(ours["variants"].is_array() && number(&ours["build_seconds"]) > 0.0, "{ours}");
        assert!((number(&ours["steps_per_second"]) * batch / number(&ours["samples_per_second"]) - 1.0).abs() < 0.5);
        // The prediction equals the allocation.
        assert_eq!(ours["device_memory_bytes"], ours["predicted_bytes"]);
    }
}

#[test]
fn steps_on_noise_need_no_files_and_make_a_table() {
    let line = "steps --workload keras-mnist-mlp --batch-sizes 1..2 --seconds-per-workload 0.1 --unchecked --noise \
                --data no-such-folder";
    let Some(finished) = run_on_adapter(line) else { return };
    let rows = ["keras-mnist-mlp wgsl 1 ", "keras-mnist-mlp wgsl 2 "];
    let finished = finished.expect_status(0).expect_output(&rows).expect_errors(&["wgsl"]);
    finished.expect_output(&["steps/s", "of peak", "MiB", "--unchecked", "--noise"]);
}

#[test]
fn workload_too_large_is_refused_and_others_go_on() {
    // The images of CIFAR-10 exceed this budget, and those of MNIST do not.
    let steps = "steps --backend wgsl --budget-mib 100 --seconds-per-workload 0.1 --unchecked --batch-sizes 2";
    let both = format!("{steps} --workload keras-cifar10-cnn,keras-mnist-mlp");
    let Some(finished) = run_on_adapter(&both) else { return };
    finished.expect_status(0).expect_output(&[
        "keras-mnist-mlp wgsl",
        "keras-cifar10-cnn in batches of 2, wgsl: does not fit",
        "limited to 104857600 bytes, 100.0 MiB",
    ]);
    // Without other workloads, it is a failure.
    let Some(finished) = run_on_adapter(&format!("{steps} --workload keras-cifar10-cnn")) else { return };
    finished.expect_status(4).expect_errors(&["104857600"]);
}

#[test]
#[ignore = "times a recurrent network"]
fn missing_data_and_oversized_batches_affect_no_others() {
    let steps = "steps --seconds-per-workload 0.1 --unchecked --json";
    let large = format!("{steps} --workload keras-babi-rnn --batch-sizes 2,5000");
    let Some(finished) = run_on_adapter(&large) else { return };
    let sizes = &finished.expect_status(0).json::<Value>()["workloads"][0]["sizes"];
    assert_eq!(sizes[0]["entries"][0]["outcome"], "measured");
    assert_eq!(sizes[1]["entries"][0]["outcome"], "skipped");
    let missing = "--workload keras-mnist-mlp,keras-babi-rnn --batch-sizes 2 --data no-such-folder";
    let Some(finished) = run_on_adapter(&format!("{steps} {missing}")) else { return };
    let finished = finished.expect_status(1);
    let workloads = &finished.json::<Value>()["workloads"];
    assert_eq!(workloads[0]["sizes"][0]["entries"][0]["outcome"], "failed");
    assert_eq!(workloads[1]["sizes"][0]["entries"][0]["outcome"], "measured");
    finished.expect_errors(&["keras-mnist-mlp", "cargo xtask data"]);
}

#[test]
fn impossible_measurements_are_refused_with_the_reason() {
    expect_refusals(&[
        ("kernels --suite gru", 2, &["gru", "arithmetic, memory, launch, gemm, conv, rnn"]),
        ("kernels --budget-seconds 0", 2, &["--budget-seconds", "above 0"]),
        ("kernels --budget-mib 0", 2, &["--budget-mib", "0"]),
        ("kernels --adapter no-such-gpu", 2, &["no adapter fits", "no-such-gpu"]),
        ("profile --workload no-such-net", 2, &["no-such-net"]),
        ("profile --workload keras-mnist-mlp --batch-size 0", 2, &["--batch-size"]),
        ("profile --workload keras-mnist-mlp --adapter no-such-gpu", 2, &["no-such-gpu"]),
        ("profile --workload keras-mnist-mlp --batch-size 60001", 2, &["from 1 to 60000"]),
        ("steps --workload no-such-net", 2, &["no-such-net", "caffe-mnist"]),
        ("steps --backend abacus", 2, &["abacus", "wgsl"]),
        ("steps --seconds-per-workload 0", 2, &["--seconds-per-workload", "above 0"]),
        ("steps --reference-steps 0", 2, &["--reference-steps", "0"]),
        ("steps --adapter no-such-gpu", 2, &["no adapter fits", "no-such-gpu"]),
    ]);
    for (command, option) in [("kernels", "--budget-seconds"), ("steps", "--seconds-per-workload")] {
        run(&format!("{command} --help"), 0).expect_output(&["Examples:", option]);
    }
}

#[cfg(unix)]
#[test]
fn an_interrupted_measurement_keeps_its_figures() {
    let Some(adapter) = any_adapter() else { return };
    let line = "steps --backend wgsl --workload keras-mnist-mlp,caffe-mnist --batch-sizes 4 --seconds-per-workload 600 \
                --unchecked --json";
    // Interrupted after a window, far from the end of the budget.
    let interrupted = Runner::new(line).args(&adapter).interrupt_after("keras-mnist-mlp, batches of 4 · wgsl ");
    let finished = interrupted.expect_status(130).expect_errors(&["Stopping after this window", "cancelled"]);
    let document: Value = finished.json();
    assert_eq!(document["cancelled"], true);
    let [workload] = document["workloads"].as_array().unwrap().as_slice() else { panic!("{document}") };
    let entries = workload["sizes"][0]["entries"].as_array().unwrap();
    let [entry] = entries.as_slice() else { panic!("{document}") };
    assert_eq!((&workload["workload"], &entry["outcome"]), (&"keras-mnist-mlp".into(), &"measured".into()));
    assert!(!entry["windows"].as_array().unwrap().is_empty() && number(&entry["samples_per_second"]) > 0.0, "{entry}");
}
