//! Agreement in accuracy between backends that trained from the same seeds.

use std::fmt;

use results::statistics::{mean, student_bound, variance};
use results::summary::MeasuredWorkload;
use results::{Contender, Summary, WorkloadRecord};
use serde::{Deserialize, Serialize};

/// Slack for rounding errors in accuracies, as a share of one test sample.
const ROUNDING_SLACK: f64 = 1e-3;

/// Random variation of a run's accuracy.
struct Spread {
    basis: Basis,
    /// Variance of one run's accuracy.
    variance: f64,
    degrees_of_freedom: u32,
    test_samples: f64,
}

impl Spread {
    /// Computes the spread from the accuracies of each contender's runs, each run from a different seed.
    ///
    /// If no contender has two runs, the standard deviation is the sampling error of a share `p` of `m` test samples,
    /// `√(p (1 − p) / m)`, as in the test for the difference of two proportions in Dietterich, "Approximate Statistical
    /// Tests for Comparing Supervised Classification Learning Algorithms", Neural Computation 10, 1998. For a text, `m`
    /// counts windows and not characters, whose answers depend on each other. So its bound is never too narrow.
    fn unpaired(accuracies: &[Vec<f64>], test_samples: u32) -> Self {
        let count = |length: usize| u32::try_from(length).unwrap_or(u32::MAX);
        let samples = test_samples.max(1);
        let test_samples = f64::from(samples);
        let several = || accuracies.iter().filter_map(|of| Some((count(of.len()) - 1, variance(of)?)));
        let degrees_of_freedom: u32 = several().map(|(degrees, _)| degrees).sum();
        if degrees_of_freedom == 0 {
            let means: Vec<f64> = accuracies.iter().filter_map(|of| mean(of)).collect();
            let share = mean(&means).unwrap_or_default();
            let variance = share * (1.0 - share) / test_samples;
            return Self { basis: Basis::TestSamples, variance, degrees_of_freedom: samples - 1, test_samples };
        }
        let squares: f64 = several().map(|(degrees, variance)| f64::from(degrees) * variance).sum();
        let variance = squares / f64::from(degrees_of_freedom);
        Self { basis: Basis::Seeds, variance, degrees_of_freedom, test_samples }
    }

    /// Computes the spread from paired runs, in which all contenders have the same seeds in the same order.
    ///
    /// With several seeds this is the residual variance of randomized blocks (Fisher, *The Design of Experiments*,
    /// 1935), with (contenders - 1) · (seeds - 1) degrees of freedom; for two contenders, the variance of Student's
    /// test of paired differences. With one seed it equals [`Spread::unpaired`].
    fn paired(accuracies: &[Vec<f64>], test_samples: u32) -> Self {
        let unpaired = Self::unpaired(accuracies, test_samples);
        let (contenders, seeds) = (accuracies.len(), accuracies.first().map_or(0, Vec::len));
        if contenders < 2 || seeds < 2 {
            return unpaired;
        }
        let of_seed = |seed: usize| mean(&accuracies.iter().map(|of| of[seed]).collect::<Vec<f64>>());
        let of_seeds: Vec<f64> = (0..seeds).filter_map(of_seed).collect();
        let apart = |of: &Vec<f64>| of.iter().zip(&of_seeds).map(|(one, all)| one - all).collect::<Vec<f64>>();
        let left: f64 = accuracies.iter().filter_map(|of| variance(&apart(of))).sum();
        let variance = left / (contenders - 1) as f64;
        let degrees_of_freedom = u32::try_from((contenders - 1) * (seeds - 1)).unwrap_or(u32::MAX);
        Self { basis: Basis::Seeds, variance, degrees_of_freedom, ..unpaired }
    }

    /// Returns the largest difference in means that chance explains, at a false-alarm rate of `false_alarms`.
    ///
    /// The difference between the means of `n` and `m` runs exceeds `t · s · √(1/n + 1/m)` with the probability given
    /// by Student's t-distribution ("The probable error of a mean", Biometrika 6, 1908), where `s` is the standard
    /// deviation of one run. The bound is at least one test sample, the resolution of an accuracy.
    fn max_difference(&self, false_alarms: f64, runs: [usize; 2]) -> f64 {
        let bound = student_bound(1.0 - false_alarms, self.degrees_of_freedom);
        let [one, other] = runs.map(|runs| runs.max(1) as f64);
        let explained = bound * self.variance.sqrt() * (1.0 / one + 1.0 / other).sqrt();
        explained.max((1.0 + ROUNDING_SLACK) / self.test_samples)
    }
}

/// Probability that equivalent backends are reported as different, over all pairs.
const FALSE_ALARM_RATE: f64 = 0.05;
/// Widest bound at which accuracies are said to agree; above it, the verdict is unclear.
pub const MAX_AGREEMENT_WIDTH: f64 = 0.02;

/// Difference in mean accuracy between two sides, and its bound.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AccuracyGap {
    pub means: [f64; 2],
    /// Second mean minus the first.
    pub difference: f64,
    /// Largest difference that chance explains.
    pub allowed: f64,
    pub basis: Basis,
}

impl AccuracyGap {
    /// Compares accuracies, one per seed; paired ones have the same order of seeds. `None` if a side is empty.
    pub fn between(base: &[f64], other: &[f64], test_samples: u32, is_paired: bool) -> Option<Self> {
        let means = [mean(base)?, mean(other)?];
        let both = [base.to_vec(), other.to_vec()];
        let spread =
            if is_paired { Spread::paired(&both, test_samples) } else { Spread::unpaired(&both, test_samples) };
        let allowed = spread.max_difference(FALSE_ALARM_RATE, [base.len(), other.len()]);
        Some(Self { means, difference: means[1] - means[0], allowed, basis: spread.basis })
    }
}

/// Returns the accuracy of each seed, sorted by seed. Several runs from one seed count once, with their mean.
pub fn accuracies_by_seed(runs: &[&MeasuredWorkload<'_>]) -> Vec<(u32, f64)> {
    means_by_seed(runs, |summary| summary.accuracy)
}

/// Returns the mean of a metric over the runs of each seed, sorted by seed.
pub(crate) fn means_by_seed(runs: &[&MeasuredWorkload<'_>], of: fn(&Summary) -> Option<f64>) -> Vec<(u32, f64)> {
    let mut seeds: Vec<u32> = runs.iter().map(|run| run.seed()).collect();
    seeds.sort_unstable();
    seeds.dedup();
    let of_seed = |seed: u32| {
        let own = runs.iter().filter(|run| run.seed() == seed);
        Some((seed, mean(&own.filter_map(|run| of(&run.summary)).collect::<Vec<f64>>())?))
    };
    seeds.into_iter().filter_map(of_seed).collect()
}

/// Verdict on the agreement of accuracies.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "verdict", rename_all = "snake_case")]
pub enum Agreement {
    /// The differences are within the spread, and the spread is narrow.
    Agree { evidence: Evidence },
    /// Some differences exceed the spread.
    Disagree {
        evidence: Evidence,
        /// Pairs whose difference exceeds the spread.
        pairs: Vec<Pair>,
    },
    /// The differences are within the spread, but the spread is too wide to decide anything.
    Unclear { evidence: Evidence },
    /// No accuracies could be compared.
    NotCompared { obstacle: Obstacle },
}

/// Basis of a verdict; accuracies and their differences are shares from 0 to 1.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    pub basis: Basis,
    /// Seeds that every backend finished.
    pub seeds: Vec<u32>,
    /// Last step at which all of these runs were evaluated.
    pub step: u64,
    /// True if this was the last evaluation of all of them.
    pub is_final: bool,
    pub test_samples: u32,
    /// Standard deviation of one run's accuracy: with several seeds, without the effect that a seed has on all
    /// backends; otherwise, the sampling error of the test set.
    pub spread: f64,
    /// Largest difference in mean accuracy between two backends.
    pub largest_difference: f64,
    /// Largest difference that the spread explains.
    pub allowed_difference: f64,
    /// Largest difference between two backends with the same seed, which started as rounding errors.
    pub largest_same_seed_difference: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// Differences between paired runs with the same seed; otherwise, the variance over seeds, averaged
    /// over backends.
    Seeds,
    /// Binomial sampling error of the test set, used if each backend has a single seed.
    TestSamples,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pair {
    /// Contender with the higher mean.
    pub higher: Contender,
    pub lower: Contender,
    pub difference: f64,
}

/// Reason why accuracies could not be compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Obstacle {
    #[error("fewer than two back ends finished")]
    TooFewBackEnds,
    #[error("no seed was finished by all back ends")]
    NoCommonSeed,
    /// For example because each trained for the same time.
    #[error("the back ends were never tested after the same step; a number of epochs gives all of them the same work")]
    NoCommonStep,
}

pub(super) fn compare<'a>(contenders: &[(&'a Contender, Vec<&MeasuredWorkload<'a>>)]) -> Agreement {
    gather(contenders).map_or_else(|obstacle| Agreement::NotCompared { obstacle }, |found| judge(&found))
}

/// Accuracies of the common seeds at their last common step.
struct Gathered<'a> {
    contenders: Vec<&'a Contender>,
    /// For each contender, in seed order.
    accuracies: Vec<Vec<f64>>,
    seeds: Vec<u32>,
    step: u64,
    is_final: bool,
    test_samples: u32,
}

fn gather<'a>(contenders: &[(&'a Contender, Vec<&MeasuredWorkload<'a>>)]) -> Result<Gathered<'a>, Obstacle> {
    let [(_, first), _, ..] = contenders else { return Err(Obstacle::TooFewBackEnds) };
    let everywhere = |seed: &u32| contenders.iter().all(|(_, runs)| runs.iter().any(|run| run.seed() == *seed));
    let mut seeds: Vec<u32> = first.iter().map(|run| run.seed()).filter(everywhere).collect();
    seeds.sort_unstable();
    seeds.dedup();
    let by_seed = |runs: &Vec<&MeasuredWorkload<'a>>| {
        seeds.iter().filter_map(|seed| runs.iter().find(|run| run.seed() == *seed)).map(|run| run.workload).collect()
    };
    let records: Vec<Vec<&WorkloadRecord>> = contenders.iter().map(|(_, runs)| by_seed(runs)).collect();
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

fn accuracy_after(record: &WorkloadRecord, step: u64) -> Option<f64> {
    record.evaluations.iter().find(|evaluation| evaluation.step == step).map(|evaluation| evaluation.accuracy)
}

/// Compares the means, with a Bonferroni correction for the number of pairs.
fn judge(found: &Gathered<'_>) -> Agreement {
    let means: Vec<f64> = found.accuracies.iter().filter_map(|of| mean(of)).collect();
    let spread = Spread::paired(&found.accuracies, found.test_samples);
    let all_pairs = rank_pairs(&found.contenders, &means);
    let allowed = spread.max_difference(FALSE_ALARM_RATE / all_pairs.len() as f64, [found.seeds.len(); 2]);
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
    } else if allowed > MAX_AGREEMENT_WIDTH {
        Agreement::Unclear { evidence }
    } else {
        Agreement::Agree { evidence }
    }
}

fn rank_pairs(contenders: &[&Contender], means: &[f64]) -> Vec<Pair> {
    let named: Vec<(&Contender, f64)> = contenders.iter().copied().zip(means.iter().copied()).collect();
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
        let (evidence, pairs) = match self {
            Self::NotCompared { obstacle } => return write!(f, "Accuracies were not compared: {obstacle}"),
            Self::Disagree { evidence, pairs } => (evidence, Some(pairs)),
            Self::Agree { evidence } | Self::Unclear { evidence } => (evidence, None),
        };
        if evidence.is_final {
            f.write_str("Final accuracies")?;
        } else {
            write!(f, "Accuracies after step {} (the last that all were tested at)", evidence.step)?;
        }
        let [largest, allowed] = [evidence.largest_difference, evidence.allowed_difference].map(format_points);
        let spread = match evidence.basis {
            Basis::Seeds => format!("the paired differences of {} seeds", evidence.seeds.len()),
            Basis::TestSamples => format!("sampling errors of {} test samples (one seed)", evidence.test_samples),
        };
        if let Some(pairs) = pairs {
            let named: Vec<String> = pairs.iter().map(Pair::to_string).collect();
            return write!(f, " disagree: {}; {spread} explain {allowed}", named.join(", "));
        }
        write!(
            f,
            ": no difference found; they differ by up to {largest}, and {allowed} are expected by chance ({spread})"
        )?;
        match self {
            Self::Unclear { .. } => f.write_str("; that is undecided, and more seeds would decide it"),
            _ => Ok(()),
        }
    }
}

impl fmt::Display for Pair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is {} above {}", self.higher, format_points(self.difference), self.lower)
    }
}

fn format_points(difference: f64) -> String {
    format!("{:.2} points", difference * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variances_are_weighted_by_degrees_of_freedom() {
        let spread = Spread::unpaired(&[vec![0.90, 0.92], vec![0.5], vec![0.80, 0.80, 0.80]], 10_000);
        assert_eq!(spread.basis, Basis::Seeds);
        assert!((spread.variance - 0.0002 / 3.0).abs() < 1e-12, "{}", spread.variance);
        // Student's bound for three degrees of freedom is 3.182.
        let expected = 3.182 * spread.variance.sqrt() * (0.5_f64 + 1.0).sqrt();
        assert!((spread.max_difference(0.05, [2, 1]) / expected - 1.0).abs() < 1e-3);
    }

    use crate::normal::Normal;
    use results::Precision;

    /// Returns the share of experiments in which backends disagree when the last one is shifted. Accuracies are the sum
    /// of independent noise and a part of each seed, with standard deviation `of_seed`.
    fn disagreement_rate(contenders: usize, runs: u32, of_seed: f64, shift: f64) -> f64 {
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

    #[test]
    fn false_alarms_are_rare_and_real_differences_found() {
        for (contenders, runs, of_seed) in [(2, 2, 0.0), (2, 3, 0.02), (3, 3, 0.0), (5, 3, 0.02), (2, 10, 0.02)] {
            let rate = disagreement_rate(contenders, runs, of_seed, 0.0);
            assert!((0.005..0.065).contains(&rate), "{contenders} back ends, {runs} runs: {rate}");
        }
        for contenders in [2, 3] {
            let rate = disagreement_rate(contenders, 3, 0.02, 0.014);
            assert!(rate > 0.9, "{contenders} back ends: {rate}");
        }
    }
}
