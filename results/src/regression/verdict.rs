use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Rules;
use crate::api::SideVerdict;
use crate::estimate::Interval;

/// What the candidate is beside the baseline.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Verdict {
    /// The whole interval of the ratio lies above 1.
    Faster,
    /// The interval contains 1 and stays above the tolerance; without a tolerance, within a tenth of 1.
    Tied,
    /// Nothing is tolerated, and the interval holds 1 and ratios that are further away: too little is known.
    Undecided,
    /// The whole interval lies below 1, and none of it below what is tolerated.
    SlightlySlower,
    /// A part of the interval, and not all of it, lies below what is tolerated: too little is known.
    PerhapsSlower,
    /// The whole interval lies below what is tolerated.
    Slower,
    /// The candidate could not train it, and the baseline could.
    Broken {
        reason: String,
    },
    /// Both sides have it, and there are no figures to hold beside each other.
    Untold {
        reason: String,
    },
    OnlyInBaseline,
    OnlyInCandidate,
}

impl Verdict {
    /// What the interval of a ratio says where a share of `tolerance` may be lost.
    pub(super) fn of_speed(ratio: Interval, tolerance: f64) -> Self {
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

    /// For people, and for the columns of tables.
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

    /// Whether a candidate with it is turned away.
    pub fn fails(&self, rules: &Rules) -> bool {
        match self {
            Self::Slower => rules.fail_if_slower.is_some(),
            Self::Broken { .. } => true,
            Self::OnlyInBaseline => rules.fail_if_missing,
            _ => false,
        }
    }

    /// Whether the two sides were held beside each other.
    pub fn is_told(&self) -> bool {
        !matches!(self, Self::Untold { .. } | Self::OnlyInBaseline | Self::OnlyInCandidate)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(low: f64, high: f64, tolerance: f64) -> Verdict {
        Verdict::of_speed(Interval { low, high }, tolerance)
    }

    #[test]
    fn only_an_interval_that_lies_wholly_below_what_is_tolerated_is_slower() {
        for (low, high, expected) in [
            (0.80, 0.94, Verdict::Slower),
            (0.80, 0.95, Verdict::PerhapsSlower),
            (0.94, 0.99, Verdict::PerhapsSlower),
            (0.50, 1.80, Verdict::PerhapsSlower),
            (0.96, 0.99, Verdict::SlightlySlower),
            (0.96, 1.00, Verdict::Tied),
            (0.95, 1.20, Verdict::Tied),
            (1.01, 1.20, Verdict::Faster),
        ] {
            assert_eq!(verdict(low, high, 0.05), expected, "{low} to {high}");
        }
    }

    #[test]
    fn without_a_tolerance_the_words_are_those_of_two_intervals() {
        for (low, high, expected) in [
            (0.8, 0.99, Verdict::Slower),
            (0.95, 1.05, Verdict::Tied),
            (0.5, 1.8, Verdict::Undecided),
            (1.01, 1.2, Verdict::Faster),
        ] {
            assert_eq!(verdict(low, high, 0.0), expected, "{low} to {high}");
        }
    }

    #[test]
    fn speed_fails_where_that_was_asked_for_and_a_broken_workload_always() {
        let broken = Verdict::Broken { reason: String::new() };
        let fails = |rules: &Rules| [&Verdict::Slower, &broken, &Verdict::OnlyInBaseline].map(|of| of.fails(rules));
        assert_eq!(fails(&Rules::default()), [false, true, false]);
        assert_eq!(fails(&Rules { fail_if_slower: Some(0.05), fail_if_missing: true }), [true; 3]);
        assert!(!Verdict::PerhapsSlower.fails(&Rules { fail_if_slower: Some(0.0), fail_if_missing: true }));
    }
}
