use std::num::NonZero;

use results::DeviceKind;

use super::super::workload_tests::{Standstill, calm_job, tolerance_at_low_rates};
use super::*;
use crate::backends::open_with;
use crate::testing::skipped;
use crate::train::check::tolerance;
use crate::trainer::EvaluationSet;

/// The software adapter as so many logical devices; without one the test is skipped, or fails with `REQUIRE_GPU=1`.
fn logical_devices(devices: u32) -> Option<Box<dyn Backend>> {
    let opening = Opening { devices: NonZero::new(devices), ..Opening::new(Precision::F32, &AdapterChoice::Cpu) };
    match pollster::block_on(open_with(NAME, &opening, Rc::new(Standstill))) {
        Ok(backend) => Some(backend),
        Err(EngineError::NoAdapter { .. }) => {
            skipped(true, "there is no software adapter");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

/// What training leaves behind.
struct Trained {
    losses: Vec<f64>,
    correct: u64,
    samples: u64,
    test_loss: f64,
    gradients: Vec<Vec<f32>>,
    logits: Vec<Vec<f64>>,
    weights: Vec<Vec<f32>>,
}

/// Eight steps, two epochs: batches of three samples do not divide evenly, and an epoch's last one may have a single one.
fn train(backend: &dyn Backend, job: &TrainingJob) -> Trained {
    pollster::block_on(async {
        let mut trainer = backend.build(job).await.unwrap();
        let first = trainer.train_steps(1).await.unwrap();
        let (gradients, logits) = (trainer.gradients().await.unwrap(), trainer.logits(3).await.unwrap());
        let report = trainer.train_steps(7).await.unwrap();
        Trained {
            losses: [first.losses, report.losses].concat(),
            correct: first.correct + report.correct,
            samples: first.samples + report.samples,
            gradients,
            logits,
            test_loss: trainer.evaluate(EvaluationSet::Test, 5).await.unwrap().loss,
            weights: trainer.weights().await.unwrap(),
        }
    })
}

fn distance<T: Copy + Into<f64>>(found: &[Vec<T>], expected: &[Vec<T>]) -> f64 {
    let length = |values: Vec<f64>| values.iter().map(|value| value * value).sum::<f64>().sqrt();
    let pairs = found.iter().flatten().zip(expected.iter().flatten());
    let differences = pairs.map(|(&a, &b)| a.into() - b.into()).collect();
    length(differences) / length(expected.iter().flatten().map(|&value| value.into()).collect())
}

fn several_devices_train_as_one_does(name: &str, devices: u32) {
    let (Some(one), Some(several)) = (logical_devices(1), logical_devices(devices)) else { return };
    let workload = crate::workload(name).unwrap();
    let job = calm_job(&workload);
    let (expected, found) = (train(one.as_ref(), &job), train(several.as_ref(), &job));
    let tolerance =
        tolerance(&workload, &job, Precision::F32).unwrap().min(tolerance_at_low_rates(&workload, Precision::F32));
    let losses = found.losses.iter().chain([&found.test_loss]).zip(expected.losses.iter().chain([&expected.test_loss]));
    for (found, expected) in losses {
        assert!((found - expected).abs() <= tolerance * expected.abs(), "{name}: {found} instead of {expected}");
    }
    assert_eq!((found.losses.len(), found.samples), (8, expected.samples), "{name}");
    assert!(found.correct.abs_diff(expected.correct) <= 1, "{name}: {} of {}", found.correct, expected.correct);
    let distances = [
        distance(&found.gradients, &expected.gradients),
        distance(&found.logits, &expected.logits),
        distance(&found.weights, &expected.weights),
    ];
    eprintln!("{name} on {devices} devices: gradients, logits and weights off by {distances:?}");
    assert!(distances.iter().all(|distance| *distance <= tolerance), "{name}: {distances:?}, tolerance {tolerance}");
    assert_eq!(found.logits.len(), 3);
}

#[test]
fn two_devices_train_as_one_with_dropout_momentum_and_adam() {
    for name in ["keras-mnist-mlp", "caffe-mnist", "tensorflow-mnist"] {
        several_devices_train_as_one_does(name, 2);
    }
}

#[test]
fn two_devices_augment_as_one_does() {
    for name in ["keras-cifar10-cnn", "tensorflow-cifar10"] {
        several_devices_train_as_one_does(name, 2);
    }
}

#[test]
fn batch_normalisation_uses_the_statistics_of_the_whole_batch_on_all_devices() {
    several_devices_train_as_one_does("resnet20-cifar10", 2);
}

#[test]
fn a_device_without_samples_in_a_short_batch_changes_nothing() {
    several_devices_train_as_one_does("keras-mnist-cnn", 4);
}

#[test]
fn devices_that_no_longer_have_the_same_weights_are_found_before_the_next_test() {
    let Some(_) = logical_devices(1) else { return };
    let opening = Opening::new(Precision::F32, &AdapterChoice::Cpu);
    let backend = pollster::block_on(ParallelBackend::open(&opening, 2, Rc::new(Standstill))).unwrap();
    let job = calm_job(&crate::workload("keras-mnist-mlp").unwrap());
    pollster::block_on(async {
        let build = |place: usize| backend.devices[place].build_share(&job, 2);
        let replicas = vec![build(0).await.unwrap(), build(1).await.unwrap()];
        let mut trainer = ParallelTrainer {
            replicas,
            clock: Rc::new(Standstill),
            job: Rc::new(job.clone()),
            name: "llvmpipe".to_owned(),
            step: 0,
            shares: Vec::new(),
        };
        trainer.train_steps(1).await.unwrap();
        trainer.evaluate(EvaluationSet::Test, 5).await.unwrap();
        // The second device forgets its part of what it learned.
        trainer.replicas[1] = build(1).await.unwrap();
        let error = trainer.evaluate(EvaluationSet::Test, 5).await.unwrap_err().to_string();
        assert!(error.starts_with("device 2 of 2 (llvmpipe): ") && error.contains("not those of device 1"), "{error}");
    });
}

#[test]
fn a_machine_with_fewer_adapters_says_how_many_it_has_and_software_is_as_many_as_are_wanted() {
    let adapter = |name: &str, software| Adapter {
        name: name.to_owned(),
        vendor: String::new(),
        architecture: String::new(),
        kind: DeviceKind::Discrete,
        api: "Vulkan".to_owned(),
        driver: String::new(),
        software,
    };
    let all = [adapter("A", false), adapter("llvmpipe", true), adapter("B", false), adapter("B", false)];
    let choose = |asked: &str, devices| asked.parse::<AdapterChoice>().unwrap().choose_several(&all, devices);
    assert_eq!(choose("b", 2).unwrap(), [2, 3]);
    assert_eq!(choose("cpu", 3).unwrap(), [1, 1, 1]);
    let error = choose("any", 2).unwrap_err().to_string();
    assert_eq!(error, "2 devices were asked for, and this machine has 1 like A; `native-runner adapters` lists them");
}
