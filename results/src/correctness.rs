//! Comparison of a backend with the reference.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Precision;

/// Comparison of a back end's first steps with the plain reference's, from the same weights and batches.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Correctness {
    /// Samples in each batch that was compared.
    pub batch_size: u32,
    /// Number of times that samples and weights were drawn again because rounding alone decided the comparison: the
    /// plain loops disagreed with themselves in another precision. All numbers are from the last draw.
    pub redraws: u32,
    /// Losses of the back end's first steps. A loss that is infinite or not a number is written as the largest finite
    /// number.
    pub losses: Vec<f64>,
    /// Losses of the plain reference, in the same order.
    pub reference_losses: Vec<f64>,
    /// Largest allowed relative difference of a loss.
    pub tolerance: f64,
    /// Largest relative difference of a loss.
    pub largest_difference: f64,
    /// Differences of everything else that was compared with the reference.
    pub differences: Vec<Disagreement>,
    /// Comparison of a batch of the timed size with smaller batches. Absent if `batch_size` is the timed size, if the
    /// device has no room for a second network, and if the first steps disagree already.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub whole_batch: Option<WholeBatch>,
    /// True if the losses and everything else that was compared agree within their tolerances.
    pub passed: bool,
}

/// Comparison of the loss and gradients of a batch of the timed size with the same samples in smaller batches
/// (parts), on the same back end. With batch normalisation, a few samples stand against the same few repeated until
/// they fill the batch.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WholeBatch {
    /// Samples in the whole batch.
    pub batch_size: u32,
    /// Samples in each part; the last may have fewer.
    pub part_size: u32,
    /// Loss of the whole batch. A loss that is infinite or not a number is written as the largest finite number.
    pub loss: f64,
    /// Mean loss over all samples of the parts, written in the same way. Its difference from `loss` has the tolerance
    /// of the losses of the first steps.
    pub loss_of_parts: f64,
    /// Largest distance of a tensor's gradient from the parts', relative to the length of the tensor's gradient
    /// plus a hundredth of the length of all gradients together.
    pub gradient_difference: f64,
    /// Largest allowed `gradient_difference`.
    pub gradient_tolerance: f64,
    /// True if loss and gradients agree within their tolerances.
    pub passed: bool,
}

impl Correctness {
    /// Maximum number of redraws. With `airbench94`, one draw in a few dozen needs a redraw; with other networks,
    /// almost none does.
    pub const MAX_REDRAWS: u32 = 2;

    /// Returns the largest `|loss - reference| / |reference|`, or `f64::MAX` if a loss is missing or not finite.
    pub fn largest_difference_of(losses: &[f64], reference_losses: &[f64]) -> f64 {
        let is_number = |loss: &f64| loss.abs() < f64::MAX;
        let comparable = losses.len() == reference_losses.len() && !losses.is_empty();
        if !comparable || !losses.iter().chain(reference_losses).all(is_number) {
            return f64::MAX;
        }
        let relative = |(loss, reference): (&f64, &f64)| {
            let difference = (loss - reference).abs() / reference.abs();
            if difference.is_finite() { difference } else { f64::MAX }
        };
        losses.iter().zip(reference_losses).map(relative).fold(0.0, f64::max)
    }

    /// Returns true if every difference is within its tolerance.
    pub fn should_pass(&self) -> bool {
        self.disagreement().is_none()
    }

    /// Returns the first difference above its tolerance, starting with the losses.
    pub fn disagreement(&self) -> Option<Disagreement> {
        let losses = (Compared::Losses, self.largest_difference, self.tolerance);
        let others = self.differences.iter().map(|of| (of.compared, of.largest_difference, of.tolerance));
        let whole_batch = || self.whole_batch.as_ref()?.disagreement(self.tolerance);
        [losses].into_iter().chain(others).find_map(Disagreement::check).or_else(whole_batch)
    }

    /// Returns true if every quantity in [`Compared::OF_FIRST_STEPS`] was compared.
    pub fn is_complete(&self) -> bool {
        Compared::OF_FIRST_STEPS.iter().all(|wanted| self.differences.iter().any(|found| found.compared == *wanted))
    }
}

impl WholeBatch {
    /// Returns `|loss - loss_of_parts| / |loss_of_parts|`.
    pub fn loss_difference(&self) -> f64 {
        Correctness::largest_difference_of(&[self.loss], &[self.loss_of_parts])
    }

    /// Returns the first difference above its tolerance, given the `tolerance` of a loss.
    pub fn disagreement(&self, tolerance: f64) -> Option<Disagreement> {
        let gradient = (Compared::WholeBatchGradient, self.gradient_difference, self.gradient_tolerance);
        [(Compared::WholeBatchLoss, self.loss_difference(), tolerance), gradient]
            .into_iter()
            .find_map(Disagreement::check)
    }
}

/// Difference of one quantity from its expected value. A back end with a difference above the tolerance has no metrics.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Disagreement {
    /// Quantity that was compared.
    pub compared: Compared,
    /// Largest difference, relative to the expected value. A difference that is infinite or not a number is written as
    /// the largest finite number.
    pub largest_difference: f64,
    /// Largest allowed `largest_difference`.
    pub tolerance: f64,
}

/// Quantity of a back end that is compared with its expected value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Compared {
    /// Losses of the first steps, compared with the reference.
    #[error("its first losses differ from the reference's")]
    Losses,
    /// Losses of test samples before the first step, compared with the reference.
    #[error("its test losses before training differ from the reference's")]
    UntrainedTest,
    /// Logits of the first step, compared with the reference.
    #[error("the logits of its first step differ from the reference's")]
    Logits,
    /// Gradient of each tensor in the first step, compared with the reference.
    #[error("the gradients of its first step differ from the reference's")]
    Gradient,
    /// Change of each tensor by the first steps, compared with the reference.
    #[error("what its first steps change of the weights differs from what they change on the reference")]
    Update,
    /// Change of the losses of test samples by the first steps, compared with the reference.
    #[error("what its first steps change of test losses differs from what they change on the reference")]
    TrainedTest,
    /// Loss of a batch of the timed size, compared with the same samples in smaller batches.
    #[error("the loss of a batch differs from the loss of its parts")]
    WholeBatchLoss,
    /// Gradient of a batch of the timed size, compared with the same samples in smaller batches.
    #[error("the gradient of a batch differs from the gradient of its parts")]
    WholeBatchGradient,
}

impl Disagreement {
    fn check((compared, largest_difference, tolerance): (Compared, f64, f64)) -> Option<Self> {
        // NaN is never within the tolerance.
        let allowed = largest_difference.partial_cmp(&tolerance).is_some_and(std::cmp::Ordering::is_le);
        (!allowed).then_some(Self { compared, largest_difference, tolerance })
    }
}

impl fmt::Display for Disagreement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.compared)?;
        if self.largest_difference >= f64::MAX {
            return f.write_str(": a number is missing or not finite");
        }
        write!(f, " by up to {:.2e} where {:.0e} is allowed", self.largest_difference, self.tolerance)
    }
}

impl Compared {
    /// Quantities compared over the first steps, in addition to the losses.
    pub const OF_FIRST_STEPS: [Self; 5] =
        [Self::UntrainedTest, Self::Logits, Self::Gradient, Self::Update, Self::TrainedTest];

    /// Returns the widest allowed tolerance for the first steps, relative to the expected value.
    ///
    /// Rounding can push an activation across the kink of a ReLU or swap the two largest values of a maximum. That
    /// changes gradients by up to 0.05 in f32 and, because it is far more common there, by up to 0.2 in f16 (batch
    /// normalization of three random images). Small weight updates lose as much to rounding, and optimizers that divide
    /// by the size of a gradient turn rounding errors into full-size updates: in f16, these are off by up to 0.6.
    pub fn widest_tolerance(self, precision: Precision) -> f64 {
        let half = precision.stores_f16();
        match self {
            Self::Gradient if half => 0.3,
            Self::Update if half => 0.8,
            Self::TrainedTest if half => 0.6,
            Self::Gradient | Self::TrainedTest => 0.05,
            Self::Update => 0.1,
            Self::UntrainedTest if half => 0.01,
            _ if half => 0.02,
            _ => 1e-3,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_relative_and_missing_or_infinite_losses_never_agree() {
        let right = [2.3, 2.2];
        assert_eq!(Correctness::largest_difference_of(&right, &right), 0.0);
        let difference = Correctness::largest_difference_of(&[2.0, 2.0, 2.0], &[2.0, 2.5, 2.1]);
        assert!((difference - 0.2).abs() < 1e-12, "{difference}, relative to the reference");
        assert_eq!(Correctness::largest_difference_of(&right, &[2.3, 0.0]), f64::MAX);
        for wrong in [&[][..], &[2.3], &[2.3, 2.2, 2.1], &[2.3, f64::MAX], &[f64::NAN, 2.2], &[2.3, f64::NEG_INFINITY]]
        {
            assert_eq!(Correctness::largest_difference_of(wrong, &right), f64::MAX, "{wrong:?}");
            assert_eq!(Correctness::largest_difference_of(&right, wrong), f64::MAX, "{wrong:?}");
            let itself = if wrong.len() == 2 || wrong.is_empty() { f64::MAX } else { 0.0 };
            assert_eq!(Correctness::largest_difference_of(wrong, wrong), itself, "{wrong:?} with itself");
        }
    }

    #[test]
    fn disagreements_are_found_in_order() {
        let whole = WholeBatch { loss: 2.3, loss_of_parts: 2.3, gradient_tolerance: 0.05, ..WholeBatch::default() };
        let right = Correctness { tolerance: 1e-3, ..Correctness::default() };
        let with = |whole_batch| Correctness { whole_batch: Some(whole_batch), ..right.clone() };
        assert!(right.should_pass());
        assert!(with(whole.clone()).should_pass());
        let gradient = Disagreement { compared: Compared::Gradient, largest_difference: 0.06, tolerance: 0.05 };
        let disagreement = |correctness: Correctness| correctness.disagreement().unwrap();
        let found = disagreement(Correctness { largest_difference: 2e-3, ..with(whole.clone()) });
        let losses = "its first losses differ from the reference's";
        assert_eq!(found.to_string(), format!("{losses} by up to 2.00e-3 where 1e-3 is allowed"));
        let found = disagreement(Correctness { largest_difference: f64::MAX, ..with(whole.clone()) });
        assert_eq!(found.to_string(), format!("{losses}: a number is missing or not finite"));
        let found = disagreement(Correctness { differences: vec![gradient], ..with(whole.clone()) });
        assert_eq!(found, gradient);
        let found = disagreement(with(WholeBatch { gradient_difference: 0.06, ..whole.clone() }));
        assert_eq!(found, Disagreement { compared: Compared::WholeBatchGradient, ..gradient });
        let infinite = WholeBatch { loss: f64::MAX, loss_of_parts: f64::MAX, ..whole.clone() };
        for loss in [WholeBatch { loss: 2.31, ..whole }, infinite] {
            assert_eq!(disagreement(with(loss)).compared, Compared::WholeBatchLoss);
        }
    }
}
