//! Whether two groups differ by more than chance.

use results::api::SideVerdict;
use results::comparison::{Basis, FALSE_ALARM, Spread};
use results::estimate::{Estimate, Interval};
use results::regression;
use results::statistics::mean;

use crate::group::Group;
use crate::text;

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
    pub(crate) interval: Option<Interval>,
    pub(crate) verdict: Verdict,
}

/// How often the samples per second of `base` go into those of `other`.
pub(crate) fn speed(base: &Group<'_>, other: &Group<'_>) -> Option<SpeedRatio> {
    let measured = base.measured_rates().zip(other.measured_rates());
    // Both sides must be measured in the same way.
    let (before, after) = measured.or_else(|| base.whole_rates().zip(other.whole_rates()))?;
    ratio(&before, &after)
}

fn ratio(before: &[Estimate], after: &[Estimate]) -> Option<SpeedRatio> {
    let Estimate { value, interval } = regression::ratio(before, after)?;
    let verdict = match interval.map(Interval::verdict) {
        None => Verdict::Untold,
        Some(SideVerdict::Faster) => Verdict::Higher,
        Some(SideVerdict::Slower) => Verdict::Lower,
        Some(SideVerdict::Tied) => Verdict::Tied,
    };
    Some(SpeedRatio { value, interval, verdict })
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
    /// What became of the accuracy, as the second half of a sentence about the other group.
    pub(crate) fn said(&self) -> String {
        let (points, allowance) = (text::points(self.difference), self.allowance());
        match self.verdict {
            Verdict::Lower => format!("it loses {points} of accuracy, more than {allowance}"),
            Verdict::Higher => format!("it gains {points} of accuracy, more than {allowance}"),
            Verdict::Tied | Verdict::Untold => format!("its accuracy is tied: {points} apart, within {allowance}"),
        }
    }

    /// What the difference is held to, in words.
    pub(crate) fn allowance(&self) -> String {
        let allowed = text::points(self.allowed);
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

/// The mean of `other` less that of `base`, each an accuracy for each seed.
pub(crate) fn accuracies(base: &[f64], other: &[f64], test_samples: u32) -> Option<AccuracyDifference> {
    let difference = mean(other)? - mean(base)?;
    let spread = Spread::of(&[base.to_vec(), other.to_vec()], test_samples);
    let allowed = spread.explains(FALSE_ALARM, [base.len(), other.len()]);
    let verdict = if difference.abs() <= allowed {
        Verdict::Tied
    } else if difference > 0.0 {
        Verdict::Higher
    } else {
        Verdict::Lower
    };
    let seeds = (spread.basis == Basis::Seeds).then(|| base.len().min(other.len()));
    Some(AccuracyDifference { difference, allowed, seeds, verdict })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rates(values: &[f64], half_width: Option<f64>) -> Vec<Estimate> {
        let interval =
            |value: f64| half_width.map(|half| Interval { low: value * (1.0 - half), high: value * (1.0 + half) });
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
