use std::fmt;

use results::measured::Outcome;

use crate::figures::{figure, mebibytes};

/// Why something has no figure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    /// The same for all that have the same reason.
    pub(crate) reason: String,
    /// What is particular to this one; may be empty.
    pub(crate) detail: String,
}

impl Refusal {
    /// `None` where there is a figure.
    pub(crate) fn of<F, D: fmt::Display>(outcome: &Outcome<F, D>) -> Option<Self> {
        let bytes = |bytes: u64| format!("{bytes} bytes, {}", mebibytes(bytes));
        let (reason, detail) = match outcome {
            Outcome::Measured(_) => return None,
            Outcome::DoesNotFit { what, needed_bytes, allowed_bytes } => (
                format!("does not fit, for {what} may not be larger than {}", bytes(*allowed_bytes)),
                bytes(*needed_bytes),
            ),
            Outcome::TooSlow { predicted_seconds, allowed_seconds } => (
                format!(
                    "would take longer than {} each time (--budget-seconds)",
                    figure("training_seconds", *allowed_seconds)
                ),
                format!("about {}", figure("training_seconds", *predicted_seconds)),
            ),
            Outcome::Skipped { reason } => (format!("left out: {reason}"), String::new()),
            Outcome::Failed { message } => (format!("failed: {message}"), String::new()),
            Outcome::Wrong(difference) => {
                (format!("{difference}, so nothing was timed; a newer GPU driver may help"), String::new())
            }
            Outcome::Cancelled => ("stopped before its first window".to_owned(), String::new()),
        };
        Some(Self { reason, detail })
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason)?;
        if self.detail.is_empty() { Ok(()) } else { write!(f, " ({})", self.detail) }
    }
}

#[cfg(test)]
mod tests {
    use results::{Compared, Disagreement};

    use super::*;

    type Any = Outcome<(), Disagreement>;

    fn text(outcome: &Any) -> String {
        Refusal::of(outcome).map(|refusal| refusal.to_string()).unwrap_or_default()
    }

    #[test]
    fn what_does_not_fit_or_takes_too_long_says_both_numbers() {
        let what = "the workload as a whole".to_owned();
        let text_of_size = text(&Any::DoesNotFit { what, needed_bytes: 3 << 20, allowed_bytes: 1 << 20 });
        assert_eq!(
            text_of_size,
            "does not fit, for the workload as a whole may not be larger than 1048576 bytes, 1.0 MiB (3145728 bytes, \
             3.0 MiB)"
        );
        let slow = text(&Any::TooSlow { predicted_seconds: 3.0, allowed_seconds: 0.5 });
        assert_eq!(slow, "would take longer than 500.0 ms each time (--budget-seconds) (about 3.000 s)");
    }

    #[test]
    fn what_is_wrong_says_by_how_much_and_a_figure_has_no_refusal() {
        let wrong = Disagreement { compared: Compared::Losses, largest_difference: 0.5, tolerance: 0.001 };
        let text_of_wrong = text(&Any::Wrong(wrong));
        assert!(text_of_wrong.contains("5.00e-1") && text_of_wrong.contains("1e-3"), "{text_of_wrong}");
        assert_eq!(Refusal::of(&Any::Measured(())), None);
    }
}
