use std::fmt;
use std::num::NonZero;

use engine::{BatchPlan, SuiteDefinition};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::names::Positive;

/// How long a cell trains.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Length {
    /// Passes over the training set; windows that measure the throughput may follow.
    Epochs(NonZero<u32>),
    /// Exactly so many steps.
    Steps(NonZero<u64>),
    /// Seconds of training.
    Seconds(Positive),
}

impl Length {
    /// So many seconds of training.
    pub(crate) fn seconds(seconds: NonZero<u32>) -> Self {
        Self::Seconds(Positive(f64::from(seconds.get())))
    }

    /// The same, `scale` times as long: whole epochs where at least one is left, otherwise steps, and at least one.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of a number that fits")]
    pub(crate) fn scaled(self, scale: f64, batches: &BatchPlan) -> Self {
        let steps = |steps: u64| {
            Self::Steps(NonZero::new((steps as f64 * scale).round() as u64).unwrap_or(NonZero::<u64>::MIN))
        };
        match self {
            _ if scale >= 1.0 => self,
            Self::Epochs(epochs) if f64::from(epochs.get()) * scale >= 1.0 => {
                let epochs = (f64::from(epochs.get()) * scale).round() as u32;
                Self::Epochs(NonZero::new(epochs).unwrap_or(NonZero::<u32>::MIN))
            }
            Self::Epochs(epochs) => steps(batches.steps_of_epochs(epochs.get())),
            Self::Steps(full) => steps(full.get()),
            Self::Seconds(full) => Self::Seconds(Positive(full.0 * scale)),
        }
    }

    /// What is left of a suite's own budget. Of its two limits, epochs and seconds, only one can be asked for: the shorter
    /// one is not known, so it is the seconds that are shortened.
    pub(crate) fn scaled_of_suite(suite: &SuiteDefinition, scale: f64) -> Option<Self> {
        (scale < 1.0).then_some(Self::Seconds(Positive(suite.training_seconds * scale)))
    }

    /// The option that asks a run for it.
    pub(crate) fn arguments(self) -> [String; 2] {
        match self {
            Self::Epochs(epochs) => ["--epochs".to_owned(), epochs.to_string()],
            Self::Steps(steps) => ["--steps".to_owned(), steps.to_string()],
            Self::Seconds(seconds) => ["--seconds".to_owned(), seconds.0.to_string()],
        }
    }
}

impl fmt::Display for Length {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (count, what) = match self {
            Self::Epochs(epochs) => (u64::from(epochs.get()), "epoch"),
            Self::Steps(steps) => (steps.get(), "step"),
            Self::Seconds(seconds) => return write!(f, "{} s", seconds.0),
        };
        write!(f, "{count} {what}{}", if count == 1 { "" } else { "s" })
    }
}

#[cfg(test)]
mod tests {
    use engine::{Batching, SampleOrder};

    use super::*;

    fn scaled(length: Length, scale: f64) -> Length {
        let order = SampleOrder::File;
        let batching = Batching::ShortLast;
        length.scaled(scale, &BatchPlan { first: 0, samples: 1000, batch_size: 10, order, batching, seed: 1 })
    }

    fn epochs(count: u32) -> Length {
        Length::Epochs(NonZero::new(count).unwrap())
    }

    fn steps(count: u64) -> Length {
        Length::Steps(NonZero::new(count).unwrap())
    }

    #[test]
    fn epochs_stay_whole_and_become_steps_below_one() {
        assert_eq!(scaled(epochs(12), 1.0), epochs(12));
        assert_eq!(scaled(epochs(12), 0.3), epochs(4));
        assert_eq!(scaled(epochs(12), 0.01), steps(12));
        assert_eq!(scaled(epochs(1), 1e-9), steps(1));
    }

    #[test]
    fn steps_and_seconds_are_shortened_in_proportion() {
        assert_eq!(scaled(steps(20_000), 0.01), steps(200));
        assert_eq!(scaled(steps(20), 0.001), steps(1));
        assert_eq!(scaled(Length::Seconds(Positive(30.0)), 0.1), Length::Seconds(Positive(3.0)));
        assert_eq!(scaled(Length::Seconds(Positive(30.0)), 0.1).to_string(), "3 s");
    }

    #[test]
    fn the_option_of_a_run_and_the_text_say_the_same() {
        assert_eq!(epochs(2).arguments(), ["--epochs", "2"]);
        assert_eq!((epochs(1).to_string(), steps(2).to_string()), ("1 epoch".to_owned(), "2 steps".to_owned()));
    }
}
