//! Differences between groups, compared with chance.

use results::api::SideVerdict;
use results::estimate::{Estimate, Interval, ratio};

use crate::comparison::{AccuracyGap, Basis, MAX_AGREEMENT_WIDTH};
use crate::report::group::{Group, SetupField};
use crate::text;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Contrast {
    Higher,
    Lower,
    /// Chance explains the difference, and could only explain a small one.
    Tied,
    /// Chance explains the difference, but could also explain a large one.
    Undecided,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SpeedRatio {
    pub(crate) value: f64,
    pub(crate) interval: Interval,
    pub(crate) contrast: Contrast,
}

impl SpeedRatio {
    /// Divides the throughput of `other` by the throughput of `base`; `None` if either has too few counted windows.
    pub(crate) fn of(base: &Group<'_>, other: &Group<'_>) -> Option<Self> {
        let Estimate { value, interval } = ratio(&base.counted_rates()?, &other.counted_rates()?)?;
        let interval = interval?;
        let contrast = match interval.verdict() {
            SideVerdict::Faster => Contrast::Higher,
            SideVerdict::Slower => Contrast::Lower,
            SideVerdict::Tied => Contrast::Tied,
            SideVerdict::Undecided => Contrast::Undecided,
        };
        Some(Self { value, interval, contrast })
    }

    /// Returns a text such as `2.10 times as fast as wgsl (95 % interval 1.9 to 2.2)`.
    pub(crate) fn text(&self, base: &str) -> String {
        format!("{} times as fast as {base} ({})", text::times(self.value), self.interval_text())
    }

    /// Returns the interval, with advice if it is inconclusive: `95 % interval 1.9 to 2.2`.
    pub(crate) fn interval_text(&self) -> String {
        let advice = match self.contrast {
            Contrast::Undecided => "; undecided, measure more windows or seeds",
            Contrast::Higher | Contrast::Lower | Contrast::Tied => "",
        };
        format!("95 % interval {} to {}{advice}", text::times(self.interval.low), text::times(self.interval.high))
    }

    /// Returns the end of a sentence about a speed difference that chance also explains.
    pub(crate) fn chance_text(&self) -> &'static str {
        if self.contrast == Contrast::Tied { ", which chance also explains" } else { "" }
    }
}

/// Difference of the accuracies of two groups, as shares from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct AccuracyDifference {
    pub(crate) difference: f64,
    /// Largest difference that chance explains.
    allowed: f64,
    /// Fewest seeds of any group; absent if the bound is the sampling error of the test set.
    seeds: Option<usize>,
    /// True if the spread is from differences between runs with the same seed.
    is_paired: bool,
    pub(crate) contrast: Contrast,
}

impl AccuracyDifference {
    /// Subtracts the accuracy of `base` from the accuracy of `other`.
    pub(crate) fn of(base: &Group<'_>, other: &Group<'_>) -> Option<Self> {
        use SetupField::{Backend, Device, Devices, Input, Layout, Precision, Threads};
        let test_samples = base.test_samples().min(other.test_samples());
        let has_equal_steps = base.steps().is_some_and(|steps| other.steps() == Some(steps));
        // Runs that differ only in these fields have the same initial weights and batches.
        let paired = [Backend, Precision, Device, Threads, Devices, Input, Layout];
        let is_paired = has_equal_steps && base.equals_but(other, &paired) && base.seeds() == other.seeds();
        Self::between(&base.accuracies(), &other.accuracies(), test_samples, is_paired)
    }

    /// Subtracts the mean of `base` from the mean of `other`. Each slice has one accuracy per seed.
    pub(crate) fn between(base: &[f64], other: &[f64], test_samples: u32, is_paired: bool) -> Option<Self> {
        let is_paired = is_paired && base.len() == other.len();
        let AccuracyGap { difference, allowed, basis, .. } =
            AccuracyGap::between(base, other, test_samples, is_paired)?;
        let contrast = if difference > allowed {
            Contrast::Higher
        } else if difference < -allowed {
            Contrast::Lower
        } else if allowed > MAX_AGREEMENT_WIDTH {
            Contrast::Undecided
        } else {
            Contrast::Tied
        };
        let seeds = (basis == Basis::Seeds).then(|| base.len().min(other.len()));
        Some(Self { difference, allowed, seeds, is_paired, contrast })
    }

    /// Returns the second half of a sentence about the other group.
    pub(crate) fn text(&self) -> String {
        let (points, allowance) = (text::points(self.difference), self.allowance());
        match self.contrast {
            Contrast::Lower => format!("it loses {points} of accuracy, more than {allowance}"),
            Contrast::Higher => format!("it gains {points} of accuracy, more than {allowance}"),
            Contrast::Tied | Contrast::Undecided => self.nothing_found("no difference of accuracy"),
        }
    }

    pub(crate) fn allowance(&self) -> String {
        format!("the {} that chance explains, by {}", text::points(self.allowed), self.basis())
    }

    /// Returns a sentence that `what` was found, such as no difference, with the smallest detectable difference.
    pub(crate) fn nothing_found(&self, what: &str) -> String {
        let (points, allowed) = (text::points(self.difference), text::points(self.allowed));
        let advice = if self.contrast == Contrast::Undecided { "; undecided, train more seeds" } else { "" };
        format!("{what} was found ({points}); {allowed} or more would have been detected, by {}{advice}", self.basis())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accuracies_are_compared_by_seeds_or_test_samples() {
        let found = |base: &[f64], other: &[f64], is_paired| {
            let found = AccuracyDifference::between(base, other, 10_000, is_paired).unwrap();
            (found.contrast, found.seeds)
        };
        let base = [0.980, 0.982, 0.981];
        assert_eq!(found(&base, &[0.981, 0.983, 0.982], false), (Contrast::Tied, Some(3)));
        assert_eq!(found(&base, &[0.970, 0.972, 0.971], false), (Contrast::Lower, Some(3)));
        assert_eq!(found(&base, &[0.990, 0.992, 0.991], false), (Contrast::Higher, Some(3)));
        let (base, other) = ([0.90, 0.95, 0.85], [0.905, 0.954, 0.855]);
        assert_eq!(found(&base, &other, false), (Contrast::Undecided, Some(3)));
        assert_eq!(found(&base, &other, true), (Contrast::Higher, Some(3)));
        assert_eq!(found(&[0.9], &[0.905], false), (Contrast::Tied, None));
        assert_eq!(found(&[0.9], &[0.93], false), (Contrast::Higher, None));
        assert_eq!(AccuracyDifference::between(&[], &[0.9], 10, false), None);
    }
}
