//! Running a suite: from a request to a record.

pub(crate) mod check;
mod event;
mod evidence;
mod examples;
mod failed;
mod fitting;
mod learning;
mod measuring;
mod meter;
mod progress;
mod proof;
mod settings;
#[cfg(test)]
pub(crate) mod tests;
mod whole_batch;
mod witness;

use async_recursion::async_recursion;
use results::{
    ColdStart, Device, Outcome, Precision, Provenance, Resources, RunRecord, SCHEMA_VERSION, Settings, Suite, Target,
    Warning, WorkloadRecord, summary,
};

use crate::clock::Clock;
use crate::data::{DataSource, data_set};
use crate::error::EngineError;
use crate::measure::{Observer, Peaks, Phase};
use crate::trainer::{Backend, Preparation, TrainingJob};
use crate::workload::{SuiteDefinition, Training, Workload, random_order};
pub use check::check_workload;
pub use event::Event;
use fitting::{Fitted, Room};
use learning::Learning;
pub use meter::{NoMeter, ResourceMeter};
use progress::Progress;
use proof::Proof;
use settings::{JobSettings, Limits, communication, input, job_settings, non_standard, validate};
pub use witness::{Commitment, PendingAnswer, Witness};

/// What to run. Everything that is `None` is the suite's or the workload's own.
pub struct RunRequest {
    pub suite: &'static SuiteDefinition,
    pub workloads: Vec<Workload>,
    pub seed: u32,
    pub batch_size: Option<u32>,
    pub learning_rate: Option<f64>,
    pub limit: Option<Limit>,
    pub target_accuracy: Option<f64>,
    /// What the leaderboard gave; a run without it cannot be ranked.
    pub registration: Option<Registration>,
    /// `wall_seconds` is filled in by the run.
    pub provenance: Provenance,
    pub requested_adapter: String,
    pub requested_backend: String,
    pub claimed_name: Option<String>,
}

/// How long to train.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Limit {
    Epochs(u32),
    /// Exactly so many steps; nothing is measured beyond them.
    Steps(u64),
    /// Until the timed training reaches this; nothing is measured beyond it.
    Seconds(f64),
}

/// Id and single-use word of a run that the leaderboard knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Registration {
    pub run_id: String,
    pub nonce: String,
}

/// What the engine cannot do itself: bring data, tell the time, show progress, watch the machine.
pub struct Edges<'a> {
    pub data: &'a mut dyn DataSource,
    pub observer: &'a mut dyn Observer<Event>,
    pub clock: &'a dyn Clock,
    pub meter: &'a mut dyn ResourceMeter,
    /// Whoever is told how far the training has come, where there is one.
    pub witness: Option<&'a mut dyn Witness>,
}

/// A run that could not go on, and what it had measured until then.
#[derive(Debug, thiserror::Error)]
#[error("{error}")]
pub struct Stopped {
    #[source]
    pub error: EngineError,
    /// The workloads that were finished before; absent when there were none.
    pub so_far: Option<Box<RunRecord>>,
}

/// Runs every workload of the request on `backend`.
///
/// A workload that diverges, disagrees with the reference, cannot be trained on this device or with these data, or is
/// cancelled says so in its record's outcome; the others still run (except after a cancellation).
///
/// # Errors
/// Settings out of range, and a device on which nothing more can be trained: it is lost, does not answer or drops work.
/// What was finished before comes with the error.
#[async_recursion(?Send)]
pub async fn run(request: &RunRequest, backend: &dyn Backend, edges: &mut Edges<'_>) -> Result<RunRecord, Stopped> {
    validate(request, backend.devices()).map_err(|error| Stopped { error, so_far: None })?;
    let start = edges.clock.now_seconds();
    let workloads = in_random_order(request);
    edges.observer.event(&Event::RunStarted {
        workloads: workloads.iter().map(|w| w.name.to_owned()).collect(),
        backend: backend.name().to_owned(),
        adapter: backend.adapter().clone(),
        seed: request.seed,
    });
    let mut warnings = Vec::new();
    if backend.adapter().software {
        warn(&mut warnings, edges, Warning::SoftwareAdapter { name: backend.adapter().name.clone() });
    }
    for warning in backend.warnings() {
        warn(&mut warnings, edges, warning);
    }
    if edges.witness.is_some() {
        for workload in &workloads {
            if let Some(reason) = proof::obstacle(workload, backend) {
                let workload = workload.name.to_owned();
                warn(&mut warnings, edges, Warning::CheckpointMissed { workload, reason: reason.to_owned() });
            }
        }
    }
    let mut records = Vec::new();
    let mut peaks = Peaks::new(backend);
    let mut stopped = None;
    for (index, workload) in workloads.iter().enumerate() {
        let mut progress = Progress::new(workload.name, index, workloads.len());
        let trained = run_workload(request, workload, &mut peaks, backend, edges, &mut progress, &mut warnings).await;
        let record = match trained {
            Err(error) => failed::record_of(error, request, workload, &mut peaks, backend, edges, &mut progress).await,
            finished => finished,
        };
        let record = match record {
            Ok(record) => record,
            Err(error) => {
                stopped = Some(error);
                break;
            }
        };
        edges.observer.event(&Event::WorkloadFinished { record: Box::new(record.clone()) });
        let cancelled = record.outcome == Outcome::Cancelled;
        records.push(record);
        if cancelled {
            break;
        }
    }
    let record = RunRecord {
        schema_version: SCHEMA_VERSION,
        run_id: request.registration.as_ref().map(|r| r.run_id.clone()),
        nonce: request.registration.as_ref().map(|r| r.nonce.clone()),
        seed: request.seed,
        suite: Suite { name: request.suite.name.to_owned(), version: request.suite.version },
        non_standard: non_standard(request, backend, &records),
        provenance: Provenance { wall_seconds: edges.clock.now_seconds() - start, ..request.provenance.clone() },
        device: Device {
            requested_adapter: request.requested_adapter.clone(),
            requested_backend: request.requested_backend.clone(),
            backend: backend.name().to_owned(),
            adapter: backend.adapter().clone(),
            claimed_name: request.claimed_name.clone(),
        },
        workloads: records,
        warnings,
    };
    match stopped {
        None => Ok(record),
        Some(error) => {
            let so_far = (!record.workloads.is_empty()).then(|| Box::new(record));
            Err(Stopped { error, so_far })
        }
    }
}

async fn run_workload(
    request: &RunRequest,
    workload: &Workload,
    peaks: &mut Peaks<'_>,
    backend: &dyn Backend,
    edges: &mut Edges<'_>,
    progress: &mut Progress,
    warnings: &mut Vec<Warning>,
) -> Result<WorkloadRecord, EngineError> {
    let fitted = fitting::fitted(request, workload, backend, edges).await;
    let workload = fitted.as_ref().map_or(workload, |fitted| &fitted.workload);
    let definition = data_set(workload.data_set).expect("a test holds every workload to a known data set");
    let job_settings = job_settings(request, workload, definition.train.samples)?;
    edges.observer.event(&Event::WorkloadStarted {
        workload: workload.name.to_owned(),
        index: progress.index(),
        count: progress.count(),
        batch_size: job_settings.batches.batch_size,
        steps_per_epoch: job_settings.batches.steps_per_epoch(),
        target_accuracy: job_settings.target_accuracy,
    });
    let Fitted { workload, smaller } = &fitted?;
    if let Some(smaller) = smaller {
        warn(warnings, edges, smaller.clone());
    }

    progress.pause(edges).await;
    progress.phase(edges, Phase::LoadingData);
    let load_start = edges.clock.now_seconds();
    let data = edges.data.load(definition).await?;
    if data.generated {
        warn(warnings, edges, Warning::GeneratedData { workload: workload.name.to_owned() });
    }
    let loaded = edges.clock.now_seconds();
    progress.pause(edges).await;
    let build_start = edges.clock.now_seconds();
    progress.phase(edges, Phase::Building);
    let mut job = workload.job(Training {
        data,
        batches: job_settings.batches,
        planned_steps: job_settings.planned_steps,
        seed: request.seed,
        dropout: true,
    });
    job.optimizer = job_settings.optimizer.clone();
    Room::of(backend, edges).holds(workload, &job)?;
    let mut trainer = backend.build(&job).await?;
    let built = edges.clock.now_seconds();

    let mut record = empty_record(workload, &job)?;
    record.communication = communication(backend);
    record.input = input(backend);
    record.settings.precision = backend.precision();
    record.settings.device_memory_bytes = trainer.device_memory_bytes();
    record.settings.variants = trainer.variants();
    let preparation = trainer.preparation();
    record.cold_start = cold_start(loaded - load_start, built - build_start, preparation);
    if let Some(steps) = preparation.unsettled_after_steps {
        warn(warnings, edges, Warning::TuningNotSettled { workload: workload.name.to_owned(), steps });
    }
    record.target = Some(Target { accuracy: job_settings.target_accuracy, reached_seconds: None, reached_step: None });

    progress.pause(edges).await;
    progress.phase(edges, Phase::Checking);
    let correctness = check::against_reference(workload, &job, backend).await?;
    let passed = correctness.passed;
    record.correctness = Some(correctness);
    if passed {
        edges.meter.start();
        let mut learning = Learning::new(&mut record, &job, trainer.as_mut(), progress);
        learning.proof =
            edges.witness.is_some().then(Proof::new).filter(|_| proof::obstacle(workload, backend).is_none());
        let learned = learn(&mut learning, workload, &job_settings, peaks, edges).await;
        let stopped_early = learning.stopped_early();
        warnings.append(&mut learning.warnings);
        learned?;
        record.timeline = progress.timeline(edges);
        record.resources = edges.meter.finish();
        if stopped_early {
            warn(warnings, edges, Warning::StoppedEarly { workload: workload.name.to_owned() });
        }
    } else {
        record.outcome = Outcome::Incorrect;
        record.timeline = progress.timeline(edges);
    }
    record.summary = summary::summarise(&record);
    add_warnings(&record, &job_settings.limits, warnings, edges);
    Ok(record)
}

/// Trains, measures, and keeps what shows that it happened.
async fn learn(
    learning: &mut Learning<'_>,
    workload: &Workload,
    settings: &JobSettings,
    peaks: &mut Peaks<'_>,
    edges: &mut Edges<'_>,
) -> Result<(), EngineError> {
    learning.train(&settings.limits, workload.evaluations_per_epoch, edges).await?;
    if settings.measure_further {
        learning.measure(peaks, edges).await?;
    } else {
        learning.measure_after_training(peaks, edges).await?;
    }
    learning.end_lap(edges).await?;
    let weights = learning.trainer.weights().await?;
    learning.record.weight_samples = evidence::choose(&weights, learning.job.seed);
    // JSON has no infinity, so weights that diverged are left out.
    learning.record.weight_samples.retain(|sample| sample.value.is_finite());
    if learning.going() {
        learning.prove(edges).await?;
    }
    Ok(())
}

/// What came before the first timed step. Nothing that the trainer tells apart is counted as building too.
fn cold_start(data_seconds: f64, seconds_until_built: f64, preparation: Preparation) -> ColdStart {
    let Preparation { compiling_seconds, tuning_seconds, .. } = preparation;
    let told_apart: f64 = [compiling_seconds, tuning_seconds].into_iter().flatten().sum();
    ColdStart {
        data_seconds: Some(data_seconds),
        build_seconds: Some((seconds_until_built - told_apart).max(0.0)),
        compiling_seconds,
        tuning_seconds,
        first_step_seconds: None,
    }
}

/// The record of a workload that has not trained yet.
fn empty_record(workload: &Workload, job: &TrainingJob) -> Result<WorkloadRecord, EngineError> {
    let settings = Settings {
        batch_size: job.batches.batch_size,
        learning_rate: job.optimizer.learning_rate,
        precision: Precision::F32,
        training_samples: job.batches.samples,
        test_samples: job.data.test.samples(),
        chance_accuracy: Some(job.data.test.chance_accuracy()),
        parameters: job.model.parameters()?,
        training_flops_per_sample: job.model.operations()?.training_flops(),
        device_memory_bytes: 0,
        variants: Vec::new(),
    };
    Ok(record_with(workload, settings))
}

/// A record with nothing in it but the settings.
fn record_with(workload: &Workload, settings: Settings) -> WorkloadRecord {
    WorkloadRecord {
        workload: workload.name.to_owned(),
        network: workload.described(),
        settings,
        outcome: Outcome::Completed,
        correctness: None,
        cold_start: ColdStart::default(),
        first_losses: Vec::new(),
        curve: Vec::new(),
        evaluations: Vec::new(),
        epochs: Vec::new(),
        windows: Vec::new(),
        peaks: Vec::new(),
        timeline: Vec::new(),
        segments: Vec::new(),
        target: None,
        weight_samples: Vec::new(),
        communication: None,
        input: None,
        resources: Resources::default(),
        summary: results::Summary::default(),
    }
}

fn in_random_order(request: &RunRequest) -> Vec<&Workload> {
    random_order(request.workloads.len(), request.seed).into_iter().map(|place| &request.workloads[place]).collect()
}

fn warn(warnings: &mut Vec<Warning>, edges: &mut Edges<'_>, warning: Warning) {
    edges.observer.event(&Event::Warned { warning: warning.clone() });
    warnings.push(warning);
}

fn add_warnings(record: &WorkloadRecord, limits: &Limits, warnings: &mut Vec<Warning>, edges: &mut Edges<'_>) {
    if record.outcome != Outcome::Completed {
        return;
    }
    let workload = || record.workload.clone();
    let summary = &record.summary;
    if limits.seconds_are_budget && record.evaluations.last().is_some_and(|e| e.step < limits.steps) {
        warn(warnings, edges, Warning::StoppedByBudget { workload: workload(), budget_seconds: limits.seconds });
    }
    if let Some((last, chance)) = record.evaluations.last().zip(record.settings.chance_accuracy)
        && !summary::has_learned(record)
    {
        warn(warnings, edges, Warning::NotLearned { workload: workload(), accuracy: last.accuracy, chance });
    }
    let few = u32::try_from(summary::MINIMUM_WINDOWS).unwrap_or(u32::MAX);
    if summary.measured_windows < few {
        warn(warnings, edges, Warning::TooFewWindows { workload: workload(), windows: summary.measured_windows });
    } else if let Some(half_width) = summary.relative_half_width().filter(|_| !summary.stable) {
        let half_width_percent = half_width * 100.0;
        warn(warnings, edges, Warning::NotStabilised { workload: workload(), half_width_percent });
    }
}
