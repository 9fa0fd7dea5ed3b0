//! Regressions: comparison of candidate runs with baseline runs.
//!
//! [`compare`] computes everything from records alone.

mod mismatch;
#[cfg(test)]
mod tests;

use std::fmt;

use results::environment::{FACTS, FURTHER_FACTS, SideDifference, differences, distinct};
use results::estimate::{Estimate, Interval, SideVerdict, geometric_mean, ratio};
use results::summary::MeasuredWorkload;
use results::{Contender, Precision, RunRecord, Settings, names};
use serde::Serialize;

use crate::comparison::{AccuracyGap, Basis, RowOutcome, accuracies_by_seed};
pub use mismatch::{Mismatch, MismatchKind, device};

/// Rules for failing a candidate, besides workloads that only the baseline could train.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Rules {
    /// Tolerated slowdown, as a share of the baseline throughput; absent if speed never fails a candidate.
    pub fail_if_slower: Option<f64>,
    /// True if the candidate fails when it lacks anything that the baseline has.
    pub fail_if_missing: bool,
}

/// Settings that runs must share to be compared.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Key {
    pub workload: String,
    pub backend: String,
    pub precision: Precision,
    pub batch_size: u32,
}

impl Key {
    fn from_run(run: &MeasuredWorkload<'_>) -> Self {
        let (workload, backend) = (run.workload.workload.clone(), run.record.device.backend.clone());
        let Settings { precision, batch_size, .. } = run.workload.settings;
        Self { workload, backend, precision, batch_size }
    }

    pub fn contender(&self) -> Contender {
        Contender { backend: self.backend.clone(), precision: self.precision }
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} on {}, batches of {}", self.workload, self.contender(), self.batch_size)
    }
}

type SideRuns<'a> = [&'a MeasuredWorkload<'a>];

/// Comparison of two sides of runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Regressions {
    pub rules: Rules,
    /// One line for each combination that either side trained, in order of first appearance.
    pub lines: Vec<Line>,
    /// Differences between the machines and software of both sides, with the baseline value first.
    pub differences: Vec<SideDifference>,
    /// Reasons to doubt the verdicts.
    pub mismatches: Vec<Mismatch>,
}

impl Regressions {
    /// Returns the lines that make the candidate fail.
    pub fn failures(&self) -> impl Iterator<Item = &Line> {
        self.lines.iter().filter(|line| line.verdict.fails(&self.rules))
    }

    pub fn has_verdicts(&self) -> bool {
        self.lines.iter().any(|line| line.verdict.is_told())
    }
}

/// Compares the runs of two sides for each workload, backend, precision and batch size.
pub fn compare(baseline: &[RunRecord], candidate: &[RunRecord], rules: Rules) -> Regressions {
    let sides = [baseline, candidate]
        .map(|records| records.iter().flat_map(MeasuredWorkload::all).collect::<Vec<MeasuredWorkload<'_>>>());
    let keys = distinct(sides.iter().flatten().map(Key::from_run));
    let runs_of = |key: &Key| {
        sides.each_ref().map(|side| side.iter().filter(|run| Key::from_run(run) == *key).collect::<Vec<_>>())
    };
    let mismatches = distinct(keys.iter().flat_map(|key| {
        let [before, after] = runs_of(key);
        mismatch::find(&before, &after)
    }));
    let tolerance = rules.fail_if_slower.unwrap_or_default();
    let line = |key| {
        let [before, after] = runs_of(&key);
        Line::compare(key, &before, &after, tolerance)
    };
    let lines = keys.into_iter().map(line).collect();
    // Compared runs always share these.
    let facts = FACTS.iter().filter(|(id, _)| !["backend", "precision"].contains(id)).chain(FURTHER_FACTS);
    let differences = differences(facts, &[baseline, candidate].map(|side| side.iter().collect::<Vec<_>>()));
    Regressions { rules, lines, differences, mismatches }
}

/// Result of comparing the candidate with the baseline.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum RegressionVerdict {
    /// The whole interval of the ratio is above 1.
    Faster,
    /// The interval contains 1 and is within the tolerance; without a tolerance, within a tenth of 1.
    Tied,
    /// Without a tolerance, the interval contains 1 but is too wide to decide.
    Undecided,
    /// The whole interval is below 1 but within the tolerance.
    SlightlySlower,
    /// Part of the interval is beyond the tolerance: too wide to decide.
    PerhapsSlower,
    /// The whole interval is beyond the tolerance.
    Slower,
    /// The baseline could train the workload, but the candidate could not.
    Broken {
        reason: String,
    },
    /// Both sides have runs, but no metric can be compared.
    Untold {
        reason: String,
    },
    OnlyInBaseline,
    OnlyInCandidate,
}

impl RegressionVerdict {
    /// Returns the verdict on the interval of a speed ratio, given the tolerated slowdown.
    fn of_speed(ratio: Interval, tolerance: f64) -> Self {
        let limit = 1.0 - tolerance;
        if ratio.high < limit {
            Self::Slower
        } else if ratio.low > 1.0 {
            Self::Faster
        } else if ratio.low < limit && limit < 1.0 {
            Self::PerhapsSlower
        } else if ratio.high < 1.0 {
            Self::SlightlySlower
        } else if tolerance <= 0.0 && ratio.verdict() == SideVerdict::Undecided {
            Self::Undecided
        } else {
            Self::Tied
        }
    }

    /// Returns the text shown in messages and tables.
    pub fn words(&self) -> &'static str {
        match self {
            Self::Faster => "faster",
            Self::Tied => "tied",
            Self::Undecided => "undecided",
            Self::SlightlySlower => "slightly slower",
            Self::PerhapsSlower => "may be slower",
            Self::Slower => "slower",
            Self::Broken { .. } => "broken",
            Self::Untold { .. } => "not told",
            Self::OnlyInBaseline => "only in the baseline",
            Self::OnlyInCandidate => "only in the candidate",
        }
    }

    /// Returns true if this verdict fails the candidate.
    pub fn fails(&self, rules: &Rules) -> bool {
        match self {
            Self::Slower => rules.fail_if_slower.is_some(),
            Self::Broken { .. } => true,
            Self::OnlyInBaseline => rules.fail_if_missing,
            _ => false,
        }
    }

    pub fn is_told(&self) -> bool {
        !matches!(self, Self::Untold { .. } | Self::OnlyInBaseline | Self::OnlyInCandidate)
    }
}

/// Comparison of one workload on one backend.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Line {
    pub key: Key,
    /// Absent if this side has no run.
    pub baseline: Option<Side>,
    pub candidate: Option<Side>,
    pub verdict: RegressionVerdict,
    /// Basis of the verdict; absent if a side has no throughput.
    pub throughput: Option<Throughput>,
    /// Changes in other quantities; empty unless both sides have completed runs.
    pub changes: Vec<Change>,
    pub accuracy: Option<Accuracy>,
    /// Kernel variants and backend settings that only the baseline has.
    pub variants_only_in_baseline: Vec<String>,
    pub variants_only_in_candidate: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Side {
    pub runs: usize,
    /// Runs that metrics are computed from.
    pub completed: usize,
    /// Completed runs with too few windows or windows that do not agree.
    pub unsteady: usize,
    /// Completed runs that reached the target accuracy.
    pub reached_target: usize,
    /// Seeds of all runs, in run order.
    pub seeds: Vec<u32>,
    /// Worst outcome of the runs.
    pub outcome: RowOutcome,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Throughput {
    /// Geometric mean of the runs' medians.
    pub baseline: f64,
    pub candidate: f64,
    /// Ratio of candidate to baseline, with its 95 % interval.
    pub ratio: Estimate,
}

impl Side {
    fn from_runs(runs: &SideRuns<'_>) -> Option<Self> {
        let completed = completed(runs);
        let outcomes = runs.iter().map(|run| RowOutcome::of(run.seed(), run.workload));
        Some(Self {
            runs: runs.len(),
            completed: completed.len(),
            unsteady: completed.iter().filter(|run| !run.summary.stable).count(),
            reached_target: completed.iter().filter(|run| run.summary.seconds_to_target.is_some()).count(),
            seeds: runs.iter().map(|run| run.seed()).collect(),
            outcome: outcomes.max_by_key(RowOutcome::severity)?,
        })
    }

    /// Returns the reason if the workload could not be trained.
    pub fn trouble(&self) -> Option<String> {
        match self.outcome {
            RowOutcome::Completed | RowOutcome::Cancelled => None,
            _ => self.outcome.reason(),
        }
    }
}

fn completed<'a>(runs: &SideRuns<'a>) -> Vec<&'a MeasuredWorkload<'a>> {
    runs.iter().filter(|run| run.is_completed()).copied().collect()
}

impl Line {
    fn compare(key: Key, baseline: &SideRuns<'_>, candidate: &SideRuns<'_>, tolerance: f64) -> Self {
        let sides = [Side::from_runs(baseline), Side::from_runs(candidate)];
        let (before, after) = (&completed(baseline), &completed(candidate));
        let network = describe_network_difference(before, after);
        let are_complete = !before.is_empty() && !after.is_empty();
        let comparable = Some((before, after)).filter(|_| are_complete && network.is_none());
        let throughput = rates(before).zip(rates(after)).filter(|_| network.is_none()).and_then(|(before, after)| {
            let (baseline, candidate) = (geometric_mean(&before)?, geometric_mean(&after)?);
            Some(Throughput { baseline, candidate, ratio: ratio(&before, &after)? })
        });
        let exclusive_variants =
            |own: &[_], others: &[_]| comparable.map_or_else(Vec::new, |_| find_exclusive_variants(own, others));
        let verdict = decide_verdict(&sides, network, throughput.as_ref(), tolerance);
        let [baseline, candidate] = sides;
        Self {
            key,
            baseline,
            candidate,
            verdict,
            throughput,
            changes: comparable.map_or_else(Vec::new, |(before, after)| compare_quantities(before, after)),
            accuracy: comparable.and_then(|(before, after)| compare_accuracies(before, after)),
            variants_only_in_baseline: exclusive_variants(before, after),
            variants_only_in_candidate: exclusive_variants(after, before),
        }
    }
}

fn decide_verdict(
    sides: &[Option<Side>; 2],
    network: Option<String>,
    throughput: Option<&Throughput>,
    tolerance: f64,
) -> RegressionVerdict {
    let (before, after) = match sides {
        [Some(before), Some(after)] => (before, after),
        [Some(_), None] => return RegressionVerdict::OnlyInBaseline,
        _ => return RegressionVerdict::OnlyInCandidate,
    };
    let could = before.completed > 0 && before.trouble().is_none();
    let reason = match (after.trouble(), before.trouble()) {
        (Some(reason), _) if could => return RegressionVerdict::Broken { reason },
        (Some(reason), Some(_)) => format!("neither side could train it: {reason}"),
        (None, Some(reason)) => format!("the baseline could not train it: {reason}"),
        _ => match (network, throughput.map(|of| of.ratio.interval)) {
            (Some(reason), _) => reason,
            (None, Some(Some(interval))) => return RegressionVerdict::of_speed(interval, tolerance),
            (None, Some(None)) => {
                "a single run with fewer than five windows that count has no interval; train for longer".to_owned()
            }
            (None, None) if before.completed == 0 || after.completed == 0 => "a side has no completed run".to_owned(),
            (None, None) => "a run was too short for a window that counts; train for longer".to_owned(),
        },
    };
    RegressionVerdict::Untold { reason }
}

/// Returns the throughput of every run; `None` if any run lacks one.
fn rates(runs: &SideRuns<'_>) -> Option<Vec<Estimate>> {
    runs.iter().map(|run| run.summary.throughput()).collect()
}

fn describe_network_difference(baseline: &SideRuns<'_>, candidate: &SideRuns<'_>) -> Option<String> {
    let [before, after] = [baseline.first()?, candidate.first()?].map(|run| &run.workload.settings);
    let differs = |what: &str, one: u64, other: u64| {
        (one != other).then(|| format!("the networks differ: {other} {what}, and {one} in the baseline"))
    };
    differs("parameters", before.parameters, after.parameters).or_else(|| {
        let what = "operations a sample";
        differs(what, before.training_flops_per_sample, after.training_flops_per_sample)
    })
}

/// Returns the variants that all runs of `own` have and no run of `others` has.
fn find_exclusive_variants(own: &SideRuns<'_>, others: &SideRuns<'_>) -> Vec<String> {
    let has = |run: &MeasuredWorkload<'_>, variant: &String| run.workload.settings.variants.contains(variant);
    let Some((first, rest)) = own.split_first() else { return Vec::new() };
    let is_exclusive =
        |variant: &&String| rest.iter().all(|run| has(run, variant)) && !others.iter().any(|run| has(run, variant));
    distinct(first.workload.settings.variants.iter().filter(is_exclusive).cloned())
}

/// Final accuracies of both sides, as shares from 0 to 1.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Accuracy {
    /// Mean over the seeds.
    pub baseline: f64,
    pub candidate: f64,
    /// Candidate minus baseline.
    pub difference: f64,
    pub verdict: AccuracyVerdict,
    /// Largest difference that chance explains; absent if step counts differ.
    pub allowance: Option<Allowance>,
}

/// Largest difference in accuracy that chance explains.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Allowance {
    pub difference: f64,
    pub basis: Basis,
}

/// Result of comparing final accuracies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AccuracyVerdict {
    /// The difference is within what chance explains.
    Alike,
    Lower,
    Higher,
    /// The runs were not all trained for the same number of steps.
    OtherSteps,
}

names!(AccuracyVerdict { Alike = "alike", Lower = "lower", Higher = "higher", OtherSteps = "other_steps" });

/// Compares the final accuracies of completed runs; `None` if any run has no accuracy.
fn compare_accuracies(baseline: &SideRuns<'_>, candidate: &SideRuns<'_>) -> Option<Accuracy> {
    let all = || baseline.iter().chain(candidate);
    if all().any(|run| run.summary.accuracy.is_none()) {
        return None;
    }
    let [before, after] = [baseline, candidate].map(accuracies_by_seed);
    let is_paired = before.iter().map(|(seed, _)| seed).eq(after.iter().map(|(seed, _)| seed));
    let [before, after] = [before, after].map(|side| side.into_iter().map(|of| of.1).collect::<Vec<f64>>());
    let test_samples = all().map(|run| run.workload.settings.test_samples).min()?;
    let gap = AccuracyGap::between(&before, &after, test_samples, is_paired)?;
    let steps = || all().filter_map(|run| run.workload.evaluations.last()).map(|last| last.step);
    let AccuracyGap { means: [baseline, candidate], difference, allowed, basis } = gap;
    let verdict = match () {
        () if steps().min() != steps().max() => AccuracyVerdict::OtherSteps,
        () if difference.abs() <= allowed => AccuracyVerdict::Alike,
        () if difference < 0.0 => AccuracyVerdict::Lower,
        () => AccuracyVerdict::Higher,
    };
    let allowance = (verdict != AccuracyVerdict::OtherSteps).then_some(Allowance { difference: allowed, basis });
    Some(Accuracy { baseline, candidate, difference, verdict, allowance })
}

/// Quantity that is compared besides throughput, if all runs have it. Less is better.
pub struct Quantity {
    /// Identifier in serialized output; for a metric, the metric's id.
    pub id: &'static str,
    /// Title of one or two words.
    pub title: &'static str,
    value: fn(&MeasuredWorkload<'_>) -> Option<f64>,
}

pub const QUANTITIES: &[Quantity] = &[
    quantity("step_seconds_p50", "step", |run| run.summary.step_seconds_p50),
    quantity("seconds_to_target", "to target", |run| run.summary.seconds_to_target),
    quantity("testing_seconds", "testing", |run| run.summary.testing_seconds),
    quantity("cold_start_seconds", "start", |run| run.workload.cold_start.seconds()),
    quantity("device_memory_bytes", "device memory", |run| {
        Some(run.workload.settings.device_memory_bytes as f64).filter(|bytes| *bytes > 0.0)
    }),
    quantity("host_memory_bytes", "host memory", |run| {
        run.workload.resources.resident_memory_maximum_bytes.map(|bytes| bytes as f64)
    }),
];

const fn quantity(id: &'static str, title: &'static str, value: fn(&MeasuredWorkload<'_>) -> Option<f64>) -> Quantity {
    Quantity { id, title, value }
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Change {
    /// Id in [`QUANTITIES`].
    pub id: String,
    /// Geometric mean over the runs; absent unless all runs have the quantity.
    pub baseline: Option<f64>,
    pub candidate: Option<f64>,
    /// Ratio of candidate to baseline, without an interval if each side has a single run.
    pub ratio: Option<Estimate>,
}

impl Change {
    /// Returns true if the change exceeds what chance explains.
    pub fn is_certain(&self) -> bool {
        self.ratio.and_then(|ratio| ratio.interval).is_some_and(|interval| interval.low > 1.0 || interval.high < 1.0)
    }
}

fn compare_quantities(baseline: &SideRuns<'_>, candidate: &SideRuns<'_>) -> Vec<Change> {
    let change = |quantity: &Quantity| {
        let of = |runs: &SideRuns<'_>| -> Option<Vec<Estimate>> {
            let bare = |run: &&MeasuredWorkload<'_>| Some(Estimate { value: (quantity.value)(run)?, interval: None });
            runs.iter().map(bare).collect()
        };
        let (baseline, candidate) = (of(baseline), of(candidate));
        Change {
            id: quantity.id.to_owned(),
            baseline: baseline.as_deref().and_then(geometric_mean),
            candidate: candidate.as_deref().and_then(geometric_mean),
            ratio: baseline.zip(candidate).and_then(|(baseline, candidate)| ratio(&baseline, &candidate)),
        }
    };
    QUANTITIES.iter().map(change).collect()
}
