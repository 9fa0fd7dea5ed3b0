//! How many times as fast one side is as another.

use crate::estimate::{Estimate, Interval};
use crate::statistics::{mean, student_bound, variance};

/// How often a bound may be wrong is one in twenty.
const LEVEL: f64 = 0.95;
/// An interval of 95 % is so many standard deviations to either side.
const DEVIATIONS: f64 = 1.96;

/// The figure of a side: the geometric mean of its runs'.
pub(super) fn figure(runs: &[Estimate]) -> Option<f64> {
    let first = runs.first()?.value;
    let is_positive = runs.iter().all(|run| run.value > 0.0);
    // Beside the first, so that the mean of equal figures is that figure to the last digit.
    let beside_first: Vec<f64> = runs.iter().map(|run| (run.value / first).ln()).collect();
    mean(&beside_first).filter(|_| is_positive).map(|mean| first * mean.exp())
}

/// The figure of `candidate` over that of `baseline`, with its 95 % interval.
///
/// With a single run on each side nothing is known but the interval of each run's own figure, and the ratio has what
/// follows from both ([`Estimate::over`]).
///
/// With several, what varies from run to run counts: windows inside one run share its memory layout, clocks and heat, so
/// that they agree with each other more than with those of the next run, and however many there are tells nothing about
/// it (Kalibera and Jones, "Rigorous Benchmarking in Reasonable Time", ISMM 2013: repeat at the level that varies, and
/// give the ratio of means with an interval). Each run is one observation. Ratios are differences of logarithms, and two
/// means of logarithms are compared as Welch does, "The generalization of Student's problem when several different
/// population variances are involved", Biometrika 34, 1947. Two or three runs can lie close by luck: their variance is
/// never taken to be less than the intervals of the runs themselves say. A side of one run varies as the other does.
pub fn ratio(baseline: &[Estimate], candidate: &[Estimate]) -> Option<Estimate> {
    if let ([base], [other]) = (baseline, candidate) {
        return other.over(*base);
    }
    let value = figure(candidate)? / figure(baseline)?;
    let sides = [Side::of(baseline), Side::of(candidate)];
    let half_width = half_width(sides);
    let interval = Interval { low: value * (-half_width).exp(), high: value * half_width.exp() };
    Some(Estimate { value, interval: Some(interval) })
}

fn logarithms(runs: &[Estimate]) -> Vec<f64> {
    runs.iter().map(|run| run.value.ln()).collect()
}

/// The runs of a side, as logarithms.
#[derive(Clone, Copy)]
struct Side {
    runs: f64,
    /// From run to run; absent with a single one.
    variance: Option<f64>,
    /// What the windows of the runs alone make of it.
    variance_inside: f64,
}

impl Side {
    fn of(runs: &[Estimate]) -> Self {
        let half_width = |interval: Interval| (interval.high / interval.low).ln() / 2.0;
        let inside: Vec<f64> = runs
            .iter()
            .filter_map(|run| run.interval)
            .map(|interval| (half_width(interval) / DEVIATIONS).powi(2))
            .filter(|variance| variance.is_finite())
            .collect();
        Self {
            runs: runs.len() as f64,
            variance: variance(&logarithms(runs)),
            variance_inside: mean(&inside).unwrap_or_default(),
        }
    }
}

/// Half of the interval of the difference of two means of logarithms, of which at least one is of several runs.
fn half_width(sides: [Side; 2]) -> f64 {
    let [one, other] = sides;
    let among =
        |own: &Side, beside: &Side| own.variance.or(beside.variance).unwrap_or_default().max(own.variance_inside);
    // Of the mean of each side.
    let parts = [among(&one, &other) / one.runs, among(&other, &one) / other.runs];
    let squared = parts[0] + parts[1];
    let degrees = match (one.variance, other.variance) {
        (Some(_), Some(_)) => {
            let weighed: f64 = parts.iter().zip(sides).map(|(part, side)| part * part / (side.runs - 1.0)).sum();
            // Equal figures vary in nothing, and then the bound multiplies 0.
            if weighed > 0.0 { squared * squared / weighed } else { one.runs + other.runs - 2.0 }
        }
        // The variance of both is that of the side with several runs.
        _ => one.runs.max(other.runs) - 1.0,
    };
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "fewer than the runs, which is safe")]
    let degrees = degrees.floor().clamp(1.0, 1e6) as u32;
    student_bound(LEVEL, degrees) * squared.sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(values: &[f64]) -> Vec<Estimate> {
        values.iter().map(|value| Estimate { value: *value, interval: None }).collect()
    }

    fn with_windows(values: &[f64], half_width: f64) -> Vec<Estimate> {
        let interval = |value: f64| Interval { low: value * (1.0 - half_width), high: value * (1.0 + half_width) };
        values.iter().map(|value| Estimate { value: *value, interval: Some(interval(*value)) }).collect()
    }

    /// By hand, from logarithms: means ln 100 and ln 90, variances 0.0001 and 0.0004, three runs each.
    #[test]
    fn several_runs_are_compared_as_welch_does() {
        let side =
            |middle: f64, deviation: f64| runs(&[-1.0_f64, 0.0, 1.0].map(|step| middle * (deviation * step).exp()));
        let found = ratio(&side(100.0, 0.01), &side(90.0, 0.02)).unwrap();
        assert!((found.value - 0.9).abs() < 1e-12);
        // (1e-4/3 + 4e-4/3)² / ((1e-4/3)²/2 + (4e-4/3)²/2) = 25 · 2 / 17 = 2.94: two degrees of freedom, a bound of 4.303.
        let half_width = 4.303 * (5e-4_f64 / 3.0).sqrt();
        let interval = found.interval.unwrap();
        assert!((interval.low.ln() - (0.9_f64.ln() - half_width)).abs() < 1e-4, "{interval:?}");
        assert!((interval.high.ln() - (0.9_f64.ln() + half_width)).abs() < 1e-4, "{interval:?}");
    }

    #[test]
    fn runs_that_lie_close_by_luck_are_not_known_better_than_their_windows_say() {
        let width = |found: Option<Estimate>| found.unwrap().interval.map(|of| (of.high / of.low).ln()).unwrap();
        let lucky = width(ratio(&with_windows(&[100.0, 100.0], 0.05), &with_windows(&[100.0, 100.0], 0.05)));
        // Four runs, two degrees of freedom: 4.303 times √(0.05² / 1.96² / 2 · 2), on both sides.
        assert!((lucky - 2.0 * 4.303 * 0.05 / 1.96).abs() < 1e-3, "{lucky}");
        assert!(width(ratio(&runs(&[100.0, 100.0]), &runs(&[100.0, 100.0]))) == 0.0);
    }

    #[test]
    fn a_single_run_beside_several_varies_as_they_do() {
        let several = runs(&[-1.0_f64, 0.0, 1.0].map(|step| 100.0 * (0.01 * step).exp()));
        let half_width = 4.303 * 0.01 * (1.0_f64 / 3.0 + 1.0).sqrt();
        for found in [ratio(&several, &runs(&[100.0])), ratio(&runs(&[100.0]), &several)] {
            let found = found.unwrap();
            assert!((found.value - 1.0).abs() < 1e-12);
            assert!((found.interval.unwrap().high.ln() - half_width).abs() < 1e-5, "{found:?}");
        }
    }

    #[test]
    fn single_runs_have_what_follows_from_their_windows() {
        let (base, other) = (with_windows(&[100.0], 0.02), with_windows(&[90.0], 0.02));
        assert_eq!(ratio(&base, &other), other[0].over(base[0]));
        assert_eq!((ratio(&[], &base), ratio(&base, &[]), figure(&[])), (None, None, None));
    }

    /// A share of 95 % is promised. What is slowed by nothing must not be found slower more often than that, and what is
    /// slower by four standard deviations must be found.
    #[test]
    fn intervals_hold_the_true_ratio_as_often_as_they_promise() {
        let mut state = 1_u64;
        let mut normal = || {
            let mut uniform = || {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (state >> 40) as f64 / f64::from(1 << 24)
            };
            (0..12).map(|_| uniform()).sum::<f64>() - 6.0
        };
        for (runs_of_each, deviations) in
            [([2, 2], [0.01, 0.01]), ([3, 3], [0.01, 0.03]), ([5, 3], [0.02, 0.01]), ([4, 1], [0.02; 2])]
        {
            let experiments = 4000;
            let (mut held, mut told) = (0, 0);
            for _ in 0..experiments {
                let mut side = |factor: f64, which: usize| -> Vec<Estimate> {
                    let values: Vec<f64> =
                        (0..runs_of_each[which]).map(|_| factor * (deviations[which] * normal()).exp()).collect();
                    runs(&values)
                };
                let interval = ratio(&side(1.0, 0), &side(1.0, 1)).unwrap().interval.unwrap();
                held += u32::from(interval.low <= 1.0 && 1.0 <= interval.high);
                let slowed = ratio(&side(1.0, 0), &side(0.5, 1)).unwrap().interval.unwrap();
                told += u32::from(slowed.high < 0.95);
            }
            let share = |count: u32| f64::from(count) / f64::from(experiments);
            assert!(share(held) > 0.94, "{runs_of_each:?}: {}", share(held));
            assert!(share(told) > 0.9, "{runs_of_each:?}: {}", share(told));
        }
    }
}
