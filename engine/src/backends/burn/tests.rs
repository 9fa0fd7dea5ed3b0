//! Burn's tensor operations against the plain loops, in double precision.

use std::rc::Rc;
use std::sync::Arc;

use results::{Adapter, Precision};

use super::failure::guarded;
use super::{FirstUse, TUNED, VERSION, untuned};
use crate::backends::reference::ReferenceBackend;
use crate::backends::segment_tests::{NORMALIZED, OF_EVERY_KIND, assert_close, repeated};
use crate::backends::sharing::comparison::{Trained, train_steps};
use crate::backends::wgsl::workload_tests::{job, narrow_job, tolerance_at_low_rates, train_and_evaluate};
use crate::backends::{AdapterChoice, Opening, open_with};
use crate::data::{DataSet, Split};
use crate::error::{EngineError, Result};
use crate::model::{Activation, Initializer, Layer, Model, Multipliers, Padding, PoolKind, Rounding, Weights};
use crate::testing::Standstill;
use crate::testing::models::{CLASSES, IMAGE, batch_norm, conv, dense, logits, small_models};
use crate::train::check::against_reference;
use crate::train::check::tests::whitened;
use crate::trainer::{Backend, EvaluationSet, TrainingJob};
use crate::training::{InputRecipe, Loss, Optimizer, Rule, WeightAverage};

fn backends() -> Vec<Box<dyn Backend>> {
    let names: &[&str] = &[
        #[cfg(feature = "burn-flex")]
        "burn-flex",
        #[cfg(feature = "burn-wgpu")]
        "burn-wgpu",
    ];
    let opened = names.iter().filter_map(|name| {
        let open = |choice: AdapterChoice| {
            let opening = Opening::new(Precision::F32, &choice);
            pollster::block_on(open_with(name, &opening, Rc::new(Standstill)))
        };
        let found = open(AdapterChoice::Any).or_else(|_| open(AdapterChoice::Cpu));
        if let Err(error) = &found {
            crate::testing::skipped(true, format!("{name}: {error}"));
        }
        found.ok()
    });
    opened.collect()
}

fn flex() -> Option<Box<dyn Backend>> {
    backends().into_iter().find(|backend| backend.name() == "burn-flex")
}

pub(super) fn job_of(model: Model) -> TrainingJob {
    let workload = crate::workload("keras-cifar10-cnn").unwrap();
    let optimizer = Optimizer::new(Rule::Sgd { momentum: 0.9 }, 0.05);
    let (loss, input) = (Loss::default(), InputRecipe::scaled(255.0));
    TrainingJob { model, optimizer, loss, input, average: None, ..job(&workload) }
}

fn assert_values_close(what: &str, found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len(), "{what}");
    let scale = expected.iter().fold(0.0f64, |largest, value| largest.max(value.abs()));
    for (place, (found, expected)) in found.iter().zip(expected).enumerate() {
        let allowed = 1e-6 + 2e-4 * expected.abs() + 2e-5 * scale;
        assert!((found - expected).abs() <= allowed, "{what}[{place}]: {found} instead of {expected}");
    }
}

pub(super) fn check(backend: &dyn Backend, job: &TrainingJob, steps: u32) {
    let [found, expected] =
        [backend, &ReferenceBackend::<f64>::new()].map(|backend| train_steps(backend, job, steps, 0));
    let what = |part: &str| format!("{}: {}: {part}", backend.name(), job.model.name);
    let wide = |values: &[f32]| values.iter().map(|&value| f64::from(value)).collect::<Vec<_>>();
    assert_values_close(&what("losses"), &found.losses, &expected.losses);
    for (row, (found, expected)) in found.logits.iter().zip(&expected.logits).enumerate() {
        assert_values_close(&what(&format!("logits of sample {row}")), found, expected);
    }
    for (place, spec) in job.model.tensors().unwrap().iter().enumerate() {
        let pairs = [
            ("gradient", &found.gradients[place], &expected.gradients[place]),
            ("weights", &found.weights[place], &expected.weights[place]),
        ];
        for (part, found, expected) in pairs {
            assert_values_close(&what(&format!("{part} of {}", spec.name)), &wide(found), &wide(expected));
        }
    }
    assert_values_close(&what("loss of a test"), &[found.test.loss], &[expected.test.loss]);
    let correct = |of: &Trained| (of.correct, of.test.correct);
    assert_eq!(correct(&found), correct(&expected), "{}", what("right answers"));
}

#[test]
fn every_layer_and_gradient_matches_the_reference() {
    // Of equal logits, the first is the answer.
    let weights = Weights::new(Initializer::Constant { value: 0.0 });
    let zeros = Layer::Dense { units: CLASSES, activation: Activation::Identity, weights };
    for backend in backends() {
        for model in small_models().into_iter().chain([Model::sequence("zeros", IMAGE, vec![zeros.clone()])]) {
            check(backend.as_ref(), &job_of(model), 2);
        }
    }
}

/// Returns a job per optimizer rule. Together they cover every kind of average, limit and loss.
fn jobs_of_every_rule() -> Vec<TrainingJob> {
    let rules = [
        Rule::Sgd { momentum: 0.0 },
        Rule::Sgd { momentum: 0.9 },
        Rule::Nesterov { momentum: 0.8 },
        Rule::Nesterov { momentum: 0.0 },
        Rule::RmsProp { rho: 0.9, epsilon: 1e-3 },
        Rule::Adadelta { rho: 0.95, epsilon: 1e-3 },
        Rule::Adam { beta1: 0.9, beta2: 0.99, epsilon: 1e-3, decoupled: false },
        Rule::Adam { beta1: 0.9, beta2: 0.99, epsilon: 1e-3, decoupled: true },
    ];
    let averages = [
        None,
        Some(WeightAverage::Exponential { largest: 0.99 }),
        Some(WeightAverage::Lookahead { every: 2, decay: 0.9 }),
    ];
    let job = |(place, rule)| {
        let layers = vec![dense(6, Activation::Tanh), logits()];
        let mut job = job_of(Model::sequence("rules", IMAGE, layers));
        let largest_gradient = [None, Some(0.05), Some(1e6)][place % 3];
        job.optimizer = Optimizer { weight_decay: 0.01, largest_gradient, ..Optimizer::new(rule, 0.01) };
        job.loss = Loss { label_smoothing: 0.1, summed: place % 2 == 0, logits_scale: 0.5 };
        job.average = averages[place % averages.len()];
        job
    };
    rules.into_iter().enumerate().map(job).collect()
}

#[test]
fn every_rule_moves_and_freezes_weights_as_the_reference_does() {
    let frozen = Multipliers { frozen_from: Some(0.5), ..Multipliers::default() };
    let mut norm = batch_norm(Activation::Relu);
    if let Layer::BatchNorm { bias, .. } = &mut norm {
        *bias = frozen;
    }
    let frozen = job_of(Model::sequence("frozen", IMAGE, vec![dense(6, Activation::Identity), norm, logits()]));
    for backend in backends() {
        for job in jobs_of_every_rule().into_iter().chain([frozen.clone()]) {
            // The fourth step is the short one of the epoch.
            check(backend.as_ref(), &job, 4);
        }
    }
}

#[test]
fn every_narrow_workload_trains_and_tests_as_the_reference_does() {
    let Some(backend) = flex() else { return };
    for workload in crate::testing::workloads() {
        let job = narrow_job(&workload);
        let found = pollster::block_on(train_and_evaluate(backend.as_ref(), &job));
        let expected = pollster::block_on(train_and_evaluate(&ReferenceBackend::<f64>::new(), &job));
        for (found, expected) in found.iter().zip(&expected) {
            let tolerance = workload.loss_tolerance.min(tolerance_at_low_rates(&workload, Precision::F32));
            let allowed = tolerance * expected.abs();
            assert!((found - expected).abs() <= allowed, "{}: {found} instead of {expected}", workload.name);
        }
    }
}

#[test]
fn an_unsupported_network_is_named_with_the_reason() {
    let Some(backend) = backends().into_iter().next() else { return };
    // Five pixels and no padding: the third window would begin at pixel 6.
    let (kind, rounding, activation) = (PoolKind::Max, Rounding::Ceil, Activation::Identity);
    let beyond = Layer::Pool { kind, side: 1, stride: 3, padding: 0, rounding, activation };
    let model =
        Model::sequence("beyond", IMAGE, vec![conv(4, 3, 1, Padding::Same, Activation::Relu), beyond, logits()]);
    let error = pollster::block_on(backend.build(&job_of(model))).err().unwrap().to_string();
    assert!(error.starts_with("beyond: layer 1 is not supported by this backend: Burn leaves out windows"), "{error}");
}

#[test]
fn a_panic_ends_one_trainer_and_not_the_program() {
    for backend in backends() {
        let whole = job_of(Model::sequence("small", IMAGE, vec![logits()]));
        let test = Split { images: Vec::new(), labels: whole.data.test.labels.clone() };
        let data = Arc::new(DataSet::new(whole.data.definition, whole.data.train.clone(), test, whole.data.generated));
        let panicked = |result: Result<()>, part: &str| {
            let says = matches!(&result, Err(EngineError::Panicked { message }) if message.contains(part));
            assert!(says, "{}: {result:?}", backend.name());
        };
        match pollster::block_on(backend.build(&TrainingJob { data, ..whole.clone() })) {
            // Building tests a batch if kernels are compiled.
            Err(error) => panicked(Err(error), "out of range"),
            Ok(mut trainer) => {
                pollster::block_on(trainer.train_steps(1)).unwrap();
                panicked(pollster::block_on(trainer.evaluate(EvaluationSet::Test, 1)).map(drop), "out of range");
                panicked(pollster::block_on(trainer.train_steps(1)).map(drop), "panicked before");
            }
        }
        let mut another = pollster::block_on(backend.build(&whole)).unwrap();
        pollster::block_on(another.train_steps(1)).unwrap();
    }
}

#[test]
fn a_panic_is_reported_in_its_own_words() {
    for (panics, words) in [
        (|| panic!("plain words"), "plain words"),
        (|| panic!("words and {}", 1), "words and 1"),
        (|| std::panic::panic_any(1), "no reason given"),
    ] as [(fn() -> Result<()>, &str); 3]
    {
        let error = pollster::block_on(guarded(async { panics() })).unwrap_err().to_string();
        assert!(error.starts_with("Burn panicked") && error.ends_with(words), "{error}");
    }
}

/// Burn computes no gradients of a whitening kernel or of a fixed scale.
#[test]
fn a_network_with_fixed_tensors_passes_the_check() {
    let Some(backend) = flex() else { return };
    let workload = whitened();
    let job = job(&workload);
    let checked = pollster::block_on(against_reference(&workload, &job, backend.as_ref())).unwrap();
    assert_eq!(checked.disagreement(), None);
}

#[test]
fn the_record_names_the_version_that_is_built_in() {
    let manifest = include_str!("../../../Cargo.toml");
    assert!(manifest.contains(&format!("burn-tensor = {{ version = \"={VERSION}\"")), "{VERSION}");
}

#[test]
fn only_an_untuned_gpu_is_warned_of() {
    let adapter = |software| Adapter { software, ..ReferenceBackend::<f32>::new().adapter().clone() };
    let is_warned_of = |first_use, software| !untuned("burn-wgpu", first_use, &adapter(software)).is_empty();
    assert!(is_warned_of(FirstUse::Compiles, false));
    assert!(!is_warned_of(FirstUse::Compiles, true), "software adapters are not tuned");
    assert!(!is_warned_of(FirstUse::CompilesAndTunes, false));
    assert!(!is_warned_of(FirstUse::Ordinary, false), "the processor compiles nothing");
    for backend in backends() {
        let gpu = backend.name() != "burn-flex" && !backend.adapter().software;
        assert_eq!(backend.facts().warnings.len(), usize::from(gpu && !TUNED), "{}", backend.name());
    }
}

#[test]
fn the_record_says_what_is_fused_and_tuned() {
    // No other feature may enable them.
    let manifest = include_str!("../../../Cargo.toml");
    for word in ["fusion", "autotune"] {
        assert!(manifest.contains(&format!("\"burn-tensor?/{word}\"")), "{word}");
        assert_eq!(manifest.matches(&format!("/{word}\"")).count(), 1, "{word}");
    }
    let job = job_of(Model::sequence("small", IMAGE, vec![logits()]));
    for backend in backends() {
        let compiles = backend.name() != "burn-flex";
        let state = if compiles && TUNED { "on" } else { "off" };
        let facts = pollster::block_on(backend.build(&job)).unwrap().facts();
        for part in ["fusion", "autotune"] {
            assert!(facts.variants.contains(&format!("burn {part}: {state}")), "{}", backend.name());
        }
        assert_eq!(facts.compiling_seconds.is_some(), compiles && !TUNED, "{facts:?}");
        assert_eq!(facts.tuning_seconds.is_some(), compiles && TUNED, "{facts:?}");
        assert!(facts.device_memory_bytes > 0, "{}", backend.name());
    }
}

#[test]
fn segments_repeat_bit_for_bit_and_match_the_reference() {
    let Some(backend) = flex() else { return };
    let narrow = |name| narrow_job(&crate::workload(name).unwrap());
    for job in OF_EVERY_KIND.map(narrow).into_iter().chain(jobs_of_every_rule()) {
        let found = repeated(backend.as_ref(), &job);
        assert_close(&job, &found, &repeated(&ReferenceBackend::<f32>::new(), &job));
    }
    for name in NORMALIZED {
        repeated(backend.as_ref(), &narrow(name));
    }
}
