use results::{DeviceKind, Outcome, RunRecord};

use crate::support::*;

/// Arguments of a small run on the processor that takes a moment.
const SMALL: &str = "--backend reference --workload keras-mnist-mlp --steps 3 --batch-size 16 --seed 1";
const SMALL_TRACE: &str = "trace --backend reference --workload keras-mnist-mlp --steps 1 --batch-size 2 --seed 1";

#[test]
fn unknown_name_gets_the_known_ones_and_a_suggestion() {
    let workloads = &["no-such-net", "keras-mnist-mlp", "caffe-mnist"];
    let backends = &["abacus", "wgsl", "reference"];
    expect_refusals(&[
        ("--workload no-such-net", 2, workloads),
        ("trace --workload no-such-net --seed 1 --batch-size 1 --steps 1", 2, workloads),
        ("--backend abacus", 2, backends),
        ("doctor --backend abacus", 2, backends),
        ("--suite slow", 2, &["slow", "quick", "suite"]),
        ("--workload keras-mnist-mpl", 2, &["Did you mean `keras-mnist-mlp`?"]),
        ("--suite quik", 2, &["Did you mean `quick`?"]),
        ("--backend cuda", 2, &["Did you mean `burn-cuda`?"]),
        ("steps --backend wgls", 2, &["Did you mean `wgsl`?"]),
        ("study keras-fife --dry-run", 2, &["Did you mean `keras-five`?"]),
        ("study keras-five --dry-run --backend flex", 2, &["Did you mean `burn-flex`?"]),
        ("fetch-data cifar1", 2, &["Did you mean `cifar10`?"]),
    ]);
    if !cfg!(feature = "burn-cuda") {
        run("--backend cuda", 2).expect_errors(&["`--features burn-cuda`"]);
    }
}

#[test]
fn unfit_adapter_is_refused_with_those_there_are() {
    let adapters = adapters();
    let names: Vec<&str> = adapters.iter().map(|listed| listed.adapter.name.as_str()).collect();
    let has_discrete = |kind| adapters.iter().any(|of| of.adapter.kind == kind && !of.adapter.software);
    let mut requests = vec!["no such gpu", "discrete"];
    if has_discrete(DeviceKind::Discrete) {
        skipped("this machine has a discrete GPU");
        requests.pop();
    }
    for request in requests {
        let finished = Runner::new("--backend wgsl --adapter").arg(request).run().expect_status(2);
        assert_eq!(finished.stdout, "");
        finished.expect_errors(&names).expect_errors(&[request]);
    }
}

#[test]
fn missing_matrix_units_are_refused() {
    let software = adapters().into_iter().find(|listed| listed.adapter.software);
    let Some(listed) = software.filter(|listed| listed.adapter.name.contains("llvmpipe")) else {
        return skipped("there is no llvmpipe");
    };
    if listed.features["matrix_side"] != 0 {
        return skipped("this llvmpipe lists some");
    }
    let parts: &[&str] = &[&listed.adapter.name, "does not support f16-matrix", "lists none", "use f16"];
    let lines = ["--workload keras-mnist-mlp --steps 3", "steps --backend wgsl --workload keras-mnist-mlp"];
    let precise = |line: &str| Runner::new(line).args("--adapter cpu --precision f16-matrix");
    expect_refusals_of(precise, &lines.map(|line| (line, 2, parts)));
}

#[test]
fn unusable_data_is_named_with_the_command_that_fetches_it() {
    let truncated = damaged_data("mnist-train.bin", |bytes| bytes.truncate(1000));
    let altered = damaged_data("mnist-test.bin", |bytes| bytes[5000] ^= 1);
    let missing = tempfile::tempdir().unwrap();
    for (line, folder, file, why) in [
        (SMALL, &truncated, "mnist-train.bin", "1000 bytes"),
        (SMALL_TRACE, &truncated, "mnist-train.bin", "1000 bytes"),
        (SMALL_TRACE, &altered, "mnist-test.bin", "SHA-256"),
        (SMALL, &missing, "mnist-train.bin", "cargo xtask data"),
    ] {
        let path = folder.path().display().to_string();
        let finished = Runner::new(line).env("GRADMARK_DATA", folder.path()).run().expect_status(1);
        finished.expect_errors(&[&path, file, why, "cargo xtask data"]);
    }
    // Data is fetched into the chosen folder.
    let folder = missing.path().join("my data");
    let command = format!("native-runner fetch-data mnist --data '{}'", folder.display());
    for line in [SMALL, SMALL_TRACE] {
        let finished = Runner::new(line).arg("--data").arg(&folder).run().expect_status(1);
        assert!(!finished.stdout.contains("0.000") && !finished.stdout.contains('–'), "{}", finished.stdout);
        assert!(finished.stderr.trim_end().ends_with(&command), "{}", finished.stderr);
    }
}

#[test]
fn divergence_ends_the_run_at_its_step() {
    let devices = [Some("--backend reference".to_owned()), any_adapter()].into_iter().flatten();
    // With the second learning rate, losses grow but stay finite.
    let of = |device: String| ["1e30", "1e6 --seed 1"].map(|rate| format!("{device} --learning-rate {rate}"));
    for settings in devices.flat_map(of) {
        let line = format!("{settings} --steps 5 --batch-size 16 --json -");
        let finished = Runner::new(&line).tiny().run().expect_status(3);
        let record: RunRecord = finished.json();
        let outcome = &record.workloads[0].outcome;
        let Outcome::Diverged { step } = outcome else { panic!("{outcome:?}") };
        // The record on standard output moves the table to standard error.
        let parts = ["tiny diverged", &format!("at step {step}"), "--learning-rate", "Training throughput", "Verdict"];
        let finished = finished.expect_errors(&parts);
        if !settings.contains("--seed") {
            finished.expect_errors(&[&format!("repeat with --seed {}", record.requested.seed)]);
        }
    }
}

#[test]
fn impossible_settings_are_refused_with_what_is_allowed() {
    let batch_size = &["batch size", "from 1 to 60000"];
    let of_runs: [(&str, i32, &[&str]); 25] = [
        ("--batch-size 0", 2, batch_size),
        ("--batch-size 60001", 2, batch_size),
        ("--batch-size -1", 2, &["--batch-size", "-1"]),
        ("--seed -3", 2, &["invalid value '-3'", "--seed"]),
        ("--threads -3", 2, &["invalid value '-3'", "--threads"]),
        ("--upload-timeout -3", 2, &["invalid value '-3'", "--upload-timeout"]),
        ("--name RTX\u{200e}", 2, &["--name", "U+200E"]),
        ("--learning-rate 0", 2, &["learning rate", "above 0"]),
        ("--learning-rate -0.1", 2, &["learning rate", "above 0"]),
        ("--learning-rate nan", 2, &["learning rate", "above 0"]),
        ("--target-accuracy 97", 2, &["target accuracy", "from 0 to 1"]),
        ("--epochs 0", 2, &["epochs", "at least 1"]),
        ("--steps 0", 2, &["steps", "at least 1"]),
        ("--seconds 0", 2, &["seconds", "above 0"]),
        ("--epochs 1 --steps 1", 2, &["--epochs", "--steps"]),
        ("--seed 4294967296", 2, &["--seed", "4294967296"]),
        ("--upload-timeout 0", 2, &["--upload-timeout", "above 0"]),
        ("--dropout on", 2, &["--dropout", "unexpected"]),
        ("--adapter=", 2, &["--adapter", "1 to 100"]),
        ("--name=", 2, &["--name", "1 to 100"]),
        ("--threads 2", 2, &["a number of threads", "burn-flex"]),
        ("--threads 0", 2, &["--threads", "1..=1024"]),
        ("--remote gpu", 2, &["a remote device", "burn-remote"]),
        ("--remote gpu:0", 2, &["--remote", "as in"]),
        ("--steps 3 --json no-such-folder/result.json", 1, &["cannot write no-such-folder/result.json"]),
    ];
    expect_refusals_of(|line| Runner::new("--backend reference --workload keras-mnist-mlp").args(line), &of_runs);
    let of_traces: [(&str, i32, &[&str]); 4] = [
        ("--batch-size 0 --steps 1", 2, batch_size),
        ("--batch-size 60001 --steps 1", 2, batch_size),
        ("--batch-size 1 --steps 0", 2, &["steps", "at least 1"]),
        ("--batch-size 1 --steps 1 --threads 2", 2, &["number of threads", "burn-flex"]),
    ];
    let trace = "trace --backend reference --workload keras-mnist-mlp --seed 1";
    expect_refusals_of(|line| Runner::new(trace).args(line), &of_traces);
    run("steps --backend reference --threads 2", 2).expect_errors(&["number of threads", "burn-flex"]);
}
