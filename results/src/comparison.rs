//! Several back ends on one workload, side by side: figures, ratios to the fastest, and whether they learned the same.
//!
//! [`compare`] makes all of it from records, and from nothing else.

mod agreement;
mod spread;

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use agreement::{Agreement, Basis, Evidence, FALSE_ALARM, Obstacle, Pair, WIDEST_AGREEMENT};
pub use spread::Spread;

use crate::estimate::Estimate;
use crate::statistics::{mean, median, variance};
use crate::{
    Adapter, Correctness, Disagreement, Outcome, Precision, RunRecord, Summary, WorkloadRecord, regression, summary,
};

/// A back end in the precision that it computes in: who is compared.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Contender {
    pub backend: String,
    pub precision: Precision,
}

impl fmt::Display for Contender {
    /// The name alone where the precision is the usual one.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.precision {
            Precision::F32 => write!(f, "{}", self.backend),
            precision => write!(f, "{} {}", self.backend, precision.name()),
        }
    }
}

/// A back end that could not train a workload to the end, and why, for people.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Refused {
    pub contender: Contender,
    pub reason: String,
}

/// The back ends that trained one workload, or should have.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Comparison {
    pub workload: String,
    /// One for each back end and precision, in the order in which they first appear.
    pub rows: Vec<Row>,
    pub agreement: Agreement,
}

/// What one back end made of the workload.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Row {
    pub contender: Contender,
    /// Absent when nothing ran.
    pub adapter: Option<Adapter>,
    /// Compiler, kernel variants and whatever else the back end says about itself.
    pub settings: Vec<String>,
    pub outcome: RowOutcome,
    /// Absent when no run was completed, and when any run computed wrongly.
    pub figures: Option<Figures>,
}

/// How the runs of a back end ended: the worst of them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum RowOutcome {
    Completed,
    /// A run was cancelled; the figures are those of the others.
    Cancelled,
    /// It does not fit or failed; the figures are those of the runs before.
    Refused {
        reason: String,
    },
    /// The loss was no finite number, or a thousand times the first one; the figures are those of the other seeds.
    Diverged {
        seed: u32,
        step: u64,
    },
    /// It does not compute what the reference does, so it has no figures.
    Incorrect {
        seed: u32,
        disagreement: Option<Disagreement>,
    },
}

impl RowOutcome {
    /// That of one run.
    pub(crate) fn of(seed: u32, record: &WorkloadRecord) -> Self {
        match &record.outcome {
            Outcome::Completed => Self::Completed,
            Outcome::Cancelled => Self::Cancelled,
            Outcome::Failed { reason, .. } => Self::Refused { reason: reason.clone() },
            Outcome::Diverged { step } => Self::Diverged { seed, step: *step },
            Outcome::Incorrect => {
                Self::Incorrect { seed, disagreement: record.correctness.as_ref().and_then(Correctness::disagreement) }
            }
        }
    }

    /// Which of several outcomes is shown: the largest.
    pub(crate) fn severity(&self) -> u8 {
        match self {
            Self::Completed => 0,
            Self::Cancelled => 1,
            Self::Refused { .. } => 2,
            Self::Diverged { .. } => 3,
            Self::Incorrect { .. } => 4,
        }
    }

    /// Why there are no figures, or not those of all seeds: a part of a sentence.
    pub fn reason(&self) -> Option<String> {
        match self {
            Self::Completed => None,
            Self::Cancelled => Some("cancelled before the last seed was done".to_owned()),
            Self::Refused { reason } => Some(reason.clone()),
            Self::Diverged { seed, step } => Some(format!(
                "from seed {seed} the loss at step {step} was no finite number, or a thousand times the first one"
            )),
            Self::Incorrect { seed, disagreement } => {
                let what = disagreement
                    .map_or_else(|| "it disagrees with the reference".to_owned(), |found| found.to_string());
                Some(format!("from seed {seed} {what}, so it has no figures"))
            }
        }
    }
}

/// Seconds, and how often those of the fastest go into them: 1 for the fastest, more for all others.
///
/// Who is alone with a time is the fastest of nobody.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Timing {
    pub seconds: f64,
    /// Absent where the rows did not do the same work, and where no other row has such a time.
    pub to_fastest: Option<f64>,
}

/// Figures of the completed runs of one back end. Times are medians over the runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Figures {
    /// Of the completed runs, in their order.
    pub seeds: Vec<u32>,
    /// Steps until the last look at the test set, where all runs made the same number.
    pub steps: Option<u64>,
    /// One pass over the training set.
    pub epoch: Option<Timing>,
    /// True if no epoch finished, so that its time is extrapolated from `samples_per_second`.
    pub epoch_is_projected: bool,
    /// Training until the last look at the test set, all looks excluded. Windows that are trained after it, only to be
    /// measured, do not count.
    pub training: Option<Timing>,
    /// The last pass over the test set.
    pub testing: Option<Timing>,
    /// Over the counted windows; absent unless every run has some.
    pub samples_per_second: Option<f64>,
    /// All samples over all seconds of timed training, warm-up included: what is shown, with a mark, where
    /// `samples_per_second` is absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub samples_per_second_of_all_training: Option<f64>,
    /// Of `samples_per_second` over the highest of all rows: 1 for the fastest, less for all others. Absent where fewer than
    /// two rows have one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_to_fastest: Option<Estimate>,
    /// Of the last pass over the test set, 0 to 1: mean over the runs.
    pub accuracy: Option<f64>,
    /// Standard deviation of that accuracy over the runs; absent with one run.
    pub accuracy_deviation: Option<f64>,
    /// Building, compiling, tuning and the first step of the first run; later runs may find compiled kernels.
    pub cold_start: Option<Timing>,
    /// What the back end had allocated on its device when the first run was built.
    pub device_memory_bytes: Option<u64>,
    /// The most that the whole process held in memory during the first run, back ends that ran before included.
    pub host_memory_bytes: Option<u64>,
}

/// One run of the workload.
struct Run<'a> {
    contender: Contender,
    adapter: &'a Adapter,
    seed: u32,
    record: &'a WorkloadRecord,
    /// Computed again: what a record says about itself is not read.
    summary: Summary,
}

/// Puts the runs of `workload` side by side: those in `records`, and those that gave only a reason why there is none.
///
/// Records of the same back end and precision make one row, whatever their seeds; they must come from one device with the
/// same settings, or their figures mean nothing together.
pub fn compare(workload: &str, records: &[RunRecord], refused: &[Refused]) -> Comparison {
    let runs: Vec<Run<'_>> = records.iter().flat_map(|record| runs(record, workload)).collect();
    let mut contenders: Vec<Contender> = Vec::new();
    for contender in runs.iter().map(|run| &run.contender).chain(refused.iter().map(|refused| &refused.contender)) {
        if !contenders.contains(contender) {
            contenders.push(contender.clone());
        }
    }
    let mut rows: Vec<Row> = contenders.into_iter().map(|contender| row(contender, &runs, refused)).collect();
    relate(&mut rows);
    relate_rates(&mut rows, &runs);
    let counted = rows.iter().filter(|row| row.figures.is_some());
    let counted: Vec<(&Contender, Vec<&Run<'_>>)> =
        counted.map(|row| (&row.contender, completed(&row.contender, &runs))).collect();
    let agreement = agreement::find(&counted);
    Comparison { workload: workload.to_owned(), rows, agreement }
}

fn runs<'a>(record: &'a RunRecord, workload: &str) -> impl Iterator<Item = Run<'a>> {
    let found = record.workloads.iter().filter(move |of| of.workload == workload);
    found.map(|of| Run {
        contender: Contender { backend: record.device.backend.clone(), precision: of.settings.precision },
        adapter: &record.device.adapter,
        seed: record.seed,
        record: of,
        summary: summary::summarise(of),
    })
}

fn completed<'a, 'b>(contender: &Contender, runs: &'b [Run<'a>]) -> Vec<&'b Run<'a>> {
    let own = runs.iter().filter(|run| run.contender == *contender);
    own.filter(|run| run.record.outcome == Outcome::Completed).collect()
}

fn row(contender: Contender, runs: &[Run<'_>], refused: &[Refused]) -> Row {
    let own = || runs.iter().filter(|run| run.contender == contender);
    let refusal = refused.iter().find(|refused| refused.contender == contender);
    let refusal = refusal.map(|refused| RowOutcome::Refused { reason: refused.reason.clone() });
    let outcomes = own().map(|run| RowOutcome::of(run.seed, run.record));
    let outcome = outcomes.chain(refusal).max_by_key(RowOutcome::severity).unwrap_or(RowOutcome::Completed);
    let wrong = matches!(outcome, RowOutcome::Incorrect { .. });
    let completed: Vec<(u32, &WorkloadRecord, &Summary)> =
        completed(&contender, runs).iter().map(|run| (run.seed, run.record, &run.summary)).collect();
    let figures = if wrong { None } else { Figures::of(&completed) };
    let first = own().next();
    Row {
        adapter: first.map(|run| run.adapter.clone()),
        settings: first.map_or_else(Vec::new, |run| run.record.settings.variants.clone()),
        contender,
        outcome,
        figures,
    }
}

impl Figures {
    /// Computes the figures of one back end's completed runs, given as seed, record and summary, without ratios to others.
    /// The terminal, the report and the page all show these. `None` without runs.
    pub fn of(runs: &[(u32, &WorkloadRecord, &Summary)]) -> Option<Self> {
        let &(_, first, _) = runs.first()?;
        let over = |figure: &dyn Fn(&WorkloadRecord, &Summary) -> Option<f64>| {
            runs.iter().filter_map(|(_, record, summary)| figure(record, summary)).collect::<Vec<_>>()
        };
        let of_all = |figure: &dyn Fn(&WorkloadRecord, &Summary) -> Option<f64>| {
            median(&over(figure)).filter(|_| over(figure).len() == runs.len())
        };
        let timing = |seconds: Option<f64>| seconds.map(|seconds| Timing { seconds, to_fastest: None });
        let accuracies = over(&|_, summary| summary.accuracy);
        let samples_per_second = of_all(&|_, summary| summary.samples_per_second);
        let epoch = median(&over(&|_, summary| summary.seconds_per_epoch));
        let projected = || samples_per_second.map(|rate| f64::from(first.settings.training_samples) / rate);
        let last_step = |record: &WorkloadRecord| record.evaluations.last().map(|last| last.step);
        let is_last = |step: &u64| runs.iter().all(|(_, record, _)| last_step(record) == Some(*step));
        let memory = first.settings.device_memory_bytes;
        Some(Self {
            seeds: runs.iter().map(|(seed, ..)| *seed).collect(),
            steps: last_step(first).filter(is_last),
            epoch_is_projected: epoch.is_none(),
            epoch: timing(epoch.or_else(projected)),
            training: timing(median(&over(&|record, _| record.training_seconds()))),
            testing: timing(median(&over(&|_, summary| summary.testing_seconds))),
            samples_per_second,
            samples_per_second_of_all_training: of_all(&|_, summary| summary.samples_per_second_of_all_training()),
            rate_to_fastest: None,
            accuracy: mean(&accuracies),
            accuracy_deviation: variance(&accuracies).map(f64::sqrt),
            cold_start: timing(cold_start(first)),
            device_memory_bytes: Some(memory).filter(|bytes| *bytes > 0),
            host_memory_bytes: first.resources.resident_memory_maximum_bytes,
        })
    }

    /// Throughput to show, and true if it is measured over counted windows rather than all training.
    pub fn throughput(&self) -> Option<(f64, bool)> {
        let counted = self.samples_per_second.map(|rate| (rate, true));
        counted.or_else(|| self.samples_per_second_of_all_training.map(|rate| (rate, false)))
    }
}

/// Everything that happens once but loading the data, which no back end makes faster.
pub(crate) fn cold_start(record: &WorkloadRecord) -> Option<f64> {
    let parts = &record.cold_start;
    let parts: Vec<f64> =
        [parts.build_seconds, parts.compiling_seconds, parts.tuning_seconds, parts.first_step_seconds]
            .into_iter()
            .flatten()
            .collect();
    (!parts.is_empty()).then(|| parts.iter().sum())
}

/// Gives every time its ratio to the fastest row's.
fn relate(rows: &mut [Row]) {
    let steps: Vec<Option<u64>> = rows.iter().filter_map(|row| row.figures.as_ref()).map(|of| of.steps).collect();
    // Without a known, equal number of steps, times of training are those of different work.
    let same_work = steps.first().is_some_and(|first| first.is_some() && steps.iter().all(|steps| steps == first));
    let always: [fn(&mut Figures) -> &mut Option<Timing>; 3] =
        [|of| &mut of.epoch, |of| &mut of.testing, |of| &mut of.cold_start];
    for part in always {
        relate_part(rows, part);
    }
    if same_work {
        relate_part(rows, |of| &mut of.training);
    }
}

fn relate_part(rows: &mut [Row], part: fn(&mut Figures) -> &mut Option<Timing>) {
    let figures = rows.iter_mut().filter_map(|row| row.figures.as_mut());
    let mut timings: Vec<&mut Timing> = figures.filter_map(|figures| part(figures).as_mut()).collect();
    if timings.len() < 2 {
        return;
    }
    let fastest = timings.iter().map(|timing| timing.seconds).fold(f64::INFINITY, f64::min);
    for timing in &mut timings {
        // A clock too coarse for a time says nothing about ratios.
        timing.to_fastest = (fastest > 0.0).then(|| timing.seconds / fastest);
    }
}

/// Gives every row with a throughput its ratio to the fastest row's, with an interval ([`regression::ratio`]).
fn relate_rates(rows: &mut [Row], runs: &[Run<'_>]) {
    let rate = |row: &Row| row.figures.as_ref().and_then(|figures| figures.samples_per_second);
    let mut by_rate: Vec<(f64, &Contender)> =
        rows.iter().filter_map(|row| Some((rate(row)?, &row.contender))).collect();
    by_rate.sort_by(|one, other| other.0.total_cmp(&one.0));
    let [(_, fastest), _, ..] = by_rate[..] else { return };
    let fastest = fastest.clone();
    let base = rates(&fastest, runs);
    for row in rows {
        let Some(figures) = row.figures.as_mut().filter(|figures| figures.samples_per_second.is_some()) else {
            continue;
        };
        figures.rate_to_fastest = if row.contender == fastest {
            Some(Estimate { value: 1.0, interval: None })
        } else {
            regression::ratio(&base, &rates(&row.contender, runs))
        };
    }
}

/// The throughputs of the completed runs of a back end.
fn rates(contender: &Contender, runs: &[Run<'_>]) -> Vec<Estimate> {
    completed(contender, runs).into_iter().filter_map(|run| run.summary.throughput()).collect()
}
