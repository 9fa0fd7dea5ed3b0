//! How far accuracies stray by chance.

use super::Basis;
use crate::statistics::{mean, student_bound, variance};

/// An accuracy is a count over the test set; what is less than this part of a sample comes from arithmetic.
const PART_OF_A_SAMPLE: f64 = 1e-3;

/// How far the accuracy of one run strays by chance.
pub struct Spread {
    pub basis: Basis,
    /// Of one run's accuracy.
    pub variance: f64,
    degrees_of_freedom: u32,
    test_samples: f64,
}

impl Spread {
    /// From the accuracies of the runs of each of those that are compared, each run from a seed of its own.
    ///
    /// Where nobody has two, the standard deviation is that of a share `p` of `m` test samples, `√(p (1 − p) / m)`, as in
    /// the test for the difference of two proportions in Dietterich, "Approximate Statistical Tests for Comparing
    /// Supervised Classification Learning Algorithms", Neural Computation 10, 1998.
    pub fn of(accuracies: &[Vec<f64>], test_samples: u32) -> Self {
        let count = |length: usize| u32::try_from(length).unwrap_or(u32::MAX);
        let test_samples = test_samples.max(1);
        let samples = f64::from(test_samples);
        let several = || accuracies.iter().filter_map(|of| Some((count(of.len()) - 1, variance(of)?)));
        let degrees: u32 = several().map(|(degrees, _)| degrees).sum();
        if degrees == 0 {
            let means: Vec<f64> = accuracies.iter().filter_map(|of| mean(of)).collect();
            let share = mean(&means).unwrap_or_default();
            let variance = share * (1.0 - share) / samples;
            return Self {
                basis: Basis::TestSamples,
                variance,
                degrees_of_freedom: test_samples - 1,
                test_samples: samples,
            };
        }
        let squares: f64 = several().map(|(degrees, variance)| f64::from(degrees) * variance).sum();
        let variance = squares / f64::from(degrees);
        Self { basis: Basis::Seeds, variance, degrees_of_freedom: degrees, test_samples: samples }
    }

    /// From the accuracies of paired runs: every contender has the same seeds, in the same order.
    ///
    /// With several seeds this is the residual variance of randomized blocks (Fisher, *The Design of Experiments*, 1935),
    /// with (contenders - 1) · (seeds - 1) degrees of freedom; for two contenders, that of Student's test of paired
    /// differences. With one seed it is the same as [`Spread::of`].
    pub fn paired(accuracies: &[Vec<f64>], test_samples: u32) -> Self {
        let unpaired = Self::of(accuracies, test_samples);
        let (contenders, seeds) = (accuracies.len(), accuracies.first().map_or(0, Vec::len));
        if contenders < 2 || seeds < 2 {
            return unpaired;
        }
        let of_seed = |seed: usize| mean(&accuracies.iter().map(|of| of[seed]).collect::<Vec<f64>>());
        let of_seeds: Vec<f64> = (0..seeds).filter_map(of_seed).collect();
        let apart = |of: &Vec<f64>| of.iter().zip(&of_seeds).map(|(one, all)| one - all).collect::<Vec<f64>>();
        let left: f64 = accuracies.iter().filter_map(|of| variance(&apart(of))).sum();
        let degrees = (contenders - 1) * (seeds - 1);
        Self {
            basis: Basis::Seeds,
            variance: left / (contenders - 1) as f64,
            degrees_of_freedom: u32::try_from(degrees).unwrap_or(u32::MAX),
            ..unpaired
        }
    }

    /// How far apart the means of so many runs may be without anything but chance, but for a share of `false_alarms`.
    ///
    /// Two such means are further apart than `t · s · √(1/n + 1/m)` as rarely as Student's distribution says ("The
    /// probable error of a mean", Biometrika 6, 1908), where `s` is the standard deviation of one run. They are never held
    /// to less than one sample of the test set: accuracies are no finer.
    pub fn explains(&self, false_alarms: f64, runs: [usize; 2]) -> f64 {
        let bound = student_bound(1.0 - false_alarms, self.degrees_of_freedom);
        let [one, other] = runs.map(|runs| runs.max(1) as f64);
        let explained = bound * self.variance.sqrt() * (1.0 / one + 1.0 / other).sqrt();
        explained.max((1.0 + PART_OF_A_SAMPLE) / self.test_samples)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variances_of_all_count_by_their_degrees_of_freedom() {
        let spread = Spread::of(&[vec![0.90, 0.92], vec![0.5], vec![0.80, 0.80, 0.80]], 10_000);
        assert_eq!(spread.basis, Basis::Seeds);
        assert!((spread.variance - 0.0002 / 3.0).abs() < 1e-12, "{}", spread.variance);
        // Student's bound for three degrees of freedom is 3.182.
        let expected = 3.182 * spread.variance.sqrt() * (0.5_f64 + 1.0).sqrt();
        assert!((spread.explains(0.05, [2, 1]) / expected - 1.0).abs() < 1e-3);
    }

    #[test]
    fn paired_runs_stray_as_their_differences_do() {
        // Differences of 1, 2 and 3 thousandths: their standard deviation is 1 thousandth.
        let pair = [vec![0.90, 0.95, 0.85], vec![0.901, 0.952, 0.853]];
        let expected = 4.303 * 0.001 / 3.0_f64.sqrt();
        assert!((Spread::paired(&pair, 10_000).explains(0.05, [3; 2]) / expected - 1.0).abs() < 1e-3);
        assert!(Spread::of(&pair, 10_000).explains(0.05, [3; 2]) > 0.1);
        let single = [vec![0.9], vec![0.9]];
        assert_eq!(Spread::paired(&single, 10_000).basis, Basis::TestSamples);
    }

    #[test]
    fn single_runs_stray_as_samples_do_and_nothing_is_finer_than_a_sample() {
        let spread = Spread::of(&[vec![0.9], vec![0.9]], 10_000);
        assert_eq!((spread.basis, spread.variance), (Basis::TestSamples, 0.9 * (1.0 - 0.9) / 10_000.0));
        let exact = Spread::of(&[vec![1.0], vec![1.0]], 100);
        assert!((exact.explains(0.05, [1, 1]) - 0.01001).abs() < 1e-9);
    }
}
