//! The golden traces made with Keras, on every back end of this build.

mod common;

use std::path::Path;

use common::{assert_close, data, gpu};
use engine::{Backend, Trace, TraceRequest, backends::reference::ReferenceBackend};
use serde_json::Value;

/// A trace file: what the generator wrote and how far a correct engine may be from it.
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

/// The traces whose workload this engine has.
fn traces() -> Vec<Golden> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../reference/golden");
    let mut traces: Vec<Golden> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "json"))
        .filter_map(|path| {
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            let json: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
            let known = json["workload"].as_str().is_some_and(|workload| engine::workload(workload).is_some());
            known.then_some(Golden { name, json })
        })
        .collect();
    traces.sort_by(|a, b| a.name.cmp(&b.name));
    assert!(traces.len() >= 4, "the golden traces are missing from {}", folder.display());
    traces
}

fn compute(golden: &Golden, backend: &dyn Backend) -> Trace {
    let workload = engine::workload(golden.json["workload"].as_str().unwrap()).unwrap();
    let request = TraceRequest {
        seed: golden.integer("/seed"),
        batch_size: golden.integer("/batch_size"),
        steps: golden.integer("/steps"),
        dropout: !golden.json["dropout"].is_null(),
    };
    pollster::block_on(engine::trace(&workload, request, backend, data(workload.data_set))).unwrap()
}

/// Holds a computed trace to a golden one. `strict` replaces the file's tolerances where it is smaller.
fn compare(golden: &Golden, trace: &Trace, strict: f64) {
    compare_with(golden, trace, strict, |_| true);
}

/// The same for arithmetic in float32 whose order is not ours. The large networks of ReLUs end in chaos, from which
/// the norms of biases are the loosest numbers (`reference/golden/README.md`, section 6); small traces and those
/// of other networks are held to everything.
#[cfg(feature = "burn")]
fn compare_foreign(golden: &Golden, trace: &Trace) {
    let calm = ["-small", "caffe-", "-hrnn"].iter().any(|part| golden.name.contains(part));
    compare_with(golden, trace, f64::INFINITY, |tensor| calm || !tensor.ends_with("/bias"));
}

/// The final norms of tensors that `ends_alike` leaves out are not looked at.
fn compare_with(golden: &Golden, trace: &Trace, strict: f64, ends_alike: impl Fn(&str) -> bool) {
    let name = &golden.name;
    let stable = golden.integer("/tolerance/stable_steps") as usize;
    let names: Vec<&str> = trace.tensors.iter().map(|t| t.name.as_str()).collect();
    let expected = golden.json["tensors"].as_array().unwrap();
    assert_eq!(names, expected.iter().map(|t| t["name"].as_str().unwrap()).collect::<Vec<_>>(), "{name}");

    let losses = golden.numbers("/losses_f64");
    let tolerances = golden.numbers("/tolerance/loss_rel");
    assert_eq!(trace.losses.len(), losses.len(), "{name}");
    for (step, ((loss, expected), tolerance)) in trace.losses.iter().zip(&losses).zip(tolerances).enumerate() {
        let tolerance = if step < stable { tolerance.min(strict) } else { tolerance };
        assert_close(&format!("{name}: loss of step {step}"), &[*loss], &[*expected], 0.0, tolerance);
    }
    // Weights are seen in float32, and small updates of them are not exact to the strictest tolerance.
    let strictest =
        [("grad_norm", &trace.grad_norms, strict.max(1e-6)), ("first_update_norm", &trace.first_update_norms, 1.0)];
    for (list, found, strict) in strictest {
        let tolerances = golden.numbers(&format!("/tolerance/{list}_rel"));
        let expected = golden.numbers(&format!("/{list}s"));
        for (tensor, tolerance) in tolerances.iter().enumerate() {
            let what = format!("{name}: {list} of {}", names[tensor]);
            assert_close(&what, &found[tensor..=tensor], &expected[tensor..=tensor], 1e-12, tolerance.min(strict));
        }
    }
    let final_norms = golden.numbers("/final_norms");
    let tolerances = golden.numbers("/tolerance/final_norm_rel");
    for (tensor, tolerance) in tolerances.into_iter().enumerate().filter(|(tensor, _)| ends_alike(names[*tensor])) {
        let what = format!("{name}: final norm of {}", names[tensor]);
        assert_close(&what, &trace.final_norms[tensor..=tensor], &final_norms[tensor..=tensor], 1e-12, tolerance);
    }
    for (row, logits) in trace.logits.iter().enumerate() {
        let expected = golden.numbers(&format!("/logits/{row}"));
        assert_close(&format!("{name}: logits of sample {row}"), logits, &expected, strict.min(1e-5), 0.0);
    }
    let accuracy = golden.number("/test_accuracy/f64");
    let tolerance = golden.number("/tolerance/accuracy_abs");
    assert_close(&format!("{name}: test accuracy"), &[trace.test_accuracy], &[accuracy], tolerance, 0.0);
}

#[test]
fn the_reference_in_double_precision_reproduces_every_trace() {
    let backend = ReferenceBackend::<f64>::new();
    for golden in traces() {
        compare(&golden, &compute(&golden, &backend), 1e-7);
    }
}

#[test]
fn the_wgsl_back_end_reproduces_every_trace() {
    let Some(backend) = gpu() else { return };
    for golden in traces() {
        compare(&golden, &compute(&golden, backend.as_ref()), f64::INFINITY);
    }
}

#[cfg(feature = "burn-flex")]
#[test]
fn burn_on_the_processor_reproduces_every_trace() {
    let backend = common::opened("burn-flex").unwrap();
    for golden in traces() {
        compare_foreign(&golden, &compute(&golden, backend.as_ref()));
    }
}

/// Few and small ones: a software adapter takes minutes to compile Burn's kernels.
#[cfg(feature = "burn-wgpu")]
#[test]
fn burn_on_wgsl_reproduces_small_traces() {
    const SMALL: [&str; 2] = ["keras-mnist-mlp-small", "keras-mnist-cnn-small"];
    let Some(backend) = common::opened("burn-wgpu") else { return };
    let small: Vec<Golden> = traces().into_iter().filter(|golden| SMALL.contains(&golden.name.as_str())).collect();
    assert_eq!(small.len(), SMALL.len());
    for golden in small {
        compare_foreign(&golden, &compute(&golden, backend.as_ref()));
    }
}

#[test]
fn the_same_seed_gives_the_same_bits_run_after_run() {
    let Some(backend) = gpu() else { return };
    let traces = traces();
    let golden = traces.iter().find(|t| t.name == "keras-mnist-mlp-small").unwrap();
    assert_eq!(compute(golden, backend.as_ref()), compute(golden, backend.as_ref()));
}
