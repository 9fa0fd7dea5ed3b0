//! Comparison of a backend with the plain loops of the reference before anything is timed.

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
use crate::steps;
use crate::trainer::{Backend, TrainingJob};
use crate::training::{BatchPlan, Optimizer, WeightAverage};
use crate::workload::Workload;

pub(crate) use first_steps::FirstSteps;
#[cfg(test)]
pub(crate) use first_steps::FirstStepsTrainer;

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

/// Compares the first steps of a workload on `backend` with the reference, as a run does before timing.
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
) -> Result<Correctness, EngineError> {
    let mut correctness = first_steps_against_reference(workload, job, backend).await?;
    if correctness.passed {
        correctness.whole_batch = against_parts(workload, job, backend, &correctness).await?;
        correctness.passed = correctness.should_pass();
    }
    Ok(correctness)
}

/// Compares small batches, and again with other samples and weights if rounding alone could explain a disagreement.
async fn first_steps_against_reference(
    workload: &Workload,
    job: &TrainingJob,
    backend: &dyn Backend,
) -> Result<Correctness, EngineError> {
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
        if is_final || !rounding_decides(workload, &drawn, precision, &reference).await? {
            return Ok(correctness);
        }
        redraws += 1;
    }
}

/// Returns the job without properties that hide a layer or the optimizer in the first steps: initial weights near zero
/// pass nothing on, and averages take many steps to follow. Shapes and kernels stay the same. The learning rate is
/// reduced, so that rounding does not grow.
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
        differences: Compared::OF_FIRST_STEPS
            .map(|compared| found.difference(compared, reference, precision, tolerance - workload.loss_tolerance))
            .into(),
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
pub(crate) fn tolerance(workload: &Workload, job: &TrainingJob, precision: Precision) -> Result<f64, EngineError> {
    let stages = job.model.stages(job.dropout)?.stages.len();
    let rounding = f64::from(STEPS) * ROUNDINGS_PER_STAGE * F16_ROUNDING * (stages as f64).sqrt();
    Ok(match precision {
        Precision::F16 | Precision::F16Matrix => (workload.loss_tolerance + rounding).min(MAX_TOLERANCE),
        Precision::F32 | Precision::F64 => workload.loss_tolerance,
    })
}

/// Share of the tolerance that rounding may use.
const MAX_ROUNDING_SHARE: f64 = 0.25;

/// Returns true if rounding in `precision` moves the first steps of `job` by a considerable share of the tolerance, so
/// that even a correct device may disagree. For example, if the two largest values of a max-pool window are equal in
/// single precision, the gradient may go to either.
///
/// Only the plain loops decide this, in single precision and, for f16, with rounded weights. A faulty device gains
/// nothing, because it is compared in full with the other samples.
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
    let rounded = FirstSteps::of(&rounded, job).await?;
    let found = judge(workload, job, precision, &rounded, reference)?;
    // Updates follow from gradients and include the rounding of weights.
    let others = found.differences.iter().filter(|of| of.compared != Compared::Update);
    let differences = others.map(|of| (of.largest_difference, of.tolerance));
    Ok(differences
        .chain([(found.largest_difference, found.tolerance)])
        .any(|(difference, tolerance)| difference > MAX_ROUNDING_SHARE * tolerance))
}
