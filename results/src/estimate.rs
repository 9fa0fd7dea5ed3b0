//! Estimates with intervals, and ratios of estimates.

use serde::{Deserialize, Serialize};

use crate::statistics::{mean, student_bound, variance};

/// Confidence level of intervals.
const LEVEL: f64 = 0.95;
/// Half-width of a 95 % interval of a normal distribution, in standard deviations.
const DEVIATIONS: f64 = 1.96;
/// Minimum ratio for a tie; the maximum is its inverse.
pub const MIN_TIE_RATIO: f64 = 0.9;

/// Comparison of a side with the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SideVerdict {
    Faster,
    Slower,
    /// The interval of the ratio contains 1 and is within a tenth of it.
    Tied,
    /// The interval contains 1 and ratios further away: more windows or runs would decide.
    Undecided,
}

/// 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    pub low: f64,
    pub high: f64,
}

impl Interval {
    /// Returns the interval of a value whose logarithm has this half-width.
    fn around(value: f64, half_width: f64) -> Self {
        Self { low: value * (-half_width).exp(), high: value * half_width.exp() }
    }

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
        let divided =
            |(own, other): (Interval, Interval)| Interval { low: own.low / other.high, high: own.high / other.low };
        let interval = self.interval.zip(base.interval).map(divided);
        (is_positive(self) && is_positive(base)).then_some(Self { value: self.value / base.value, interval })
    }
}

/// Returns the geometric mean of positive estimates. A single one is returned unchanged. The half-widths of the
/// intervals of the logarithms are independent and add in quadrature.
pub fn mean_of_independent(estimates: &[Estimate]) -> Estimate {
    if let [estimate] = estimates {
        return *estimate;
    }
    let count = estimates.len() as f64;
    let value = estimates.iter().map(|of| of.value.ln() / count).sum::<f64>().exp();
    let squared = |of: Interval| (of.low > 0.0).then(|| ((of.high / of.low).ln() / 2.0 / count).powi(2));
    let variance = estimates.iter().map(|of| of.interval.and_then(squared)).sum::<Option<f64>>();
    Estimate { value, interval: variance.map(|variance| Interval::around(value, variance.sqrt())) }
}

/// Returns the geometric mean of a side's runs; `None` without runs, or if any run is not positive.
pub fn geometric_mean(runs: &[Estimate]) -> Option<f64> {
    let first = runs.first()?.value;
    let is_positive = runs.iter().all(|run| run.value > 0.0);
    // Relative to the first, so that the mean of equal values is exact.
    let logarithms: Vec<f64> = runs.iter().map(|run| (run.value / first).ln()).collect();
    mean(&logarithms).filter(|_| is_positive).map(|mean| first * mean.exp())
}

/// Returns the ratio of the geometric means of `candidate` and `baseline`, with its 95 % interval.
///
/// With a single run on each side, the interval follows from the intervals of both runs ([`Estimate::over`]).
///
/// With several, the variation between runs decides. Windows in one run share its memory layout, clocks and heat, so
/// they agree with each other more than with windows of the next run, no matter how many there are (Kalibera and Jones,
/// "Rigorous Benchmarking in Reasonable Time", ISMM 2013: repeat at the level that varies, and report the ratio of
/// means with an interval). Each run is one observation. Ratios are differences of logarithms, so the mean logarithms
/// are compared with Welch's test, "The generalization of Student's problem when several different population variances
/// are involved", Biometrika 34, 1947. Two or three runs can agree by luck, so their variance is at least what the
/// intervals of the runs imply. A side with one run takes the variance of the other.
pub fn ratio(baseline: &[Estimate], candidate: &[Estimate]) -> Option<Estimate> {
    if let ([base], [other]) = (baseline, candidate) {
        return other.over(*base);
    }
    let value = geometric_mean(candidate)? / geometric_mean(baseline)?;
    Some(Estimate { value, interval: Some(Interval::around(value, half_width([baseline, candidate]))) })
}

/// Computes the half-width of the interval of the difference between two mean logarithms. A side has several runs.
fn half_width(sides: [&[Estimate]; 2]) -> f64 {
    let counts = sides.map(|runs| runs.len() as f64);
    let between = sides.map(|runs| variance(&runs.iter().map(|run| run.value.ln()).collect::<Vec<f64>>()));
    // Mean variance implied by the intervals of the runs.
    let inside = sides.map(|runs| {
        let half_widths = runs.iter().filter_map(|run| run.interval).map(|of| (of.high / of.low).ln() / 2.0);
        let variances = half_widths.map(|half_width| (half_width / DEVIATIONS).powi(2));
        mean(&variances.filter(|variance| variance.is_finite()).collect::<Vec<f64>>()).unwrap_or_default()
    });
    // Variance of the mean of each side.
    let parts = [0, 1].map(|own| between[own].or(between[1 - own]).unwrap_or_default().max(inside[own]) / counts[own]);
    let squared = parts[0] + parts[1];
    let degrees = if between.iter().all(Option::is_some) {
        let weighed: f64 = parts.iter().zip(counts).map(|(part, count)| part * part / (count - 1.0)).sum();
        // Equal values have no variance, so the bound is multiplied by 0 anyway.
        if weighed > 0.0 { squared * squared / weighed } else { counts[0] + counts[1] - 2.0 }
    } else {
        // Both sides use the variance of the side with several runs.
        counts[0].max(counts[1]) - 1.0
    };
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "fewer than the runs, which is safe")]
    let degrees = degrees.floor().clamp(1.0, 1e6) as u32;
    student_bound(LEVEL, degrees) * squared.sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::normal::Normal;

    fn estimate(value: f64, low: f64, high: f64) -> Estimate {
        Estimate { value, interval: Some(Interval { low, high }) }
    }

    #[test]
    fn ratios_exclude_1_if_intervals_do_not_overlap_and_tie_close_to_it() {
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

    fn runs(values: &[f64]) -> Vec<Estimate> {
        values.iter().map(|value| Estimate { value: *value, interval: None }).collect()
    }

    fn with_windows(values: &[f64], half_width: f64) -> Vec<Estimate> {
        let interval = |value: f64| Interval { low: value * (1.0 - half_width), high: value * (1.0 + half_width) };
        values.iter().map(|value| Estimate { value: *value, interval: Some(interval(*value)) }).collect()
    }

    /// Expected values are worked out from logarithms: means ln 100 and ln 90, variances 0.0001 and 0.0004, three runs
    /// each.
    #[test]
    fn several_runs_are_compared_by_welch() {
        let side =
            |middle: f64, deviation: f64| runs(&[-1.0_f64, 0.0, 1.0].map(|step| middle * (deviation * step).exp()));
        let found = ratio(&side(100.0, 0.01), &side(90.0, 0.02)).unwrap();
        assert!((found.value - 0.9).abs() < 1e-12);
        // (1e-4/3 + 4e-4/3)² / ((1e-4/3)²/2 + (4e-4/3)²/2) = 25 · 2 / 17 = 2.94: two degrees of freedom, a bound of
        // 4.303.
        let half_width = 4.303 * (5e-4_f64 / 3.0).sqrt();
        let interval = found.interval.unwrap();
        assert!((interval.low.ln() - (0.9_f64.ln() - half_width)).abs() < 1e-4, "{interval:?}");
        assert!((interval.high.ln() - (0.9_f64.ln() + half_width)).abs() < 1e-4, "{interval:?}");
    }

    #[test]
    fn close_runs_keep_the_variance_of_their_windows() {
        let width = |found: Option<Estimate>| found.unwrap().interval.map(|of| (of.high / of.low).ln()).unwrap();
        let lucky = width(ratio(&with_windows(&[100.0, 100.0], 0.05), &with_windows(&[100.0, 100.0], 0.05)));
        // Four runs, two degrees of freedom: 4.303 times √(0.05² / 1.96² / 2 · 2), on both sides.
        assert!((lucky - 2.0 * 4.303 * 0.05 / 1.96).abs() < 1e-3, "{lucky}");
        assert!(width(ratio(&runs(&[100.0, 100.0]), &runs(&[100.0, 100.0]))) == 0.0);
    }

    #[test]
    fn single_runs_have_the_interval_of_their_windows() {
        let (base, other) = (with_windows(&[100.0], 0.02), with_windows(&[90.0], 0.02));
        assert_eq!(ratio(&base, &other), other[0].over(base[0]));
        assert_eq!((ratio(&[], &base), ratio(&base, &[]), geometric_mean(&[])), (None, None, None));
    }

    /// Intervals must cover the true ratio in 95 % of experiments, and large differences must be detected.
    #[test]
    fn intervals_cover_the_true_ratio() {
        let mut normal = Normal(1);
        for (runs_of_each, deviations) in
            [([2, 2], [0.01, 0.01]), ([3, 3], [0.01, 0.03]), ([5, 3], [0.02, 0.01]), ([4, 1], [0.02; 2])]
        {
            let experiments = 4000;
            let (mut covered, mut detected) = (0, 0);
            for _ in 0..experiments {
                let mut side = |factor: f64, which: usize| -> Vec<Estimate> {
                    let values: Vec<f64> =
                        (0..runs_of_each[which]).map(|_| factor * (deviations[which] * normal.next()).exp()).collect();
                    runs(&values)
                };
                let interval = ratio(&side(1.0, 0), &side(1.0, 1)).unwrap().interval.unwrap();
                covered += u32::from(interval.low <= 1.0 && 1.0 <= interval.high);
                let slowed = ratio(&side(1.0, 0), &side(0.5, 1)).unwrap().interval.unwrap();
                detected += u32::from(slowed.high < 0.95);
            }
            let share = |count: u32| f64::from(count) / f64::from(experiments);
            assert!(share(covered) > 0.94, "{runs_of_each:?}: {}", share(covered));
            assert!(share(detected) > 0.9, "{runs_of_each:?}: {}", share(detected));
        }
    }
}
