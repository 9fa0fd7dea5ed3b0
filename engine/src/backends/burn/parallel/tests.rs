use std::rc::Rc;

use results::{Departure, Precision};

use super::*;
use crate::backends::burn::open_one;
use crate::backends::burn::tests::{check, job_of};
use crate::backends::sharing::comparison::{
    OF_EVERY_RULE, OF_OTHER_KINDS, ORDER_OF_ADDITIONS, THROUGH_NORMALIZATIONS, trains_as_one_does,
};
use crate::backends::wgsl::workload_tests::narrow_job;
use crate::backends::{AdapterChoice, BURN_FLEX, Opening};
use crate::model::{Activation, Layer, Model, Multipliers};
use crate::testing::Standstill;
use crate::testing::models::{IMAGE, dense, logits, small_models};
use crate::train::tests::{narrow_request, run};
use crate::trainer::EvaluationSet;

fn cpu_backend() -> BurnBackend {
    let opening = Opening::new(Precision::F32, &AdapterChoice::Any);
    pollster::block_on(open_one(BURN_FLEX, &opening, Rc::new(Standstill))).unwrap()
}

fn cpu_devices(count: u8) -> ParallelBackend {
    let named = (0..count).map(|index| (cpu_backend(), char::from(b'a' + index).to_string()));
    ParallelBackend::new(named.collect(), Rc::new(Standstill)).unwrap()
}

/// Covers every rule, augmentation and attention, batch normalization by the statistics of all devices, and short batches
/// that leave devices without samples.
#[test]
fn several_devices_train_as_one() {
    let of_two = OF_EVERY_RULE.into_iter().chain(OF_OTHER_KINDS).map(|name| (name, 2, ORDER_OF_ADDITIONS));
    let normalized = [2, 3, 4].map(|count| ("resnet20-cifar10", count, THROUGH_NORMALIZATIONS));
    for (name, count, tolerance) in of_two.chain(normalized).chain([("keras-mnist-cnn", 4, ORDER_OF_ADDITIONS)]) {
        let job = narrow_job(&crate::workload(name).unwrap());
        let several = cpu_devices(count);
        assert_eq!(several.devices(), u32::from(count));
        trains_as_one_does(&several, &cpu_backend(), &job, tolerance);
    }
}

/// Covers batch normalization of images and of vectors with dropout, connections that skip it, and local normalization
/// between layers.
#[test]
fn two_devices_match_the_reference_for_every_layer() {
    let two = cpu_devices(2);
    for model in small_models() {
        check(&two, &job_of(model), 2);
    }
}

#[test]
fn fixed_scales_and_summed_losses_work_on_two_devices() {
    let fixed = Layer::BatchNorm {
        epsilon: 1e-3,
        keep: 0.9,
        trained_scale: false,
        bias: Multipliers::default(),
        activation: Activation::Tanh,
    };
    // No layer before the first batch normalization is trained.
    let layers = vec![fixed.clone(), dense(6, Activation::Identity), fixed, Layer::Dropout { rate: 0.3 }, logits()];
    let mut job = job_of(Model::sequence("fixed", IMAGE, layers));
    job.loss.summed = true;
    job.optimizer.learning_rate *= 0.1;
    job.optimizer.largest_gradient = Some(1.0);
    trains_as_one_does(&cpu_devices(2), &cpu_backend(), &job, THROUGH_NORMALIZATIONS);
}

#[test]
fn devices_tune_together_and_discard_the_trained_weights() {
    let job = narrow_job(&crate::workload("resnet20-cifar10").unwrap());
    let mut rehearsed = cpu_devices(2);
    rehearsed.devices.iter_mut().for_each(|device| device.first_use = FirstUse::CompilesAndTunes);
    trains_as_one_does(&rehearsed, &cpu_backend(), &job, THROUGH_NORMALIZATIONS);
    let trainer = pollster::block_on(rehearsed.build(&job)).unwrap();
    let facts = trainer.facts();
    assert!(facts.tuning_seconds.is_some());
    assert!(facts.variants.contains(&"burn tuning: settled after 3 steps".to_owned()), "{facts:?}");
}

#[test]
fn diverged_weights_are_detected_before_evaluation() {
    let job = narrow_job(&crate::workload("keras-mnist-mlp").unwrap());
    pollster::block_on(async {
        let mut trainer = cpu_devices(2).trainer(&job).await.unwrap();
        trainer.train_steps(1).await.unwrap();
        trainer.evaluate(EvaluationSet::Test, 5).await.unwrap();
        trainer.replicas.trainers[1] = cpu_devices(2).trainer(&job).await.unwrap().replicas.trainers.swap_remove(1);
        let error = trainer.evaluate(EvaluationSet::Test, 5).await.unwrap_err().to_string();
        assert!(error.starts_with("device 2 of 2 (b): ") && error.contains("differ from device 1"), "{error}");
    });
}

#[test]
fn different_devices_are_refused_with_their_descriptions() {
    let mut other = cpu_backend();
    other.facts.adapter.driver = "another".to_owned();
    let named = vec![(cpu_backend(), "a".to_owned()), (other, "b".to_owned())];
    let error = ParallelBackend::new(named, Rc::new(Standstill)).err().unwrap().to_string();
    for part in ["these differ: a is ", ", b is ", "another", "as in --remote HOST:4400,HOST:4401"] {
        assert!(error.contains(part), "{error}");
    }
}

#[test]
fn records_contain_the_devices_and_their_communication() {
    let record = run(&narrow_request(&["keras-mnist-mlp"]), &cpu_devices(2)).unwrap();
    assert_eq!(record.devices(), 2);
    let two = Departure::Devices { count: 2, logical: false };
    assert!(record.departures.contains(&two), "{:?}", record.departures);
    let communication = record.workloads[0].communication.unwrap();
    let gradients = 4 * record.workloads[0].settings.parameters;
    assert_eq!((communication.exchanges, communication.bytes), (2, 2 * 4 * gradients));
    assert_eq!(communication.overlapped, None);
}

#[test]
fn each_batch_normalization_takes_two_exchanges() {
    let job = narrow_job(&crate::workload("resnet20-cifar10").unwrap());
    let trained = usize::try_from(job.model.parameters().unwrap()).unwrap();
    let mut trainer = pollster::block_on(cpu_devices(2).trainer(&job)).unwrap();
    let communication = pollster::block_on(trainer.train_steps(1)).unwrap().communication.unwrap();
    let normalizations = trainer.replicas.trainers[0].network.batch_norms();
    let channels: usize =
        normalizations.iter().map(|&layer| trainer.replicas.trainers[0].network.normalized_sizes(layer).1).sum();
    assert_eq!(communication.exchanges, 2 * normalizations.len() as u64 + 1);
    // Four bytes per number, in both directions, for two devices.
    assert_eq!(communication.bytes, (4 * 2 * 2 * (trained + 2 * 2 * channels)) as u64);
}
