//! Comparison of backends: metrics, ratios to the fastest, and agreement in accuracy.
//!
//! [`compare`] computes everything from records alone.

mod agreement;
mod sides;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;

use results::environment::distinct;
use results::estimate::{Estimate, mean_of_independent, ratio};
use results::statistics::{mean, median, variance};
use results::summary::MeasuredWorkload;
use results::{Adapter, Contender, Correctness, Disagreement, Outcome, Refused, RunRecord, WorkloadRecord};
use serde::{Deserialize, Serialize};

use agreement::means_by_seed;
pub use agreement::{AccuracyGap, Agreement, Basis, Evidence, MAX_AGREEMENT_WIDTH, Obstacle, Pair, accuracies_by_seed};
pub use sides::{compare_runs, relate_to_first};

/// Comparison of the backends that trained one workload, or failed to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    pub workload: String,
    /// One row per backend and precision, in order of first appearance.
    pub rows: Vec<Row>,
    pub agreement: Agreement,
}

/// Results of one backend.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    pub contender: Contender,
    /// Absent if nothing ran.
    pub adapter: Option<Adapter>,
    /// Compiler, kernel variants and other settings that the backend reports.
    pub settings: Vec<String>,
    pub outcome: RowOutcome,
    /// Absent if no run was completed, or a run computed incorrect results.
    pub figures: Option<Figures>,
}

/// Worst outcome among a backend's runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum RowOutcome {
    Completed,
    /// A run was cancelled; metrics are from the others.
    Cancelled,
    /// A run did not fit or failed; metrics are from the others.
    Refused {
        reason: String,
    },
    /// The loss was not finite, or above a thousand times the first one; metrics are from the other seeds.
    Diverged {
        seed: u32,
        step: u64,
    },
    /// A run disagreed with the reference, so there are no metrics.
    Incorrect {
        seed: u32,
        disagreement: Option<Disagreement>,
    },
}

impl RowOutcome {
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

    /// Returns the severity of the outcome. Of several, the most severe is shown.
    pub(crate) fn severity(&self) -> u8 {
        match self {
            Self::Completed => 0,
            Self::Cancelled => 1,
            Self::Refused { .. } => 2,
            Self::Diverged { .. } => 3,
            Self::Incorrect { .. } => 4,
        }
    }

    /// Returns the reason for missing metrics, as a sentence fragment.
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
                Some(format!("from seed {seed} {what}, so it has no metrics"))
            }
        }
    }
}

/// Time in seconds and its ratio to the fastest row: 1 for the fastest, more for all others.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Timing {
    pub seconds: f64,
    /// Absent if the rows did different work, or no other row has this time.
    pub to_fastest: Option<f64>,
}

/// Metrics of the completed runs of one backend. Times are medians over the runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Figures {
    /// Seeds of the completed runs, in run order.
    pub seeds: Vec<u32>,
    /// Steps until the last evaluation, if equal in all runs.
    pub steps: Option<u64>,
    /// Time of one pass over the training set.
    pub epoch: Option<Timing>,
    /// True if no epoch finished and its time is extrapolated from `samples_per_second`.
    pub epoch_is_projected: bool,
    /// Training time until the last evaluation, without evaluations and later windows trained only for measurement.
    pub training: Option<Timing>,
    /// Time of the last pass over the test set.
    pub testing: Option<Timing>,
    /// Throughput over the counted windows; absent unless every run has counted windows.
    pub samples_per_second: Option<f64>,
    /// Throughput over all timed training, warm-up included; shown with a mark if `samples_per_second` is absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub samples_per_second_of_all_training: Option<f64>,
    /// Ratio of `samples_per_second` to the highest of all rows, at most 1; absent if fewer than two rows have one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_to_fastest: Option<Estimate>,
    /// Mean accuracy of the last pass over the test set, 0 to 1. Runs from one seed count once.
    pub accuracy: Option<f64>,
    /// Standard deviation of that accuracy over the seeds; absent with one seed.
    pub accuracy_deviation: Option<f64>,
    /// Mean loss of the last pass over the test set. Runs from one seed count once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test_loss: Option<f64>,
    /// Standard deviation of that loss over the seeds; absent with one seed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test_loss_deviation: Option<f64>,
    /// Time to build, compile, tune and take the first step in the first run; later runs may find compiled kernels.
    pub cold_start: Option<Timing>,
    /// Device memory that the backend had allocated when the first run was built.
    pub device_memory_bytes: Option<u64>,
    /// Peak memory of the process during the first run, including earlier backends.
    pub host_memory_bytes: Option<u64>,
}

/// Compares the runs of `workload` in `records`, including backends that were refused.
///
/// Records with the same backend and precision form one row, regardless of their seeds. All records must come from the
/// same device and settings; otherwise, their metrics are not comparable.
pub fn compare(workload: &str, records: &[RunRecord], refused: &[Refused]) -> Comparison {
    let runs = runs_of(workload, records);
    let all =
        runs.iter().map(MeasuredWorkload::contender).chain(refused.iter().map(|refused| refused.contender.clone()));
    let mut rows: Vec<Row> = distinct(all).into_iter().map(|of| build_row(of, &runs, refused)).collect();
    set_time_ratios(&mut rows);
    set_rate_ratios(&mut rows, &runs);
    let counted = rows.iter().filter(|row| row.figures.is_some()).map(|row| &row.contender);
    let agreement = agreement::compare(&counted.map(|of| (of, completed(of, &runs))).collect::<Vec<_>>());
    Comparison { workload: workload.to_owned(), rows, agreement }
}

fn runs_of<'a>(workload: &str, records: &'a [RunRecord]) -> Vec<MeasuredWorkload<'a>> {
    records.iter().flat_map(MeasuredWorkload::all).filter(|run| run.workload.workload == workload).collect()
}

fn completed<'a, 'b>(contender: &Contender, runs: &'b [MeasuredWorkload<'a>]) -> Vec<&'b MeasuredWorkload<'a>> {
    runs.iter().filter(|run| run.is_completed() && run.contender() == *contender).collect()
}

fn build_row(contender: Contender, runs: &[MeasuredWorkload<'_>], refused: &[Refused]) -> Row {
    let own = || runs.iter().filter(|run| run.contender() == contender);
    let refusal = refused.iter().find(|refused| refused.contender == contender);
    let refusal = refusal.map(|refused| RowOutcome::Refused { reason: refused.reason.clone() });
    let outcomes = own().map(|run| RowOutcome::of(run.seed(), run.workload));
    let outcome = outcomes.chain(refusal).max_by_key(RowOutcome::severity).unwrap_or(RowOutcome::Completed);
    let is_wrong = matches!(outcome, RowOutcome::Incorrect { .. });
    let figures = if is_wrong { None } else { Figures::of(&completed(&contender, runs)) };
    let first = own().next();
    let adapter = first.map(|run| run.record.device.adapter.clone());
    let settings = first.map_or_else(Vec::new, |run| run.workload.settings.variants.clone());
    Row { contender, adapter, settings, outcome, figures }
}

impl Figures {
    /// Computes the metrics of one backend's completed runs, without ratios to others. `None` without runs.
    pub fn of(runs: &[&MeasuredWorkload<'_>]) -> Option<Self> {
        let first = runs.first()?.workload;
        type Value = fn(&MeasuredWorkload<'_>) -> Option<f64>;
        let over = |metric: Value| runs.iter().filter_map(|run| metric(run)).collect::<Vec<f64>>();
        let of_all = |metric: Value| median(&over(metric)).filter(|_| over(metric).len() == runs.len());
        let timing = |seconds: Option<f64>| seconds.map(|seconds| Timing { seconds, to_fastest: None });
        let by_seed = |of| means_by_seed(runs, of).into_iter().map(|(_, mean)| mean).collect::<Vec<f64>>();
        let (accuracies, losses) = (by_seed(|of| of.accuracy), by_seed(|of| of.test_loss));
        let samples_per_second = of_all(|run| run.summary.samples_per_second);
        let epoch = median(&over(|run| run.summary.seconds_per_epoch));
        let projected = || samples_per_second.map(|rate| f64::from(first.settings.training_samples) / rate);
        let last_step = |record: &WorkloadRecord| record.evaluations.last().map(|last| last.step);
        let is_last = |step: &u64| runs.iter().all(|run| last_step(run.workload) == Some(*step));
        let memory = first.settings.device_memory_bytes;
        Some(Self {
            seeds: runs.iter().map(|run| run.seed()).collect(),
            steps: last_step(first).filter(is_last),
            epoch_is_projected: epoch.is_none(),
            epoch: timing(epoch.or_else(projected)),
            training: timing(median(&over(|run| run.workload.training_seconds()))),
            testing: timing(median(&over(|run| run.summary.testing_seconds))),
            samples_per_second,
            samples_per_second_of_all_training: of_all(|run| run.summary.samples_per_second_of_all_training()),
            rate_to_fastest: None,
            accuracy: mean(&accuracies),
            accuracy_deviation: variance(&accuracies).map(f64::sqrt),
            test_loss: mean(&losses),
            test_loss_deviation: variance(&losses).map(f64::sqrt),
            cold_start: timing(first.cold_start.seconds()),
            device_memory_bytes: Some(memory).filter(|bytes| *bytes > 0),
            host_memory_bytes: first.resources.resident_memory_maximum_bytes,
        })
    }

    /// Returns the throughput to show, and true if it covers counted windows rather than all training.
    pub fn throughput(&self) -> Option<(f64, bool)> {
        let counted = self.samples_per_second.map(|rate| (rate, true));
        counted.or_else(|| self.samples_per_second_of_all_training.map(|rate| (rate, false)))
    }
}

/// Sets the ratio of every time to the fastest row.
fn set_time_ratios(rows: &mut [Row]) {
    let steps: Vec<Option<u64>> = rows.iter().filter_map(|row| row.figures.as_ref()).map(|of| of.steps).collect();
    let always: [fn(&mut Figures) -> &mut Option<Timing>; 3] =
        [|of| &mut of.epoch, |of| &mut of.testing, |of| &mut of.cold_start];
    for part in always {
        set_ratios(rows, part);
    }
    // Training times are comparable only if step counts are known and equal.
    if steps.first().is_some_and(|first| first.is_some() && steps.iter().all(|steps| steps == first)) {
        set_ratios(rows, |of| &mut of.training);
    }
}

fn set_ratios(rows: &mut [Row], part: fn(&mut Figures) -> &mut Option<Timing>) {
    let figures = rows.iter_mut().filter_map(|row| row.figures.as_mut());
    let mut timings: Vec<&mut Timing> = figures.filter_map(|figures| part(figures).as_mut()).collect();
    if timings.len() < 2 {
        return;
    }
    let fastest = timings.iter().map(|timing| timing.seconds).fold(f64::INFINITY, f64::min);
    for timing in &mut timings {
        // A time below the clock's resolution has no ratio.
        timing.to_fastest = (fastest > 0.0).then(|| timing.seconds / fastest);
    }
}

/// Sets the ratio of every throughput to the fastest row, with an interval ([`ratio`]).
fn set_rate_ratios(rows: &mut [Row], runs: &[MeasuredWorkload<'_>]) {
    let rate = |row: &Row| row.figures.as_ref().and_then(|figures| figures.samples_per_second);
    let mut by_rate: Vec<(f64, &Contender)> =
        rows.iter().filter_map(|row| Some((rate(row)?, &row.contender))).collect();
    by_rate.sort_by(|one, other| other.0.total_cmp(&one.0));
    let [(_, fastest), _, ..] = by_rate[..] else { return };
    let fastest = fastest.clone();
    let base = rates(&fastest, runs);
    for Row { contender, figures, .. } in rows {
        let Some(figures) = figures.as_mut().filter(|of| of.samples_per_second.is_some()) else { continue };
        let is_fastest = *contender == fastest;
        let itself = is_fastest.then_some(Estimate { value: 1.0, interval: None });
        figures.rate_to_fastest = itself.or_else(|| ratio(&base, &rates(contender, runs)));
    }
}

fn rates(contender: &Contender, runs: &[MeasuredWorkload<'_>]) -> Vec<Estimate> {
    completed(contender, runs).into_iter().filter_map(|run| run.summary.throughput()).collect()
}

/// Lead of the fastest backend over the next one.
#[derive(Clone, Debug, PartialEq)]
pub struct Lead {
    pub fastest: Contender,
    pub next: Contender,
    /// Throughput of `fastest` divided by the throughput of `next`, as a geometric mean over the networks.
    pub ratio: Estimate,
}

/// Returns the lead of the fastest backend. Only backends with a throughput for every network count. `None` if there
/// are fewer than two, or if a ratio cannot be estimated.
pub fn lead(comparisons: &[Comparison], records: &[RunRecord]) -> Option<Lead> {
    let logarithm = |of: &Comparison, contender: &Contender| {
        let row = of.rows.iter().find(|row| row.contender == *contender)?;
        row.figures.as_ref()?.samples_per_second.filter(|rate| *rate > 0.0).map(f64::ln)
    };
    let rows = &comparisons.first()?.rows;
    let sum = |contender: &Contender| comparisons.iter().map(|of| logarithm(of, contender)).sum::<Option<f64>>();
    let mut ranked: Vec<(f64, &Contender)> =
        rows.iter().filter_map(|row| Some((sum(&row.contender)?, &row.contender))).collect();
    ranked.sort_by(|one, other| other.0.total_cmp(&one.0));
    let [(_, fastest), (_, next), ..] = ranked[..] else { return None };
    let ratios = comparisons.iter().map(|of| {
        let runs = runs_of(&of.workload, records);
        ratio(&rates(next, &runs), &rates(fastest, &runs))
    });
    let ratio = mean_of_independent(&ratios.collect::<Option<Vec<Estimate>>>()?);
    Some(Lead { fastest: fastest.clone(), next: next.clone(), ratio })
}
