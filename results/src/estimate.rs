//! Estimates with intervals, and ratios of estimates.

use serde::{Deserialize, Serialize};

use crate::api::SideVerdict;

/// Minimum ratio for a tie; the maximum is its inverse.
pub const MIN_TIE_RATIO: f64 = 0.9;

/// 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    pub low: f64,
    pub high: f64,
}

impl Interval {
    /// Returns the verdict on a ratio with this interval.
    pub fn verdict(self) -> SideVerdict {
        if self.high < 1.0 {
            SideVerdict::Slower
        } else if self.low > 1.0 {
            SideVerdict::Faster
        } else if self.low >= MIN_TIE_RATIO && self.high <= 1.0 / MIN_TIE_RATIO {
            SideVerdict::Tied
        } else {
            SideVerdict::Undecided
        }
    }
}

/// Value with its interval, if known.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    pub value: f64,
    pub interval: Option<Interval>,
}

impl Estimate {
    /// Creates an estimate from optional record fields. The interval needs both ends.
    pub fn new(value: Option<f64>, low: Option<f64>, high: Option<f64>) -> Option<Self> {
        let interval = low.zip(high).map(|(low, high)| Interval { low, high });
        Some(Self { value: value?, interval })
    }

    /// Divides by `base`; `None` unless both are positive.
    ///
    /// The interval runs from this low end over the other high end to this high end over the other low end, so it
    /// excludes 1 exactly if the two intervals do not overlap. It covers more than 95 %, because both ends would have
    /// to be wrong at once.
    pub fn over(self, base: Self) -> Option<Self> {
        let is_positive = |figure: Self| figure.value > 0.0 && figure.interval.is_none_or(|of| of.low > 0.0);
        (is_positive(self) && is_positive(base)).then(|| Self {
            value: self.value / base.value,
            interval: self
                .interval
                .zip(base.interval)
                .map(|(own, other)| Interval { low: own.low / other.high, high: own.high / other.low }),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimate(value: f64, low: f64, high: f64) -> Estimate {
        Estimate { value, interval: Some(Interval { low, high }) }
    }

    #[test]
    fn ratios_exclude_1_if_intervals_do_not_overlap() {
        let base = estimate(100.0, 90.0, 110.0);
        for (other, expected) in [
            (estimate(105.0, 95.0, 120.0), SideVerdict::Undecided),
            (estimate(120.0, 110.0, 130.0), SideVerdict::Undecided),
            (estimate(200.0, 190.0, 210.0), SideVerdict::Faster),
            (estimate(50.0, 49.0, 51.0), SideVerdict::Slower),
        ] {
            let ratio = other.over(base).unwrap();
            assert_eq!((ratio.value, ratio.interval.unwrap().verdict()), (other.value / 100.0, expected));
        }
    }

    #[test]
    fn tie_needs_an_interval_close_to_1() {
        let verdict = |low, high| Interval { low, high }.verdict();
        assert_eq!([verdict(0.95, 1.08), verdict(0.9, 1.0)], [SideVerdict::Tied; 2]);
        assert_eq!([verdict(0.01, 215.0), verdict(0.95, 1.2), verdict(0.8, 1.0)], [SideVerdict::Undecided; 3]);
    }

    #[test]
    fn ratios_need_both_intervals_and_positive_values() {
        let bare = |value| Estimate { value, interval: None };
        assert_eq!(bare(3.0).over(estimate(2.0, 1.0, 3.0)), Some(bare(1.5)));
        assert_eq!((bare(3.0).over(bare(0.0)), bare(0.0).over(bare(3.0))), (None, None));
        assert_eq!(Estimate::new(None, Some(1.0), Some(2.0)), None);
        assert_eq!(Estimate::new(Some(1.5), Some(1.0), None), Some(bare(1.5)));
    }
}
