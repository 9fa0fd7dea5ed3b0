//! Settings of a request, checked and combined with the workload's recipe.

use results::{Goal, Length};

use super::RunRequest;
use crate::error::{EngineError, Result};
use crate::training::{BatchPlan, Optimizer};
use crate::workload::Workload;

pub(super) struct JobSettings {
    pub(super) optimizer: Optimizer,
    pub(super) batches: BatchPlan,
    /// Number of steps that the schedules span, from the request or from the published recipe.
    pub(super) planned_steps: u64,
    pub(super) target: Goal,
    pub(super) limits: TrainingLimits,
    /// True if measurement may continue after training until the throughput settles.
    pub(super) measure_further: bool,
}

pub(super) struct TrainingLimits {
    pub(super) steps: u64,
    pub(super) seconds: f64,
    /// True if `seconds` is the suite's budget, which causes a warning when reached.
    pub(super) seconds_are_budget: bool,
}

pub(super) fn job_settings(request: &RunRequest, workload: &Workload) -> Result<JobSettings> {
    let spec = &request.spec;
    let batch_size = spec.batch_size.unwrap_or(workload.batch_size);
    let batches = workload.batches(workload.data_set_definition().train.samples, batch_size)?;
    let (steps, seconds) = match spec.length {
        None => (batches.steps_of_epochs(request.suite.epochs_of(workload)), request.suite.training_seconds),
        Some(Length::Epochs(epochs)) => (batches.steps_of_epochs(epochs.get()), f64::INFINITY),
        Some(Length::Steps(steps)) => (steps.get(), f64::INFINITY),
        Some(Length::Seconds(seconds)) => (u64::MAX, seconds.get()),
    };
    let planned_steps = match spec.length {
        Some(Length::Epochs(_) | Length::Steps(_)) => steps,
        None | Some(Length::Seconds(_)) => batches.steps_of_epochs(workload.published_epochs),
    };
    Ok(JobSettings {
        planned_steps,
        optimizer: Optimizer {
            learning_rate: spec.learning_rate.unwrap_or(workload.optimizer.learning_rate),
            ..workload.optimizer.clone()
        },
        batches,
        target: spec.target_accuracy.map_or(workload.target, Goal::Accuracy),
        limits: TrainingLimits { steps, seconds, seconds_are_budget: spec.length.is_none() },
        measure_further: matches!(spec.length, None | Some(Length::Epochs(_))),
    })
}

pub(super) fn validate(request: &RunRequest, devices: u32) -> Result<()> {
    let spec = &request.spec;
    if let Some(rate) = spec.learning_rate.filter(|rate| !(rate.is_finite() && *rate > 0.0)) {
        return Err(EngineError::invalid("the learning rate", "a number above 0", rate));
    }
    if let Some(target) = spec.target_accuracy.filter(|target| !(0.0..=1.0).contains(target)) {
        return Err(EngineError::invalid("the target accuracy", "a share from 0 to 1", target));
    }
    // Checks batch sizes of all workloads before the first one is trained.
    request.workloads.iter().try_for_each(|workload| {
        let batch_size = job_settings(request, workload)?.batches.batch_size;
        if batch_size < devices {
            let allowed = format!("at least {devices} for {}: one sample for each device", workload.name);
            return Err(EngineError::invalid("the batch size", allowed, batch_size));
        }
        Ok(())
    })
}
