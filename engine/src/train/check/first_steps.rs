//! What a network does before its first steps, in them, and after them.

use results::{Compared, Disagreement, Precision};

use super::super::whole_batch::{GRADIENT_FLOOR, largest_difference, writable};
use super::STEPS;
use crate::error::EngineError;
use crate::trainer::{Backend, EvaluationSet, Trainer, TrainingJob};

/// The plain loops test as many samples as take about half a second.
const MOST_FLOPS_OF_A_TEST: u64 = 500_000_000;
const MOST_SAMPLES_OF_A_TEST: u32 = 256;
/// Of a gradient in f32: `GRADIENT_TOLERANCE` of the whole batch says why. Back ends that are right are off by 3e-6.
const GRADIENT_TOLERANCE: f64 = 0.05;
/// In f16 each value is rounded to 5e-4 of itself, and many more of them fall on the other side of a ReLU's edge or of a
/// maximum: of three random images with batch normalisation, 0.2.
const GRADIENT_TOLERANCE_IN_F16: f64 = 0.3;
/// Of what steps change. Where weights move by little, they are rounded to as much (`caffe-cifar10`: 0.03), and optimisers
/// that divide by the size of a gradient make whole updates of what is little but rounding. Without any update it is 1.
const UPDATE_TOLERANCE: f64 = 0.1;
/// Likewise; back ends that are right are off by up to 0.6 (Adam, `transformer-cifar10`).
const UPDATE_TOLERANCE_IN_F16: f64 = 0.8;
/// Of the loss of a network that was not trained yet: no step has magnified any rounding.
const UNTRAINED_TOLERANCE: f64 = 1e-5;
/// A tensor whose gradient is so much smaller than the largest, as a root mean square, has none but rounding, and some
/// optimisers make whole updates of that.
const ONLY_ROUNDING: f64 = 1e-5;

/// Running averages and fixed weights that move by no more are left where they are: rounding moves them by as much.
const UNMOVED: f64 = 1e-4;
/// Of the loss of a network after its first steps. Back ends that are right are off by 4e-6.
const TRAINED_TOLERANCE: f64 = 1e-4;

/// Everything that can be read of the first steps.
pub(crate) struct FirstSteps {
    /// Of each set of samples that are not trained on.
    untrained_losses: Vec<f64>,
    pub(super) losses: Vec<f64>,
    /// Of the first step.
    gradients: Vec<Vec<f64>>,
    /// What all steps together changed of the weights.
    updates: Vec<Vec<f64>>,
    trained_losses: Vec<f64>,
}

impl FirstSteps {
    pub(crate) async fn of(backend: &dyn Backend, job: &TrainingJob) -> Result<Self, EngineError> {
        let mut trainer = backend.build(job).await?;
        let untrained_losses = test_losses(trainer.as_mut(), job).await?;
        let mut losses = trainer.train_steps(1).await?.losses;
        let gradients = double(trainer.gradients().await?);
        losses.extend(trainer.train_steps(STEPS - 1).await?.losses);
        let mut updates = double(trainer.weights().await?);
        for (update, initial) in updates.iter_mut().zip(job.initial_weights()?) {
            update.iter_mut().zip(initial).for_each(|(value, initial)| *value -= f64::from(initial));
        }
        let trained_losses = test_losses(trainer.as_mut(), job).await?;
        let losses = losses.into_iter().map(writable).collect();
        Ok(Self { untrained_losses, losses, gradients, updates, trained_losses })
    }

    /// How far these are from the reference's; `rounding` is what a narrower precision adds to the losses.
    pub(super) fn differences(&self, reference: &Self, precision: Precision, rounding: f64) -> Vec<Disagreement> {
        let loss = |found: &[f64], expected: &[f64]| {
            let each = found.iter().zip(expected).map(|(found, expected)| ((found - expected) / expected).abs());
            writable(each.fold(0.0, |largest, of| if of.is_nan() { f64::INFINITY } else { of.max(largest) }))
        };
        let (gradient_tolerance, update_tolerance) = match precision {
            Precision::F16 => (GRADIENT_TOLERANCE_IN_F16, UPDATE_TOLERANCE_IN_F16),
            Precision::F32 | Precision::F64 => (GRADIENT_TOLERANCE, UPDATE_TOLERANCE),
        };
        let gradient = largest_difference(&self.gradients, &reference.gradients, GRADIENT_FLOOR);
        let update = reference.update_difference(&self.updates, ONLY_ROUNDING.max(rounding));
        [
            (
                Compared::UntrainedTest,
                loss(&self.untrained_losses, &reference.untrained_losses),
                UNTRAINED_TOLERANCE + rounding,
            ),
            (Compared::Gradient, writable(gradient), gradient_tolerance),
            (Compared::Update, writable(update), update_tolerance),
            (
                Compared::TrainedTest,
                loss(&self.trained_losses, &reference.trained_losses),
                TRAINED_TOLERANCE + rounding,
            ),
        ]
        .map(|(compared, largest_difference, tolerance)| Disagreement { compared, largest_difference, tolerance })
        .into()
    }

    /// Largest distance of a tensor's update from that of this reference, relative to it and to what is beside it.
    ///
    /// Tensors whose gradients are little but rounding are left out: some optimisers make whole updates of that. Running
    /// averages have no gradients at all; they may move by much more than weights do, and stand for themselves.
    fn update_difference(&self, updates: &[Vec<f64>], only_rounding: f64) -> f64 {
        let sizes: Vec<f64> = self.gradients.iter().map(|gradient| root_mean_square(gradient)).collect();
        let largest = sizes.iter().copied().fold(0.0, f64::max);
        let select = |keep: &dyn Fn(f64) -> bool| {
            let of = |updates: &[Vec<f64>]| -> Vec<Vec<f64>> {
                let kept = updates.iter().zip(&sizes).filter(|(_, size)| keep(**size));
                kept.map(|(update, _)| update.clone()).collect()
            };
            (of(updates), of(&self.updates))
        };
        let (found, expected) = select(&|size| size > only_rounding * largest);
        let trained = largest_difference(&found, &expected, GRADIENT_FLOOR);
        let (found, expected) = select(&|size| size == 0.0);
        let others = found.iter().zip(&expected).map(|(found, expected)| {
            let distance: Vec<f64> = found.iter().zip(expected).map(|(found, expected)| found - expected).collect();
            root_mean_square(&distance) / root_mean_square(expected).max(UNMOVED)
        });
        if updates.len() == self.updates.len() { others.fold(trained, f64::max) } else { f64::INFINITY }
    }
}

fn root_mean_square(values: &[f64]) -> f64 {
    let squares: f64 = values.iter().map(|value| value * value).sum();
    (squares / values.len().max(1) as f64).sqrt()
}

fn double(tensors: Vec<Vec<f32>>) -> Vec<Vec<f64>> {
    tensors.into_iter().map(|tensor| tensor.into_iter().map(f64::from).collect()).collect()
}

/// The losses of as many samples of each set as the plain loops test in a short time.
async fn test_losses(trainer: &mut dyn Trainer, job: &TrainingJob) -> Result<Vec<f64>, EngineError> {
    let affordable = MOST_FLOPS_OF_A_TEST / job.model.operations()?.forward_flops.max(1);
    let affordable = u32::try_from(affordable).unwrap_or(u32::MAX).clamp(1, MOST_SAMPLES_OF_A_TEST);
    let mut losses = Vec::new();
    let held_out = job.early_stopping.map(|_| EvaluationSet::HeldOut);
    for set in [EvaluationSet::Test].into_iter().chain(held_out) {
        let samples = affordable.min(job.evaluated_samples(set));
        losses.push(trainer.evaluate(set, samples).await?.loss);
    }
    Ok(losses)
}
