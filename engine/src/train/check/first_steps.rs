//! What a network does before its first steps, in them, and after them.

use results::{Compared, Disagreement, Precision};

use super::super::whole_batch::{largest_difference, writable};
use super::STEPS;
use crate::error::EngineError;
use crate::trainer::{Backend, EvaluationSet, Trainer, TrainingJob};

/// The plain loops test as many samples as take about half a second.
const MOST_FLOPS_OF_A_TEST: u64 = 500_000_000;
const MOST_SAMPLES_OF_A_TEST: u32 = 256;
/// Of a gradient in f32: `GRADIENT_TOLERANCE` of the whole batch says why. Back ends that are right are off by 3e-6.
const GRADIENT_TOLERANCE: f64 = 0.05;
/// In f16 each value is rounded to 5e-4 of itself, and many more of them fall on the other side of a ReLU's edge or of a
/// maximum: of small batches up to 0.14.
const GRADIENT_TOLERANCE_IN_F16: f64 = 0.2;
/// Of what steps change. Where weights move by little, they are rounded to as much (`caffe-cifar10`: 0.03), and optimisers
/// that divide by the size of a gradient make whole updates of what is little but rounding. Without any update it is 1.
const UPDATE_TOLERANCE: f64 = 0.1;
/// Likewise; back ends that are right are off by up to 0.26.
const UPDATE_TOLERANCE_IN_F16: f64 = 0.5;
/// Of the loss of a network that was not trained yet: no step has magnified any rounding.
const UNTRAINED_TOLERANCE: f64 = 1e-5;
/// A tensor whose gradient is so much smaller than the largest, as a root mean square, has none but rounding, and some
/// optimisers make whole updates of that.
const ONLY_ROUNDING: f64 = 1e-5;

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
    pub(super) fn differences(
        &self,
        reference: &Self,
        precision: Precision,
        loss_tolerance: f64,
        rounding: f64,
    ) -> Vec<Disagreement> {
        let loss = |found: &[f64], expected: &[f64]| {
            let each = found.iter().zip(expected).map(|(found, expected)| ((found - expected) / expected).abs());
            writable(each.fold(0.0, |largest, of| if of.is_nan() { f64::INFINITY } else { of.max(largest) }))
        };
        let tensors = |found: &[Vec<f64>], expected: &[Vec<f64>]| writable(largest_difference(found, expected));
        let (gradient_tolerance, update_tolerance) = match precision {
            Precision::F16 => (GRADIENT_TOLERANCE_IN_F16, UPDATE_TOLERANCE_IN_F16),
            Precision::F32 | Precision::F64 => (GRADIENT_TOLERANCE, UPDATE_TOLERANCE),
        };
        let (updates, expected_updates) = reference.with_gradients(&self.updates, ONLY_ROUNDING.max(rounding));
        [
            (
                Compared::UntrainedTest,
                loss(&self.untrained_losses, &reference.untrained_losses),
                UNTRAINED_TOLERANCE + rounding,
            ),
            (Compared::Gradient, tensors(&self.gradients, &reference.gradients), gradient_tolerance),
            (Compared::Update, tensors(&updates, &expected_updates), update_tolerance),
            (Compared::TrainedTest, loss(&self.trained_losses, &reference.trained_losses), loss_tolerance),
        ]
        .map(|(compared, largest_difference, tolerance)| Disagreement { compared, largest_difference, tolerance })
        .into()
    }

    /// Of `updates`, and of those of this reference, the tensors whose gradients here are more than rounding, as a share of
    /// the largest, or nothing at all, as those of running averages; the others are empty in both. A tensor that is missing
    /// or of another size stays what it is.
    fn with_gradients(&self, updates: &[Vec<f64>], only_rounding: f64) -> (Vec<Vec<f64>>, Vec<Vec<f64>>) {
        let size = |gradient: &Vec<f64>| {
            let squares: f64 = gradient.iter().map(|value| value * value).sum();
            (squares / gradient.len().max(1) as f64).sqrt()
        };
        let largest = self.gradients.iter().map(size).fold(0.0, f64::max);
        let kept: Vec<bool> =
            self.gradients.iter().map(|of| size(of) > only_rounding * largest || size(of) == 0.0).collect();
        let filtered = |updates: &[Vec<f64>]| {
            let tensor = |(place, update): (usize, &Vec<f64>)| {
                if kept.get(place).copied().unwrap_or(true) { update.clone() } else { Vec::new() }
            };
            updates.iter().enumerate().map(tensor).collect()
        };
        (filtered(updates), filtered(&self.updates))
    }
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
