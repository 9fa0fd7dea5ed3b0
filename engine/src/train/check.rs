//! Whether a back end computes what the plain loops of the reference do.

#[cfg(test)]
pub(crate) mod faulty;
mod first_steps;
#[cfg(test)]
pub(crate) mod tests;

use std::sync::Arc;

use async_recursion::async_recursion;
use results::{Compared, Correctness, Precision};

use super::whole_batch::against_parts;
use crate::backends::reference::ReferenceBackend;
use crate::data::DataSet;
use crate::error::EngineError;
use crate::model::Model;
use crate::steps;
use crate::trainer::{Backend, TrainingJob};
use crate::training::{BatchPlan, Optimizer, WeightAverage};
use crate::workload::Workload;

pub(crate) use first_steps::FirstSteps;
#[cfg(test)]
pub(crate) use first_steps::Observed;

const SMALLEST_BATCH: u32 = 2;
/// Of a reduced network: normalisations one behind the other make much of rounding where they see few values.
const SMALLEST_REDUCED_BATCH: u32 = 4;
/// The plain loops of the reference do this in a second or two.
const MOST_FLOPS: u64 = 3_000_000_000;
const STEPS: u32 = 3;
/// How far a number may be from the nearest one of f16, relative to it: half a unit of the last of eleven bits.
const F16_ROUNDING: f64 = 1.0 / 2048.0;
/// Values that are rounded for a stage's product: its input, its weights, and its result.
const ROUNDINGS_OF_A_STAGE: f64 = 3.0;
/// Share of a recipe's learning rate.
const CALM_RATE: f64 = 0.05;
/// What a leaderboard accepts as a tolerance; more would compare nothing.
const WIDEST_TOLERANCE: f64 = 0.1;

/// Holds the first steps of a workload on `backend` to those of the reference, as a run does before it times anything, and
/// times nothing.
///
/// # Errors
/// Whatever the device refuses.
#[async_recursion(?Send)]
pub async fn check_workload(
    workload: &Workload,
    seed: u32,
    data: Arc<DataSet>,
    backend: &dyn Backend,
) -> Result<Correctness, EngineError> {
    let job = steps::job(workload, workload.batch_size, seed, data)?;
    against_reference(workload, &job, backend).await
}

/// Trains a few steps on `backend` and on the reference and compares what they do: the losses, the gradient of each tensor
/// in the first step, what the steps change of each, and a test before and after them. That is on the batches that will be
/// timed, where the reference can do them in a short time, and otherwise on smaller ones, to which the larger are then
/// compared. A workload with a reduced network is compared by that one.
///
/// The workload's own learning rate is used even when another was asked for: a rate that diverges
/// magnifies rounding, and the question here is whether the arithmetic is right.
///
/// # Errors
/// Whatever the device refuses.
pub(crate) async fn against_reference(
    workload: &Workload,
    job: &TrainingJob,
    backend: &dyn Backend,
) -> Result<Correctness, EngineError> {
    let mut correctness = first_steps_against_reference(workload, job, backend).await?;
    if correctness.passed {
        correctness.whole_batch = against_parts(workload, job, backend, &correctness).await?;
        correctness.passed = correctness.should_pass();
    }
    Ok(correctness)
}

/// The same without the whole batch. A device that disagrees is compared once more, with other samples and weights, where the
/// disagreement says nothing of it.
async fn first_steps_against_reference(
    workload: &Workload,
    job: &TrainingJob,
    backend: &dyn Backend,
) -> Result<Correctness, EngineError> {
    let (model, smallest) = match &workload.reduced {
        Some(reduced) => (reduced.clone(), SMALLEST_REDUCED_BATCH),
        None => (job.model.clone(), SMALLEST_BATCH),
    };
    let batches = BatchPlan { batch_size: batch_size(job, &model, smallest)?, ..job.batches };
    let small = lively(TrainingJob { model, optimizer: workload.optimizer.clone(), batches, ..job.clone() });
    let precision = backend.precision();
    let mut redraws = 0;
    loop {
        let drawn = redrawn(&small, redraws);
        let found = FirstSteps::of(backend, &drawn).await?;
        let reference = FirstSteps::of(&ReferenceBackend::<f64>::new(), &drawn).await?;
        let correctness = Correctness { redraws, ..judge(workload, &drawn, precision, &found, &reference)? };
        let is_final = correctness.passed || redraws == Correctness::MOST_REDRAWS;
        if is_final || !rounding_decides(workload, &drawn, precision, &reference).await? {
            return Ok(correctness);
        }
        redraws += 1;
    }
}

/// The job with the weights, the order of the samples and the masks of another seed.
fn redrawn(job: &TrainingJob, redraws: u32) -> TrainingJob {
    let seed = job.seed.wrapping_add(redraws);
    TrainingJob { seed, batches: BatchPlan { seed, ..job.batches }, ..job.clone() }
}

/// The job with nothing in it that hides a layer, or the optimiser, at first: weights that begin near zero, or at it, let
/// nothing through, and averages follow within a few steps. Shapes and kernels are the same. Such weights may be too large
/// for the recipe's learning rate, at which rounding would grow.
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
        // One more than are made, because averages jump after the last one.
        planned_steps: u64::from(STEPS) + 1,
        ..job
    }
}

/// Whether the first steps of `job` are those of the reference.
pub(crate) fn judge(
    workload: &Workload,
    job: &TrainingJob,
    precision: Precision,
    found: &FirstSteps,
    reference: &FirstSteps,
) -> Result<Correctness, EngineError> {
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
        differences: found.differences(reference, precision, tolerance - workload.loss_tolerance),
        whole_batch: None,
    };
    correctness.passed = correctness.should_pass();
    Ok(correctness)
}

/// How far the losses may be from the reference's, relative to them.
///
/// In f16 every stage rounds what it reads and writes. The errors of its result are relative to it, and those of one
/// stage know nothing of those of another, so that they grow with the root of how many there are. They are errors of
/// the logits, and a loss changes by no more than its logits do. Each step adds as much again: optimisers that divide by
/// the size of a gradient make whole updates of what is little but rounding.
pub(crate) fn tolerance(workload: &Workload, job: &TrainingJob, precision: Precision) -> Result<f64, EngineError> {
    let stages = job.model.stages(job.dropout)?.stages.len();
    let rounding = f64::from(STEPS) * ROUNDINGS_OF_A_STAGE * F16_ROUNDING * (stages as f64).sqrt();
    Ok(match precision {
        Precision::F16 | Precision::F16Matrix => (workload.loss_tolerance + rounding).min(WIDEST_TOLERANCE),
        Precision::F32 | Precision::F64 => workload.loss_tolerance,
    })
}

/// The job's own batch size, or as many samples as the reference can train `model` on in a short time, and no fewer than the
/// `smallest`.
fn batch_size(job: &TrainingJob, model: &Model, smallest: u32) -> Result<u32, EngineError> {
    let flops = u64::from(STEPS) * model.operations()?.training_flops();
    let affordable = u32::try_from(MOST_FLOPS / flops.max(1)).unwrap_or(u32::MAX);
    Ok(affordable.max(smallest).min(job.batches.batch_size))
}

/// Share of what is allowed that rounding may use up.
const CONSIDERABLE: f64 = 0.25;

/// Whether rounding in `precision` moves what the first steps of `job` compute by a considerable share of what a check
/// allows. Then a device that is right may be off by as much, and the check has to be made with other samples. Such is a
/// window of a max-pool whose largest two values are closer to each other than single precision can tell: the gradient goes to
/// one or to the other.
///
/// The plain loops answer it alone, in single precision and, for f16, from weights that are rounded to it. A device has no part
/// in the answer, so that a wrong one gains nothing: it is compared in full with the other samples.
///
/// # Errors
/// Those of a model that cannot be put together.
async fn rounding_decides(
    workload: &Workload,
    job: &TrainingJob,
    precision: Precision,
    reference: &FirstSteps,
) -> Result<bool, EngineError> {
    let rounded = match precision {
        Precision::F64 => return Ok(false),
        Precision::F32 => ReferenceBackend::<f32>::new(),
        Precision::F16 | Precision::F16Matrix => ReferenceBackend::<f32>::from_weights_in_f16(),
    };
    let found = FirstSteps::of(&rounded, job).await?;
    Ok(is_considerable(&judge(workload, job, precision, &found, reference)?))
}

/// Updates follow from the gradients, and contain the rounding of weights.
fn is_considerable(found: &Correctness) -> bool {
    let others = found.differences.iter().filter(|of| of.compared != Compared::Update);
    let differences = others.map(|of| (of.largest_difference, of.tolerance));
    differences
        .chain([(found.largest_difference, found.tolerance)])
        .any(|(difference, tolerance)| difference > CONSIDERABLE * tolerance)
}
