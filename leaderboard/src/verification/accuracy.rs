//! Comparison of the accuracy on random test samples with the accuracy on the whole test set.

/// Largest accepted [`surprise`]: 5²/2, or five standard deviations of a normal distribution. At most e^-12.5 of honest
/// runs, four in a million, exceed it on each side.
pub(super) const MOST_SURPRISE: f64 = 12.5;

/// Returns `count` · KL(`found` ‖ `claimed`). If each of `count` samples is correct with probability `claimed`, an accuracy
/// of `found` or farther off on the same side has at most the probability e^-surprise (Hoeffding, "Probability inequalities
/// for sums of bounded random variables", 1963, theorem 1).
///
/// Every claim leaves room for one wrong and one correct sample, because arithmetic in another order may classify a
/// sample near a tie differently.
pub(super) fn surprise(found: f64, claimed: f64, count: u64) -> f64 {
    let count = count as f64;
    let claimed = claimed.clamp(1.0 / count, 1.0 - 1.0 / count);
    let part = |found: f64, claimed: f64| if found > 0.0 { found * (found / claimed).ln() } else { 0.0 };
    count * (part(found, claimed) + part(1.0 - found, 1.0 - claimed))
}

/// Number of standard deviations by which the accuracy on random samples may be below the target.
const MOST_DEVIATIONS_BELOW: f64 = 3.0;

/// Returns true if the accuracy `found` on `count` random samples is far below `target`.
pub(super) fn is_far_below(found: f64, target: f64, count: u64) -> bool {
    target - found > MOST_DEVIATIONS_BELOW * (target * (1.0 - target) / count as f64).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_deviations_below_the_target_are_far() {
        let deviation = (0.9 * 0.1 / 512_f64).sqrt();
        for (deviations, expected) in [(-5.0, false), (0.0, false), (2.9, false), (3.1, true)] {
            assert_eq!(is_far_below(0.9 - deviations * deviation, 0.9, 512), expected, "{deviations}");
        }
    }

    #[test]
    fn half_of_many_samples_may_be_five_deviations_off() {
        let deviation = 0.5 / 512_f64.sqrt();
        for side in [-1.0, 1.0] {
            let surprise_at = |deviations: f64| surprise(0.5 + side * deviations * deviation, 0.5, 512);
            assert!((surprise_at(5.0) - MOST_SURPRISE).abs() < 0.01 * MOST_SURPRISE, "{}", surprise_at(5.0));
            assert_eq!(surprise_at(0.0), 0.0);
        }
    }

    /// Returns the probability that exactly `right` of `count` samples are correct, each with probability `accuracy`.
    fn probability(right: u32, count: u32, accuracy: f64) -> f64 {
        let ways: f64 = (1..=right).map(|i| (f64::from(count - right + i) / f64::from(i)).ln()).sum();
        (ways + f64::from(right) * accuracy.ln() + f64::from(count - right) * (1.0 - accuracy).ln()).exp()
    }

    #[test]
    fn four_of_a_million_honest_runs_are_doubted_at_most() {
        for accuracy in [0.5, 0.9, 0.97, 0.99, 0.999] {
            for count in [16, 128, 512] {
                let (mut below, mut above, mut all) = (0.0, 0.0, 0.0);
                for right in 0..=count {
                    let found = f64::from(right) / f64::from(count);
                    let probability = probability(right, count, accuracy);
                    all += probability;
                    if surprise(found, accuracy, count.into()) > MOST_SURPRISE {
                        *(if found < accuracy { &mut below } else { &mut above }) += probability;
                    }
                }
                assert!((all - 1.0_f64).abs() < 1e-9, "{all}");
                assert!(below < 4e-6 && above < 4e-6, "{accuracy} of {count}: {below} and {above}");
            }
        }
    }

    #[test]
    fn claims_that_are_much_better_or_worse_are_doubted() {
        for (found, claimed) in [(0.90, 0.98), (0.98, 0.90), (0.98, 1.0), (0.0, 1.0), (1.0, 0.0)] {
            assert!(surprise(found, claimed, 512) > MOST_SURPRISE, "{found} and {claimed}");
        }
        for (found, claimed) in [(1.0, 1.0), (0.0, 0.0), (511.0 / 512.0, 1.0), (0.97, 0.98)] {
            assert!(surprise(found, claimed, 512) < MOST_SURPRISE, "{found} and {claimed}");
        }
    }
}
