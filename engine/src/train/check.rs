use results::{Correctness, Precision};

use crate::backends::reference::ReferenceBackend;
use crate::error::EngineError;
use crate::trainer::{Backend, TrainingJob};
use crate::training::BatchPlan;
use crate::workload::Workload;

/// Large enough to fill every tile of a kernel.
const LARGEST_BATCH: u32 = 16;
const SMALLEST_BATCH: u32 = 2;
/// The plain loops of the reference do this in a few seconds.
const MOST_FLOPS: u64 = 2_000_000_000;
const STEPS: u32 = 3;
/// How far a number may be from the nearest one of f16, relative to it: half a unit of the last of eleven bits.
const F16_ROUNDING: f64 = 1.0 / 2048.0;
/// Values that are rounded for a stage's product: its input, its weights, and its result.
const ROUNDINGS_OF_A_STAGE: f64 = 3.0;
/// What a leaderboard accepts as a tolerance; more would compare nothing.
const WIDEST_TOLERANCE: f64 = 0.1;

/// Trains a few steps on `backend` and on the reference and compares the losses.
///
/// The workload's own learning rate is used even when another was asked for: a rate that diverges
/// magnifies rounding, and the question here is whether the arithmetic is right.
pub(crate) async fn against_reference(
    workload: &Workload,
    job: &TrainingJob,
    backend: &dyn Backend,
) -> Result<Correctness, EngineError> {
    let job = TrainingJob {
        optimizer: workload.optimizer.clone(),
        batches: BatchPlan { batch_size: batch_size(job)?, ..job.batches },
        ..job.clone()
    };
    let losses = first_losses(backend, &job).await?;
    let reference_losses = first_losses(&ReferenceBackend::<f64>::new(), &job).await?;
    let tolerance = tolerance(workload, &job, backend.precision())?;
    let largest_difference = losses
        .iter()
        .zip(&reference_losses)
        .map(|(loss, reference)| relative_difference(*loss, *reference))
        .fold(0.0, f64::max);
    Ok(Correctness {
        batch_size: job.batches.batch_size,
        passed: largest_difference <= tolerance,
        tolerance,
        largest_difference,
        losses,
        reference_losses,
    })
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
        Precision::F16 => (workload.loss_tolerance + rounding).min(WIDEST_TOLERANCE),
        Precision::F32 | Precision::F64 => workload.loss_tolerance,
    })
}

/// As many samples as the reference can train on in a short time.
fn batch_size(job: &TrainingJob) -> Result<u32, EngineError> {
    let flops = u64::from(STEPS) * job.model.operations()?.training_flops();
    let affordable = u32::try_from(MOST_FLOPS / flops.max(1)).unwrap_or(u32::MAX);
    Ok(affordable.clamp(SMALLEST_BATCH, LARGEST_BATCH))
}

async fn first_losses(backend: &dyn Backend, job: &TrainingJob) -> Result<Vec<f64>, EngineError> {
    let report = backend.build(job).await?.train_steps(STEPS).await?;
    Ok(report.losses.into_iter().map(writable).collect())
}

/// JSON has neither infinity nor "not a number": the largest number there is stands for both, and never passes.
fn writable(loss: f64) -> f64 {
    if loss.is_finite() { loss } else { f64::MAX }
}

/// `|loss - reference| / |reference|`, again with the largest number in the place of infinity.
fn relative_difference(loss: f64, reference: f64) -> f64 {
    writable((loss - reference).abs() / reference.abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loss_that_is_not_a_number_never_passes() {
        assert!(relative_difference(writable(f64::NAN), 2.3) > 1e300);
        assert_eq!(relative_difference(2.0, 0.0), f64::MAX);
        assert_eq!(relative_difference(2.0, 2.5), 0.2);
    }
}
