//! Comparison of a backend with the plain loops of the reference before anything is timed.

#[cfg(test)]
pub(crate) mod faulty;
#[cfg(test)]
pub(crate) mod tests;

use std::sync::Arc;

use async_recursion::async_recursion;
use results::{Compared, Correctness, Disagreement, Precision};

use super::whole_batch::{GRADIENT_FLOOR, against_parts, largest_difference, mixes_samples, writable};
use crate::backends::reference::ReferenceBackend;
use crate::data::DataSet;
use crate::error::Result;
use crate::model::{Activation, Layer, Model, PoolKind, TensorKind};
use crate::trainer::{Backend, EvaluationSet, Trainer, TrainingJob};
use crate::training::{BatchPlan, Optimizer, Rule, WeightAverage};
use crate::workload::Workload;

const MIN_BATCH: u32 = 2;
/// Minimum batch size of a reduced network, because consecutive normalizations over few values magnify rounding.
const MIN_REDUCED_BATCH: u32 = 4;
/// Compute budget of the reference's plain loops, about a second or two.
const MAX_FLOPS: u64 = 3_000_000_000;
const STEPS: u32 = 3;
/// Largest relative rounding error of f16: half a unit in the last of its eleven significant bits.
const F16_ROUNDING: f64 = 1.0 / 2048.0;
/// Number of rounded values in a stage's product: input, weights and result.
const ROUNDINGS_PER_STAGE: f64 = 3.0;
const CALM_RATE: f64 = 0.05;
/// Largest tolerance that a leaderboard accepts. A larger one would make the comparison meaningless.
const MAX_TOLERANCE: f64 = 0.1;
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

/// Compares the first steps of a workload on `backend` with the reference, as a run does before timing.
#[async_recursion(?Send)]
pub async fn check_workload(
    workload: &Workload,
    seed: u32,
    data: Arc<DataSet>,
    backend: &dyn Backend,
) -> Result<Correctness> {
    let batches = workload.batches(data.train.samples(), workload.batch_size)?;
    against_reference(workload, &workload.job(data, batches, seed), backend).await
}

/// Trains a few steps on `backend` and on the reference, and compares losses, gradients of the first step, updates, and
/// evaluations before and after. Uses the timed batch size if the reference can train it in a short time. Otherwise it
/// compares a smaller batch with the reference, and then the timed batch with smaller ones. If the workload has a
/// reduced network, the reference trains the reduced one.
///
/// Uses the workload's learning rate even if another was requested, because a rate that diverges magnifies rounding.
pub(crate) async fn against_reference(
    workload: &Workload,
    job: &TrainingJob,
    backend: &dyn Backend,
) -> Result<Correctness> {
    let mut correctness = check_first_steps(workload, job, backend).await?;
    if correctness.passed {
        correctness.whole_batch = against_parts(workload, job, backend, &correctness).await?;
        correctness.passed = correctness.should_pass();
    }
    Ok(correctness)
}

/// Compares small batches, and again with other samples and weights if rounding alone could explain a disagreement.
async fn check_first_steps(workload: &Workload, job: &TrainingJob, backend: &dyn Backend) -> Result<Correctness> {
    let (model, smallest) = match &workload.reduced {
        Some(reduced) => (reduced.clone(), MIN_REDUCED_BATCH),
        None => (job.model.clone(), MIN_BATCH),
    };
    let flops = u64::from(STEPS) * model.operations()?.training_flops();
    let affordable = u32::try_from(MAX_FLOPS / flops.max(1)).unwrap_or(u32::MAX);
    let batch_size = affordable.max(smallest).min(job.batches.batch_size);
    let batches = BatchPlan { batch_size, ..job.batches };
    let small = lively(TrainingJob { model, optimizer: workload.optimizer.clone(), batches, ..job.clone() });
    let precision = backend.precision();
    let mut redraws = 0;
    loop {
        let drawn = TrainingJob { seed: small.seed.wrapping_add(redraws), ..small.clone() };
        let found = FirstSteps::of(backend, &drawn).await?;
        let reference = FirstSteps::of(&ReferenceBackend::<f64>::new(), &drawn).await?;
        let correctness = Correctness { redraws, ..judge(workload, &drawn, precision, &found, &reference)? };
        let is_final = correctness.passed || redraws == Correctness::MAX_REDRAWS;
        if is_final || !reference.rounding_decides(workload, &drawn, precision).await? {
            return Ok(correctness);
        }
        redraws += 1;
    }
}

/// Returns the job without properties that hide a layer or the optimizer in the first steps: initial weights near zero
/// pass nothing on, and averages follow slowly. Shapes and kernels stay. A lower learning rate keeps rounding small.
pub(crate) fn lively(job: TrainingJob) -> TrainingJob {
    let average = job.average.map(|average| match average {
        WeightAverage::Lookahead { .. } => WeightAverage::Lookahead { every: 1, decay: 1.0 },
        exponential @ WeightAverage::Exponential { .. } => exponential,
    });
    let learning_rate = CALM_RATE * job.optimizer.learning_rate;
    TrainingJob {
        model: job.model.clone().with_lively_weights(),
        optimizer: Optimizer { learning_rate, ..job.optimizer.clone() },
        average,
        // One more step than is trained, because averages jump after the last one.
        planned_steps: u64::from(STEPS) + 1,
        ..job
    }
}

/// Compares first steps with the reference.
pub(crate) fn judge(
    workload: &Workload,
    job: &TrainingJob,
    precision: Precision,
    found: &FirstSteps,
    reference: &FirstSteps,
) -> Result<Correctness> {
    let tolerance = tolerance(workload, job, precision)?;
    let (losses, reference_losses) = (found.losses.clone(), reference.losses.clone());
    let mut correctness = Correctness {
        batch_size: job.batches.batch_size,
        redraws: 0,
        passed: false,
        tolerance,
        largest_difference: Correctness::largest_difference_of(&losses, &reference_losses),
        losses,
        reference_losses,
        differences: Compared::OF_FIRST_STEPS
            .into_iter()
            .map(|compared| found.difference(compared, reference, job, precision, tolerance - workload.loss_tolerance))
            .collect::<Result<_, _>>()?,
        whole_batch: None,
    };
    correctness.passed = correctness.should_pass();
    Ok(correctness)
}

/// Returns the tolerance for the relative difference of losses.
///
/// In f16, every stage rounds its inputs and outputs. Errors of stages are independent, so they grow with the square
/// root of the number of stages. They are errors of the logits, and a loss changes by no more than its logits. Each
/// step adds the same amount again, because optimizers that divide by the size of a gradient magnify rounding.
pub(crate) fn tolerance(workload: &Workload, job: &TrainingJob, precision: Precision) -> Result<f64> {
    let stages = job.model.stages(job.dropout)?.stages.len();
    let rounding = f64::from(STEPS) * ROUNDINGS_PER_STAGE * F16_ROUNDING * (stages as f64).sqrt();
    Ok(match precision {
        Precision::F16 | Precision::F16Matrix => (workload.loss_tolerance + rounding).min(MAX_TOLERANCE),
        Precision::F32 | Precision::F64 => workload.loss_tolerance,
    })
}

const MAX_ROUNDING_SHARE: f64 = 0.25;

/// Observations before, during and after the first steps of a network.
#[derive(Default)]
pub(crate) struct FirstSteps {
    untrained_losses: Vec<f64>,
    losses: Vec<f64>,
    logits: Vec<f64>,
    /// Gradients of the first step, zero for untrained tensors.
    gradients: Vec<Vec<f64>>,
    updates: Vec<Vec<f64>>,
    trained_losses: Vec<f64>,
}

impl FirstSteps {
    pub(crate) async fn of(backend: &dyn Backend, job: &TrainingJob) -> Result<Self> {
        let mut trainer = backend.build(job).await?;
        let mut found = Self::untrained(trainer.as_mut(), job).await?;
        found.train_first_step(trainer.as_mut(), job).await?;
        found.train_other_steps(trainer.as_mut(), job).await?;
        Ok(found)
    }

    /// Returns true if rounding in `precision` moves these first steps of `job` by a considerable share of the tolerance,
    /// so that even a correct device may disagree. For example, if the two largest values of a max-pool window are equal
    /// in single precision, the gradient may go to either.
    ///
    /// Only the plain loops decide this, in single precision and, for f16, with rounded weights. A faulty device gains
    /// nothing, because it is compared in full with the other samples.
    async fn rounding_decides(&self, workload: &Workload, job: &TrainingJob, precision: Precision) -> Result<bool> {
        let rounded = match precision {
            Precision::F64 => return Ok(false),
            Precision::F32 => ReferenceBackend::<f32>::new(),
            Precision::F16 | Precision::F16Matrix => ReferenceBackend::<f32>::from_weights_in_f16(),
        };
        let found = judge(workload, job, precision, &Self::of(&rounded, job).await?, self)?;
        // Updates follow from gradients and include the rounding of weights.
        let others = found.differences.iter().filter(|of| of.compared != Compared::Update);
        let differences = others.map(|of| (of.largest_difference, of.tolerance));
        let mut differences = differences.chain([(found.largest_difference, found.tolerance)]);
        Ok(differences.any(|(difference, tolerance)| difference > MAX_ROUNDING_SHARE * tolerance))
    }

    pub(crate) async fn untrained(trainer: &mut dyn Trainer, job: &TrainingJob) -> Result<Self> {
        Ok(Self { untrained_losses: test_losses(trainer, job).await?, ..Self::default() })
    }

    pub(crate) async fn train_first_step(&mut self, trainer: &mut dyn Trainer, job: &TrainingJob) -> Result<()> {
        self.losses = trainer.train_steps(1).await?.losses;
        self.gradients = double(trainer.gradients().await?);
        // Some backends skip the gradients of fixed weights. Their updates are compared instead.
        for (gradient, tensor) in self.gradients.iter_mut().zip(job.model.tensors()?) {
            if tensor.kind != TensorKind::Trained {
                gradient.fill(0.0);
            }
        }
        let answers = job.batches.step(0).count * job.model.positions()?;
        self.logits = trainer.logits(answers).await?.into_iter().flatten().collect();
        Ok(())
    }

    pub(crate) async fn train_other_steps(&mut self, trainer: &mut dyn Trainer, job: &TrainingJob) -> Result<()> {
        self.losses.extend(trainer.train_steps(STEPS - 1).await?.losses);
        self.losses.iter_mut().for_each(|loss| *loss = writable(*loss));
        self.updates = double(trainer.weights().await?);
        for (update, initial) in self.updates.iter_mut().zip(job.initial_weights()?) {
            update.iter_mut().zip(initial).for_each(|(value, initial)| *value -= f64::from(initial));
        }
        self.trained_losses = test_losses(trainer, job).await?;
        Ok(())
    }

    /// Returns the distance from the reference, relative to the effect of computing nothing.
    pub(crate) fn difference(
        &self,
        compared: Compared,
        reference: &Self,
        job: &TrainingJob,
        precision: Precision,
        rounding: f64,
    ) -> Result<Disagreement> {
        let loss_of_nothing = f64::from(job.model.classes()?).ln();
        let known = |losses: &[f64]| -> Vec<f64> {
            let known = losses.iter().map(|loss| loss - loss_of_nothing);
            // If the network knows nothing yet, the difference is only rounding.
            known.chain([MIN_LOSS_SHARE * loss_of_nothing]).collect()
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
        let largest_difference = writable(largest_difference);
        Ok(Disagreement { compared, largest_difference, tolerance: first_tolerance(compared, job, precision) })
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
}

/// Returns the widest tolerance for `precision`, with two exceptions. Gradients without edges use the tolerance of f32,
/// and updates by linear rules in f16 use the tolerance of gradients.
fn first_tolerance(compared: Compared, job: &TrainingJob, precision: Precision) -> f64 {
    let plain = matches!(job.optimizer.rule, Rule::Sgd { .. } | Rule::Nesterov { .. });
    match compared {
        Compared::Gradient if !has_edges(&job.model) => compared.widest_tolerance(Precision::F32),
        Compared::Update if plain && precision.stores_f16() => Compared::Gradient.widest_tolerance(precision),
        _ => compared.widest_tolerance(precision),
    }
}

/// Returns true if rounding may move a value across an edge, where the gradient is discontinuous. Rounding rarely
/// changes the position of a max-pool window's maximum, but normalization magnifies the effect: in f16, gradients have
/// errors of 0.1 to 0.27 in `airbench94`, and of 0.02 in `theano-mnist`, which has no normalization.
fn has_edges(model: &Model) -> bool {
    let normalises = mixes_samples(model);
    model.nodes.iter().any(|node| match node.layer {
        Layer::Pool { kind: PoolKind::Max, .. } if normalises => true,
        ref layer => layer.activation() == Activation::Relu,
    })
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
async fn test_losses(trainer: &mut dyn Trainer, job: &TrainingJob) -> Result<Vec<f64>> {
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
