//! Runs of a suite, from request to record.

pub(crate) mod check;
mod departures;
mod fitting;
mod learning;
mod progress;
mod proof;
mod settings;
#[cfg(test)]
pub(crate) mod tests;
mod whole_batch;

use async_recursion::async_recursion;
use results::{
    Adapter, ColdStart, Communication, Device, Evaluation, Goal, InputMode, InputPipeline, Outcome, Provenance,
    Resources, RunRecord, RunSpec, SCHEMA_VERSION, Settings, Suite, Target, Warning, WeightSample, WorkloadRecord,
    summary,
};
use serde::{Deserialize, Serialize};

use crate::backends::reference::Classifier;
use crate::clock::Clock;
use crate::data::DataSource;
use crate::error::{EngineError, Result};
use crate::measure::{Observer, PeakMeter, Phase};
use crate::random::{Generator, stream};
use crate::trainer::{Backend, TrainerFacts, TrainingJob};
use crate::workload::{SuiteDefinition, Workload};

pub use check::check_workload;
pub use departures::departures;
use fitting::{check_fits, free_bytes};
use learning::Learning;
use progress::Progress;
use proof::Proof;
pub use proof::{PendingAnswer, Witness};
use settings::{JobSettings, TrainingLimits, job_settings, validate};

/// Request for a run, with the suite and workloads that `spec` names.
pub struct RunRequest {
    pub spec: RunSpec,
    pub suite: &'static SuiteDefinition,
    pub workloads: Vec<Workload>,
    /// Leaderboard registration, required for ranking.
    pub registration: Option<Registration>,
    /// `wall_seconds` is set by the run.
    pub provenance: Provenance,
    pub claimed_name: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Registration {
    pub run_id: String,
    pub nonce: String,
}

/// Interfaces to everything outside the engine: data, events, time, and the machine's resources.
pub struct Edges<'a> {
    pub data: &'a mut dyn DataSource,
    pub observer: &'a mut dyn Observer<Event>,
    pub clock: &'a dyn Clock,
    pub meter: &'a mut dyn ResourceMeter,
    pub witness: Option<&'a mut dyn Witness>,
}

/// Error that ended a run early.
#[derive(Debug, thiserror::Error)]
#[error("{error}")]
pub struct Stopped {
    #[source]
    pub error: EngineError,
    pub so_far: Option<Box<RunRecord>>,
}

/// Runs every workload of the request on `backend`.
///
/// If a workload diverges, disagrees with the reference, cannot be trained on this device or with these data, or is
/// canceled, its record has that outcome. The other workloads still run, except after a cancellation.
///
/// Fails if a setting is out of range, or if the device is lost, stops responding or drops work. The error carries the
/// record of the finished workloads, if any.
#[async_recursion(?Send)]
pub async fn run(request: &RunRequest, backend: &dyn Backend, edges: &mut Edges<'_>) -> Result<RunRecord, Stopped> {
    validate(request, backend.devices()).map_err(|error| Stopped { error, so_far: None })?;
    let start = edges.clock.now_seconds();
    let workloads = shuffle_workloads(request);
    edges.observer.event(&Event::RunStarted {
        workloads: workloads.iter().map(|w| w.name.to_owned()).collect(),
        backend: backend.name().to_owned(),
        adapter: backend.adapter().clone(),
        seed: request.spec.seed,
    });
    let mut run = Run { request, backend, peaks: PeakMeter::new(backend), edges, warnings: Vec::new() };
    if backend.adapter().software {
        run.warn(Warning::SoftwareAdapter { name: backend.adapter().name.clone() });
    }
    backend.facts().warnings.iter().for_each(|warning| run.warn(warning.clone()));
    if run.edges.witness.is_some() {
        for workload in &workloads {
            if let Some(reason) = proof::obstacle(workload, backend) {
                let workload = workload.name.to_owned();
                run.warn(Warning::CheckpointMissed { workload, reason });
            }
        }
    }
    let mut records = Vec::new();
    let mut stopped = None;
    for (index, workload) in workloads.iter().enumerate() {
        let mut progress = Progress::new(workload.name, index, workloads.len());
        let record = match run.train(workload, &mut progress).await {
            Err(error) => run.record_failure(error, workload, &mut progress).await,
            finished => finished,
        };
        let Ok(record) = record.map_err(|error| stopped = Some(error)) else { break };
        run.edges.observer.event(&Event::WorkloadFinished { record: Box::new(record.clone()) });
        let cancelled = record.outcome == Outcome::Cancelled;
        records.push(record);
        if cancelled {
            break;
        }
    }
    let Run { warnings, edges, .. } = run;
    let registration = request.registration.clone();
    let (run_id, nonce) = registration.map(|Registration { run_id, nonce }| (run_id, nonce)).unzip();
    let mut record = RunRecord {
        schema_version: SCHEMA_VERSION,
        run_id,
        nonce,
        requested: request.spec.clone(),
        suite: Suite { name: request.suite.name.to_owned(), version: request.suite.version },
        departures: Vec::new(),
        provenance: Provenance { wall_seconds: edges.clock.now_seconds() - start, ..request.provenance.clone() },
        device: Device {
            backend: backend.name().to_owned(),
            adapter: backend.adapter().clone(),
            claimed_name: request.claimed_name.clone(),
        },
        workloads: records,
        warnings,
    };
    record.departures = departures(&record, request.suite);
    let Some(error) = stopped else { return Ok(record) };
    let so_far = (!record.workloads.is_empty()).then(|| Box::new(record));
    Err(Stopped { error, so_far })
}

struct Run<'a, 'e> {
    request: &'a RunRequest,
    backend: &'a dyn Backend,
    peaks: PeakMeter<'a>,
    edges: &'a mut Edges<'e>,
    warnings: Vec<Warning>,
}

impl Run<'_, '_> {
    async fn train(&mut self, workload: &Workload, progress: &mut Progress) -> Result<WorkloadRecord> {
        let (request, backend) = (self.request, self.backend);
        let fitted = fitting::fitted(request, workload, backend, self.edges).await;
        let workload = fitted.as_ref().map_or(workload, |(workload, _)| workload);
        let settings = job_settings(request, workload)?;
        self.edges.observer.event(&Event::WorkloadStarted {
            workload: workload.name.to_owned(),
            index: progress.index,
            count: progress.count,
            batch_size: settings.batches.batch_size,
            steps_per_epoch: settings.batches.steps_per_epoch(),
            target: settings.target,
        });
        let (workload, smaller) = fitted?;
        let workload = &workload;
        if let Some(smaller) = smaller {
            self.warn(smaller);
        }

        progress.pause(self.edges).await;
        progress.phase(self.edges, Phase::LoadingData);
        let load_start = self.edges.clock.now_seconds();
        let data = self.edges.data.load(workload.data_set_definition()).await?;
        if data.generated {
            self.warn(Warning::GeneratedData { workload: workload.name.to_owned() });
        }
        let data_seconds = self.edges.clock.now_seconds() - load_start;
        progress.pause(self.edges).await;
        let build_start = self.edges.clock.now_seconds();
        progress.phase(self.edges, Phase::Building);
        let job = TrainingJob {
            planned_steps: settings.planned_steps,
            optimizer: settings.optimizer.clone(),
            ..workload.job(data, settings.batches, request.spec.seed)
        };
        check_fits(backend, free_bytes(backend, self.edges), workload, &job)?;
        let mut trainer = backend.build(&job).await?;
        let build_seconds = self.edges.clock.now_seconds() - build_start;

        let facts = trainer.facts();
        let mut record = empty_record(workload, backend, &settings)?;
        record.cold_start = cold_start(data_seconds, build_seconds, &facts);
        record.settings = Settings {
            test_samples: job.test_samples(),
            chance_accuracy: Some(job.data.test.chance_accuracy()),
            device_memory_bytes: facts.device_memory_bytes,
            layout: facts.layout,
            variants: facts.variants,
            ..record.settings
        };
        if let Some(steps) = facts.unsettled_after_steps {
            self.warn(Warning::TuningNotSettled { workload: workload.name.to_owned(), steps });
        }

        progress.pause(self.edges).await;
        progress.phase(self.edges, Phase::Checking);
        let correctness = check::against_reference(workload, &job, backend).await?;
        let passed = correctness.passed;
        record.correctness = Some(correctness);
        if passed {
            self.edges.meter.start();
            let is_followed = self.edges.witness.is_some() && proof::obstacle(workload, backend).is_none();
            let mut learning = Learning::new(&mut record, &job, trainer.as_mut(), progress, self.edges);
            learning.proof = is_followed.then(Proof::new);
            let learned = learn(&mut learning, workload, &settings, &mut self.peaks).await;
            let stopped_early = learning.stopped_early;
            self.warnings.append(&mut learning.warnings);
            let writer = learning.take_writer();
            let weights = learned?;
            record.timeline = progress.timeline(self.edges);
            record.resources = self.edges.meter.finish();
            if record.outcome == Outcome::Completed && learning::examples(&job, self.edges)? > 0 {
                self.edges.observer.trained(workload.name, Classifier::new(&job, weights)?);
            } else if let Some(mut writer) = writer.filter(|_| record.outcome == Outcome::Completed) {
                writer.set_weights(weights);
                self.edges.observer.trained_writer(workload.name, writer);
            }
            if stopped_early {
                self.warn(Warning::StoppedEarly { workload: workload.name.to_owned() });
            }
        } else {
            record.outcome = Outcome::Incorrect;
            record.timeline = progress.timeline(self.edges);
        }
        record.summary = summary::summarise(&record);
        self.add_warnings(&record, &settings.limits);
        Ok(record)
    }

    /// Records a failed workload after freeing its memory. Returns `error` if no other workload can run after it.
    async fn record_failure(
        &mut self,
        error: EngineError,
        workload: &Workload,
        progress: &mut Progress,
    ) -> Result<WorkloadRecord> {
        let Some(cause) = error.failure_of_workload() else { return Err(error) };
        // The meter may not have been started; its result is discarded.
        let _unused = self.edges.meter.finish();
        self.peaks.close();
        // The original error is more informative than the recovery error.
        if self.backend.recover().await.is_err() {
            return Err(error);
        }
        self.edges.observer.event(&Event::WorkloadFailed { workload: progress.workload(), message: error.to_string() });
        let mut record = empty_record(workload, self.backend, &job_settings(self.request, workload)?)?;
        record.outcome = Outcome::failed(cause, &error.for_a_record());
        // The leaderboard checks that the times of all workloads add up.
        record.timeline = progress.timeline(self.edges);
        Ok(record)
    }

    fn warn(&mut self, warning: Warning) {
        self.edges.observer.event(&Event::Warned { warning: warning.clone() });
        self.warnings.push(warning);
    }

    fn add_warnings(&mut self, record: &WorkloadRecord, limits: &TrainingLimits) {
        if record.outcome != Outcome::Completed {
            return;
        }
        let (workload, summary) = (|| record.workload.clone(), &record.summary);
        if limits.seconds_are_budget && record.evaluations.last().is_some_and(|e| e.step < limits.steps) {
            self.warn(Warning::StoppedByBudget { workload: workload(), budget_seconds: limits.seconds });
        }
        if let Some((last, chance)) = record.evaluations.last().zip(record.settings.chance_accuracy)
            && !summary::has_learned(record)
        {
            self.warn(Warning::NotLearned { workload: workload(), accuracy: last.accuracy, chance });
        }
        let few = u32::try_from(summary::MINIMUM_WINDOWS).unwrap_or(u32::MAX);
        if summary.measured_windows < few {
            self.warn(Warning::TooFewWindows { workload: workload(), windows: summary.measured_windows });
        } else if let Some(half_width) = summary.relative_half_width().filter(|_| !summary.stable) {
            let half_width_percent = half_width * 100.0;
            self.warn(Warning::NotStabilised { workload: workload(), half_width_percent });
        }
    }
}

/// Trains and measures a workload, and returns its weights.
async fn learn(
    learning: &mut Learning<'_, '_>,
    workload: &Workload,
    settings: &JobSettings,
    peaks: &mut PeakMeter<'_>,
) -> Result<Vec<Vec<f32>>> {
    learning.train(&settings.limits, workload.evaluations_per_epoch).await?;
    if settings.measure_further {
        learning.measure(peaks).await?;
    } else if learning.going() && learning.measured_windows() > 0 {
        learning.measure_last_peak(peaks).await?;
    }
    learning.end_lap().await?;
    let weights = learning.trainer.weights().await?;
    learning.record.weight_samples = choose_weights(&weights, learning.job.seed);
    // JSON cannot represent infinity, so non-finite weights are omitted.
    learning.record.weight_samples.retain(|sample| sample.value.is_finite());
    if learning.going() {
        learning.prove().await?;
    }
    Ok(weights)
}

/// Returns the times before the first timed step. The build time excludes times that the trainer reports separately.
fn cold_start(data_seconds: f64, seconds_until_built: f64, facts: &TrainerFacts) -> ColdStart {
    let TrainerFacts { compiling_seconds, tuning_seconds, .. } = *facts;
    let told_apart: f64 = [compiling_seconds, tuning_seconds].into_iter().flatten().sum();
    ColdStart {
        data_seconds: Some(data_seconds),
        build_seconds: Some((seconds_until_built - told_apart).max(0.0)),
        compiling_seconds,
        tuning_seconds,
        first_step_seconds: None,
    }
}

fn empty_record(workload: &Workload, backend: &dyn Backend, settings: &JobSettings) -> Result<WorkloadRecord> {
    let (devices, input) = (backend.devices(), backend.facts().input);
    Ok(WorkloadRecord {
        workload: workload.name.to_owned(),
        network: workload.described(),
        settings: Settings {
            batch_size: settings.batches.batch_size,
            learning_rate: settings.optimizer.learning_rate,
            precision: backend.precision(),
            training_samples: settings.batches.samples,
            test_samples: workload.test_samples(),
            parameters: workload.model.parameters()?,
            training_flops_per_sample: workload.model.operations()?.training_flops(),
            threads: backend.facts().threads,
            ..Settings::default()
        },
        target: Some(Target { goal: settings.target, reached_seconds: None, reached_step: None }),
        communication: (devices > 1).then(|| Communication::among(devices)),
        input: (input != InputMode::Resident).then(|| InputPipeline::new(input)),
        ..WorkloadRecord::default()
    })
}

/// Returns the workloads in an order that depends on the seed, so that none always starts on a cool device.
fn shuffle_workloads(request: &RunRequest) -> Vec<&Workload> {
    let count = u32::try_from(request.workloads.len()).expect("a suite has few workloads");
    let order = Generator { stream: stream::SUITE_ORDER, step: 0, seed: request.spec.seed }.permutation(count);
    order.into_iter().map(|place| &request.workloads[place as usize]).collect()
}

/// Progress of a run. A worker can post it to its page.
///
/// Externally tagged. With an internal tag, serde would compile each type's deserializer twice: 190 kB of the page.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Event {
    RunStarted {
        workloads: Vec<String>,
        backend: String,
        adapter: Adapter,
        seed: u32,
    },
    /// Start of workload `index` (zero-based) of `count`.
    WorkloadStarted {
        workload: String,
        index: u32,
        count: u32,
        batch_size: u32,
        steps_per_epoch: u32,
        target: Goal,
    },
    /// Start of a phase, which ends the one before.
    PhaseStarted {
        workload: String,
        phase: Phase,
    },
    /// Sent after every window, about once per second.
    Progress {
        workload: String,
        /// Completed fraction of the run, 0 to 1. Never decreases.
        run_fraction: f64,
        step: u64,
        /// Passes over the training set, such as 1.25.
        epochs: f64,
        training_seconds: f64,
        /// Mean loss over the window.
        loss: f64,
        /// Share of the window's samples classified correctly.
        training_accuracy: f64,
        samples_per_second: f64,
    },
    Evaluated {
        workload: String,
        evaluation: Evaluation,
    },
    /// A few test images, sent once before the first step if the observer shows answers.
    Examples {
        workload: String,
        height: u32,
        width: u32,
        channels: u32,
        /// Bytes in row-major order, of shape (samples, rows, columns, channels).
        images: Vec<u8>,
        labels: Vec<u16>,
    },
    /// Predicted classes of the examples, sent before the first step, at each evaluation, and at intervals in between.
    Answered {
        workload: String,
        answers: Vec<u16>,
    },
    /// Text that a language model wrote after [`Writer::PROMPT`], at the moments of [`Observer::wants_texts`].
    Wrote {
        workload: String,
        text: String,
    },
    /// Warning that the record will have.
    Warned {
        warning: Warning,
    },
    /// Full error message of a failed workload. The record omits local folders because it may be published.
    WorkloadFailed {
        workload: String,
        message: String,
    },
    WorkloadFinished {
        record: Box<WorkloadRecord>,
    },
}

pub trait ResourceMeter {
    fn start(&mut self) {}
    /// Called after every window.
    fn sample(&mut self) {}
    fn finish(&mut self) -> Resources {
        Resources::default()
    }
    /// Returns the machine's free memory, or `None` if it is unknown or training runs elsewhere.
    fn free_memory_bytes(&self) -> Option<u64> {
        None
    }
}

/// Meter for platforms without resource metrics.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoMeter;

impl ResourceMeter for NoMeter {}

const SAMPLES_PER_TENSOR: u32 = 4;

/// Samples final weights at positions derived from the seed, so that a client cannot choose them.
fn choose_weights(weights: &[Vec<f32>], seed: u32) -> Vec<WeightSample> {
    let mut samples = Vec::new();
    for (tensor, values) in (0..).zip(weights) {
        let length = u32::try_from(values.len()).expect("a tensor has fewer than 2^32 elements");
        let generator = Generator { stream: stream::EVIDENCE + tensor, step: 0, seed };
        for i in 0..SAMPLES_PER_TENSOR.min(length) {
            let index = generator.below(i, length);
            samples.push(WeightSample { tensor, index, value: values[index as usize] });
        }
    }
    samples
}
