use results::{DeviceKind, Outcome, RunRecord};

use crate::support::{Runner, adapters, any_adapter, damaged_data, expect_refusals, skipped};

/// Arguments of a small run on the processor that takes a moment.
const SMALL: &str = "--backend reference --workload keras-mnist-mlp --steps 3 --batch-size 16 --seed 1";
const SMALL_TRACE: &str = "trace --backend reference --workload keras-mnist-mlp --steps 1 --batch-size 2 --seed 1";

#[test]
fn unknown_name_is_answered_with_the_known_ones() {
    let workloads = ["no-such-net", "keras-mnist-mlp", "caffe-mnist"];
    let cases = [
        ("--workload no-such-net", workloads),
        ("trace --workload no-such-net --seed 1 --batch-size 1 --steps 1", workloads),
        ("--backend abacus", ["abacus", "wgsl", "reference"]),
        ("doctor --backend abacus", ["abacus", "wgsl", "reference"]),
        ("--suite slow", ["slow", "quick", "suite"]),
    ];
    expect_refusals("", &cases);
}

#[test]
fn mistyped_name_gets_a_suggestion() {
    let cases = [
        ("--workload keras-mnist-mpl", ["Did you mean `keras-mnist-mlp`?"]),
        ("--suite quik", ["Did you mean `quick`?"]),
        ("--backend cuda", ["Did you mean `burn-cuda`?"]),
        ("steps --backend wgls", ["Did you mean `wgsl`?"]),
        ("study keras-fife --dry-run", ["Did you mean `keras-five`?"]),
        ("study keras-five --dry-run --backend flex", ["Did you mean `burn-flex`?"]),
        ("fetch-data cifar1", ["Did you mean `cifar10`?"]),
    ];
    expect_refusals("", &cases);
    if !cfg!(feature = "burn-cuda") {
        Runner::new("--backend cuda").run().expect_status(2).expect_errors(&["`--features burn-cuda`"]);
    }
}

#[test]
fn an_unknown_adapter_is_answered_with_those_there_are() {
    let names: Vec<String> = adapters().into_iter().map(|listed| listed.adapter.name).collect();
    let mut parts: Vec<&str> = names.iter().map(String::as_str).collect();
    parts.push("no such gpu");
    let finished = Runner::new("--backend wgsl --adapter").arg("no such gpu").run();
    assert_eq!(finished.stdout, "");
    finished.expect_status(2).expect_errors(&parts);
}

#[test]
fn a_discrete_gpu_is_not_replaced_by_another_adapter() {
    let adapters = adapters();
    if adapters.iter().any(|listed| listed.adapter.kind == DeviceKind::Discrete && !listed.adapter.software) {
        skipped("this machine has a discrete GPU");
        return;
    }
    let mut parts: Vec<&str> = adapters.iter().map(|listed| listed.adapter.name.as_str()).collect();
    parts.push("discrete");
    Runner::new("--backend wgsl --adapter discrete").run().expect_status(2).expect_errors(&parts);
}

#[test]
fn missing_matrix_units_are_refused() {
    let software = adapters().into_iter().find(|listed| listed.adapter.software);
    let Some(listed) = software.filter(|listed| listed.adapter.name.contains("llvmpipe")) else {
        return skipped("there is no llvmpipe");
    };
    if listed.features.matrix_side > 0 {
        return skipped("this llvmpipe lists some");
    }
    for line in ["--workload keras-mnist-mlp --steps 3", "steps --backend wgsl --workload keras-mnist-mlp"] {
        let finished = Runner::new(&format!("{line} --adapter cpu --precision f16-matrix")).run();
        assert_eq!(finished.stdout, "");
        let parts = [listed.adapter.name.as_str(), "does not support f16-matrix", "lists none", "use f16"];
        finished.expect_status(2).expect_errors(&parts);
    }
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
}

#[test]
fn damaged_data_is_fetched_into_its_folder_again() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("my data");
    let command = format!("native-runner fetch-data mnist --data '{}'", folder.display());
    for line in [SMALL, SMALL_TRACE] {
        let finished = Runner::new(line).arg("--data").arg(&folder).run().expect_status(1);
        assert!(!finished.stdout.contains("0.000") && !finished.stdout.contains('–'), "{}", finished.stdout);
        assert!(finished.stderr.trim_end().ends_with(&command), "{}", finished.stderr);
    }
}

#[test]
fn divergence_ends_the_run_at_its_step() {
    let on_processor = Some("--backend reference".to_owned());
    let on_adapter = any_adapter();
    let devices: Vec<String> = [on_processor, on_adapter].into_iter().flatten().collect();
    // With the second learning rate, losses grow but stay finite.
    for (device, rate) in devices.iter().flat_map(|device| ["1e30", "1e6"].map(|rate| (device, rate))) {
        let line = format!("{device} --steps 5 --batch-size 16 --seed 1 --learning-rate {rate} --json -");
        let finished = Runner::new(&line).tiny().run().expect_status(3);
        let record: RunRecord = finished.json();
        let Outcome::Diverged { step } = record.workloads[0].outcome else {
            panic!("{:?}", record.workloads[0].outcome)
        };
        finished.expect_errors(&["tiny diverged", &format!("at step {step}"), "--learning-rate"]);
    }
}

#[test]
fn impossible_settings_are_refused_with_what_is_allowed() {
    let cases = [
        ("--batch-size 0", ["batch size", "from 1 to 60000"]),
        ("--batch-size 60001", ["batch size", "from 1 to 60000"]),
        ("--batch-size -1", ["--batch-size", "-1"]),
        ("--seed -3", ["invalid value '-3'", "--seed"]),
        ("--seeds -3", ["invalid value '-3'", "--seeds"]),
        ("--steps -3", ["invalid value '-3'", "--steps"]),
        ("--epochs -3", ["invalid value '-3'", "--epochs"]),
        ("--threads -3", ["invalid value '-3'", "--threads"]),
        ("--upload-timeout -3", ["invalid value '-3'", "--upload-timeout"]),
        ("--name RTX\u{200e}", ["--name", "U+200E"]),
        ("--learning-rate 0", ["learning rate", "above 0"]),
        ("--learning-rate -0.1", ["learning rate", "above 0"]),
        ("--learning-rate nan", ["learning rate", "above 0"]),
        ("--target-accuracy 97", ["target accuracy", "from 0 to 1"]),
        ("--epochs 0", ["epochs", "at least 1"]),
        ("--steps 0", ["steps", "at least 1"]),
        ("--seconds 0", ["seconds", "above 0"]),
        ("--epochs 1 --steps 1", ["--epochs", "--steps"]),
        ("--seed 4294967296", ["--seed", "4294967296"]),
        ("--upload localhost:8080", ["--upload", "http://"]),
        ("--upload-timeout 0", ["--upload-timeout", "above 0"]),
        ("--dropout on", ["--dropout", "unexpected"]),
        ("--adapter=", ["--adapter", "1 to 100"]),
        ("--name=", ["--name", "1 to 100"]),
        ("--threads 2", ["a number of threads", "burn-flex"]),
        ("--threads 0", ["--threads", "1..=1024"]),
        ("--remote gpu", ["a remote device", "burn-remote"]),
        ("--remote gpu:0", ["--remote", "as in"]),
    ];
    expect_refusals("--backend reference --workload keras-mnist-mlp", &cases);
    let trace = [
        ("--batch-size 0 --steps 1", ["batch size", "from 1 to 60000"]),
        ("--batch-size 60001 --steps 1", ["batch size", "from 1 to 60000"]),
        ("--batch-size 1 --steps 0", ["steps", "at least 1"]),
        ("--batch-size 1 --steps 1 --threads 2", ["number of threads", "burn-flex"]),
    ];
    expect_refusals("trace --backend reference --workload keras-mnist-mlp --seed 1", &trace);
    let threads = [("steps --backend reference --threads 2", ["number of threads", "burn-flex"])];
    expect_refusals("", &threads);
}

#[test]
fn unwritable_json_file_is_refused_before_training() {
    let finished = Runner::new(SMALL).arg("--json").arg("no-such-folder/result.json").run().expect_status(1);
    assert!(!finished.stderr.contains("keras-mnist-mlp (1 of 1)"), "{}", finished.stderr);
    finished.expect_errors(&["cannot write no-such-folder/result.json"]);
}
