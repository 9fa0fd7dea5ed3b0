//! Whether the candidate learned as much as the baseline.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Run;
use crate::comparison::{Basis, FALSE_ALARM, Spread};
use crate::statistics::mean;

/// The final accuracies of both sides; shares from 0 to 1.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Accuracy {
    /// The mean over the seeds.
    pub baseline: f64,
    pub candidate: f64,
    /// The candidate's less the baseline's.
    pub difference: f64,
    pub verdict: AccuracyVerdict,
    /// What the difference is held to; absent where nothing was held.
    pub allowance: Option<Allowance>,
}

/// How far accuracies may be apart without anything but chance.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Allowance {
    pub difference: f64,
    pub basis: Basis,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AccuracyVerdict {
    /// No further apart than chance explains.
    Alike,
    Lower,
    Higher,
    /// They were not trained for the same number of steps, so that nothing follows.
    OtherSteps,
}

/// Compares what was reached at the end of completed runs; nothing where a side was never tested.
pub(super) fn compare(baseline: &[&Run<'_>], candidate: &[&Run<'_>]) -> Option<Accuracy> {
    let [of_baseline, of_candidate] = [by_seed(baseline)?, by_seed(candidate)?];
    let is_paired = of_baseline.iter().map(|of| of.0).eq(of_candidate.iter().map(|of| of.0));
    let sides = [of_baseline, of_candidate].map(|side| side.into_iter().map(|of| of.1).collect::<Vec<f64>>());
    let [before, after] = [mean(&sides[0])?, mean(&sides[1])?];
    let difference = after - before;
    let all = || baseline.iter().chain(candidate);
    let steps = || all().filter_map(|run| run.workload.evaluations.last()).map(|last| last.step);
    let accuracy = |verdict, allowance| Accuracy { baseline: before, candidate: after, difference, verdict, allowance };
    if steps().min() != steps().max() {
        return Some(accuracy(AccuracyVerdict::OtherSteps, None));
    }
    let test_samples = all().map(|run| run.workload.settings.test_samples).min()?;
    let spread = if is_paired { Spread::paired(&sides, test_samples) } else { Spread::of(&sides, test_samples) };
    let allowed = spread.explains(FALSE_ALARM, [sides[0].len(), sides[1].len()]);
    let verdict = if difference.abs() <= allowed {
        AccuracyVerdict::Alike
    } else if difference < 0.0 {
        AccuracyVerdict::Lower
    } else {
        AccuracyVerdict::Higher
    };
    Some(accuracy(verdict, Some(Allowance { difference: allowed, basis: spread.basis })))
}

/// Each seed with its accuracy. A seed that was trained from twice tells nothing new the second time.
fn by_seed(runs: &[&Run<'_>]) -> Option<Vec<(u32, f64)>> {
    let mut seeds: Vec<u32> = runs.iter().map(|run| run.record.seed).collect();
    seeds.sort_unstable();
    seeds.dedup();
    let of_seed = |seed: &u32| {
        let own = runs.iter().filter(|run| run.record.seed == *seed);
        Some((*seed, mean(&own.map(|run| run.summary.accuracy).collect::<Option<Vec<f64>>>()?)?))
    };
    seeds.iter().map(of_seed).collect()
}
