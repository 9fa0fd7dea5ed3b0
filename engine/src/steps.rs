//! Steps per second of workloads on several backends, without evaluations or a score.
//!
//! Backends alternate windows. If samples seem slower in a larger batch, both batch sizes are measured again in turns.

mod report;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use async_recursion::async_recursion;
use async_trait::async_trait;
use results::Precision;

use crate::backends::{REFERENCE, WGSL};
use crate::clock::Clock;
use crate::data::{DataSet, DataSource};
use crate::error::{EngineError, Result};
use crate::measure::{
    Contest, ContestRules, Event, Gauge, Observer, Participant, Phase, Repeatable, Window, median, refused, timed_steps,
};
use crate::train::check;
use crate::trainer::{Backend, Trainer, TrainerFacts, TrainingJob};
use crate::workload::Workload;

pub use report::{Cliff, EntrantSteps, Measured, Size, StepsOutcome, StepsReport, WorkloadSteps};
use report::{Described, MIN_CLIFF_RISE, SCHEMA_VERSION};

/// Number of windows per backend within the budget, excluding one for warm-up.
const WINDOWS: u32 = 5;
/// Maximum window length. A larger budget adds windows instead, because cancellation waits for their end.
const MAX_WINDOW_SECONDS: f64 = 2.0;

#[derive(Clone, Debug)]
pub struct Request {
    pub workloads: Vec<Workload>,
    /// Batch sizes for each workload. If empty, the workload's default.
    pub batch_sizes: Vec<u32>,
    /// Time limit for warm-up and windows of a workload at one batch size, over all backends together. Each backend
    /// runs at least one window. Excludes loading, building, checking and measuring the peak.
    pub budget_seconds: f64,
    /// Memory limit, checked before allocation if possible.
    pub budget_bytes: Option<u64>,
    pub checked: bool,
    pub seed: u32,
}

pub struct Entrant {
    pub backend: Box<dyn Backend>,
    /// True if the backend runs on the device of the [`Gauge`].
    pub on_gauged_device: bool,
    /// Maximum number of steps of a slow backend, which has no warm-up.
    pub most_steps: Option<u32>,
}

impl Entrant {
    /// Returns the name shown in tables, with the precision if it is not f32.
    pub fn name(&self) -> &'static str {
        match (self.backend.name(), self.backend.precision()) {
            (WGSL, Precision::F16) => "wgsl f16",
            (WGSL, Precision::F16Matrix) => "wgsl f16-matrix",
            (name, _) => name,
        }
    }
}

/// Measures every workload at every batch size on all entrants, and the gauge's peak in every round. Failures are
/// recorded as outcomes, and the other measurements continue.
#[async_recursion(?Send)]
pub async fn measure(
    request: &Request,
    entrants: &[Entrant],
    gauge: Option<Box<dyn Gauge>>,
    data: &mut dyn DataSource,
    clock: &dyn Clock,
    observer: &mut dyn Observer<Event>,
) -> StepsReport {
    let described = entrants.iter().map(|entrant| Described {
        backend: entrant.name(),
        adapter: entrant.backend.adapter().clone(),
        precision: entrant.backend.precision(),
        most_steps: entrant.most_steps,
        warnings: entrant.backend.facts().warnings.clone(),
    });
    let mut report = StepsReport {
        schema_version: SCHEMA_VERSION,
        seed: request.seed,
        budget_seconds: request.budget_seconds,
        budget_bytes: request.budget_bytes,
        checked: request.checked,
        contenders: described.collect(),
        workloads: Vec::new(),
        cancelled: false,
    };
    let sizes = request.batch_sizes.len().max(1);
    let count = request.workloads.len() * sizes;
    let mut run = StepsRun { request, entrants, gauge, clock, observer, number: 0, count };
    for workload in &request.workloads {
        if run.observer.cancelled() {
            break;
        }
        report.workloads.push(run.workload(workload, data).await);
    }
    report.cancelled = run.observer.cancelled();
    report
}

struct StepsRun<'a> {
    request: &'a Request,
    entrants: &'a [Entrant],
    gauge: Option<Box<dyn Gauge>>,
    clock: &'a dyn Clock,
    observer: &'a mut dyn Observer<Event>,
    /// Number of measurements started, out of `count`.
    number: usize,
    count: usize,
}

impl<'a> StepsRun<'a> {
    async fn workload(&mut self, workload: &Workload, data: &mut dyn DataSource) -> WorkloadSteps {
        let mut result = WorkloadSteps {
            workload: workload.name,
            network: workload.described(),
            own_batch_size: workload.batch_size,
            training_flops_per_sample: workload.model.operations().ok().map(|operations| operations.training_flops()),
            sizes: Vec::new(),
            cliffs: Vec::new(),
        };
        let own = [workload.batch_size];
        let request = self.request;
        let sizes = if request.batch_sizes.is_empty() { &own[..] } else { &request.batch_sizes[..] };
        let mut jobs = Vec::new();
        for &batch_size in sizes {
            if self.observer.cancelled() {
                break;
            }
            self.number += 1;
            let (number, count) = (self.number, self.count);
            let what = format!("{}, batches of {batch_size}", workload.name);
            self.observer.event(&Event::Started { what, number, count });
            let loaded = data.load(workload.data_set_definition()).await.map_err(EngineError::from);
            let job = loaded.and_then(|data| job(workload, batch_size, request.seed, data));
            let size = match job {
                Err(error) => {
                    let refused = |of: &Entrant| EntrantSteps { backend: of.name(), outcome: refused(&error) };
                    Size { batch_size, entries: self.entrants.iter().map(refused).collect() }
                }
                Ok(job) => {
                    // Kernels depend on shapes, so each batch size is checked.
                    let barred = self.check(workload, &job).await;
                    let entrants = self.entrants.iter().zip(barred).map(|(entrant, barred)| (entrant, &job, barred));
                    let size = self.take_turns(batch_size, entrants).await;
                    let is_measured = size.entries.iter().any(|entry| entry.outcome.measured().is_some());
                    jobs.extend(is_measured.then_some(job));
                    size
                }
            };
            result.sizes.push(size);
        }
        result.cliffs = find_cliffs(&result.sizes);
        self.look_again(&mut result, &jobs).await;
        result
    }

    async fn check(&mut self, workload: &Workload, job: &TrainingJob) -> Vec<Option<StepsOutcome>> {
        let mut barred = Vec::with_capacity(self.entrants.len());
        for entrant in self.entrants {
            let backend = entrant.backend.as_ref();
            if backend.name() == REFERENCE || !self.request.checked || self.observer.cancelled() {
                barred.push(None);
                continue;
            }
            self.observer.event(&Event::Phase { who: entrant.name(), phase: Phase::Checking });
            let wrong = check::against_reference(workload, job, backend).await.map(|found| found.disagreement());
            barred.push(wrong.map_or_else(|error| Some(refused(&error)), |wrong| wrong.map(StepsOutcome::Wrong)));
        }
        barred
    }

    /// Measures jobs in alternation: several entrants at one batch size, or one entrant at several.
    async fn take_turns<'j>(
        &mut self,
        batch_size: u32,
        entrants: impl IntoIterator<Item = (&'j Entrant, &'j TrainingJob, Option<StepsOutcome>)>,
    ) -> Size {
        let (mut participants, mut refusals) = (Vec::new(), Vec::new());
        for (entrant, job, barred) in entrants {
            let built = match barred {
                Some(outcome) => Err(outcome),
                None if self.observer.cancelled() => Err(StepsOutcome::Cancelled),
                None => {
                    self.observer.event(&Event::Phase { who: entrant.name(), phase: Phase::Building });
                    self.build(entrant, job).await.map_err(|error| refused(&error))
                }
            };
            let (subject, refusal) = built.map_or_else(|outcome| (None, Some(outcome)), |steps| (Some(steps), None));
            let mut participant = Participant::new(entrant.name(), subject);
            participant.on_gauged_device = entrant.on_gauged_device;
            participant.repetitions_left = entrant.most_steps;
            participants.push(participant);
            refusals.push(refusal);
        }
        let running = refusals.iter().filter(|refusal| refusal.is_none()).count().max(1);
        let window_seconds = self.request.budget_seconds / running as f64 / f64::from(WINDOWS + 1);
        let rules = ContestRules {
            window_seconds: window_seconds.min(MAX_WINDOW_SECONDS),
            budget_seconds: self.request.budget_seconds,
            fewest_rounds: 1,
            most_rounds: usize::MAX,
        };
        let (gauge, observer) = (&mut self.gauge, &mut *self.observer);
        let mut contest = Contest { participants, gauge, clock: self.clock, observer };
        contest.run(rules).await;
        let entries = contest.participants.into_iter().zip(refusals).map(|(participant, refusal)| EntrantSteps {
            backend: participant.name,
            outcome: refusal.unwrap_or_else(|| finish_measurement(participant)),
        });
        let mut size = Size { batch_size, entries: entries.collect() };
        size.compare();
        size
    }

    async fn build(&self, entrant: &Entrant, job: &TrainingJob) -> Result<Steps<'a>> {
        let clock = self.clock;
        let predicted_bytes = entrant.backend.predicted_bytes(job)?;
        self.check_budget("the workload as a whole", predicted_bytes)?;
        let start = clock.now_seconds();
        let trainer = entrant.backend.build(job).await?;
        let build_seconds = clock.now_seconds() - start;
        let TrainerFacts { device_memory_bytes, compiling_seconds, tuning_seconds, variants, .. } = trainer.facts();
        // Not every backend can predict its memory.
        self.check_budget("the built workload", Some(device_memory_bytes))?;
        let measured = Measured {
            device_memory_bytes,
            predicted_bytes,
            build_seconds,
            compiling_seconds,
            tuning_seconds,
            variants,
            losses_are_finite: true,
            ..Measured::default()
        };
        let flops_per_sample = job.model.operations().map_or(0, |operations| operations.training_flops()) as f64;
        Ok(Steps { trainer, clock, measured, flops_per_sample })
    }

    fn check_budget(&self, what: &str, needed_bytes: Option<u64>) -> Result<()> {
        match (needed_bytes, self.request.budget_bytes) {
            (Some(needed_bytes), Some(allowed_bytes)) if needed_bytes > allowed_bytes => {
                Err(EngineError::DoesNotFit { what: what.to_owned(), needed_bytes, allowed_bytes })
            }
            _ => Ok(()),
        }
    }

    /// Measures each cliff again, alternating between both batch sizes.
    async fn look_again(&mut self, result: &mut WorkloadSteps, jobs: &[TrainingJob]) {
        for cliff in &mut result.cliffs {
            let (from_batch_size, to_batch_size) = (cliff.from_batch_size, cliff.to_batch_size);
            let entrant = self.entrants.iter().find(|entrant| entrant.name() == cliff.backend);
            let of_size = |size| jobs.iter().find(|job| job.batches.batch_size == size);
            let (Some(entrant), Some(small), Some(large)) = (entrant, of_size(from_batch_size), of_size(to_batch_size))
            else {
                continue;
            };
            let predicted = |job| entrant.backend.predicted_bytes(job).ok().flatten();
            let both_bytes = predicted(small).zip(predicted(large)).map(|(small, large)| small.saturating_add(large));
            let both_fit = both_bytes.zip(self.request.budget_bytes).is_none_or(|(bytes, budget)| bytes <= budget);
            if self.observer.cancelled() || entrant.most_steps.is_some() || !both_fit {
                continue;
            }
            let what = format!("{}, {from_batch_size} and {to_batch_size} in turns", result.workload);
            self.observer.event(&Event::Again { what });
            let both = self.take_turns(to_batch_size, [small, large].map(|job| (entrant, job, None))).await;
            cliff.rise_in_turns = rise_in_turns(&both);
        }
    }
}

/// Returns the workload's job at this batch size. Fails if it is 0 or exceeds the training set.
pub fn job(workload: &Workload, batch_size: u32, seed: u32, data: Arc<DataSet>) -> Result<TrainingJob> {
    let batches = workload.batches(data.train.samples(), batch_size)?;
    Ok(workload.job(data, batches, seed))
}

/// Finds batch sizes that take longer per sample than the previous size.
fn find_cliffs(sizes: &[Size]) -> Vec<Cliff> {
    let mut cliffs = Vec::new();
    for pair in sizes.windows(2) {
        for (before, after) in pair[0].entries.iter().zip(&pair[1].entries) {
            let (Some(small), Some(large)) = (before.outcome.measured(), after.outcome.measured()) else {
                continue;
            };
            let rise = small.samples_per_second / large.samples_per_second - 1.0;
            if rise > MIN_CLIFF_RISE {
                cliffs.push(Cliff {
                    backend: after.backend,
                    from_batch_size: pair[0].batch_size,
                    to_batch_size: pair[1].batch_size,
                    rise,
                    rise_in_turns: None,
                });
            }
        }
    }
    cliffs
}

/// Returns the median rise over the rounds, because a change in the machine's speed affects only a few of them.
fn rise_in_turns(size: &Size) -> Option<f64> {
    let windows = |index: usize| size.entries.get(index)?.outcome.measured().map(|measured| &measured.windows);
    let rounds = windows(0)?.iter().zip(windows(1)?);
    median(rounds.map(|(small, large)| small.rate() / large.rate() - 1.0))
}

struct Steps<'a> {
    trainer: Box<dyn Trainer>,
    clock: &'a dyn Clock,
    /// Metrics so far, without windows.
    measured: Measured,
    flops_per_sample: f64,
}

#[async_trait(?Send)]
impl Repeatable for Steps<'_> {
    async fn window(&mut self, repetitions: u32) -> Result<Window> {
        let (report, window) = timed_steps(self.trainer.as_mut(), repetitions, self.clock).await?;
        self.measured.losses_are_finite &= report.losses.iter().all(|loss| loss.is_finite());
        Ok(window)
    }
}

fn finish_measurement(participant: Participant<Steps<'_>>) -> StepsOutcome {
    match (participant.ended, participant.subject) {
        (Some(error), _) => refused(&error),
        (None, Some(Steps { measured, flops_per_sample, .. })) => measured
            .with_windows(participant.windows, flops_per_sample)
            .map_or(StepsOutcome::Cancelled, StepsOutcome::Measured),
        (None, None) => StepsOutcome::Cancelled,
    }
}
