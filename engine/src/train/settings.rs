//! Settings of a request, checked and combined with the workload's recipe.

use results::{Communication, InputMode, InputPipeline, Precision, WorkloadRecord};
use sha2::{Digest, Sha256};

use super::{Limit, RunRequest};
use crate::data::data_set;
use crate::error::EngineError;
use crate::trainer::Backend;
use crate::training::{BatchPlan, Optimizer};
use crate::workload::Workload;

pub(super) struct JobSettings {
    pub(super) optimizer: Optimizer,
    pub(super) batches: BatchPlan,
    /// Steps over which schedules are spread: the requested ones, or the published recipe's.
    pub(super) planned_steps: u64,
    pub(super) target_accuracy: f64,
    pub(super) limits: Limits,
    /// True if windows may follow the training until the throughput has settled.
    pub(super) measure_further: bool,
}

pub(super) struct Limits {
    pub(super) steps: u64,
    pub(super) seconds: f64,
    /// True for the suite's budget, which causes a warning when reached.
    pub(super) seconds_are_budget: bool,
}

pub(super) fn job_settings(
    request: &RunRequest,
    workload: &Workload,
    file_samples: u32,
) -> Result<JobSettings, EngineError> {
    let batch_size = request.batch_size.unwrap_or(workload.batch_size);
    let batches = workload.batches(file_samples, batch_size, request.seed)?;
    let limits = match request.limit {
        None => Limits {
            steps: batches.steps_of_epochs(request.suite.epochs),
            seconds: request.suite.training_seconds,
            seconds_are_budget: true,
        },
        Some(Limit::Epochs(epochs)) => {
            Limits { steps: batches.steps_of_epochs(epochs), seconds: f64::INFINITY, seconds_are_budget: false }
        }
        Some(Limit::Steps(steps)) => Limits { steps, seconds: f64::INFINITY, seconds_are_budget: false },
        Some(Limit::Seconds(seconds)) => Limits { steps: u64::MAX, seconds, seconds_are_budget: false },
    };
    let planned_steps = match request.limit {
        Some(Limit::Epochs(epochs)) => batches.steps_of_epochs(epochs),
        Some(Limit::Steps(steps)) => steps,
        None | Some(Limit::Seconds(_)) => batches.steps_of_epochs(workload.published_epochs),
    };
    Ok(JobSettings {
        planned_steps,
        optimizer: Optimizer {
            learning_rate: request.learning_rate.unwrap_or(workload.optimizer.learning_rate),
            ..workload.optimizer.clone()
        },
        batches,
        target_accuracy: request.target_accuracy.unwrap_or(workload.target_accuracy),
        limits,
        measure_further: matches!(request.limit, None | Some(Limit::Epochs(_))),
    })
}

pub(super) fn validate(request: &RunRequest, devices: u32) -> Result<(), EngineError> {
    let wrong = |what, allowed: &str, value: String| {
        Err(EngineError::InvalidSetting { what, allowed: allowed.to_owned(), value })
    };
    if let Some(rate) = request.learning_rate.filter(|rate| !(rate.is_finite() && *rate > 0.0)) {
        return wrong("the learning rate", "a number above 0", rate.to_string());
    }
    if let Some(target) = request.target_accuracy.filter(|target| !(0.0..=1.0).contains(target)) {
        return wrong("the target accuracy", "a share from 0 to 1", target.to_string());
    }
    match request.limit {
        Some(Limit::Epochs(0)) => wrong("the number of epochs", "at least 1", "0".to_owned()),
        Some(Limit::Steps(0)) => wrong("the number of steps", "at least 1", "0".to_owned()),
        Some(Limit::Seconds(seconds)) if !(seconds.is_finite() && seconds > 0.0) => {
            wrong("the training time", "a number of seconds above 0", seconds.to_string())
        }
        // Checks batch sizes of all workloads before the first one is trained.
        _ => request.workloads.iter().try_for_each(|workload| {
            let definition = data_set(workload.data_set).expect("a test holds every workload to a known data set");
            let batch_size = job_settings(request, workload, definition.train.samples)?.batches.batch_size;
            if batch_size < devices {
                let allowed = format!("at least {devices} for {}: one sample for each device", workload.name);
                return wrong("the batch size", &allowed, batch_size.to_string());
            }
            Ok(())
        }),
    }
}

/// Distinguishes networks of the same name in records.
fn digest(network: &serde_json::Value) -> String {
    Sha256::digest(network.to_string()).iter().take(4).map(|byte| format!("{byte:02x}")).collect()
}

pub(super) fn communication(backend: &dyn Backend) -> Option<Communication> {
    let devices = backend.devices();
    (devices > 1).then(|| Communication::among(devices))
}

/// Returns an empty input pipeline, unless the data set is resident.
pub(super) fn input(backend: &dyn Backend) -> Option<InputPipeline> {
    Some(backend.input()).filter(|mode| *mode != InputMode::Resident).map(InputPipeline::new)
}

/// Lists every departure from the suite.
pub(super) fn non_standard(request: &RunRequest, backend: &dyn Backend, trained: &[WorkloadRecord]) -> Vec<String> {
    let mut reasons = Vec::new();
    let of_suite = |name: &str| request.suite.workloads.contains(&name);
    let in_suite = trained.iter().filter(|record| of_suite(&record.workload)).count();
    if in_suite < request.suite.workloads.len() {
        reasons.push(format!("{in_suite} of the suite's {} networks", request.suite.workloads.len()));
    }
    if in_suite < trained.len() {
        reasons.push("networks that are not of the suite".to_owned());
    }
    let of_a_file = trained.iter().filter_map(|record| Some((&record.workload, record.network.as_ref()?)));
    reasons.extend(of_a_file.map(|(name, network)| format!("{name} is a network of a file ({})", digest(network))));
    if let Some(batch_size) = request.batch_size {
        reasons.push(format!("batch size {batch_size}"));
    }
    for workload in request.workloads.iter().filter(|_| request.batch_size.is_none()) {
        let record = trained.iter().find(|record| record.workload == workload.name);
        if let Some(used) = record.map(|record| record.settings.batch_size).filter(|&used| used != workload.batch_size)
        {
            reasons.push(format!("{} in batches of {used} instead of {}", workload.name, workload.batch_size));
        }
    }
    if let Some(rate) = request.learning_rate {
        reasons.push(format!("learning rate {rate:?}"));
    }
    match request.limit {
        Some(Limit::Epochs(epochs)) => reasons.push(format!("{epochs} epochs")),
        Some(Limit::Steps(steps)) => reasons.push(format!("{steps} steps")),
        Some(Limit::Seconds(seconds)) => reasons.push(format!("{seconds} s of training")),
        None => {}
    }
    if let Some(target) = request.target_accuracy {
        reasons.push(format!("target accuracy {target}"));
    }
    // Both have separate rankings.
    if !matches!(backend.precision(), Precision::F32 | Precision::F16) {
        reasons.push(format!("computed in {}", backend.precision().name()));
    }
    if backend.name() == crate::backends::REFERENCE {
        reasons.push("the reference back end judges and does not compete".to_owned());
    }
    reasons.extend(backend.non_standard());
    reasons
}
