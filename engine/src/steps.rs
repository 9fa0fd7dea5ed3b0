//! Steps per second: workloads on several back ends side by side, with neither tests nor a score.
//!
//! The windows of the back ends take turns (first, second, first, second …), so that a machine whose speed wanders
//! hurts all of them alike. Where a larger batch seems to make samples slower, both sizes take turns as well.

mod cliffs;
mod contest;
mod report;
#[cfg(test)]
mod tests;

use crate::clock::Clock;
use crate::data::{DataSource, data_set};
use crate::error::EngineError;
use crate::measure::{Event, Gauge, Observer, Phase, refused};
use crate::train::check;
use crate::trainer::{Backend, TrainingJob};
use crate::workload::{Training, Workload};
use async_recursion::async_recursion;
use contest::Contest;
pub use report::{Cliff, Entry, Measured, Outcome, Size, StepsReport, WorkloadSteps};

/// What to measure, and how much it may cost.
#[derive(Clone, Debug)]
pub struct Request {
    pub workloads: Vec<Workload>,
    /// Batch sizes to measure each workload at; with none, its own.
    pub batch_sizes: Vec<u32>,
    /// Seconds that warm-up and windows of a workload at one batch size may take, all back ends together. Each has at
    /// least one window, whatever that costs; loading, building, checking and the peak come on top.
    pub budget_seconds: f64,
    /// A back end that would allocate more than this is refused before it does.
    pub budget_bytes: Option<u64>,
    /// Whether first losses are held to the plain reference before anything is timed.
    pub checked: bool,
    /// Seed of weights, shuffles and dropout.
    pub seed: u32,
}

/// A back end that takes part.
pub struct Contender {
    pub backend: Box<dyn Backend>,
    /// Whether it computes on the device of the [`Gauge`].
    pub on_gauged_device: bool,
    /// It trains at most so many steps of a workload at one batch size, without warm-up, because it is slow.
    pub most_steps: Option<u32>,
}

impl Contender {
    /// As tables name it: a back end may take part in several precisions.
    pub fn name(&self) -> &'static str {
        match (self.backend.name(), self.backend.precision()) {
            #[cfg(feature = "wgsl")]
            (crate::backends::wgsl::NAME, results::Precision::F16) => "wgsl f16",
            #[cfg(feature = "wgsl")]
            (crate::backends::wgsl::NAME, results::Precision::F16Matrix) => "wgsl f16-matrix",
            (name, _) => name,
        }
    }
}

/// Measures every workload of the request at every batch size on all contenders. The peak of the gauge, if there is one,
/// takes its turn in every round.
///
/// # Errors
/// None: what cannot be measured says so in its outcome, and the others go on.
#[async_recursion(?Send)]
pub async fn measure(
    request: &Request,
    contenders: &[Contender],
    gauge: Option<Box<dyn Gauge>>,
    data: &mut dyn DataSource,
    clock: &dyn Clock,
    observer: &mut dyn Observer<Event>,
) -> StepsReport {
    let mut report = StepsReport::new(request, contenders);
    let sizes = request.batch_sizes.len().max(1);
    let count = request.workloads.len() * sizes;
    let mut run = Run { request, contenders, gauge, clock, observer, number: 0, count };
    for workload in &request.workloads {
        if run.observer.cancelled() {
            break;
        }
        report.workloads.push(run.workload(workload, data).await);
    }
    report.cancelled = run.observer.cancelled();
    report
}

/// A run that is under way.
struct Run<'a> {
    request: &'a Request,
    contenders: &'a [Contender],
    gauge: Option<Box<dyn Gauge>>,
    clock: &'a dyn Clock,
    observer: &'a mut dyn Observer<Event>,
    /// Workloads and batch sizes that were begun, of `count`.
    number: usize,
    count: usize,
}

impl Run<'_> {
    async fn workload(&mut self, workload: &Workload, data: &mut dyn DataSource) -> WorkloadSteps {
        let mut result = WorkloadSteps::new(workload);
        let own = [workload.batch_size];
        let request = self.request;
        let sizes = if request.batch_sizes.is_empty() { &own[..] } else { &request.batch_sizes[..] };
        let mut jobs = Vec::new();
        let definition = data_set(workload.data_set).expect("a test holds every workload to a known data set");
        for &batch_size in sizes {
            if self.observer.cancelled() {
                break;
            }
            self.number += 1;
            let (number, count) = (self.number, self.count);
            let what = format!("{}, batches of {batch_size}", workload.name);
            self.observer.event(&Event::Started { what, number, count });
            let job = match data.load(definition).await {
                Ok(data) => job(workload, batch_size, request.seed, data),
                Err(error) => Err(error.into()),
            };
            let size = match job {
                Err(error) => {
                    let entries = self.contenders.iter().map(|contender| Entry::refused(contender, &error));
                    Size { batch_size, entries: entries.collect() }
                }
                Ok(job) => {
                    // Kernels are chosen by shape, so that each size is checked.
                    let barred = self.check(workload, &job).await;
                    let size = self.size(&job, &barred).await;
                    jobs.extend(cliffs::gave_figures(&size).then_some(job));
                    size
                }
            };
            result.sizes.push(size);
        }
        result.cliffs = cliffs::find(&result.sizes);
        self.look_again(&mut result, &jobs).await;
        result
    }

    /// What keeps each contender from being timed, where something does.
    async fn check(&mut self, workload: &Workload, job: &TrainingJob) -> Vec<Option<Outcome>> {
        let mut barred = Vec::with_capacity(self.contenders.len());
        for contender in self.contenders {
            let backend = contender.backend.as_ref();
            let judges = backend.name() == crate::backends::REFERENCE;
            if judges || !self.request.checked || self.observer.cancelled() {
                barred.push(None);
                continue;
            }
            self.observer.event(&Event::Phase { who: contender.name(), phase: Phase::Checking });
            barred.push(match check::against_reference(workload, job, backend).await {
                Ok(found) => found.disagreement().map(Outcome::Wrong),
                Err(error) => Some(refused(&error)),
            });
        }
        barred
    }

    fn contest(&mut self) -> Contest<'_> {
        Contest::new(self.request, &mut self.gauge, self.clock, &mut *self.observer)
    }

    async fn size(&mut self, job: &TrainingJob, barred: &[Option<Outcome>]) -> Size {
        let contenders = self.contenders;
        let mut contest = self.contest();
        for (contender, barred) in contenders.iter().zip(barred) {
            contest.admit(contender, job, barred.as_ref()).await;
        }
        contest.run().await;
        contest.finish(job.batches.batch_size)
    }
}

/// The workload's own recipe at this batch size.
///
/// # Errors
/// A batch of more samples than there are, or of none.
pub fn job(
    workload: &Workload,
    batch_size: u32,
    seed: u32,
    data: std::sync::Arc<crate::data::DataSet>,
) -> Result<TrainingJob, EngineError> {
    let batches = workload.batches(data.train.samples(), batch_size, seed)?;
    let planned_steps = batches.steps_of_epochs(workload.published_epochs);
    Ok(workload.job(Training { data, batches, planned_steps, seed, dropout: true }))
}
