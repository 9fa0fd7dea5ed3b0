//! Means, medians, quantiles and intervals, without random numbers.

/// Maximum sample size for which the probability of every resampled median is computed, not only the interval's ends.
const MAX_ENUMERATED_VALUES: usize = 64;

/// Returns the `q`-quantile (0 to 1) of `values`, linear between order statistics; `None` when empty. This is
/// definition 7 of Hyndman and Fan, "Sample Quantiles in Statistical Packages" (1996).
pub fn quantile(values: &[f64], q: f64) -> Option<f64> {
    let sorted = sort_values(values);
    let last = sorted.len().checked_sub(1)?;
    let position = q.clamp(0.0, 1.0) * last as f64;
    let below = position.floor();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a position inside the slice")]
    let index = below as usize;
    let above = sorted[(index + 1).min(last)];
    Some(sorted[index] + (above - sorted[index]) * (position - below))
}

pub fn median(values: &[f64]) -> Option<f64> {
    quantile(values, 0.5)
}

/// Returns the mean of `values`; `None` when empty.
pub fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// Returns the unbiased sample variance; `None` with fewer than two values.
pub fn variance(values: &[f64]) -> Option<f64> {
    let mean = mean(values).filter(|_| values.len() > 1)?;
    Some(values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (values.len() - 1) as f64)
}

/// Interpolates linearly between points sorted by their first number; constant beyond the ends. `None` when empty.
pub fn interpolate(points: &[(f64, f64)], x: f64) -> Option<f64> {
    let after = points.partition_point(|&(at, _)| at <= x);
    match (after.checked_sub(1).map(|last| points[last]), points.get(after)) {
        (Some((x0, y0)), Some(&(x1, y1))) => Some(y0 + (y1 - y0) * (x - x0) / (x1 - x0)),
        (last, next) => last.or(next.copied()).map(|(_, y)| y),
    }
}

/// Returns the probability that a Student's t variable is between `-t` and `t`, for `t` of at least 0, by formulas
/// 26.7.3 and 26.7.4 of Abramowitz and Stegun, *Handbook of Mathematical Functions* (1964).
pub fn student_within(t: f64, degrees_of_freedom: u32) -> f64 {
    let degrees = degrees_of_freedom.max(1);
    let angle = (t / f64::from(degrees).sqrt()).atan();
    let (sine, cosine) = angle.sin_cos();
    let odd = degrees % 2 == 1;
    // Each term is the previous one times the squared cosine and a fraction: 2/3, 4/5, … or 1/2, 3/4, …
    let mut term = if odd { cosine } else { 1.0 };
    let mut sum = if degrees == 1 { 0.0 } else { term };
    let first = if odd { 3 } else { 2 };
    for denominator in (first..degrees - 1).step_by(2) {
        term *= cosine * cosine * f64::from(denominator - 1) / f64::from(denominator);
        sum += term;
    }
    if odd { (angle + sine * sum) * std::f64::consts::FRAC_2_PI } else { sine * sum }
}

/// Returns the `t` for which a Student's t variable is between `-t` and `t` with probability `level` (0.95 for 95 %).
pub fn student_bound(level: f64, degrees_of_freedom: u32) -> f64 {
    let (mut below, mut above) = (0.0, 1.0);
    while student_within(above, degrees_of_freedom) < level && above < 1e12 {
        above *= 2.0;
    }
    // Bisect until two adjacent floats are left.
    loop {
        let middle = f64::midpoint(below, above);
        if middle <= below || middle >= above {
            return above;
        }
        if student_within(middle, degrees_of_freedom) < level { below = middle } else { above = middle }
    }
}

/// Returns the bootstrap percentile interval of the median at `level` (0.95 for 95 %), as (low, high).
///
/// Resampling is not simulated: the probability that the median of a resample equals each value (or the mean of each
/// pair of values) is a binomial sum, so the interval is exact and the same everywhere. The method is from Maritz and
/// Jarrett, "A note on estimating the variance of the sample median" (1978); here it also covers even sample sizes.
/// With more than 64 values, an even sample's interval may reach one value further, because the mean of the two middle
/// values is replaced by the outer one. `None` when empty.
pub fn median_interval(values: &[f64], level: f64) -> Option<(f64, f64)> {
    let sorted = sort_values(values);
    let tail = (1.0 - level) / 2.0;
    if sorted.len() > MAX_ENUMERATED_VALUES {
        return Some(bisect_interval(&sorted, tail));
    }
    let mut outcomes = resampled_medians(&sorted);
    outcomes.sort_by(|a, b| a.0.total_cmp(&b.0));
    let reach = |share: f64| {
        let mut sum = 0.0;
        let reached = outcomes.iter().find(|(_, chance)| {
            sum += chance;
            sum >= share
        });
        // Rounding may leave the sum just short of the level.
        reached.or(outcomes.last()).map(|(value, _)| *value)
    };
    reach(tail).zip(reach(1.0 - tail))
}

/// Computes the same interval for large samples, with logarithms instead of powers and bisection for the ends.
fn bisect_interval(sorted: &[f64], tail: f64) -> (f64, f64) {
    let n = sorted.len();
    let mut sum = 0.0;
    let ln_factorials: Vec<f64> = std::iter::once(0.0)
        .chain((1..=n).map(|i| {
            sum += (i as f64).ln();
            sum
        }))
        .collect();
    // Probability that the value of this rank in a resample is at most the i-th value of the sample.
    let at_most = |rank: usize, i: usize| -> f64 {
        if i == n {
            return 1.0;
        }
        let (ln_p, ln_q) = ((i as f64 / n as f64).ln(), (1.0 - i as f64 / n as f64).ln());
        let ln_choose = |s: usize| ln_factorials[n] - ln_factorials[s] - ln_factorials[n - s];
        (rank..=n).map(|s| (ln_choose(s) + s as f64 * ln_p + (n - s) as f64 * ln_q).exp()).sum()
    };
    let smallest = |rank: usize, share: f64| {
        let (mut below, mut enough) = (0, n);
        while enough - below > 1 {
            let middle = usize::midpoint(below, enough);
            if at_most(rank, middle) >= share { enough = middle } else { below = middle }
        }
        sorted[enough - 1]
    };
    (smallest(n.div_ceil(2), tail), smallest(n / 2 + 1, 1.0 - tail))
}

/// Returns every possible median of a resample of `sorted` with its probability.
fn resampled_medians(sorted: &[f64]) -> Vec<(f64, f64)> {
    let n = sorted.len();
    let upper = n / 2 + 1; // rank of the upper middle value, from 1
    // Probability of at least `rank` successes in `n` trials.
    let at_most = |rank: usize, i: usize| -> f64 {
        let p = i as f64 / n as f64;
        (rank..=n).map(|s| choose(n, s) * p.powi(power(s)) * (1.0 - p).powi(power(n - s))).sum()
    };
    if n % 2 == 1 {
        return (1..=n).map(|i| (sorted[i - 1], at_most(upper, i) - at_most(upper, i - 1))).collect();
    }
    // Even: the median is the mean of the ranks n/2 and n/2 + 1, which may be different values i < j.
    let half = n / 2;
    let apart = |i: usize, j: usize| {
        // Exactly half of the resample is at most i and the other half is at least j.
        choose(n, half) * (i as f64 / n as f64).powi(power(half)) * ((n + 1 - j) as f64 / n as f64).powi(power(half))
    };
    let mut outcomes = Vec::with_capacity(n * (n + 1) / 2);
    for i in 1..=n {
        let lower_is_i = at_most(half, i) - at_most(half, i - 1);
        let mut both_at_i = lower_is_i;
        for j in i + 1..=n {
            let chance = apart(i, j) - apart(i - 1, j) - apart(i, j + 1) + apart(i - 1, j + 1);
            outcomes.push(((sorted[i - 1] + sorted[j - 1]) / 2.0, chance));
            both_at_i -= chance;
        }
        outcomes.push((sorted[i - 1], both_at_i));
    }
    outcomes
}

fn power(n: usize) -> i32 {
    i32::try_from(n).unwrap_or(i32::MAX)
}

fn choose(n: usize, k: usize) -> f64 {
    (0..k).map(|i| (n - i) as f64 / (i + 1) as f64).product()
}

fn sort_values(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_range_from_smallest_to_largest() {
        let values = [10.0, 20.0, 30.0, 40.0, 50.0];
        assert_eq!([0.0, 0.95, 1.0].map(|q| quantile(&values, q)), [Some(10.0), Some(48.0), Some(50.0)]);
        assert_eq!((median(&[4.0, 1.0, 3.0, 2.0]), median(&[])), (Some(2.5), None));
    }

    #[test]
    fn probabilities_of_resampled_medians_sum_to_one() {
        for n in 1..=40 {
            let values: Vec<f64> = (0..n).map(f64::from).collect();
            let outcomes = resampled_medians(&values);
            let sum: f64 = outcomes.iter().map(|o| o.1).sum();
            assert!((sum - 1.0).abs() < 1e-9, "n = {n}: {sum}");
            assert!(outcomes.iter().all(|o| o.1 > -1e-12), "n = {n}");
        }
    }

    /// Checks the binomial sums against all 3^3 and 4^4 resamples.
    #[test]
    fn intervals_match_enumerated_resamples() {
        for values in [vec![1.0, 2.0, 10.0], vec![1.0, 2.0, 10.0, 11.0]] {
            let resamples = values.iter().fold(vec![Vec::new()], |picks, _| {
                let longer = |pick: &Vec<f64>| values.iter().map(|value| [&pick[..], &[*value]].concat()).collect();
                picks.iter().flat_map(|pick| -> Vec<Vec<f64>> { longer(pick) }).collect()
            });
            let medians = sort_values(&resamples.iter().map(|pick| median(pick).unwrap()).collect::<Vec<_>>());
            let rank = |percent: usize| medians[(percent * medians.len()).div_ceil(100) - 1];
            assert_eq!(median_interval(&values, 0.9), Some((rank(5), rank(95))));
        }
    }

    #[test]
    fn both_interval_algorithms_agree_for_odd_sample_sizes() {
        assert_eq!((median_interval(&[3.0; 6], 0.95), median_interval(&[], 0.95)), (Some((3.0, 3.0)), None));
        for n in (5..=63).step_by(2) {
            let values: Vec<f64> = (0..n).map(|i| f64::from(i * i)).collect();
            assert_eq!(median_interval(&values, 0.95), Some(bisect_interval(&values, 0.025)), "n = {n}");
        }
    }

    #[test]
    fn intervals_of_many_values_follow_normal_theory() {
        for n in [65_u32, 66, 1031, 20_000] {
            let values: Vec<f64> = (0..n).rev().map(f64::from).collect();
            let (low, high) = median_interval(&values, 0.95).unwrap();
            let (middle, half_width) = (f64::from(n - 1) / 2.0, 1.96 * f64::from(n).sqrt() / 2.0);
            assert!((low - (middle - half_width)).abs() <= 2.0, "n = {n}: {low}");
            assert!((high - (middle + half_width)).abs() <= 2.0, "n = {n}: {high}");
        }
    }

    /// Compares bounds with Abramowitz and Stegun (26.10), to the printed digits.
    #[test]
    fn student_bounds_match_the_tables() {
        let of_95 =
            [(1, 12.706), (2, 4.303), (3, 3.182), (4, 2.776), (5, 2.571), (10, 2.228), (120, 1.98), (9999, 1.96)];
        let of_99 = [(1, 63.657), (6, 3.707), (7, 3.499)];
        let all = of_95.map(|of| (0.95, of)).into_iter().chain(of_99.map(|of| (0.99, of)));
        for (level, (degrees, expected)) in all {
            let found = student_bound(level, degrees);
            assert!((found - expected).abs() < 6e-4, "{level} {degrees}: {found}, not {expected}");
        }
    }

    #[test]
    fn variance_is_unbiased_and_needs_two_values() {
        assert_eq!((mean(&[1.0, 2.0, 6.0]), variance(&[1.0, 2.0, 6.0])), (Some(3.0), Some(7.0)));
        assert_eq!((mean(&[]), variance(&[1.0])), (None, None));
    }
}
