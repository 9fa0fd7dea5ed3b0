//! Whether two groups differ by more than chance.

use results::statistics::{mean, student_bound, variance};

use crate::group::Group;
use crate::run::Estimate;

/// How often a bound may be wrong is one in twenty.
const LEVEL: f64 = 0.95;
/// An accuracy is a count over the test set; what is less than this part of a sample comes from arithmetic.
const PART_OF_A_SAMPLE: f64 = 1e-3;
/// An interval of 95 % is so many standard deviations to either side.
const DEVIATIONS: f64 = 1.96;

/// What can be said of two figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Higher,
    Lower,
    /// No further apart than chance explains.
    Tied,
    /// There is nothing that tells how far chance reaches.
    Untold,
}

/// Samples per second of one group over those of another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SpeedRatio {
    pub(crate) value: f64,
    pub(crate) interval: Option<(f64, f64)>,
    /// Whether the interval comes from several seeds, and not from the windows of single runs.
    pub(crate) is_of_seeds: bool,
    pub(crate) verdict: Verdict,
}

/// How often the samples per second of `base` go into those of `other`.
pub(crate) fn speed(base: &Group<'_>, other: &Group<'_>) -> Option<SpeedRatio> {
    let measured = base.measured_rates().zip(other.measured_rates());
    // Both sides must be measured in the same way.
    let (before, after) = measured.or_else(|| base.whole_rates().zip(other.whole_rates()))?;
    ratio(&before, &after)
}

/// With single runs the interval is that of their windows. With several runs what varies from run to run counts, and two
/// means of logarithms are compared as Welch does ("The generalization of Student's problem when several different
/// population variances are involved", Biometrika 34, 1947). Runs can lie close by luck: their variance is never taken to
/// be less than their own windows say. A single run beside several varies as they do.
fn ratio(before: &[Estimate], after: &[Estimate]) -> Option<SpeedRatio> {
    let all = || before.iter().chain(after);
    if before.is_empty() || after.is_empty() || all().any(|rate| rate.value <= 0.0) {
        return None;
    }
    let logarithms = |rates: &[Estimate]| rates.iter().map(|rate| rate.value.ln()).collect::<Vec<f64>>();
    let sides = [logarithms(before), logarithms(after)];
    let value = (mean(&sides[1])? - mean(&sides[0])?).exp();
    let is_of_seeds = sides.iter().any(|side| side.len() > 1);
    let interval = if is_of_seeds {
        let half_width = half_width(&sides, [inside(before), inside(after)]);
        Some((value * (-half_width).exp(), value * half_width.exp()))
    } else {
        let ends = before[0].interval.zip(after[0].interval).filter(|(of_base, _)| of_base.0 > 0.0);
        ends.map(|(of_base, of_other)| (of_other.0 / of_base.1, of_other.1 / of_base.0))
    };
    let verdict = match interval {
        None => Verdict::Untold,
        Some((low, _)) if low > 1.0 => Verdict::Higher,
        Some((_, high)) if high < 1.0 => Verdict::Lower,
        Some(_) => Verdict::Tied,
    };
    Some(SpeedRatio { value, interval, is_of_seeds, verdict })
}

/// The variance of a run's logarithm as its own windows tell it.
fn inside(rates: &[Estimate]) -> f64 {
    let of = |(low, high): (f64, f64)| ((high / low).ln() / 2.0 / DEVIATIONS).powi(2);
    let known: Vec<f64> = rates.iter().filter_map(|rate| rate.interval).map(of).filter(|of| of.is_finite()).collect();
    mean(&known).unwrap_or_default()
}

/// Half of the interval of the difference of two means of logarithms, of which at least one is of several runs.
fn half_width(sides: &[Vec<f64>; 2], inside: [f64; 2]) -> f64 {
    let variances = sides.each_ref().map(|side| variance(side));
    let counts = sides.each_ref().map(|side| side.len() as f64);
    let part = |own: usize, other: usize| {
        variances[own].or(variances[other]).unwrap_or_default().max(inside[own]) / counts[own]
    };
    let parts = [part(0, 1), part(1, 0)];
    let squared: f64 = parts.iter().sum();
    let degrees = if variances.iter().all(Option::is_some) {
        let weighed: f64 = parts.iter().zip(counts).map(|(part, count)| part * part / (count - 1.0)).sum();
        if weighed > 0.0 { squared * squared / weighed } else { counts[0] + counts[1] - 2.0 }
    } else {
        counts[0].max(counts[1]) - 1.0
    };
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "fewer than the runs, which is safe")]
    let degrees = degrees.floor().clamp(1.0, 1e6) as u32;
    student_bound(LEVEL, degrees) * squared.sqrt()
}

/// The accuracy of one group less that of another, both shares from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct AccuracyDifference {
    pub(crate) difference: f64,
    /// How far apart they may be by chance.
    pub(crate) allowed: f64,
    /// Seeds of the group with the fewest, where their spread is what explains; otherwise it is the sampling error of the
    /// test set.
    pub(crate) seeds: Option<usize>,
    pub(crate) verdict: Verdict,
}

impl AccuracyDifference {
    /// What the difference is held to, in words.
    pub(crate) fn allowance(&self) -> String {
        let allowed = crate::text::points(self.allowed);
        match self.seeds {
            Some(1) => format!("the {allowed} that the spread of the seeds explains (one side has a single seed)"),
            Some(seeds) => format!("the {allowed} that the spread of {seeds} seeds explains"),
            None => format!("the {allowed} that the test set's sampling error explains, with one seed each"),
        }
    }
}

/// The accuracy of `other` less that of `base`.
pub(crate) fn accuracy(base: &Group<'_>, other: &Group<'_>) -> Option<AccuracyDifference> {
    let test_samples = base.test_samples().min(other.test_samples());
    accuracies(&base.accuracies(), &other.accuracies(), test_samples)
}

/// Two means, which differ by nothing but chance, are further apart than `t · s · √(1/n + 1/m)` as rarely as Student's
/// distribution says ("The probable error of a mean", Biometrika 6, 1908), where `s` is the standard deviation of one run
/// over the seeds. Where nobody has two seeds, it is that of a share `p` of `m` test samples, `√(p (1 − p) / m)`, as in the
/// test for the difference of two proportions in Dietterich, "Approximate Statistical Tests for Comparing Supervised
/// Classification Learning Algorithms", Neural Computation 10, 1998. Accuracies are no finer than a sample.
pub(crate) fn accuracies(base: &[f64], other: &[f64], test_samples: u32) -> Option<AccuracyDifference> {
    let difference = mean(other)? - mean(base)?;
    let samples = f64::from(test_samples.max(1));
    let several = [base, other].into_iter().filter_map(|side| Some((side.len() - 1, variance(side)?)));
    let (degrees, squares) =
        several.fold((0, 0.0), |(all, sum), (degrees, variance)| (all + degrees, sum + degrees as f64 * variance));
    let (variance, of_freedom) = if degrees > 0 {
        (squares / degrees as f64, u32::try_from(degrees).unwrap_or(u32::MAX))
    } else {
        let share = f64::midpoint(mean(base)?, mean(other)?);
        (share * (1.0 - share) / samples, test_samples.saturating_sub(1).max(1))
    };
    let runs = 1.0 / base.len() as f64 + 1.0 / other.len() as f64;
    let explained = student_bound(LEVEL, of_freedom) * (variance * runs).sqrt();
    let allowed = explained.max((1.0 + PART_OF_A_SAMPLE) / samples);
    let verdict = if difference.abs() <= allowed {
        Verdict::Tied
    } else if difference > 0.0 {
        Verdict::Higher
    } else {
        Verdict::Lower
    };
    let seeds = (degrees > 0).then(|| base.len().min(other.len()));
    Some(AccuracyDifference { difference, allowed, seeds, verdict })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rates(values: &[f64], half_width: Option<f64>) -> Vec<Estimate> {
        let interval = |value: f64| half_width.map(|half| (value * (1.0 - half), value * (1.0 + half)));
        values.iter().map(|&value| Estimate { value, interval: interval(value) }).collect()
    }

    fn verdict(before: &[Estimate], after: &[Estimate]) -> Verdict {
        ratio(before, after).unwrap().verdict
    }

    #[test]
    fn single_runs_differ_where_the_intervals_of_their_windows_do_not_overlap() {
        let base = rates(&[100.0], Some(0.05));
        assert_eq!(verdict(&base, &rates(&[200.0], Some(0.05))), Verdict::Higher);
        assert_eq!(verdict(&base, &rates(&[50.0], Some(0.05))), Verdict::Lower);
        assert_eq!(verdict(&base, &rates(&[104.0], Some(0.05))), Verdict::Tied);
        assert_eq!(verdict(&base, &rates(&[300.0], None)), Verdict::Untold);
    }

    /// By hand, from logarithms: means ln 100 and ln 90, variances 0.0001 and 0.0004, three runs each.
    #[test]
    fn several_runs_are_compared_as_welch_does() {
        let side =
            |middle: f64, deviation: f64| rates(&[-1.0, 0.0, 1.0].map(|step| middle * (deviation * step).exp()), None);
        let found = ratio(&side(100.0, 0.01), &side(90.0, 0.02)).unwrap();
        assert!((found.value - 0.9).abs() < 1e-12 && found.is_of_seeds);
        // (1e-4/3 + 4e-4/3)² / ((1e-4/3)²/2 + (4e-4/3)²/2) = 2.94: two degrees of freedom, a bound of 4.303.
        let half_width = 4.303 * (5e-4_f64 / 3.0).sqrt();
        assert!((found.interval.unwrap().0.ln() - (0.9_f64.ln() - half_width)).abs() < 1e-4, "{found:?}");
    }

    #[test]
    fn runs_that_lie_close_by_luck_are_not_known_better_than_their_windows_say() {
        let close = rates(&[100.0, 100.0], Some(0.05));
        assert_eq!(verdict(&close, &rates(&[104.0, 104.0], Some(0.05))), Verdict::Tied);
        assert_eq!(verdict(&rates(&[100.0, 100.0], None), &rates(&[104.0, 104.0], None)), Verdict::Higher);
    }

    #[test]
    fn accuracies_within_the_spread_of_the_seeds_are_tied() {
        let base = [0.980, 0.982, 0.981];
        let found = |other: &[f64]| accuracies(&base, other, 10_000).unwrap();
        assert_eq!(found(&[0.981, 0.983, 0.982]).verdict, Verdict::Tied);
        assert_eq!(found(&[0.970, 0.972, 0.971]).verdict, Verdict::Lower);
        assert_eq!(found(&[0.990, 0.992, 0.991]).seeds, Some(3));
    }

    #[test]
    fn with_one_seed_the_sampling_error_of_the_test_set_stands_in() {
        let found = accuracies(&[0.9], &[0.905], 10_000).unwrap();
        // √(2 · 0.9025 · 0.0975 / 10000) = 0.0042, times 1.96.
        assert_eq!((found.verdict, found.seeds), (Verdict::Tied, None));
        assert!((found.allowed - 1.96 * (2.0_f64 * 0.9025 * 0.0975 / 10_000.0).sqrt()).abs() < 1e-4, "{found:?}");
        assert_eq!(accuracies(&[0.9], &[0.93], 10_000).unwrap().verdict, Verdict::Higher);
        assert_eq!(accuracies(&[], &[0.9], 10), None);
    }
}
