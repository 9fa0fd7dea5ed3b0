//! Training recipes as data: batches, loss and optimizers.

mod batches;
mod input;
mod job;
mod optimizer;
mod order;
mod segments;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use batches::{BatchPlan, BatchRange, Batching, SampleOrder};
pub use input::{Augmentation, Edge, Flip, InputRecipe, Normalization, Shift, TestView};
pub use job::{EvaluationSet, TrainingJob};
pub use optimizer::{Optimizer, Rule, Schedule};
pub(crate) use order::Order;
pub use segments::{Segments, segment_seed};

/// Softmax cross-entropy, the loss of every workload, with its variations.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Loss {
    /// Share of the target that is spread evenly over all classes: Szegedy et al. (2015).
    pub label_smoothing: f32,
    /// True if gradients are of the batch's sum. Reported losses are means.
    pub summed: bool,
    pub logits_scale: f32,
}

impl Default for Loss {
    fn default() -> Self {
        Self { label_smoothing: 0.0, summed: false, logits_scale: 1.0 }
    }
}

/// Second set of weights that follows the trained ones.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum WeightAverage {
    /// Follows after every step, keeping the share `min(largest, (1 + t) / (10 + t))`, as in TensorFlow.
    /// Evaluations use it.
    Exponential { largest: f64 },
    /// Zhang et al. (2019): after every `every` steps it follows, keeping `decay^every·(t / planned)^3`, and the
    /// weights jump to it. After the last step they jump without following.
    Lookahead { every: u64, decay: f64 },
}

impl WeightAverage {
    /// Returns the mode of the update after step `t`, zero-based, of `planned`, and the share of the average that is
    /// kept. 0: none; 1: the average follows the weights; 2: the weights then also jump to it.
    pub fn step(&self, t: u64, planned: u64) -> (u32, f64) {
        match *self {
            Self::Exponential { largest } => {
                let done = (t + 1) as f64;
                (1, largest.min((1.0 + done) / (10.0 + done)))
            }
            Self::Lookahead { every, decay } => {
                let done = t + 1;
                if done == planned {
                    return (2, 1.0);
                }
                if !done.is_multiple_of(every) {
                    return (0, 0.0);
                }
                let share = done as f64 / planned.max(1) as f64;
                let keep = decay.powi(i32::try_from(every).unwrap_or(i32::MAX)) * share.powi(3);
                (2, keep.min(1.0))
            }
        }
    }

    pub fn is_tested(&self) -> bool {
        matches!(self, Self::Exponential { .. })
    }
}

/// Rule of Theano's tutorials: training ends when held-out samples are no longer classified better, after at least
/// `updates` updates, and at least `factor` times the update of the last real improvement.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EarlyStopping {
    pub updates: u64,
    pub factor: u64,
    /// Share of the best error below which an error counts as improved.
    pub threshold: f64,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Patience {
    rule: EarlyStopping,
    until: u64,
    best_error: f64,
}

impl Patience {
    pub(crate) fn new(rule: EarlyStopping) -> Self {
        Self { rule, until: rule.updates, best_error: f64::INFINITY }
    }

    /// Records the held-out error rate after `updates` updates. Returns true to continue training.
    pub(crate) fn goes_on(&mut self, updates: u64, error: f64) -> bool {
        if error < self.best_error * self.rule.threshold {
            self.until = self.until.max(updates * self.rule.factor);
        }
        self.best_error = self.best_error.min(error);
        updates < self.until
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn averages_follow_slowly_and_lookahead_jumps_at_the_end() {
        let average = WeightAverage::Exponential { largest: 0.9999 };
        assert!((average.step(0, 100).1 - 2.0 / 11.0).abs() < 1e-12);
        assert_eq!(average.step(1_000_000, 100), (1, 0.9999));
        let lookahead = WeightAverage::Lookahead { every: 5, decay: 0.95 };
        assert_eq!(lookahead.step(0, 20), (0, 0.0));
        let (mode, keep) = lookahead.step(9, 20);
        assert_eq!(mode, 2);
        assert!((keep - 0.95f64.powi(5) * 0.125).abs() < 1e-12);
        assert_eq!(lookahead.step(19, 20), (2, 1.0));
    }

    #[test]
    fn only_a_real_improvement_extends_the_minimum_updates() {
        let goes_on = |reports: &[(u64, f64)]| {
            let mut patience = Patience::new(EarlyStopping { updates: 1000, factor: 2, threshold: 0.995 });
            reports.iter().map(|&(updates, error)| patience.goes_on(updates, error)).collect::<Vec<_>>()
        };
        assert_eq!(goes_on(&[(100, 0.1), (900, 0.2), (1000, 0.2)]), [true, true, false]);
        // The first error extends the limit to 1600 updates.
        assert_eq!(goes_on(&[(800, 0.1), (1500, 0.0999), (1600, 0.0998)]), [true, true, false]);
        assert_eq!(goes_on(&[(800, 0.1), (1500, 0.09), (2900, 0.09), (3000, 0.09)]), [true, true, true, false]);
    }
}
