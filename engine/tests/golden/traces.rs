//! Golden traces from Keras, compared on every backend of this build.

use std::path::Path;
use std::rc::Rc;

use crate::{Clock, data, gpu, skipped};
#[cfg(feature = "burn-flex")]
use engine::backends::BURN_FLEX;
use engine::backends::{self, Opening, WGSL};
use engine::{
    Activation, AdapterChoice, Backend, Initializer, Layer, Model, Trace, TraceRequest, Workload,
    backends::reference::ReferenceBackend,
};
use results::{Feature, InputMode, Precision};
use serde_json::Value;

struct Golden {
    name: String,
    json: Value,
}

impl Golden {
    fn numbers(&self, path: &str) -> Vec<f64> {
        let list = self.json.pointer(path).unwrap_or_else(|| panic!("{} has no {path}", self.name));
        list.as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect()
    }

    fn number(&self, path: &str) -> f64 {
        self.json.pointer(path).unwrap_or_else(|| panic!("{} has no {path}", self.name)).as_f64().unwrap()
    }

    fn integer(&self, path: &str) -> u32 {
        self.json.pointer(path).unwrap().as_u64().unwrap().try_into().unwrap()
    }
}

/// Minimum number of traces, so that a missing one is noticed.
const TRACES: usize = 17;

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
            assert!(traced(workload).is_some(), "{name}: the engine has no workload `{workload}`");
            Some(Golden { name, json })
        })
        .collect();
    traces.sort_by(|a, b| a.name.cmp(&b.name));
    assert!(traces.len() >= TRACES, "golden traces are missing from {}: {} are there", folder.display(), traces.len());
    traces
}

/// Returns every trace, or only those with `GRADMARK_TRACES` in their names if it is set.
fn every_wanted_trace() -> Vec<Golden> {
    let mut traces = traces();
    if let Ok(part) = std::env::var("GRADMARK_TRACES") {
        let all = std::env::var("REQUIRE_GPU").as_deref() == Ok("1");
        assert!(!all, "GRADMARK_TRACES leaves traces out, and REQUIRE_GPU=1 asks for everything");
        traces.retain(|golden| golden.name.contains(&part));
        assert!(!traces.is_empty(), "GRADMARK_TRACES: no trace has `{part}` in its name");
    }
    traces
}

/// Maximum operations of a cheap trace, about three seconds of the plain loops in double precision.
const CHEAP_TRACE_FLOPS: u64 = 15_000_000_000;

impl Golden {
    fn workload(&self) -> Workload {
        traced(self.json["workload"].as_str().unwrap()).unwrap()
    }

    /// Returns true if the small size of tests computes this trace.
    fn is_cheap(&self) -> bool {
        const TEST_SAMPLES: u64 = 1000;
        let operations = self.workload().model.operations().unwrap();
        let trained = u64::from(self.integer("/batch_size")) * u64::from(self.integer("/steps"));
        let flops = trained * operations.training_flops() + TEST_SAMPLES * operations.forward_flops;
        flops <= CHEAP_TRACE_FLOPS
    }
}

fn cheap_traces() -> Vec<Golden> {
    every_wanted_trace().into_iter().filter(Golden::is_cheap).collect()
}

fn costly_traces() -> Vec<Golden> {
    every_wanted_trace().into_iter().filter(|golden| !golden.is_cheap()).collect()
}

#[test]
fn cheap_traces_have_most_kinds_of_layers() {
    let cheap: Vec<String> = traces().into_iter().filter(Golden::is_cheap).map(|golden| golden.name).collect();
    for name in ["caffe-mnist", "gru-rows", "keras-babi-memnn", "keras-mnist-mlp-dropout", "simple-rnn-rows"] {
        assert!(cheap.iter().any(|cheap| cheap == name), "{name} is none of {cheap:?}");
    }
}

fn compute(golden: &Golden, backend: &dyn Backend) -> Trace {
    let workload = golden.workload();
    let request = TraceRequest {
        seed: golden.integer("/seed"),
        batch_size: golden.integer("/batch_size"),
        steps: golden.integer("/steps"),
        dropout: !golden.json["dropout"].is_null(),
        test_samples: 1000,
    };
    pollster::block_on(engine::trace(&workload, request, backend, data(workload.data_set))).unwrap()
}

/// Deviations of a trace as shares of their tolerances.
#[derive(Default)]
struct Verdict {
    /// Largest share, and its description.
    worst: (f64, String),
    wrong: Vec<String>,
}

impl Verdict {
    fn hold(&mut self, what: String, found: &[f64], expected: &[f64], absolute: f64, relative: f64) {
        assert_eq!(found.len(), expected.len(), "{what}");
        let share = share(found, expected, absolute, relative);
        if share > 1.0 {
            self.wrong
                .push(format!("{what}: {found:?} instead of {expected:?} is off by {share:.2} of what is allowed"));
        }
        if share > self.worst.0 {
            self.worst = (share, what);
        }
    }

    fn finish(self, name: &str, backend: &str) {
        let (share, what) = self.worst;
        eprintln!("{name} on {backend}: {share:.3} of what is allowed at {what}");
        assert!(self.wrong.is_empty(), "{name} on {backend}:\n{}", self.wrong.join("\n"));
    }
}

/// Returns the largest `|found - expected|` as a share of `absolute + relative·|expected|`, or infinity for NaN.
fn share(found: &[f64], expected: &[f64], absolute: f64, relative: f64) -> f64 {
    let share = |(found, expected): (&f64, &f64)| {
        let share = (found - expected).abs() / (absolute + relative * expected.abs());
        if share.is_nan() && found != expected { f64::INFINITY } else { share }
    };
    found.iter().zip(expected).map(share).fold(0.0, f64::max)
}

/// Compares a trace with a golden one. `strict` limits the tolerances of the first step, and of the stable losses.
fn compare(golden: &Golden, trace: &Trace, strict: f64) {
    let name = &golden.name;
    let mut verdict = Verdict::default();
    let stable = golden.integer("/tolerance/stable_steps") as usize;
    let names: Vec<&str> = trace.tensors.iter().map(|t| t.name.as_str()).collect();
    let expected = golden.json["tensors"].as_array().unwrap();
    assert_eq!(names, expected.iter().map(|t| t["name"].as_str().unwrap()).collect::<Vec<_>>(), "{name}");

    let losses = golden.numbers("/losses_f64");
    let tolerances = golden.numbers("/tolerance/loss_rel");
    assert_eq!(trace.losses.len(), losses.len(), "{name}");
    for (step, ((loss, expected), tolerance)) in trace.losses.iter().zip(&losses).zip(tolerances).enumerate() {
        let tolerance = if step < stable { tolerance.min(strict) } else { tolerance };
        verdict.hold(format!("the loss of step {step}"), &[*loss], &[*expected], 0.0, tolerance);
    }
    // Weights are read in float32, so small updates are not exact to the strictest tolerance.
    let strictest =
        [("grad_norm", &trace.grad_norms, strict.max(1e-6)), ("first_update_norm", &trace.first_update_norms, 1.0)];
    for (list, found, strict) in strictest {
        let tolerances = golden.numbers(&format!("/tolerance/{list}_rel"));
        let expected = golden.numbers(&format!("/{list}s"));
        assert_eq!(found.len(), expected.len(), "{name}: {list}s");
        for (tensor, tolerance) in tolerances.iter().enumerate() {
            let what = format!("{list} of {}", names[tensor]);
            let tolerance = tolerance.min(strict);
            verdict.hold(what, &found[tensor..=tensor], &expected[tensor..=tensor], 1e-12, tolerance);
        }
    }
    let final_norms = golden.numbers("/final_norms");
    let tolerances = golden.numbers("/tolerance/final_norm_rel");
    assert_eq!(trace.final_norms.len(), final_norms.len(), "{name}: final norms");
    for (tensor, tolerance) in tolerances.into_iter().enumerate() {
        let (found, expected) = (trace.final_norms[tensor], final_norms[tensor]);
        verdict.hold(format!("the final norm of {}", names[tensor]), &[found], &[expected], 1e-12, tolerance);
    }
    for (row, logits) in trace.logits.iter().enumerate() {
        let expected = golden.numbers(&format!("/logits/{row}"));
        verdict.hold(format!("logits of sample {row}"), logits, &expected, strict.min(1e-5), 0.0);
    }
    let accuracy = golden.number("/test_accuracy/f64");
    let tolerance = golden.number("/tolerance/accuracy_abs");
    verdict.hold("the test accuracy".to_owned(), &[trace.test_accuracy], &[accuracy], tolerance, 0.0);
    verdict.finish(name, &trace.backend);
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

/// Traces of this repository. Others may be added for experiments.
const OURS: [&str; TRACES] = [
    "caffe-cifar10",
    "caffe-mnist",
    "gru-rows",
    "keras-babi-memnn",
    "keras-cifar10-cnn",
    "keras-cifar10-cnn-small",
    "keras-mnist-cnn",
    "keras-mnist-cnn-small",
    "keras-mnist-hrnn",
    "keras-mnist-hrnn-small",
    "keras-mnist-mlp",
    "keras-mnist-mlp-dropout",
    "keras-mnist-mlp-small",
    "memn2n-babi",
    "simple-rnn-rows",
    "tensorflow-cifar10",
    "tensorflow-cifar10-small",
];

#[test]
fn every_trace_is_one_that_its_ensemble_agrees_on() {
    let ours: Vec<Golden> = traces().into_iter().filter(|golden| OURS.contains(&golden.name.as_str())).collect();
    assert_eq!(ours.len(), OURS.len(), "a trace is missing");
    for golden in ours {
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

fn reproduces(backend: &dyn Backend, traces: Vec<Golden>, strict: f64) {
    for golden in traces {
        compare(&golden, &compute(&golden, backend), strict);
    }
}

#[test]
fn the_reference_in_double_precision_reproduces_every_cheap_trace() {
    reproduces(&ReferenceBackend::<f64>::new(), cheap_traces(), 1e-7);
}

#[test]
#[ignore = "computes the costly golden traces"]
fn the_reference_in_double_precision_reproduces_every_costly_trace() {
    reproduces(&ReferenceBackend::<f64>::new(), costly_traces(), 1e-7);
}

#[test]
fn the_wgsl_back_end_reproduces_every_cheap_trace() {
    let Some(backend) = gpu() else { return };
    reproduces(backend.as_ref(), cheap_traces(), 1e-5);
}

#[test]
#[ignore = "computes the costly golden traces"]
fn the_wgsl_back_end_reproduces_every_costly_trace() {
    let Some(backend) = gpu() else { return };
    reproduces(backend.as_ref(), costly_traces(), 1e-5);
}

/// Opens the `wgsl` backend. Skips the test if this machine cannot.
fn open_wgsl(opening: &Opening, what: &str) -> Option<Box<dyn Backend>> {
    let opened = pollster::block_on(backends::open_with(WGSL, opening, Rc::new(Clock::default())));
    opened.map_err(|error| skipped(true, format!("{what}: {error}"))).ok()
}

#[test]
#[ignore = "computes every golden trace"]
fn two_devices_that_share_each_batch_reproduce_every_trace() {
    let devices = std::num::NonZero::new(2);
    let opening = Opening { devices, ..Opening::new(Precision::F32, &AdapterChoice::Cpu) };
    let Some(backend) = open_wgsl(&opening, "two logical devices") else { return };
    assert_eq!(backend.devices(), 2);
    reproduces(backend.as_ref(), every_wanted_trace(), 1e-5);
}

#[test]
fn compatibility_mode_reproduces_a_trace() {
    let opening = Opening { without: vec![Feature::Core], ..Opening::new(Precision::F32, &AdapterChoice::Cpu) };
    let Some(backend) = open_wgsl(&opening, "compatibility mode") else { return };
    assert!(backend.adapter().compatibility);
    let traces = traces();
    let golden = traces.iter().find(|golden| golden.name == "keras-mnist-mlp-small").unwrap();
    compare(golden, &compute(golden, backend.as_ref()), 1e-5);
}

/// For the networks of costly traces, a test of the trainer compares streamed batches with resident data bit for bit.
#[test]
#[ignore = "computes the cheap golden traces twice more"]
fn batches_from_the_host_reproduce_every_cheap_trace() {
    for mode in [InputMode::Prefetch, InputMode::Stream] {
        let opening = Opening { input: Some(mode), ..Opening::new(Precision::F32, &AdapterChoice::Cpu) };
        let Some(backend) = open_wgsl(&opening, "streamed batches") else { return };
        assert_eq!(backend.input(), mode);
        reproduces(backend.as_ref(), cheap_traces(), 1e-5);
    }
}

/// Computes every trace with `threads` threads, in a separate process. The number of threads changes the order of sums.
#[cfg(feature = "burn-flex")]
fn burn_on_the_processor(test: &str, threads: usize) {
    crate::alone(test, || {
        let threads = std::num::NonZero::new(threads);
        let opening = Opening { threads, ..Opening::new(Precision::F32, &AdapterChoice::Any) };
        let clock = Rc::new(Clock::default());
        let backend = pollster::block_on(backends::open_with(BURN_FLEX, &opening, clock)).unwrap();
        reproduces(backend.as_ref(), every_wanted_trace(), 1e-5);
    });
}

#[cfg(feature = "burn-flex")]
#[test]
#[ignore = "computes every golden trace"]
fn burn_on_one_thread_reproduces_every_trace() {
    burn_on_the_processor("traces::burn_on_one_thread_reproduces_every_trace", 1);
}

#[cfg(feature = "burn-flex")]
#[test]
#[ignore = "computes every golden trace"]
fn burn_on_two_threads_reproduces_every_trace() {
    burn_on_the_processor("traces::burn_on_two_threads_reproduces_every_trace", 2);
}

#[cfg(feature = "burn-flex")]
#[test]
#[ignore = "computes every golden trace"]
fn burn_on_three_threads_reproduces_every_trace() {
    burn_on_the_processor("traces::burn_on_three_threads_reproduces_every_trace", 3);
}

/// Takes tens of minutes with llvmpipe, which compiles Burn's kernels slowly.
#[cfg(feature = "burn-wgpu")]
#[test]
#[ignore = "computes every golden trace"]
fn burn_on_wgsl_reproduces_every_trace() {
    let Some(backend) = crate::opened("burn-wgpu") else { return };
    reproduces(backend.as_ref(), every_wanted_trace(), 1e-5);
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
        let clock = std::rc::Rc::new(crate::Clock::default());
        match pollster::block_on(engine::backends::open(name, &engine::AdapterChoice::Any, clock)) {
            Ok(backend) => reproduces(backend.as_ref(), every_wanted_trace(), 1e-5),
            Err(error) => refusals.push(format!("{name}: {error}")),
        }
    }
    let none = refusals.len() == names.len();
    for refusal in refusals {
        skipped(none, &refusal);
    }
}

#[test]
fn the_same_seed_gives_the_same_bits_run_after_run() {
    let Some(backend) = gpu() else { return };
    let traces = traces();
    let golden = traces.iter().find(|t| t.name == "keras-mnist-mlp-small").unwrap();
    assert_eq!(compute(golden, backend.as_ref()), compute(golden, backend.as_ref()));
}
