//! Programs of other frameworks as backends: PyTorch, and Keras on JAX and on TensorFlow, if Python has them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs};

use serde_json::Value;

use crate::support::*;

/// Bundled programs, each with the backend of Keras and the Python modules that it needs.
const PROGRAMS: [(&str, &str, &str); 3] = [
    ("pytorch", "", "numpy, torch"),
    ("keras-jax", "jax", "keras, jax"),
    ("keras-tensorflow", "tensorflow", "keras, tensorflow"),
];

/// Small traces that cover dense, convolutional and recurrent layers, three update rules, dropout, and Caffe's
/// networks.
const TRACES: [&str; 6] = [
    "keras-mnist-mlp-dropout",
    "keras-mnist-cnn-small",
    "keras-mnist-hrnn-small",
    "keras-cifar10-cnn-small",
    "caffe-cifar10",
    "tensorflow-cifar10-small",
];

/// Traces of both language models, which the programs on Keras lack.
const LANGUAGE_TRACES: [&str; 2] = ["gpt-nano-small", "gpt-small-small"];

/// Returns a Python with the modules: one from `GRADMARK_PYTHON`, which is separated as in `PATH`, or the machine's own.
/// Without one, returns `None` and reports it.
fn python(keras_backend: &str, modules: &str) -> Option<PathBuf> {
    let named = env::var_os("GRADMARK_PYTHON").unwrap_or_default();
    let own = ["python3", "/usr/bin/python3"].map(PathBuf::from);
    let has_modules = |python: &PathBuf| {
        let mut command = Command::new(python);
        // Keras imports JAX or TensorFlow, whichever is selected.
        command.args(["-c", &format!("import {modules}")]).env("KERAS_BACKEND", keras_backend);
        command.stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
    };
    let found = env::split_paths(&named).filter(|path| !path.as_os_str().is_empty()).chain(own).find(has_modules);
    if found.is_none() {
        skipped(format_args!("no Python here has {modules}"));
    }
    found
}

pub(crate) fn golden(name: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../reference/golden/{name}.json"));
    read_json(&path)
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect()
}

#[test]
#[ignore = "needs other frameworks"]
fn every_framework_reproduces_the_golden_traces() {
    for (program, keras_backend, modules) in PROGRAMS {
        let Some(python) = python(keras_backend, modules) else { continue };
        let of_language: &[&str] = if program == "pytorch" { &LANGUAGE_TRACES } else { &[] };
        let traces = TRACES.iter().chain(of_language);
        for (name, layout) in traces.flat_map(|name| ["nhwc", "nchw"].map(|layout| (*name, layout))) {
            let line = format!("{} --layout {layout} --program {program}", trace_line(name, program));
            let runner = Runner::new(&line).env("GRADMARK_PYTHON", &python);
            expect_golden(name, &format!("{program} in {layout}"), &runner.run().expect_status(0).stdout);
        }
    }
}

/// Returns the arguments for a trace with the settings of a golden trace.
pub(crate) fn trace_line(name: &str, backend: &str) -> String {
    let golden = golden(name);
    format!(
        "trace --workload {} --backend {backend} --seed {} --batch-size {} --steps {} --dropout {} --test-samples 16{}",
        golden["workload"].as_str().unwrap(),
        golden["seed"],
        golden["batch_size"],
        golden["steps"],
        if golden["dropout"].is_null() { "off" } else { "on" },
        if golden["network"] == "reduced" { " --reduced" } else { "" }
    )
}

#[track_caller]
pub(crate) fn expect_golden(name: &str, by: &str, traced: &str) {
    let (share, place) = worst_share(&golden(name), &serde_json::from_str(traced).unwrap());
    println!("{name} on {by}: {share:.3} of what is allowed, at {place}");
    assert!(share <= 1.0, "{name} on {by}: {place} is off by {share:.2} of what is allowed");
}

/// Returns the largest difference from a golden trace, as a share of its tolerance, and its position.
fn worst_share(golden: &Value, trace: &Value) -> (f64, String) {
    let mut worst = (0.0, String::new());
    let mut hold = |what: String, found: &[f64], expected: &[f64], tolerances: &dyn Fn(usize) -> f64| {
        assert_eq!(found.len(), expected.len(), "{what}");
        for (place, (found, expected)) in found.iter().zip(expected).enumerate() {
            let share = (found - expected).abs() / tolerances(place);
            if share.is_nan() || share > worst.0 {
                worst = (share, format!("{what} {place}: {found} instead of {expected}"));
            }
        }
    };
    for (list, golden_list, tolerance) in [
        ("losses", "losses_f64", "loss_rel"),
        ("grad_norms", "grad_norms", "grad_norm_rel"),
        ("first_update_norms", "first_update_norms", "first_update_norm_rel"),
        ("final_norms", "final_norms", "final_norm_rel"),
    ] {
        let (expected, tolerances) = (numbers(&golden[golden_list]), numbers(&golden["tolerance"][tolerance]));
        let allowed = |place: usize| 1e-12 + tolerances[place] * expected[place].abs();
        hold(list.to_owned(), &numbers(&trace[list]), &expected, &allowed);
    }
    let logits_tolerance = golden["tolerance"]["logits_abs"].as_f64().unwrap();
    for row in 0..trace["logits"].as_array().unwrap().len() {
        let expected = numbers(&golden["logits"][row]);
        hold(format!("logits of sample {row}"), &numbers(&trace["logits"][row]), &expected, &|_| logits_tolerance);
    }
    worst
}

#[test]
#[ignore = "needs other frameworks"]
fn a_framework_stands_beside_the_others_in_one_table() {
    let (program, keras_backend, modules) = PROGRAMS[0];
    let Some(python) = python(keras_backend, modules) else { return };
    let line = "--backend reference,pytorch --workload keras-mnist-mlp --batch-size 16 --steps 8 --seeds 1 --json -";
    let runner = Runner::new(line).arg("--program").arg(program).env("GRADMARK_PYTHON", &python);
    let document: Value = runner.run().expect_status(0).json();
    let rows = document["comparisons"][0]["rows"].as_array().unwrap();
    let ended = rows.iter().map(|row| [&row["contender"]["backend"], &row["outcome"]["kind"]]);
    let [reference, pytorch, completed] = ["reference", "pytorch", "completed"].map(Value::from);
    assert_eq!(ended.collect::<Vec<_>>(), [[&reference, &completed], [&pytorch, &completed]]);
    let mut records = document["records"].as_array().unwrap().iter();
    let record = records.find(|record| record["device"]["backend"] == "pytorch").unwrap();
    let departures = record["departures"].to_string();
    assert!(departures.contains(r#""program":"pytorch""#), "{departures}");
    assert_eq!(record["workloads"][0]["correctness"]["passed"], true);
}

#[test]
fn what_cannot_be_is_said_before_anything_is_trained() {
    let named = |program: &str| Runner::new("--backend pytorch --program").arg(program);
    let nowhere = ("pytorch=/nowhere/python3 x.py", 1, &["`pytorch` failed", "cannot be started"] as &[&str]);
    expect_refusals_of(named, &[nowhere]);
    let cases: [(&str, i32, &[&str]); 2] = [
        ("--upload http://127.0.0.1:9 --yes", 2, &["external program", "--upload"]),
        ("--adapter discrete", 2, &["the adapter must be omitted", "chooses its device itself"]),
    ];
    expect_refusals_of(|line| named("pytorch=python3 x.py").args(line), &cases);
    expect_refusals(&[
        ("--backend pytorch", 2, &["there is no backend named `pytorch`", "--program"]),
        ("--layout nchw", 2, &["`wgsl` does not support the layout `nchw`", "channels last, in groups of four"]),
        ("--layout nhwc --backend burn-flex", 2, &["Burn's convolutions take channels first"]),
        ("--layout chwn", 2, &["nhwc, nchw"]),
        ("--layout nchw --backend wgsl,burn-flex", 2, &["does not support --layout", "a study with `layouts`"]),
    ]);
    // A bundled program needs no command, only a Python with its imports.
    let nowhere = tempfile::tempdir().unwrap();
    let line = "--backend pytorch --program pytorch --workload keras-mnist-mlp --steps 1";
    let runner = Runner::new(line).env("GRADMARK_PYTHON", "").env("PATH", nowhere.path());
    runner.run().expect_status(1).expect_errors(&["no Python has torch and numpy", "pip install torch numpy"]);

    // The last words of a program are shown.
    if cfg!(unix) {
        let program = "pytorch=sh -c 'echo ModuleNotFoundError: no module named torch >&2; exit 1'";
        let runner = Runner::new("--backend pytorch --workload keras-mnist-mlp --steps 1 --program").arg(program);
        runner.run().expect_status(1).expect_errors(&["`pytorch` failed", "no module named torch"]);
    }
}

/// Network with a dense layer, as in docs/EXTERNAL.md.
const LINEAR: &str = "\
name = \"linear\"
data_set = \"mnist\"
batch_size = 16
optimizer = { rule = { sgd = { momentum = 0.9 } }, learning_rate = 0.01 }
layers = [{ dense = { units = 10 } }]
";

#[test]
fn documented_example_passes_the_check_and_trains() {
    let Some(python) = python("", "json") else { return };
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/programs/plain_python.py");
    let line = "--backend plain-python --workload-file linear.toml --seed 1 --steps 2 --json -";
    let program = format!("plain-python='{}' '{}'", python.display(), path.display());
    let runner = Runner::new(line).arg("--program").arg(program);
    fs::write(runner.folder.path().join("linear.toml"), LINEAR).unwrap();
    let record: Value = runner.run().expect_status(0).json();
    assert_eq!(record["device"]["backend"], "plain-python");
    assert_eq!(record["workloads"][0]["outcome"]["kind"], "completed", "{record}");
    assert_eq!(record["workloads"][0]["correctness"]["passed"], true, "{record}");
}

const NODE: &str = "node";
const CHROMIUM: &str = "chromium";

/// Returns the command of a bundled JavaScript framework, if the bundles and the programs that run them are here.
fn bundle(host: &str, name: &str) -> Option<String> {
    let Some(folder) = env::var_os("GRADMARK_FRAMEWORKS").map(PathBuf::from) else {
        skipped("GRADMARK_FRAMEWORKS names no bundles; `cargo xtask test` makes them where npm is");
        return None;
    };
    for program in BTreeSet::from([NODE, host]) {
        let mut command = Command::new(program);
        command.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
        if !command.status().is_ok_and(|status| status.success()) {
            skipped(format_args!("there is no {program}"));
            return None;
        }
    }
    let bundle = folder.join(name);
    assert!(bundle.join("worker.js").is_file(), "{} holds no bundles", folder.display());
    let host = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../app/frameworks/{host}.mjs"));
    Some(format!("{name}=node '{}' '{}'", host.display(), bundle.display()))
}

/// WebAssembly lacks the gradients of convolutions in TensorFlow.js. On a GPU that the processor emulates, convolutions
/// take minutes; docs/EXTERNAL.md lists the traces that were compared manually.
#[test]
#[ignore = "needs the bundles of other frameworks"]
fn javascript_frameworks_reproduce_golden_traces() {
    for (host, name, traces) in [
        (NODE, "tfjs-cpu", &["keras-mnist-cnn-small", "gpt-small-small"] as &[&str]),
        (NODE, "tfjs-wasm", &["keras-mnist-mlp-small", "keras-mnist-mlp-dropout"]),
        (
            NODE,
            "jax-js-wasm",
            &["keras-mnist-mlp-dropout", "keras-mnist-cnn-small", "gpt-nano-small", "gpt-small-small"],
        ),
        (CHROMIUM, "tfjs-webgpu", &["keras-mnist-mlp-small", "gpt-nano-small"]),
        (CHROMIUM, "tfjs-webgl", &["keras-mnist-mlp-small", "gpt-nano-small"]),
        (CHROMIUM, "jax-js-webgpu", &["keras-mnist-mlp-small", "gpt-nano-small"]),
    ] {
        let Some(program) = bundle(host, name) else { continue };
        for trace in traces {
            let line = format!("{} --program-timeout 600", trace_line(trace, name));
            let runner = Runner::new(&line).arg("--program").arg(&program);
            expect_golden(trace, name, &runner.run().expect_status(0).stdout);
        }
    }
}

#[test]
#[ignore = "needs the bundles of other frameworks"]
fn inexpressible_network_is_refused_and_others_go_on() {
    let Some(program) = bundle(NODE, "tfjs-wasm") else { return };
    let line = "--backend tfjs-wasm --workload caffe-mnist,keras-mnist-mlp --batch-size 16 --steps 4 --json -";
    let runner = Runner::new(line).arg("--program").arg(program);
    let document: Value = runner.run().expect_status(1).json();
    let text = document.to_string();
    assert!(text.contains("its wasm back end has no kernel Conv2DBackpropFilter"), "{text}");
    // The seed determines the order of training.
    let workloads = document["workloads"].as_array().unwrap();
    let workload = |name: &str| workloads.iter().find(|of| of["workload"] == name).unwrap_or_else(|| panic!("{text}"));
    assert_eq!(workload("caffe-mnist")["outcome"]["cause"], "unsupported", "{text}");
    assert_eq!(workload("keras-mnist-mlp")["outcome"]["kind"], "completed", "{text}");
    assert_eq!(workload("keras-mnist-mlp")["correctness"]["passed"], true, "{text}");
}
