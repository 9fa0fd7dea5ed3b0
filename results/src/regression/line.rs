//! One workload on one back end, of both sides.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::accuracy::{self, Accuracy};
use super::quantity::{self, Change};
use super::{Key, Run, Verdict, speed};
use crate::Outcome;
use crate::comparison::RowOutcome;
use crate::estimate::Estimate;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Line {
    pub key: Key,
    /// Absent where that side has no run of it.
    pub baseline: Option<Side>,
    pub candidate: Option<Side>,
    pub verdict: Verdict,
    /// What the verdict is made of; absent where a side has no figure.
    pub throughput: Option<Throughput>,
    /// What else is compared; empty unless both sides have completed runs.
    pub changes: Vec<Change>,
    pub accuracy: Option<Accuracy>,
    /// Kernels and settings of the back end that only runs of the baseline have.
    pub variants_only_in_baseline: Vec<String>,
    pub variants_only_in_candidate: Vec<String>,
}

/// The runs of one side.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Side {
    pub runs: usize,
    /// Figures are those of the completed runs.
    pub completed: usize,
    /// Completed runs whose windows did not agree, or were too few.
    pub unsteady: usize,
    /// Completed runs that reached the target accuracy.
    pub reached_target: usize,
    /// Of all runs, in their order.
    pub seeds: Vec<u32>,
    /// The worst of them.
    pub outcome: RowOutcome,
}

/// Samples per second of both sides.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Throughput {
    /// The geometric mean of the runs' medians.
    pub baseline: f64,
    pub candidate: f64,
    /// The candidate's over the baseline's, with its 95 % interval.
    pub ratio: Estimate,
}

impl Side {
    fn of(runs: &[&Run<'_>]) -> Option<Self> {
        let completed = completed(runs);
        let outcomes = runs.iter().map(|run| RowOutcome::of(run.record.seed, run.workload));
        Some(Self {
            runs: runs.len(),
            completed: completed.len(),
            unsteady: completed.iter().filter(|run| !run.summary.stable).count(),
            reached_target: completed.iter().filter(|run| run.summary.seconds_to_target.is_some()).count(),
            seeds: runs.iter().map(|run| run.record.seed).collect(),
            outcome: outcomes.max_by_key(RowOutcome::severity)?,
        })
    }

    /// Why it could not be trained, if it could not.
    pub fn trouble(&self) -> Option<String> {
        match self.outcome {
            RowOutcome::Completed | RowOutcome::Cancelled => None,
            _ => self.outcome.reason(),
        }
    }
}

fn completed<'a, 'b>(runs: &[&'b Run<'a>]) -> Vec<&'b Run<'a>> {
    runs.iter().filter(|run| run.workload.outcome == Outcome::Completed).copied().collect()
}

pub(super) fn line(key: Key, baseline: &[&Run<'_>], candidate: &[&Run<'_>], tolerance: f64) -> Line {
    let sides = [Side::of(baseline), Side::of(candidate)];
    let finished = [completed(baseline), completed(candidate)];
    let [before, after] = &finished;
    let network = other_network(before, after);
    let throughput = if network.is_none() { throughput(before, after) } else { None };
    let both = !before.is_empty() && !after.is_empty() && network.is_none();
    let [only_before, only_after] = [(before, after), (after, before)].map(|(own, other)| variants_only(own, other));
    Line {
        verdict: verdict(&sides, network, throughput.as_ref(), tolerance),
        throughput,
        changes: if both { quantity::changes(before, after) } else { Vec::new() },
        accuracy: if both { accuracy::compare(before, after) } else { None },
        variants_only_in_baseline: if both { only_before } else { Vec::new() },
        variants_only_in_candidate: if both { only_after } else { Vec::new() },
        key,
        baseline: sides[0].clone(),
        candidate: sides[1].clone(),
    }
}

fn verdict(
    sides: &[Option<Side>; 2],
    network: Option<String>,
    throughput: Option<&Throughput>,
    tolerance: f64,
) -> Verdict {
    let (before, after) = match sides {
        [Some(before), Some(after)] => (before, after),
        [Some(_), None] => return Verdict::OnlyInBaseline,
        _ => return Verdict::OnlyInCandidate,
    };
    let could = before.completed > 0 && before.trouble().is_none();
    match (after.trouble(), before.trouble()) {
        (Some(reason), _) if could => return Verdict::Broken { reason },
        (Some(reason), Some(_)) => return Verdict::Untold { reason: format!("neither side could train it: {reason}") },
        (None, Some(reason)) => {
            return Verdict::Untold { reason: format!("the baseline could not train it: {reason}") };
        }
        _ => {}
    }
    let untold = |reason: &str| Verdict::Untold { reason: reason.to_owned() };
    if let Some(reason) = network {
        return Verdict::Untold { reason };
    }
    match throughput.map(|of| of.ratio.interval) {
        Some(Some(interval)) => Verdict::of_speed(interval, tolerance),
        Some(None) => untold("a single run with fewer than five windows that count has no interval; train for longer"),
        None if before.completed == 0 || after.completed == 0 => untold("a side has no completed run"),
        None => untold("a run was too short for a window that counts; train for longer"),
    }
}

fn throughput(baseline: &[&Run<'_>], candidate: &[&Run<'_>]) -> Option<Throughput> {
    let [before, after] = [rates(baseline)?, rates(candidate)?];
    Some(Throughput {
        baseline: speed::figure(&before)?,
        candidate: speed::figure(&after)?,
        ratio: speed::ratio(&before, &after)?,
    })
}

/// Throughputs of runs; nothing where one of them has none.
fn rates(runs: &[&Run<'_>]) -> Option<Vec<Estimate>> {
    runs.iter().map(|run| run.summary.throughput()).collect()
}

/// What makes the networks of both sides different ones, if they are.
fn other_network(baseline: &[&Run<'_>], candidate: &[&Run<'_>]) -> Option<String> {
    let [before, after] = [baseline.first()?, candidate.first()?].map(|run| &run.workload.settings);
    let differs = |what: &str, one: u64, other: u64| {
        (one != other).then(|| format!("the networks differ: {other} {what}, and {one} in the baseline"))
    };
    differs("parameters", before.parameters, after.parameters).or_else(|| {
        let what = "operations a sample";
        differs(what, before.training_flops_per_sample, after.training_flops_per_sample)
    })
}

/// What every one of `own` says about itself, and none of `others`.
fn variants_only(own: &[&Run<'_>], others: &[&Run<'_>]) -> Vec<String> {
    let has = |run: &Run<'_>, variant: &String| run.workload.settings.variants.contains(variant);
    let Some((first, rest)) = own.split_first() else { return Vec::new() };
    let mut found: Vec<String> = Vec::new();
    for variant in &first.workload.settings.variants {
        let everywhere = rest.iter().all(|run| has(run, variant));
        if everywhere && !others.iter().any(|run| has(run, variant)) && !found.contains(variant) {
            found.push(variant.clone());
        }
    }
    found
}
