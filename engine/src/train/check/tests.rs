//! Checks of correct and faulty backends.

use std::sync::Arc;

use results::{Compared, WholeBatch};

use super::faulty::{Fault, Faulty};
use super::*;
use crate::data::{DataSet, Split, data_set};
use crate::model::{Layer, Model, Node, TensorKind};
use crate::random::Generator;
use crate::workload::Training;

/// Batch size that the reference can train in a short time, unlike [`LARGE`].
const SMALL: u32 = 8;
const LARGE: u32 = 600;

fn run_check(batch_size: u32, backend: &dyn Backend) -> Correctness {
    checked_of(&crate::workload("keras-mnist-mlp").unwrap(), batch_size, backend)
}

fn checked_of(workload: &Workload, batch_size: u32, backend: &dyn Backend) -> Correctness {
    pollster::block_on(against_reference(workload, &job(workload, batch_size), backend)).unwrap()
}

fn job(workload: &Workload, batch_size: u32) -> TrainingJob {
    let definition = data_set(workload.data_set).unwrap();
    let generator = Generator { stream: 1, step: 0, seed: 1 };
    let byte = |index| u8::try_from(generator.below(index, 256)).unwrap();
    let split = |samples: u32| Split {
        images: (0..samples * definition.train.features()).map(byte).collect(),
        labels: (0..10).cycle().take(samples as usize).collect(),
    };
    let data = DataSet::new(definition, split(1000), split(10), false);
    workload.job(Training {
        data: Arc::new(data),
        batches: workload.batches(1000, batch_size, 1).unwrap(),
        planned_steps: 10,
        seed: 1,
        dropout: true,
    })
}

fn disagreeing_quantity(found: &Correctness) -> Option<Compared> {
    assert_eq!(found.passed, found.disagreement().is_none(), "{found:?}");
    found.disagreement().map(|disagreement| disagreement.compared)
}

#[test]
fn small_batches_are_compared_with_the_reference() {
    let found = run_check(SMALL, &Faulty::new(Fault::None, 0));
    assert_eq!((found.batch_size, found.passed, &found.whole_batch), (SMALL, true, &None));
    assert_eq!(found.losses.len(), STEPS as usize);
}

#[test]
fn a_separate_check_uses_the_recipes_batch_size() {
    let workload = crate::workload("keras-mnist-mlp").unwrap();
    let data = job(&workload, SMALL).data;
    for (fault, passes) in [(Fault::None, true), (Fault::LossTooLarge, false)] {
        let backend = Faulty::new(fault, 0);
        let found = pollster::block_on(check_workload(&workload, 1, Arc::clone(&data), &backend)).unwrap();
        assert_eq!((found.batch_size, found.passed), (workload.batch_size, passes), "{fault:?}");
    }
}

#[test]
fn whatever_is_wrong_with_first_losses_is_found() {
    for fault in [Fault::LossTooLarge, Fault::LossNotANumber, Fault::LossMissing] {
        let found = run_check(SMALL, &Faulty::new(fault, 0));
        assert_eq!(disagreeing_quantity(&found), Some(Compared::Losses), "{fault:?}");
    }
}

#[test]
fn faults_are_found_although_losses_are_right() {
    for (fault, expected) in [
        (Fault::GradientMissing, Compared::Gradient),
        (Fault::NoUpdate, Compared::Update),
        (Fault::TestOfNothing, Compared::UntrainedTest),
    ] {
        let found = run_check(SMALL, &Faulty::new(fault, 0));
        assert_eq!(disagreeing_quantity(&found), Some(expected), "{fault:?}");
        assert!(found.largest_difference < found.tolerance, "{fault:?}");
    }
    let right = run_check(SMALL, &Faulty::new(Fault::None, 0));
    assert_eq!(right.differences.len(), 5);
}

#[test]
fn a_large_batch_that_is_right_agrees_with_its_parts() {
    let found = run_check(LARGE, &Faulty::new(Fault::None, 0));
    let whole = found.whole_batch.as_ref().expect("the batch is larger than the one that was compared");
    assert!(found.passed && whole.passed, "{found:?}");
    assert!(found.batch_size < LARGE && whole.part_size >= found.batch_size, "{found:?}");
    assert_eq!(whole.batch_size, LARGE);
    assert!(whole.loss_difference() < 1e-5 && whole.gradient_difference < 1e-3, "{whole:?}");
}

#[test]
fn what_is_wrong_only_in_large_batches_is_found() {
    for (fault, expected) in [
        (Fault::LossTooLarge, Compared::WholeBatchLoss),
        (Fault::LossNotANumber, Compared::WholeBatchLoss),
        (Fault::LossMissing, Compared::WholeBatchLoss),
        (Fault::GradientMissing, Compared::WholeBatchGradient),
    ] {
        let found = run_check(LARGE, &Faulty::new(fault, LARGE));
        assert_eq!(disagreeing_quantity(&found), Some(expected), "{fault:?}");
    }
}

#[test]
fn gradients_of_summed_losses_are_added() {
    let mut workload = crate::workload("keras-mnist-mlp").unwrap();
    workload.loss.summed = true;
    let found = checked_of(&workload, LARGE, &Faulty::new(Fault::None, 0));
    assert!(found.whole_batch.is_some_and(|whole| whole.passed && whole.gradient_difference < 1e-3));
}

/// Returns the first layers of `airbench94`: whitening, and a normalization with a fixed scale.
pub(crate) fn whitened() -> Workload {
    let mut workload = crate::workload("keras-cifar10-cnn").unwrap();
    let airbench = crate::workload("airbench94").unwrap().model;
    let is_norm = |node: &&Node| matches!(node.layer, Layer::BatchNorm { trained_scale: false, .. });
    let [whitening, norm] = [&airbench.nodes[0], airbench.nodes.iter().find(is_norm).unwrap()];
    let logits = workload.model.nodes.pop().unwrap();
    let layers = vec![whitening.layer.clone(), norm.layer.clone(), logits.layer];
    workload.model = Model::sequence("whitened", workload.model.input, layers);
    workload
}

#[test]
fn missing_gradients_of_fixed_tensors_are_accepted() {
    let fixed = whitened().model.tensors().unwrap().iter().filter(|of| of.kind == TensorKind::Fixed).count();
    assert_eq!(fixed, 2, "the whitening kernel, and a scale");
    let found = checked_of(&whitened(), MIN_BATCH, &Faulty::new(Fault::FixedGradientsLeftOut, 0));
    assert_eq!(disagreeing_quantity(&found), None);
    // Updates show that fixed tensors stay fixed.
    let found = checked_of(&whitened(), MIN_BATCH, &Faulty::new(Fault::NoUpdate, 0));
    assert_eq!(disagreeing_quantity(&found), Some(Compared::Update));
}

/// Compares ResNet-20 on a batch of four samples, each used four times.
fn repeated_samples(fault: Fault) -> WholeBatch {
    repeated_samples_of(&crate::workload("resnet20-cifar10").unwrap(), fault)
}

fn repeated_samples_of(workload: &Workload, fault: Fault) -> WholeBatch {
    const BATCH: u32 = 16;
    let small = Correctness { batch_size: 5, ..run_check(SMALL, &Faulty::new(Fault::None, 0)) };
    let (job, backend) = (job(workload, BATCH), Faulty::new(fault, BATCH));
    pollster::block_on(against_parts(workload, &job, &backend, &small)).unwrap().unwrap()
}

#[test]
fn a_normalized_batch_agrees_with_its_repeated_samples() {
    let whole = repeated_samples(Fault::None);
    assert_eq!((whole.batch_size, whole.part_size), (16, 4));
    assert!(whole.passed && whole.loss_difference() < 1e-5 && whole.gradient_difference < 0.01, "{whole:?}");
    assert!(!repeated_samples(Fault::GradientMissing).passed);
}

#[test]
fn a_summed_loss_grows_with_repeated_samples() {
    let mut workload = whitened();
    workload.loss.summed = true;
    let whole = repeated_samples_of(&workload, Fault::None);
    assert_eq!((whole.batch_size, whole.part_size), (16, 4));
    assert!(whole.passed && whole.gradient_difference < 0.01, "{whole:?}");
    assert!(!repeated_samples_of(&workload, Fault::GradientMissing).passed);
}
