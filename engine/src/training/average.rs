use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A second set of weights that follows the trained ones.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum WeightAverage {
    /// Follows after every step, keeping the share `min(largest, (1 + t) / (10 + t))`, as TensorFlow's moving
    /// averages; tests use it.
    Exponential { largest: f64 },
    /// Zhang et al. (2019): after every `every` steps it follows, keeping `decay^every·(t / planned)^3`, and the
    /// weights jump to it; after the last step they jump without its following.
    Lookahead { every: u64, decay: f64 },
}

/// What happens to the average after a step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AverageStep {
    /// 0 nothing, 1 it follows the weights, 2 and the weights jump to it.
    pub mode: u32,
    /// The share of it that is kept.
    pub keep: f64,
}

impl WeightAverage {
    /// After update `t`, from 0, of `planned`.
    pub fn step(&self, t: u64, planned: u64) -> AverageStep {
        match *self {
            Self::Exponential { largest } => {
                let done = (t + 1) as f64;
                AverageStep { mode: 1, keep: largest.min((1.0 + done) / (10.0 + done)) }
            }
            Self::Lookahead { every, decay } => {
                let done = t + 1;
                if done == planned {
                    return AverageStep { mode: 2, keep: 1.0 };
                }
                if !done.is_multiple_of(every) {
                    return AverageStep::default();
                }
                let share = done as f64 / planned.max(1) as f64;
                let keep = decay.powi(i32::try_from(every).unwrap_or(i32::MAX)) * share.powi(3);
                AverageStep { mode: 2, keep: keep.min(1.0) }
            }
        }
    }

    /// Whether tests use the average instead of the weights.
    pub fn is_tested(&self) -> bool {
        matches!(self, Self::Exponential { .. })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lookahead_moves_every_few_steps_and_jumps_at_the_end() {
        let lookahead = WeightAverage::Lookahead { every: 5, decay: 0.95 };
        assert_eq!(lookahead.step(0, 20).mode, 0);
        let tenth = lookahead.step(9, 20);
        assert_eq!(tenth.mode, 2);
        assert!((tenth.keep - 0.95f64.powi(5) * 0.125).abs() < 1e-12);
        assert_eq!(lookahead.step(19, 20), AverageStep { mode: 2, keep: 1.0 });
    }

    #[test]
    fn an_exponential_average_starts_loose() {
        let average = WeightAverage::Exponential { largest: 0.9999 };
        assert!((average.step(0, 100).keep - 2.0 / 11.0).abs() < 1e-12);
        assert_eq!(average.step(1_000_000, 100).keep, 0.9999);
    }
}
