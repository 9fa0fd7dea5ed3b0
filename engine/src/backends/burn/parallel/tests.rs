use std::rc::Rc;

use results::Departure;

use super::*;
use crate::backends::burn::open_one;
use crate::backends::burn::tests::{check, job_of};
use crate::backends::sharing::comparison::{
    OF_EVERY_RULE, OF_OTHER_KINDS, ORDER_OF_ADDITIONS, THROUGH_NORMALIZATIONS, trains_as_one_does,
};
use crate::backends::wgsl::workload_tests::{Standstill, narrow_job};
use crate::backends::{AdapterChoice, BURN_FLEX, Opening};
use crate::model::{Activation, Layer, Model, Multipliers, TensorKind, TensorSpec};
use crate::testing::models::{IMAGE, dense, logits, small_models};
use crate::train::tests::{narrow_request, run};
use crate::trainer::EvaluationSet;

fn processor() -> BurnBackend {
    let opening = Opening::new(Precision::F32, &AdapterChoice::Any);
    pollster::block_on(open_one(BURN_FLEX, &opening, Rc::new(Standstill))).unwrap()
}

fn devices(count: u8) -> ParallelBackend {
    let named = (0..count).map(|place| (processor(), char::from(b'a' + place).to_string()));
    ParallelBackend::new(named.collect(), Rc::new(Standstill), "nothing").unwrap()
}

fn several_devices_train_as_one_does(name: &str, count: u8, tolerance: f64) {
    let job = narrow_job(&crate::workload(name).unwrap());
    let several = devices(count);
    assert_eq!(several.devices(), u32::from(count));
    trains_as_one_does(&several, &processor(), &job, tolerance);
}

#[test]
fn two_devices_train_as_one_with_every_rule() {
    for name in OF_EVERY_RULE {
        several_devices_train_as_one_does(name, 2, ORDER_OF_ADDITIONS);
    }
}

#[test]
fn two_devices_match_one_for_augmentation_and_attention() {
    for name in OF_OTHER_KINDS {
        several_devices_train_as_one_does(name, 2, ORDER_OF_ADDITIONS);
    }
}

#[test]
fn batch_normalization_uses_the_statistics_of_all_devices() {
    several_devices_train_as_one_does("resnet20-cifar10", 2, THROUGH_NORMALIZATIONS);
    several_devices_train_as_one_does("resnet20-cifar10", 3, THROUGH_NORMALIZATIONS);
}

#[test]
fn a_device_without_samples_in_a_short_batch_changes_nothing() {
    several_devices_train_as_one_does("keras-mnist-cnn", 4, ORDER_OF_ADDITIONS);
    several_devices_train_as_one_does("resnet20-cifar10", 4, THROUGH_NORMALIZATIONS);
}

/// The models have batch normalization of images and vectors with dropout, values that cross one, and local
/// normalization in between.
#[test]
fn two_devices_compute_every_layer_as_the_reference() {
    let two = devices(2);
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
    trains_as_one_does(&devices(2), &processor(), &job, THROUGH_NORMALIZATIONS);
}

#[test]
fn devices_tune_together_and_forget_what_they_learned() {
    let job = narrow_job(&crate::workload("resnet20-cifar10").unwrap());
    let mut rehearsed = devices(2);
    rehearsed.devices.iter_mut().for_each(|device| device.first_use = FirstUse::CompilesAndTunes);
    trains_as_one_does(&rehearsed, &processor(), &job, THROUGH_NORMALIZATIONS);
    let trainer = pollster::block_on(rehearsed.build(&job)).unwrap();
    assert!(trainer.preparation().tuning_seconds.is_some());
    assert!(trainer.variants().contains(&"burn tuning: settled after 3 steps".to_owned()), "{:?}", trainer.variants());
}

#[test]
fn different_weights_are_found_before_the_next_test() {
    let job = narrow_job(&crate::workload("keras-mnist-mlp").unwrap());
    pollster::block_on(async {
        let mut trainer = devices(2).trainer(&job).await.unwrap();
        trainer.train_steps(1).await.unwrap();
        trainer.evaluate(EvaluationSet::Test, 5).await.unwrap();
        trainer.replicas[1] = devices(2).trainer(&job).await.unwrap().replicas.swap_remove(1);
        let error = trainer.evaluate(EvaluationSet::Test, 5).await.unwrap_err().to_string();
        assert!(error.starts_with("device 2 of 2 (b): ") && error.contains("differ from device 1"), "{error}");
    });
}

#[test]
fn unlike_devices_are_refused_with_their_descriptions() {
    let mut other = processor();
    other.opened.adapter.driver = "another".to_owned();
    let named = vec![(processor(), "a".to_owned()), (other, "b".to_owned())];
    let error = ParallelBackend::new(named, Rc::new(Standstill), "--remote A,B").err().unwrap().to_string();
    for part in ["these differ: a is ", ", b is ", "another", "as in --remote A,B"] {
        assert!(error.contains(part), "{error}");
    }
}

#[test]
fn a_batch_smaller_than_the_devices_is_refused() {
    let mut of_one = narrow_request(&["keras-mnist-mlp"]);
    of_one.spec.batch_size = Some(1);
    let error = run(&of_one, &devices(2)).unwrap_err().error.to_string();
    assert_eq!(error, "the batch size must be at least 2 for keras-mnist-mlp: one sample for each device, but is 1");
}

#[test]
fn a_record_has_the_devices_and_their_communication() {
    let record = run(&narrow_request(&["keras-mnist-mlp"]), &devices(2)).unwrap();
    assert_eq!(record.devices(), 2);
    let two = Departure::Devices { count: 2, logical: false };
    assert!(record.departures.contains(&two), "{:?}", record.departures);
    let told = record.workloads[0].communication.unwrap();
    let gradients = 4 * record.workloads[0].settings.parameters;
    assert_eq!((told.exchanges, told.bytes), (2, 2 * 4 * gradients));
    assert_eq!(told.overlapped, None);
}

#[test]
fn a_batch_normalization_is_two_exchanges_per_device() {
    let job = narrow_job(&crate::workload("resnet20-cifar10").unwrap());
    let trained: usize = job
        .model
        .tensors()
        .unwrap()
        .iter()
        .filter(|spec| spec.kind == TensorKind::Trained)
        .map(TensorSpec::elements)
        .sum();
    let mut trainer = pollster::block_on(devices(2).trainer(&job)).unwrap();
    let told = pollster::block_on(trainer.train_steps(1)).unwrap().communication.unwrap();
    let normalizations = trainer.replicas[0].network.batch_norms();
    let channels: usize =
        normalizations.iter().map(|&layer| trainer.replicas[0].network.normalized_sizes(layer).1).sum();
    assert_eq!(told.exchanges, 2 * normalizations.len() as u64 + 1);
    // Four bytes each, in both directions, for two devices.
    assert_eq!(told.bytes, (4 * 2 * 2 * (trained + 2 * 2 * channels)) as u64);
}
