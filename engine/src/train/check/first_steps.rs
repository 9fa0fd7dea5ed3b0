//! Observations before, during and after the first steps of a network.

use results::{Compared, Disagreement, Precision};

use super::super::whole_batch::{GRADIENT_FLOOR, largest_difference, mixes_samples, writable};
use super::STEPS;
use crate::error::EngineError;
use crate::model::{Layer, Model, PoolKind, TensorKind};
use crate::trainer::{Backend, EvaluationSet, Trainer, TrainingJob};
use crate::training::{Optimizer, Rule};

/// Compute budget of an evaluation with the plain loops, about half a second.
const MAX_TEST_FLOPS: u64 = 500_000_000;
const MAX_TEST_SAMPLES: u32 = 256;
/// Number of samples that are also evaluated one by one, because a mean may hide an error.
const MAX_SINGLE_SAMPLES: u32 = 4;
/// Ratio to the largest gradient (root mean square) below which a gradient is only rounding error. Some optimizers turn
/// such a gradient into a full update.
const MIN_GRADIENT_RATIO: f64 = 1e-5;
/// Smallest movement of running averages and fixed weights that counts; rounding moves them by less.
const MIN_MOVEMENT: f64 = 1e-4;
/// Smallest difference from the loss of an uninformed network that counts, as a share of that loss.
const MIN_LOSS_SHARE: f64 = 1e-3;

pub(crate) struct FirstSteps {
    untrained_losses: Vec<f64>,
    pub(super) losses: Vec<f64>,
    logits: Vec<f64>,
    /// Gradients of the first step, zero for untrained tensors.
    gradients: Vec<Vec<f64>>,
    updates: Vec<Vec<f64>>,
    trained_losses: Vec<f64>,
    loss_of_nothing: f64,
    optimizer: Optimizer,
    /// True if rounding may move a value across an edge.
    has_edges: bool,
}

impl FirstSteps {
    pub(crate) async fn of(backend: &dyn Backend, job: &TrainingJob) -> Result<Self, EngineError> {
        let mut observed = FirstStepsTrainer::untrained(backend, job).await?;
        observed.train_first_step().await?;
        observed.train_other_steps().await
    }

    /// Returns the distance from the reference, relative to the effect of computing nothing.
    pub(crate) fn difference(
        &self,
        compared: Compared,
        reference: &Self,
        precision: Precision,
        rounding: f64,
    ) -> Disagreement {
        let known = |losses: &[f64]| -> Vec<f64> {
            let known = losses.iter().map(|loss| loss - self.loss_of_nothing);
            // If the network knows nothing yet, the difference is only rounding.
            known.chain([MIN_LOSS_SHARE * self.loss_of_nothing]).collect()
        };
        let learned = |of: &Self| -> Vec<f64> {
            of.trained_losses.iter().zip(&of.untrained_losses).map(|(after, before)| after - before).collect()
        };
        let distance = |found: Vec<f64>, expected: Vec<f64>| largest_difference(&[found], &[expected], 0.0);
        let largest_difference = match compared {
            Compared::UntrainedTest => distance(known(&self.untrained_losses), known(&reference.untrained_losses)),
            Compared::Logits => distance(self.logits.clone(), reference.logits.clone()),
            Compared::Gradient => largest_difference(&self.gradients, &reference.gradients, GRADIENT_FLOOR),
            Compared::Update => reference.update_difference(&self.updates, MIN_GRADIENT_RATIO.max(rounding)),
            Compared::TrainedTest => distance(learned(self), learned(reference)),
            Compared::Losses | Compared::WholeBatchLoss | Compared::WholeBatchGradient => {
                unreachable!("{compared:?} is compared elsewhere")
            }
        };
        Disagreement {
            compared,
            largest_difference: writable(largest_difference),
            tolerance: self.tolerance(compared, precision),
        }
    }

    /// Returns the largest relative distance between a tensor's update and the reference's update.
    ///
    /// Ignores tensors with gradients that are only rounding error. Running averages have no gradients and may move
    /// much more than weights, so they are compared separately.
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
            root_mean_square(&distance) / root_mean_square(expected).max(MIN_MOVEMENT)
        });
        if updates.len() == self.updates.len() { others.fold(trained, f64::max) } else { f64::INFINITY }
    }

    /// Returns the widest tolerance for `precision`, with two exceptions. Gradients without edges use the tolerance of
    /// f32, and updates by linear rules in f16 use the tolerance of gradients.
    fn tolerance(&self, compared: Compared, precision: Precision) -> f64 {
        let plain = matches!(self.optimizer.rule, Rule::Sgd { .. } | Rule::Nesterov { .. });
        match compared {
            Compared::Gradient if !self.has_edges => compared.widest_tolerance(Precision::F32),
            Compared::Update if plain && precision.stores_f16() => Compared::Gradient.widest_tolerance(precision),
            _ => compared.widest_tolerance(precision),
        }
    }
}

/// First steps so far, and the trainer to continue them.
pub(crate) struct FirstStepsTrainer<'a> {
    trainer: Box<dyn Trainer>,
    job: &'a TrainingJob,
    pub(crate) found: FirstSteps,
}

impl<'a> FirstStepsTrainer<'a> {
    pub(crate) async fn untrained(backend: &dyn Backend, job: &'a TrainingJob) -> Result<Self, EngineError> {
        let mut trainer = backend.build(job).await?;
        let found = FirstSteps {
            untrained_losses: test_losses(trainer.as_mut(), job).await?,
            losses: Vec::new(),
            logits: Vec::new(),
            gradients: Vec::new(),
            updates: Vec::new(),
            trained_losses: Vec::new(),
            loss_of_nothing: f64::from(job.model.classes()?).ln(),
            optimizer: job.optimizer.clone(),
            has_edges: has_edges(&job.model),
        };
        Ok(Self { trainer, job, found })
    }

    pub(crate) async fn train_first_step(&mut self) -> Result<(), EngineError> {
        let Self { trainer, job, found } = self;
        found.losses = trainer.train_steps(1).await?.losses;
        found.gradients = double(trainer.gradients().await?);
        // Some backends skip the gradients of fixed weights. Their updates are compared instead.
        for (gradient, tensor) in found.gradients.iter_mut().zip(job.model.tensors()?) {
            if tensor.kind != TensorKind::Trained {
                gradient.fill(0.0);
            }
        }
        found.logits = trainer.logits(job.batches.step(0).count).await?.into_iter().flatten().collect();
        Ok(())
    }

    pub(crate) async fn train_other_steps(self) -> Result<FirstSteps, EngineError> {
        let Self { mut trainer, job, mut found } = self;
        found.losses.extend(trainer.train_steps(STEPS - 1).await?.losses);
        found.losses = found.losses.into_iter().map(writable).collect();
        found.updates = double(trainer.weights().await?);
        for (update, initial) in found.updates.iter_mut().zip(job.initial_weights()?) {
            update.iter_mut().zip(initial).for_each(|(value, initial)| *value -= f64::from(initial));
        }
        found.trained_losses = test_losses(trainer.as_mut(), job).await?;
        Ok(found)
    }
}

/// Returns true if rounding may move a value across an edge. Rounding rarely changes the position of a max-pool
/// window's maximum, but normalization magnifies the effect: in f16, gradients have errors of 0.1 to 0.27 in
/// `airbench94`, and of 0.02 in `theano-mnist`, which has no normalization.
fn has_edges(model: &Model) -> bool {
    let is_max_pool = |layer: &Layer| matches!(layer, Layer::Pool { kind: PoolKind::Max, .. });
    let normalises = mixes_samples(model);
    model.nodes.iter().any(|node| node.layer.has_edges() || (normalises && is_max_pool(&node.layer)))
}

fn root_mean_square(values: &[f64]) -> f64 {
    let squares: f64 = values.iter().map(|value| value * value).sum();
    (squares / values.len().max(1) as f64).sqrt()
}

fn double(tensors: Vec<Vec<f32>>) -> Vec<Vec<f64>> {
    tensors.into_iter().map(|tensor| tensor.into_iter().map(f64::from).collect()).collect()
}

/// Returns the losses of each set: for its first samples one by one, then for the number of samples that the plain
/// loops can evaluate together in a short time.
async fn test_losses(trainer: &mut dyn Trainer, job: &TrainingJob) -> Result<Vec<f64>, EngineError> {
    let views = job.input.test_views.len() as u64;
    let affordable = MAX_TEST_FLOPS / (views * job.model.operations()?.forward_flops).max(1);
    let affordable = u32::try_from(affordable).unwrap_or(u32::MAX).clamp(1, MAX_TEST_SAMPLES);
    let mut losses = Vec::new();
    let held_out = job.early_stopping.map(|_| EvaluationSet::HeldOut);
    for set in [EvaluationSet::Test].into_iter().chain(held_out) {
        let together = affordable.min(job.evaluated_samples(set));
        let mut sum = 0.0;
        for samples in 1..=together.min(MAX_SINGLE_SAMPLES) {
            let next = trainer.evaluate(set, samples).await?.loss * f64::from(samples);
            losses.push(next - sum);
            sum = next;
        }
        if together > MAX_SINGLE_SAMPLES {
            losses.push(trainer.evaluate(set, together).await?.loss);
        }
    }
    Ok(losses)
}
