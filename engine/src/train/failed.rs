//! A workload that cannot be trained, while the others of its run can.

#[cfg(test)]
mod tests;

use results::{Outcome, Settings, Target, WorkloadRecord};

use super::progress::Progress;
use super::settings::{communication, input, job_settings};
use super::{Edges, Event, RunRequest, record_with};
use crate::data::data_set;
use crate::error::EngineError;
use crate::measure::Peaks;
use crate::trainer::Backend;
use crate::workload::Workload;

/// The record of a workload that failed with `error`, once the device has given back what was kept for it.
///
/// # Errors
/// `error` itself, where no other workload can be trained after it: it says so, or the device no longer answers.
pub(super) async fn record_of(
    error: EngineError,
    request: &RunRequest,
    workload: &Workload,
    peaks: &mut Peaks<'_>,
    backend: &dyn Backend,
    edges: &mut Edges<'_>,
    progress: &mut Progress,
) -> Result<WorkloadRecord, EngineError> {
    let Some(cause) = error.failure_of_workload() else { return Err(error) };
    // It may not have been started; nobody reads what it says.
    let _unused = edges.meter.finish();
    peaks.close();
    // Why the device no longer answers, this error says better than the next one.
    if backend.recover().await.is_err() {
        return Err(error);
    }
    edges.observer.event(&Event::WorkloadFailed { workload: progress.workload(), message: error.to_string() });
    let definition = data_set(workload.data_set).expect("a test holds every workload to a known data set");
    let asked = job_settings(request, workload, definition.train.samples)?;
    let mut record = record_with(
        workload,
        Settings {
            batch_size: asked.batches.batch_size,
            learning_rate: asked.optimizer.learning_rate,
            precision: backend.precision(),
            training_samples: asked.batches.samples,
            test_samples: definition.test.samples,
            chance_accuracy: None,
            parameters: workload.model.parameters()?,
            training_flops_per_sample: workload.model.operations()?.training_flops(),
            device_memory_bytes: 0,
            variants: Vec::new(),
        },
    );
    record.communication = communication(backend);
    record.input = input(backend);
    record.outcome = Outcome::failed(cause, &error.for_a_record());
    record.target = Some(Target { accuracy: asked.target_accuracy, reached_seconds: None, reached_step: None });
    // The leaderboard holds the others to the time that passed.
    record.timeline = progress.timeline(edges);
    Ok(record)
}
