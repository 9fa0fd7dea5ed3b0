//! Whether back ends that trained from the same seeds reached the same accuracy.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::spread::Spread;
use super::{Contender, Run};
use crate::WorkloadRecord;
use crate::statistics::mean;

/// Chance of calling back ends different that are not, all their pairs together.
pub const FALSE_ALARM: f64 = 0.05;
/// Accuracies that could be further apart than this without being told apart are not called the same.
pub const WIDEST_AGREEMENT: f64 = 0.02;

/// Whether the accuracies agree.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "verdict", rename_all = "snake_case", deny_unknown_fields)]
pub enum Agreement {
    /// The means are no further apart than the spread explains, and it explains little.
    Agree { evidence: Evidence },
    /// Some are.
    Disagree {
        evidence: Evidence,
        /// Those that are further apart than the spread explains.
        pairs: Vec<Pair>,
    },
    /// The spread explains the distance, but it is so wide that nothing is decided.
    Unclear { evidence: Evidence },
    /// There was nothing to compare.
    NotCompared { obstacle: Obstacle },
}

/// What a verdict is made of; accuracies and their differences are shares from 0 to 1.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Evidence {
    pub basis: Basis,
    /// Seeds that every back end finished.
    pub seeds: Vec<u32>,
    /// The last step after which every one of these runs was tested.
    pub step: u64,
    /// Whether that was the end of all of them.
    pub is_final: bool,
    pub test_samples: u32,
    /// Standard deviation of the accuracy of one run, with several seeds without what its seed does to all back ends.
    pub spread: f64,
    /// Between the means of two back ends.
    pub largest_difference: f64,
    /// What the spread explains.
    pub allowed_difference: f64,
    /// Between two back ends that trained from the same seed: what rounding has grown to.
    pub largest_same_seed_difference: f64,
}

/// Where the spread comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// The differences between runs from the same seed where runs are paired, otherwise the variance over the seeds,
    /// averaged over those that are compared.
    Seeds,
    /// One seed has no spread of its own: the binomial sampling error of the test set stands in for it.
    TestSamples,
}

/// Two back ends whose accuracies are apart.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pair {
    /// The one with the higher mean.
    pub higher: Contender,
    pub lower: Contender,
    pub difference: f64,
}

/// Why accuracies could not be compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Obstacle {
    /// Fewer than two back ends finished.
    TooFewBackEnds,
    /// No seed was finished by all of them.
    NoCommonSeed,
    /// There is no step after which all of them were tested, as when each trained for the same time.
    NoCommonStep,
}

/// Compares the accuracies of the completed runs of each back end.
pub(super) fn find(contenders: &[(&Contender, Vec<&Run<'_>>)]) -> Agreement {
    match gather(contenders) {
        Ok(found) => judge(&found),
        Err(obstacle) => Agreement::NotCompared { obstacle },
    }
}

/// Accuracies after the same step of the same seeds.
struct Gathered<'a> {
    contenders: Vec<&'a Contender>,
    /// For each contender, in the order of the seeds.
    accuracies: Vec<Vec<f64>>,
    seeds: Vec<u32>,
    step: u64,
    is_final: bool,
    test_samples: u32,
}

/// The accuracies that can be held beside each other: the latest that belong to the same seeds and the same step.
fn gather<'a>(contenders: &[(&'a Contender, Vec<&Run<'_>>)]) -> Result<Gathered<'a>, Obstacle> {
    let [(_, first), _, ..] = contenders else { return Err(Obstacle::TooFewBackEnds) };
    let everywhere = |seed: &u32| contenders.iter().all(|(_, runs)| runs.iter().any(|run| run.seed == *seed));
    let mut seeds: Vec<u32> = first.iter().map(|run| run.seed).filter(everywhere).collect();
    seeds.sort_unstable();
    seeds.dedup();
    let records: Vec<Vec<&WorkloadRecord>> = contenders.iter().map(|(_, runs)| of_seeds(&seeds, runs)).collect();
    let all = || records.iter().flatten();
    let any = all().next().ok_or(Obstacle::NoCommonSeed)?;
    let tested = |step: &u64| all().all(|record| accuracy_after(record, *step).is_some());
    let step = any.evaluations.iter().rev().map(|evaluation| evaluation.step).find(tested);
    let step = step.ok_or(Obstacle::NoCommonStep)?;
    let accuracies = |records: &Vec<&WorkloadRecord>| {
        records.iter().filter_map(|record| accuracy_after(record, step)).collect::<Vec<_>>()
    };
    Ok(Gathered {
        contenders: contenders.iter().map(|(contender, _)| *contender).collect(),
        accuracies: records.iter().map(accuracies).collect(),
        is_final: all().all(|record| record.evaluations.last().is_some_and(|last| last.step == step)),
        test_samples: all().map(|record| record.settings.test_samples).min().unwrap_or(0).max(1),
        seeds,
        step,
    })
}

fn of_seeds<'a>(seeds: &[u32], runs: &[&Run<'a>]) -> Vec<&'a WorkloadRecord> {
    seeds.iter().filter_map(|seed| runs.iter().find(|run| run.seed == *seed)).map(|run| run.record).collect()
}

fn accuracy_after(record: &WorkloadRecord, step: u64) -> Option<f64> {
    record.evaluations.iter().find(|evaluation| evaluation.step == step).map(|evaluation| evaluation.accuracy)
}

/// With several pairs each gets its part of the false alarms, after Bonferroni.
fn judge(found: &Gathered<'_>) -> Agreement {
    let means: Vec<f64> = found.accuracies.iter().filter_map(|of| mean(of)).collect();
    let spread = Spread::paired(&found.accuracies, found.test_samples);
    let pairs = (found.contenders.len() * (found.contenders.len() - 1)) as f64 / 2.0;
    let allowed = spread.explains(FALSE_ALARM / pairs, [found.seeds.len(); 2]);
    let all_pairs = pairs_of(found, &means);
    let largest_difference = all_pairs.iter().map(|pair| pair.difference).fold(0.0, f64::max);
    let evidence = Evidence {
        basis: spread.basis,
        seeds: found.seeds.clone(),
        step: found.step,
        is_final: found.is_final,
        test_samples: found.test_samples,
        spread: spread.variance.sqrt(),
        largest_difference,
        allowed_difference: allowed,
        largest_same_seed_difference: largest_same_seed_difference(&found.accuracies),
    };
    let apart: Vec<Pair> = all_pairs.into_iter().filter(|pair| pair.difference > allowed).collect();
    if !apart.is_empty() {
        Agreement::Disagree { evidence, pairs: apart }
    } else if allowed > WIDEST_AGREEMENT {
        Agreement::Unclear { evidence }
    } else {
        Agreement::Agree { evidence }
    }
}

fn pairs_of(found: &Gathered<'_>, means: &[f64]) -> Vec<Pair> {
    let named: Vec<(&Contender, f64)> = found.contenders.iter().copied().zip(means.iter().copied()).collect();
    let mut pairs = Vec::new();
    for (index, &one) in named.iter().enumerate() {
        for &other in &named[index + 1..] {
            let (higher, lower) = if one.1 >= other.1 { (one, other) } else { (other, one) };
            pairs.push(Pair { higher: higher.0.clone(), lower: lower.0.clone(), difference: higher.1 - lower.1 });
        }
    }
    pairs
}

fn largest_same_seed_difference(accuracies: &[Vec<f64>]) -> f64 {
    let seeds = accuracies.first().map_or(0, Vec::len);
    let range = |seed: usize| {
        let of_seed = || accuracies.iter().map(|of| of[seed]);
        of_seed().fold(f64::NEG_INFINITY, f64::max) - of_seed().fold(f64::INFINITY, f64::min)
    };
    (0..seeds).map(range).fold(0.0, f64::max)
}

impl fmt::Display for Agreement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Agree { evidence } => f.write_str(&nothing_found(evidence)),
            Self::Disagree { evidence, pairs } => {
                let named: Vec<String> = pairs.iter().map(Pair::to_string).collect();
                write!(
                    f,
                    "{} disagree: {}; {} explain {}",
                    subject(evidence),
                    named.join(", "),
                    spread(evidence),
                    points(evidence.allowed_difference)
                )
            }
            Self::Unclear { evidence } => {
                write!(f, "{}; that is undecided, and more seeds would decide it", nothing_found(evidence))
            }
            Self::NotCompared { obstacle } => write!(f, "Accuracies were not compared: {obstacle}"),
        }
    }
}

impl fmt::Display for Pair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is {} above {}", self.higher, points(self.difference), self.lower)
    }
}

impl fmt::Display for Obstacle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TooFewBackEnds => "fewer than two back ends finished",
            Self::NoCommonSeed => "no seed was finished by all back ends",
            Self::NoCommonStep => {
                "the back ends were never tested after the same step; a number of epochs gives all of them the same work"
            }
        })
    }
}

fn subject(evidence: &Evidence) -> String {
    if evidence.is_final {
        "Final accuracies".to_owned()
    } else {
        format!("Accuracies after step {} (the last that all were tested at)", evidence.step)
    }
}

fn spread(evidence: &Evidence) -> String {
    match evidence.basis {
        Basis::Seeds => format!("the paired differences of {} seeds", evidence.seeds.len()),
        Basis::TestSamples => format!("sampling errors of {} test samples (one seed)", evidence.test_samples),
    }
}

fn nothing_found(evidence: &Evidence) -> String {
    format!(
        "{}: no difference found; {} or more would have been, by {}; they differ by up to {}",
        subject(evidence),
        points(evidence.allowed_difference),
        spread(evidence),
        points(evidence.largest_difference)
    )
}

/// A difference of shares, in points of percent.
fn points(difference: f64) -> String {
    format!("{:.2} points", difference * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Precision;

    /// Numbers of a linear congruential generator (Knuth's constants), twelve of them for a nearly normal one.
    struct Normal(u64);

    impl Normal {
        fn next(&mut self) -> f64 {
            let mut uniform = || {
                self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (self.0 >> 40) as f64 / f64::from(1 << 24)
            };
            (0..12).map(|_| uniform()).sum::<f64>() - 6.0
        }
    }

    /// Share of experiments whose verdict is that back ends disagree, when the last of them is shifted. Accuracies have a
    /// part that is the seed's, with the standard deviation `of_seed`, and a part of their own.
    fn alarms(contenders: usize, runs: u32, of_seed: f64, shift: f64) -> f64 {
        let deviation = 0.002;
        let named = Contender { backend: "any".to_owned(), precision: Precision::F32 };
        let mut normal = Normal(1);
        let experiments = 2000;
        let alarms = (0..experiments).filter(|_| {
            let seeds: Vec<f64> = (0..runs).map(|_| 0.9 + of_seed * normal.next()).collect();
            let mut accuracies: Vec<Vec<f64>> = (0..contenders)
                .map(|_| seeds.iter().map(|accuracy| accuracy + deviation * normal.next()).collect())
                .collect();
            accuracies[contenders - 1].iter_mut().for_each(|accuracy| *accuracy += shift);
            let found = Gathered {
                contenders: vec![&named; contenders],
                accuracies,
                seeds: (0..runs).collect(),
                step: 1,
                is_final: true,
                test_samples: 1_000_000,
            };
            matches!(judge(&found), Agreement::Disagree { .. })
        });
        alarms.count() as f64 / f64::from(experiments)
    }

    /// Equal back ends must not be called different more often than was promised, however far seeds spread. A difference
    /// that is smaller than the spread of the seeds must be found, because the runs are paired.
    #[test]
    fn false_alarms_are_as_rare_as_promised_and_real_differences_are_found() {
        for (contenders, runs, of_seed) in [(2, 2, 0.0), (2, 3, 0.02), (3, 3, 0.0), (5, 3, 0.02), (2, 10, 0.02)] {
            let rate = alarms(contenders, runs, of_seed, 0.0);
            assert!((0.005..0.065).contains(&rate), "{contenders} back ends, {runs} runs: {rate}");
        }
        for contenders in [2, 3] {
            let rate = alarms(contenders, 3, 0.02, 0.014);
            assert!(rate > 0.9, "{contenders} back ends: {rate}");
        }
    }
}
