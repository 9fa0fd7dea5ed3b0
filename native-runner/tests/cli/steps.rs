//! Timing steps, shortly, on whatever adapter the tests use.

use results::statistics::median;
use serde_json::Value;

use crate::support::{Finished, Runner, any_adapter, one_line};

/// Runs `steps` with these arguments on an adapter, for the small network where they name no workload. The words for a
/// training's back end are left out.
fn run(test: &str, arguments: &str) -> Option<Finished> {
    let adapter = any_adapter(test)?;
    let adapter = adapter.trim_start_matches("--backend wgsl ");
    let runner = Runner::new(&format!("steps {adapter} {arguments}"));
    Some(if arguments.contains("--workload ") { runner.run() } else { runner.tiny().run() })
}

fn document(finished: &Finished) -> Value {
    serde_json::from_str(&finished.stdout).expect("standard output holds one document")
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is not a number"))
}

#[test]
fn two_back_ends_stand_side_by_side_with_every_window() {
    let test = "two_back_ends_stand_side_by_side_with_every_window";
    let arguments = "--backend wgsl,reference --reference-steps 2 --batch-sizes 8,32 --seconds-per-workload 2 --json";
    let Some(finished) = run(test, arguments) else { return };
    let document = document(&finished.expect_status(0));
    assert_eq!(document["schema_version"], 1);
    assert_eq!((&document["checked"], &document["cancelled"]), (&true.into(), &false.into()));
    assert!(document["provenance"]["engine_version"].is_string() && document["requested_adapter"].is_string());
    let workload = &document["workloads"][0];
    assert_eq!((&workload["workload"], &workload["own_batch_size"]), (&"tiny".into(), &16.into()));
    let flops = number(&workload["training_flops_per_sample"]);
    for (size, batch) in workload["sizes"].as_array().unwrap().iter().zip([8.0, 32.0]) {
        assert_eq!(number(&size["batch_size"]), batch);
        let [ours, reference] = [&size["entries"][0], &size["entries"][1]];
        assert_eq!((&ours["backend"], &reference["backend"]), (&"wgsl".into(), &"reference".into()));
        assert_eq!(reference["windows"].as_array().unwrap().len(), 2);
        assert_eq!(reference["peak_share"], Value::Null);
        // Which is the faster one for so small a batch depends on the machine.
        let rates = [ours, reference].map(|entry| number(&entry["samples_per_second"]));
        let ratios = [ours, reference].map(|entry| number(&entry["ratio_to_fastest"]));
        assert_eq!(ratios[0].max(ratios[1]), 1.0);
        assert!((ratios[0] / ratios[1] * rates[1] / rates[0] - 1.0).abs() < 1e-9);
        let rate = number(&ours["samples_per_second"]) * flops;
        assert!((number(&ours["flops_per_second"]) / rate - 1.0).abs() < 1e-9);
        // Each window has the peak of its own moment, and the share is their median.
        let windows = ours["windows"].as_array().unwrap();
        let of_windows =
            |figure: &dyn Fn(&Value) -> f64| median(&windows.iter().map(figure).collect::<Vec<_>>()).unwrap();
        let peak = of_windows(&|window| number(&window["peak_flops_per_second"]));
        let share = of_windows(&|window| {
            number(&window["samples"]) * flops / number(&window["seconds"]) / number(&window["peak_flops_per_second"])
        });
        assert!((number(&ours["peak_flops_per_second"]) / peak - 1.0).abs() < 1e-9, "{ours}");
        assert!((number(&ours["peak_share"]) / share - 1.0).abs() < 1e-9, "{ours}");
        assert!(reference["windows"].as_array().unwrap().iter().all(|of| of["peak_flops_per_second"].is_null()));
        assert!(ours["variants"].is_array() && number(&ours["build_seconds"]) > 0.0, "{ours}");
        assert!((number(&ours["steps_per_second"]) * batch / number(&ours["samples_per_second"]) - 1.0).abs() < 0.5);
        // What was predicted is what was allocated.
        assert_eq!(ours["device_memory_bytes"], ours["predicted_bytes"]);
    }
}

#[test]
fn without_json_there_is_a_table_of_figures() {
    let test = "without_json_there_is_a_table_of_figures";
    let arguments = "--batch-sizes 1..2 --seconds-per-workload 0.1 --unchecked";
    let Some(finished) = run(test, arguments) else { return };
    let finished = finished.expect_status(0);
    let text = one_line(&finished.stdout);
    for part in ["tiny wgsl 1 ", "tiny wgsl 2 ", "steps/s", "of peak", "MiB", "--unchecked"] {
        assert!(text.contains(part), "`{part}` is missing in:\n{}", finished.stdout);
    }
    finished.expect_errors(&["wgsl"]);
}

#[test]
fn a_workload_that_does_not_fit_is_refused_with_both_numbers_and_the_others_go_on() {
    let test = "a_workload_that_does_not_fit_is_refused_with_both_numbers_and_the_others_go_on";
    // The images of CIFAR-10 alone are larger than this, those of MNIST are not.
    let budget = "--backend wgsl --budget-mib 100 --seconds-per-workload 0.1 --unchecked --batch-sizes 2";
    let large_and_small = format!("--workload keras-cifar10-cnn,keras-mnist-mlp {budget}");
    let Some(finished) = run(test, &large_and_small) else { return };
    let finished = finished.expect_status(0);
    let text = one_line(&finished.stdout);
    for part in [
        "keras-mnist-mlp wgsl",
        "keras-cifar10-cnn in batches of 2, wgsl: does not fit",
        "larger than 104857600 bytes, 100.0 MiB",
    ] {
        assert!(text.contains(part), "`{part}` is missing in:\n{}", finished.stdout);
    }
    // Alone, it is a failure.
    let Some(finished) = run(test, &format!("--workload keras-cifar10-cnn {budget}")) else { return };
    finished.expect_status(4).expect_errors(&["104857600"]);
}

#[test]
#[ignore = "times a recurrent network"]
fn missing_data_and_batches_of_more_samples_than_there_are_leave_the_others_alone() {
    let test = "missing_data_and_batches_of_more_samples_than_there_are_leave_the_others_alone";
    let few = "--workload keras-babi-rnn --batch-sizes 2,5000 --seconds-per-workload 0.1 --unchecked --json";
    let Some(finished) = run(test, few) else { return };
    let sizes = &document(&finished.expect_status(0))["workloads"][0]["sizes"];
    assert_eq!(sizes[0]["entries"][0]["outcome"], "measured");
    assert_eq!(sizes[1]["entries"][0]["outcome"], "skipped");
    let missing = "--workload keras-mnist-mlp,keras-babi-rnn --batch-sizes 2 --seconds-per-workload 0.1 --unchecked \
                   --json --data no-such-folder";
    let Some(finished) = run(test, missing) else { return };
    let finished = finished.expect_status(1);
    let workloads = &document(&finished)["workloads"];
    assert_eq!(workloads[0]["sizes"][0]["entries"][0]["outcome"], "failed");
    assert_eq!(workloads[1]["sizes"][0]["entries"][0]["outcome"], "measured");
    finished.expect_errors(&["keras-mnist-mlp", "cargo xtask data"]);
}

#[test]
fn what_cannot_be_meant_is_refused() {
    let cases = [
        ("--workload no-such-net", ["no-such-net", "caffe-mnist"]),
        ("--backend abacus", ["abacus", "wgsl"]),
        ("--batch-sizes 4..2", ["--batch-sizes", "above 0"]),
        ("--seconds-per-workload 0", ["--seconds-per-workload", "above 0"]),
        ("--reference-steps 0", ["--reference-steps", "0"]),
        ("--adapter no-such-gpu", ["no adapter fits", "no-such-gpu"]),
    ];
    for (arguments, parts) in cases {
        Runner::new(&format!("steps {arguments}")).run().expect_status(2).expect_errors(&parts);
    }
    let help = Runner::new("steps --help").run().expect_status(0).stdout;
    assert!(help.contains("Examples:") && help.contains("--seconds-per-workload"), "{help}");
}

/// Burn's need is known once it is built; its compiler and what it does with it stand below the table.
#[cfg(feature = "burn-flex")]
#[test]
fn burn_is_held_to_the_budget_and_says_how_it_computes() {
    let line =
        "steps --backend burn-flex --workload keras-mnist-mlp --batch-sizes 2 --seconds-per-workload 0.1 --unchecked";
    let finished = Runner::new(line).run().expect_status(0);
    let text = one_line(&finished.stdout);
    assert!(text.contains("burn-flex: rustc, fusion off, autotune off, threads "), "{}", finished.stdout);
    let finished = Runner::new(&format!("{line} --budget-mib 1")).run().expect_status(4);
    finished.expect_errors(&["as it was built", "1048576"]);
}

/// Ctrl-C keeps what was measured.
#[cfg(unix)]
#[test]
fn an_interrupted_measurement_keeps_its_figures() {
    use std::io::{BufRead, BufReader};
    use std::process::Stdio;

    use nix::sys::signal::{Signal, kill};
    use nix::unistd::Pid;

    let test = "an_interrupted_measurement_keeps_its_figures";
    let Some(adapter) = any_adapter(test) else { return };
    let adapter = adapter.trim_start_matches("--backend wgsl ");
    let mut runner = Runner::new(&format!(
        "steps --backend wgsl {adapter} --workload keras-mnist-mlp,caffe-mnist --batch-sizes 4 \
         --seconds-per-workload 600 --unchecked --json"
    ));
    let mut child = runner.command().stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
    // Told after a window, and far from the end of the budget.
    lines.find(|line| line.contains("keras-mnist-mlp, batches of 4 · wgsl ")).expect("a window is reported");
    kill(Pid::from_raw(i32::try_from(child.id()).unwrap()), Signal::SIGINT).unwrap();
    let errors = lines.collect::<Vec<_>>().join("\n");
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{errors}");
    assert!(errors.contains("Stopping after this window") && errors.contains("cancelled"), "{errors}");
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["cancelled"], true);
    let [workload] = document["workloads"].as_array().unwrap().as_slice() else { panic!("{document}") };
    let entries = workload["sizes"][0]["entries"].as_array().unwrap();
    let [entry] = entries.as_slice() else { panic!("{document}") };
    assert_eq!((&workload["workload"], &entry["outcome"]), (&"keras-mnist-mlp".into(), &"measured".into()));
    assert!(!entry["windows"].as_array().unwrap().is_empty() && number(&entry["samples_per_second"]) > 0.0, "{entry}");
}
