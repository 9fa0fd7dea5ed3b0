//! Golden traces from Keras, compared on every backend of this build.

use std::path::Path;

use engine::backends::reference::ReferenceBackend;
use engine::backends::{Opening, WGSL};
use engine::{Activation, AdapterChoice, Backend, Initializer, Layer, Model, Trace, TraceRequest, Workload, data_set};
use results::{Feature, InputMode, Precision};
use serde_json::Value;

use crate::real_data::real_data;
use crate::{open, opened, skipped};

struct Golden {
    name: String,
    json: Value,
    workload: Workload,
}

/// Maximum operations of a cheap trace, about three seconds of the plain loops in double precision.
const CHEAP_TRACE_FLOPS: u64 = 15_000_000_000;
/// Test samples that each backend classifies after a trace.
const ALL: u32 = 1000;
/// Test samples for another configuration of a backend, and for costly traces of the plain loops. Classifying all would
/// take most of the time.
const FEW: u32 = 100;

impl Golden {
    fn at(&self, path: &str) -> &Value {
        self.json.pointer(path).unwrap_or_else(|| panic!("{} has no {path}", self.name))
    }

    fn numbers(&self, path: &str) -> Vec<f64> {
        self.at(path).as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect()
    }

    fn integer(&self, path: &str) -> u32 {
        self.at(path).as_u64().unwrap().try_into().unwrap()
    }

    /// Returns true if the small size of tests computes this trace.
    fn is_cheap(&self) -> bool {
        let operations = self.workload.model.operations().unwrap();
        let trained = u64::from(self.integer("/batch_size")) * u64::from(self.integer("/steps"));
        trained * operations.training_flops() + u64::from(ALL) * operations.forward_flops <= CHEAP_TRACE_FLOPS
    }
}

/// Returns the workload of a trace. Some have layers that no published workload has.
fn traced(name: &str) -> Option<Workload> {
    let (activation, recurrent) = (Activation::Tanh, Initializer::Orthogonal);
    let gru = |units| Layer::Gru { units, activation, recurrent };
    let simple = |units| Layer::SimpleRnn { units, activation, recurrent };
    match name {
        "gru-rows" => Some(over_rows("gru-rows", [gru(16), gru(12)])),
        "simple-rnn-rows" => Some(over_rows("simple-rnn-rows", [simple(16), simple(12)])),
        _ => engine::workload(name),
    }
}

/// Returns `keras-mnist-hrnn` with other layers over the pixels of each row and over the rows.
fn over_rows(name: &'static str, [pixels, rows]: [Layer; 2]) -> Workload {
    let recipe = engine::workload("keras-mnist-hrnn").unwrap();
    let logits = recipe.model.nodes.last().unwrap().layer.clone();
    Workload { name, model: Model::sequence(name, recipe.model.input, vec![pixels, rows, logits]), ..recipe }
}

fn traces() -> Vec<Golden> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../reference/golden");
    let files = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
    let mut traces: Vec<Golden> = files
        .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
        .filter_map(|path| {
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            let json: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
            // The generator's vectors have no workload.
            let workload = json["workload"].as_str()?;
            let mut workload = traced(workload).unwrap_or_else(|| panic!("{name}: the engine has no `{workload}`"));
            if json["network"] == "reduced" {
                workload.model = workload.reduced.take().unwrap_or_else(|| panic!("{name} has no reduced network"));
            }
            Some(Golden { name, json, workload })
        })
        .collect();
    traces.sort_by(|a, b| a.name.cmp(&b.name));
    assert_eq!(traces.len(), 19, "every trace is found");
    traces
}

fn cheap_traces() -> Vec<Golden> {
    traces().into_iter().filter(Golden::is_cheap).collect()
}

fn costly_traces() -> Vec<Golden> {
    traces().into_iter().filter(|golden| !golden.is_cheap()).collect()
}

#[test]
fn cheap_traces_have_most_kinds_of_layers() {
    let cheap: Vec<String> = cheap_traces().into_iter().map(|golden| golden.name).collect();
    let expected = [
        "caffe-mnist",
        "gpt-small-small",
        "gru-rows",
        "keras-babi-memnn",
        "keras-mnist-mlp-dropout",
        "simple-rnn-rows",
    ];
    for name in expected {
        assert!(cheap.iter().any(|cheap| cheap == name), "{name} is none of {cheap:?}");
    }
}

fn compute(golden: &Golden, backend: &dyn Backend, test_samples: u32) -> Trace {
    let request = TraceRequest {
        seed: golden.integer("/seed"),
        batch_size: golden.integer("/batch_size"),
        steps: golden.integer("/steps"),
        dropout: !golden.json["dropout"].is_null(),
        test_samples,
    };
    let data = real_data(golden.workload.data_set);
    pollster::block_on(engine::trace(&golden.workload, request, backend, data)).unwrap()
}

/// Compares a trace with a golden one. `strict` limits the tolerances of the first step, and of the stable losses.
fn compare(golden: &Golden, trace: &Trace, strict: f64, test_samples: u32) {
    let name = &golden.name;
    // The largest deviation as a share of its tolerance, and those above their tolerances.
    let (mut worst, mut wrong) = ((0.0, String::new()), Vec::new());
    // Compares a number, with the tolerance `absolute + relative·|expected|`.
    let mut hold = |what: String, found: f64, expected: f64, absolute: f64, relative: f64| {
        let share = (found - expected).abs() / (absolute + relative * expected.abs());
        let share = if share.is_nan() && found != expected { f64::INFINITY } else { share };
        if share > 1.0 {
            wrong.push(format!("{what}: {found} instead of {expected} is off by {share:.2} of what is allowed"));
        }
        if share > worst.0 {
            worst = (share, what);
        }
    };
    let names: Vec<&str> = trace.tensors.iter().map(|t| t.name.as_str()).collect();
    let expected = golden.json["tensors"].as_array().unwrap();
    assert_eq!(names, expected.iter().map(|t| t["name"].as_str().unwrap()).collect::<Vec<_>>(), "{name}");

    let stable = golden.integer("/tolerance/stable_steps") as usize;
    // Weights are read in float32, so small updates are not exact to the strictest tolerance.
    let lists = [
        ("loss", "/losses_f64", &trace.losses, 0.0, strict),
        ("grad_norm", "/grad_norms", &trace.grad_norms, 1e-12, strict.max(1e-6)),
        ("first_update_norm", "/first_update_norms", &trace.first_update_norms, 1e-12, 1.0),
        ("final_norm", "/final_norms", &trace.final_norms, 1e-12, f64::INFINITY),
    ];
    for (list, path, found, absolute, strict) in lists {
        let (expected, tolerances) = (golden.numbers(path), golden.numbers(&format!("/tolerance/{list}_rel")));
        assert_eq!([found.len(), tolerances.len()], [expected.len(); 2], "{name}: {list}");
        for (place, tolerance) in tolerances.into_iter().enumerate() {
            let (what, tolerance) = match list {
                "loss" if place >= stable => (format!("the loss of step {place}"), tolerance),
                "loss" => (format!("the loss of step {place}"), tolerance.min(strict)),
                _ => (format!("{list} of {}", names[place]), tolerance.min(strict)),
            };
            hold(what, found[place], expected[place], absolute, tolerance);
        }
    }
    for (row, logits) in trace.logits.iter().enumerate() {
        let expected = golden.numbers(&format!("/logits/{row}"));
        assert_eq!(logits.len(), expected.len(), "{name}: logits of sample {row}");
        for (found, expected) in logits.iter().zip(expected) {
            hold(format!("logits of sample {row}"), *found, expected, strict.min(1e-5), 0.0);
        }
    }
    let accuracy = if test_samples == ALL { "/test_accuracy/f64" } else { "/test_accuracy/first100_f64" };
    let [expected, tolerance] = [accuracy, "/tolerance/accuracy_abs"].map(|path| golden.at(path).as_f64().unwrap());
    hold("the test accuracy".to_owned(), trace.test_accuracy, expected, tolerance, 0.0);
    let (share, what) = worst;
    eprintln!("{name} on {}: {share:.3} of what is allowed at {what}", trace.backend);
    assert!(wrong.is_empty(), "{name} on {}:\n{}", trace.backend, wrong.join("\n"));
}

/// Checks that a tolerance is three times the ensemble's deviation, or 1e-5.
fn is_from_the_ensemble(golden: &Golden, list: &str) {
    let of = |kind: &str| golden.numbers(&format!("/deviation/{kind}_{list}_rel"));
    let tolerances = golden.numbers(&format!("/tolerance/{list}_rel"));
    let mut deviation = 0.0_f64;
    for (index, ((single, double), tolerance)) in of("f32").into_iter().zip(of("jitter")).zip(tolerances).enumerate() {
        // A loss has at least the tolerance of earlier losses.
        let before = if list == "loss" { deviation } else { 0.0 };
        deviation = single.max(double).max(before);
        // All three are rounded to two digits.
        let widest = (3.0 * deviation * 1.1).max(1e-5);
        assert!(tolerance <= widest, "{}: tolerance {index} of {list} is {tolerance}, not {widest}", golden.name);
    }
}

#[test]
fn every_trace_is_one_that_its_ensemble_agrees_on() {
    for golden in traces() {
        let name = &golden.name;
        assert!(golden.integer("/ensemble/runs") >= 16, "{name}: too few runs");
        for list in ["grad_norm", "first_update_norm", "final_norm"] {
            let spreads = golden.numbers(&format!("/ensemble/{list}_spread"));
            assert_eq!(spreads.len(), golden.json["tensors"].as_array().unwrap().len(), "{name}: {list}");
            let widest = spreads.into_iter().fold(0.0, f64::max);
            assert!(widest <= 1e-3, "{name}: {list} spreads by {widest}; make the trace from another seed");
            is_from_the_ensemble(&golden, list);
        }
        is_from_the_ensemble(&golden, "loss");
    }
}

fn reproduces(backend: &dyn Backend, traces: Vec<Golden>, strict: f64, test_samples: u32) {
    for golden in traces {
        compare(&golden, &compute(&golden, backend, test_samples), strict, test_samples);
    }
}

#[test]
fn the_reference_in_double_precision_reproduces_every_cheap_trace() {
    reproduces(&ReferenceBackend::<f64>::new(), cheap_traces(), 1e-7, ALL);
}

#[test]
#[ignore = "computes the costly golden traces"]
fn the_reference_in_double_precision_reproduces_every_costly_trace() {
    reproduces(&ReferenceBackend::<f64>::new(), costly_traces(), 1e-7, FEW);
}

#[test]
fn the_wgsl_back_end_reproduces_every_cheap_trace() {
    let Some(backend) = opened(WGSL) else { return };
    reproduces(backend.as_ref(), cheap_traces(), 1e-5, ALL);
}

#[test]
#[ignore = "computes the costly golden traces"]
fn the_wgsl_back_end_reproduces_every_costly_trace() {
    let Some(backend) = opened(WGSL) else { return };
    reproduces(backend.as_ref(), costly_traces(), 1e-5, ALL);
}

/// Opens the `wgsl` backend on a software adapter with other options. Skips the test if this machine cannot.
fn open_wgsl(change: impl FnOnce(&mut Opening)) -> Option<Box<dyn Backend>> {
    let mut opening = Opening::new(Precision::F32, &AdapterChoice::Cpu);
    change(&mut opening);
    open(WGSL, &opening).map_err(|error| skipped(true, format!("{opening:?}: {error}"))).ok()
}

#[test]
#[ignore = "computes every golden trace"]
fn two_devices_that_share_each_batch_reproduce_every_trace() {
    let Some(backend) = open_wgsl(|opening| opening.devices = std::num::NonZero::new(2)) else { return };
    assert_eq!(backend.devices(), 2);
    reproduces(backend.as_ref(), traces(), 1e-5, FEW);
}

#[test]
#[ignore = "computes every golden trace"]
fn compatibility_mode_reproduces_every_trace() {
    let Some(backend) = open_wgsl(|opening| opening.without = vec![Feature::Core]) else { return };
    assert!(backend.adapter().compatibility);
    reproduces(backend.as_ref(), traces(), 1e-5, FEW);
}

/// For the networks of costly traces, a test of the trainer compares streamed batches with resident data bit for bit.
#[test]
#[ignore = "computes the cheap golden traces twice more"]
fn batches_from_the_host_reproduce_every_cheap_trace() {
    // A text stays on the device.
    let streams = |golden: &Golden| !data_set(golden.workload.data_set).unwrap().is_text();
    for mode in [InputMode::Prefetch, InputMode::Stream] {
        let Some(backend) = open_wgsl(|opening| opening.input = Some(mode)) else { return };
        assert_eq!(backend.facts().input, mode);
        reproduces(backend.as_ref(), cheap_traces().into_iter().filter(streams).collect(), 1e-5, ALL);
    }
}

/// The number of threads changes the order of sums.
#[cfg(feature = "burn-flex")]
#[test]
#[ignore = "computes every golden trace"]
fn burn_reproduces_every_trace_on_one_to_three_threads() {
    crate::alone("traces::burn_reproduces_every_trace_on_one_to_three_threads", &[1, 2, 3], |threads| {
        let backend = crate::open_burn(None, threads).unwrap();
        reproduces(backend.as_ref(), traces(), 1e-5, if threads == 1 { ALL } else { FEW });
    });
}

/// Takes tens of minutes with llvmpipe, which compiles Burn's kernels slowly.
#[cfg(feature = "burn-wgpu")]
#[test]
#[ignore = "computes every golden trace"]
fn burn_on_wgsl_reproduces_every_trace() {
    let Some(backend) = opened("burn-wgpu") else { return };
    reproduces(backend.as_ref(), traces(), 1e-5, ALL);
}

/// No software adapter runs these backends, so the machine determines the tested ones. `REQUIRE_GPU=1` requires at
/// least one.
#[cfg(any(feature = "burn-vulkan", feature = "burn-metal", feature = "burn-cuda", feature = "burn-rocm"))]
#[test]
#[ignore = "computes every golden trace"]
fn burn_on_the_makers_platforms_reproduces_every_trace() {
    let mut refusals = Vec::new();
    let names = ["burn-vulkan", "burn-metal", "burn-cuda", "burn-rocm"];
    for name in names {
        match open(name, &Opening::new(Precision::F32, &AdapterChoice::Any)) {
            Ok(backend) => reproduces(backend.as_ref(), traces(), 1e-5, ALL),
            Err(error) => refusals.push(format!("{name}: {error}")),
        }
    }
    let none = refusals.len() == names.len();
    for refusal in refusals {
        skipped(none, &refusal);
    }
}
