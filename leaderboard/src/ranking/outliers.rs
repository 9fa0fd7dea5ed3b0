//! Runs that differ from the others of their device. They are marked and never deleted, for a manual check.

use results::statistics::{mean, median};

/// Largest score of a normal rate: Iglewicz and Hoaglin, *How to Detect and Handle Outliers* (1993), chapter 3.
const THRESHOLD: f64 = 3.5;
/// Smallest number of rates for detecting outliers.
const MIN_RATES: usize = 5;
/// 0.75-quantile of the normal distribution: its median absolute deviation in standard deviations.
const NORMAL_MEDIAN_DEVIATION: f64 = 0.6745;
/// √(2/π): the mean absolute deviation of normal values in standard deviations.
const NORMAL_MEAN_DEVIATION: f64 = 0.797_885;

/// Returns the modified z-score of each rate: 0.6745 · (x − median) / MAD, where x is the logarithm of the rate,
/// because devices differ by factors, and MAD is the median absolute deviation. If more than half of the rates are
/// equal, MAD is zero and the scaled mean absolute deviation replaces it. Equal rates, and fewer than five, have the
/// score zero.
fn modified_z_scores(rates: &[f64]) -> Vec<f64> {
    let logarithms: Vec<f64> = rates.iter().map(|rate| rate.ln()).collect();
    let spread = median(&logarithms).filter(|_| rates.len() >= MIN_RATES).and_then(|middle| {
        let deviations: Vec<f64> = logarithms.iter().map(|value| (value - middle).abs()).collect();
        let by_median = median(&deviations)? / NORMAL_MEDIAN_DEVIATION;
        let by_mean = mean(&deviations)? / NORMAL_MEAN_DEVIATION;
        let deviation = if by_median > 0.0 { by_median } else { by_mean };
        (deviation > 0.0).then_some((middle, deviation))
    });
    let Some((middle, deviation)) = spread else { return vec![0.0; rates.len()] };
    logarithms.iter().map(|value| (value - middle) / deviation).collect()
}

pub(crate) fn outliers(rates: &[f64]) -> Vec<bool> {
    modified_z_scores(rates).iter().map(|score| score.abs() > THRESHOLD).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn scores_are_those_of_the_formula() {
        // Logarithms 0 to 4 and 12, so that the median is 2.5 and the deviations are 2.5, 1.5, 0.5, 0.5, 1.5, 9.5.
        let rates = [0.0, 1.0, 2.0, 3.0, 4.0, 12.0].map(f64::exp);
        let scores = modified_z_scores(&rates);
        assert!((scores[5] - 0.6745 * 9.5 / 1.5).abs() < 1e-12, "{scores:?}");
        assert_eq!(outliers(&rates), [false, false, false, false, false, true]);
    }

    #[test]
    fn runs_of_another_speed_stand_apart_unless_there_are_few() {
        for odd in [10.0, 1000.0] {
            let marked = outliers(&[100.0, 101.0, 99.0, 100.5, 98.5, odd]);
            assert_eq!(marked, [false, false, false, false, false, true], "{odd}");
        }
        // If most are equal, the mean deviation is used.
        let marked = outliers(&[vec![100.0; 20], vec![200.0]].concat());
        assert!(marked[20] && marked[..20].iter().all(|marked| !marked));
        for usual in [&[100.0, 101.0, 99.0, 100.5, 98.5, 100.2][..], &[100.0; 8], &[1.0, 1.0, 1.0, 1e9], &[]] {
            assert!(outliers(usual).iter().all(|marked| !marked), "{usual:?}");
        }
    }

    proptest! {
        /// On a logarithmic scale, half and twice the speed are equally far, and units do not matter.
        #[test]
        fn scores_do_not_depend_on_the_unit(rates in prop::collection::vec(1.0_f64..1e4, 5..30), factor in 0.01_f64..100.0) {
            let scaled: Vec<f64> = rates.iter().map(|rate| rate * factor).collect();
            for (a, b) in modified_z_scores(&rates).iter().zip(modified_z_scores(&scaled)) {
                prop_assert!((a - b).abs() <= 1e-6 * (1.0 + a.abs()), "{} and {}", a, b);
            }
        }
    }
}
