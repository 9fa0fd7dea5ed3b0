//! Whether two groups differ by more than chance.

use results::api::SideVerdict;
use results::comparison::{Basis, FALSE_ALARM, Spread, WIDEST_AGREEMENT};
use results::estimate::{Estimate, Interval};
use results::regression;
use results::statistics::mean;

use crate::group::{Field, Group};
use crate::text;

/// What can be said of two figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Higher,
    Lower,
    /// No further apart than chance explains, which is little.
    Tied,
    /// No further apart than chance explains, which is so much that nothing is decided.
    Undecided,
}

/// Samples per second of one group over those of another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SpeedRatio {
    pub(crate) value: f64,
    pub(crate) interval: Interval,
    pub(crate) verdict: Verdict,
}

/// Fields in which runs from the same seed may differ and still have the same weights and batches.
const PAIRED: [Field; 7] =
    [Field::Backend, Field::Precision, Field::Device, Field::Threads, Field::Devices, Field::Input, Field::Layout];

/// How often the samples per second of `base` go into those of `other`; nothing where either has too few windows that
/// count.
pub(crate) fn speed(base: &Group<'_>, other: &Group<'_>) -> Option<SpeedRatio> {
    ratio(&base.counted_rates()?, &other.counted_rates()?)
}

fn ratio(before: &[Estimate], after: &[Estimate]) -> Option<SpeedRatio> {
    let Estimate { value, interval } = regression::ratio(before, after)?;
    let interval = interval?;
    let verdict = match interval.verdict() {
        SideVerdict::Faster => Verdict::Higher,
        SideVerdict::Slower => Verdict::Lower,
        SideVerdict::Tied => Verdict::Tied,
        SideVerdict::Undecided => Verdict::Undecided,
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
    /// True if the spread comes from differences between runs with the same seed.
    is_paired: bool,
    pub(crate) verdict: Verdict,
}

impl AccuracyDifference {
    /// What became of the accuracy, as the second half of a sentence about the other group.
    pub(crate) fn said(&self) -> String {
        let (points, allowance) = (text::points(self.difference), self.allowance());
        match self.verdict {
            Verdict::Lower => format!("it loses {points} of accuracy, more than {allowance}"),
            Verdict::Higher => format!("it gains {points} of accuracy, more than {allowance}"),
            Verdict::Tied | Verdict::Undecided => self.nothing_found("no difference of accuracy"),
        }
    }

    /// The bound that the difference is compared with, in words.
    pub(crate) fn allowance(&self) -> String {
        format!("the {} that chance explains, by {}", text::points(self.allowed), self.basis())
    }

    /// That `what` was found, such as no difference, and how large one had to be to be found.
    pub(crate) fn nothing_found(&self, what: &str) -> String {
        let (points, allowed) = (text::points(self.difference), text::points(self.allowed));
        let advice = if self.verdict == Verdict::Undecided { "; undecided, more seeds would decide" } else { "" };
        format!("{what} was found ({points}); {allowed} or more would have been, by {}{advice}", self.basis())
    }

    fn basis(&self) -> String {
        match self.seeds {
            Some(seeds) if self.is_paired => format!("the paired differences of {seeds} seeds"),
            Some(1) => "the spread of the seeds (one side has a single seed)".to_owned(),
            Some(seeds) => format!("the spread of {seeds} seeds"),
            None => "the test set's sampling error, with one seed each".to_owned(),
        }
    }
}

/// The accuracy of `other` less that of `base`.
pub(crate) fn accuracy(base: &Group<'_>, other: &Group<'_>) -> Option<AccuracyDifference> {
    let test_samples = base.test_samples().min(other.test_samples());
    let is_as_long = base.steps().is_some_and(|steps| other.steps() == Some(steps));
    let is_paired = is_as_long && base.setup.equals_but(&other.setup, &PAIRED) && base.seeds() == other.seeds();
    accuracies(&base.accuracies(), &other.accuracies(), test_samples, is_paired)
}

/// The mean of `other` less that of `base`, each an accuracy for each seed; of paired ones for the same seeds.
pub(crate) fn accuracies(
    base: &[f64],
    other: &[f64],
    test_samples: u32,
    is_paired: bool,
) -> Option<AccuracyDifference> {
    let difference = mean(other)? - mean(base)?;
    let is_paired = is_paired && base.len() == other.len();
    let both = [base.to_vec(), other.to_vec()];
    let spread = if is_paired { Spread::paired(&both, test_samples) } else { Spread::of(&both, test_samples) };
    let allowed = spread.explains(FALSE_ALARM, [base.len(), other.len()]);
    let verdict = if difference > allowed {
        Verdict::Higher
    } else if difference < -allowed {
        Verdict::Lower
    } else if allowed > WIDEST_AGREEMENT {
        Verdict::Undecided
    } else {
        Verdict::Tied
    };
    let seeds = (spread.basis == Basis::Seeds).then(|| base.len().min(other.len()));
    Some(AccuracyDifference { difference, allowed, seeds, is_paired, verdict })
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
        assert_eq!(verdict(&base, &rates(&[104.0], Some(0.05))), Verdict::Undecided);
        assert_eq!(verdict(&base, &rates(&[101.0], Some(0.04))), Verdict::Tied);
        assert_eq!(ratio(&base, &rates(&[300.0], None)), None);
    }

    #[test]
    fn runs_that_lie_close_by_luck_are_not_known_better_than_their_windows_say() {
        let close = rates(&[100.0, 100.0], Some(0.05));
        assert_eq!(verdict(&close, &rates(&[104.0, 104.0], Some(0.05))), Verdict::Undecided);
        assert_eq!(verdict(&rates(&[100.0, 100.0], None), &rates(&[104.0, 104.0], None)), Verdict::Higher);
    }

    #[test]
    fn accuracies_within_the_spread_of_the_seeds_are_tied() {
        let base = [0.980, 0.982, 0.981];
        let found = |other: &[f64]| accuracies(&base, other, 10_000, false).unwrap();
        assert_eq!(found(&[0.981, 0.983, 0.982]).verdict, Verdict::Tied);
        assert_eq!(found(&[0.970, 0.972, 0.971]).verdict, Verdict::Lower);
        assert_eq!(found(&[0.990, 0.992, 0.991]).seeds, Some(3));
    }

    #[test]
    fn paired_runs_are_compared_seed_by_seed() {
        let (base, other) = ([0.90, 0.95, 0.85], [0.905, 0.954, 0.855]);
        let found = |is_paired| accuracies(&base, &other, 10_000, is_paired).unwrap();
        assert_eq!((found(false).verdict, found(true).verdict), (Verdict::Undecided, Verdict::Higher));
        assert!(found(false).said().contains("more seeds would decide"), "{}", found(false).said());
    }

    #[test]
    fn with_one_seed_the_sampling_error_of_the_test_set_stands_in() {
        let found = accuracies(&[0.9], &[0.905], 10_000, false).unwrap();
        // √(2 · 0.9025 · 0.0975 / 10000) = 0.0042, times 1.96.
        assert_eq!((found.verdict, found.seeds), (Verdict::Tied, None));
        assert!((found.allowed - 1.96 * (2.0_f64 * 0.9025 * 0.0975 / 10_000.0).sqrt()).abs() < 1e-4, "{found:?}");
        assert_eq!(accuracies(&[0.9], &[0.93], 10_000, false).unwrap().verdict, Verdict::Higher);
        assert_eq!(accuracies(&[], &[0.9], 10, false), None);
    }
}
