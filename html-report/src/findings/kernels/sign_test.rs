//! Whether one of two is more often the larger one than chance explains (the sign test of Dixon and Mood, 1946, "The
//! statistical sign test", Journal of the American Statistical Association 41).

use crate::findings::Kind;

/// What is more often larger by less than this probability is called a difference.
const LEVEL: f64 = 0.05;

/// The probability that a fair coin divides as many throws at least as unequally; 1 of none.
pub(super) fn probability(more: usize, less: usize) -> f64 {
    let throws = more + less;
    let mut term = 0.5_f64.powi(i32::try_from(throws).unwrap_or(i32::MAX));
    let mut tail = 0.0;
    for count in 0..=more.min(less) {
        tail += term;
        term *= (throws - count) as f64 / (count + 1) as f64;
    }
    (2.0 * tail).min(1.0)
}

/// A difference or a tie; a mere figure where there are so few that nothing could be told from chance.
pub(super) fn verdict(more: usize, less: usize) -> Kind {
    if probability(more, less) < LEVEL {
        Kind::Difference
    } else if probability(more + less, 0) < LEVEL {
        Kind::Tie
    } else {
        Kind::Figure
    }
}

/// For people.
pub(super) fn text(more: usize, less: usize) -> String {
    let probability = probability(more, less);
    if probability < 0.001 { "p < 0.001".to_owned() } else { format!("p = {probability:.3}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probabilities_are_those_of_a_fair_coin() {
        for (more, less, expected) in [(5, 0, 0.0625), (6, 0, 0.03125), (9, 1, 22.0 / 1024.0), (3, 3, 1.0), (0, 0, 1.0)]
        {
            assert!((probability(more, less) - expected).abs() < 1e-12, "{more} and {less}");
            assert_eq!(probability(more, less), probability(less, more));
        }
        assert_eq!([verdict(5, 0), verdict(6, 0), verdict(5, 1)], [Kind::Figure, Kind::Difference, Kind::Tie]);
        assert_eq!((text(6, 0), text(40, 0)), ("p = 0.031".to_owned(), "p < 0.001".to_owned()));
    }
}
