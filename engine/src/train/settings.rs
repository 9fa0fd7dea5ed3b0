//! Settings of a request, checked and combined with the workload's recipe.

use results::{Communication, InputMode, InputPipeline, Length};

use super::RunRequest;
use crate::data::data_set;
use crate::error::EngineError;
use crate::trainer::Backend;
use crate::training::{BatchPlan, Optimizer};
use crate::workload::Workload;

pub(super) struct JobSettings {
    pub(super) optimizer: Optimizer,
    pub(super) batches: BatchPlan,
    /// Number of steps that the schedules span, from the request or from the published recipe.
    pub(super) planned_steps: u64,
    pub(super) target_accuracy: f64,
    pub(super) limits: Limits,
    /// True if measurement may continue after training until the throughput settles.
    pub(super) measure_further: bool,
}

pub(super) struct Limits {
    pub(super) steps: u64,
    pub(super) seconds: f64,
    /// True if `seconds` is the suite's budget, which causes a warning when reached.
    pub(super) seconds_are_budget: bool,
}

pub(super) fn job_settings(
    request: &RunRequest,
    workload: &Workload,
    file_samples: u32,
) -> Result<JobSettings, EngineError> {
    let spec = &request.spec;
    let batch_size = spec.batch_size.unwrap_or(workload.batch_size);
    let batches = workload.batches(file_samples, batch_size)?;
    let (steps, seconds) = match spec.length {
        None => (batches.steps_of_epochs(request.suite.epochs), request.suite.training_seconds),
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
        target_accuracy: spec.target_accuracy.unwrap_or(workload.target_accuracy),
        limits: Limits { steps, seconds, seconds_are_budget: spec.length.is_none() },
        measure_further: matches!(spec.length, None | Some(Length::Epochs(_))),
    })
}

pub(super) fn validate(request: &RunRequest, devices: u32) -> Result<(), EngineError> {
    let wrong = |what, allowed: &str, value: String| {
        Err(EngineError::InvalidSetting { what, allowed: allowed.to_owned(), value })
    };
    let spec = &request.spec;
    if let Some(rate) = spec.learning_rate.filter(|rate| !(rate.is_finite() && *rate > 0.0)) {
        return wrong("the learning rate", "a number above 0", rate.to_string());
    }
    if let Some(target) = spec.target_accuracy.filter(|target| !(0.0..=1.0).contains(target)) {
        return wrong("the target accuracy", "a share from 0 to 1", target.to_string());
    }
    // Checks batch sizes of all workloads before the first one is trained.
    request.workloads.iter().try_for_each(|workload| {
        let definition = data_set(workload.data_set).expect("a test holds every workload to a known data set");
        let batch_size = job_settings(request, workload, definition.train.samples)?.batches.batch_size;
        if batch_size < devices {
            let allowed = format!("at least {devices} for {}: one sample for each device", workload.name);
            return wrong("the batch size", &allowed, batch_size.to_string());
        }
        Ok(())
    })
}

pub(super) fn communication(backend: &dyn Backend) -> Option<Communication> {
    let devices = backend.devices();
    (devices > 1).then(|| Communication::among(devices))
}

/// Returns an empty input pipeline, or `None` if the data set is resident.
pub(super) fn input(backend: &dyn Backend) -> Option<InputPipeline> {
    Some(backend.facts().input).filter(|mode| *mode != InputMode::Resident).map(InputPipeline::new)
}
