//! Whether a back end computed what the plain reference does.

use std::cmp::Ordering;
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Precision;

/// The first losses of a back end beside those of the plain reference, same weights and batches.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Correctness {
    /// Samples in the batches that were compared.
    pub batch_size: u32,
    /// How often samples and weights were drawn again because rounding alone decided what was compared: the plain loops
    /// disagreed with themselves in another precision. The numbers are those of the last draw.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub redraws: u32,
    /// A loss that is infinite or not a number is written as the largest number there is.
    pub losses: Vec<f64>,
    /// Of the plain reference, in the same order.
    pub reference_losses: Vec<f64>,
    /// Largest allowed relative difference of any loss.
    pub tolerance: f64,
    /// Largest relative difference of any loss.
    pub largest_difference: f64,
    /// What else was compared with the reference; nothing in records of layout 1.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub differences: Vec<Disagreement>,
    /// Where `batch_size` is smaller than the batch that was timed; absent for models with batch normalisation, whose
    /// batches cannot be divided, where the device has no room for a second network, and where the losses disagree already.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub whole_batch: Option<WholeBatch>,
    /// The losses agree, and so does everything else that was compared.
    pub passed: bool,
}

/// Loss and gradients of a batch of the timed size beside those of the same samples in smaller batches, on the same back
/// end. The same tolerance holds for the loss as for those of the reference.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WholeBatch {
    /// Samples of the whole batch.
    pub batch_size: u32,
    /// Samples of each part; the last may have fewer.
    pub part_size: u32,
    /// A number that is infinite or none is written as the largest number there is.
    pub loss: f64,
    /// Mean over all samples of the parts.
    pub loss_of_parts: f64,
    /// Largest distance of a tensor's gradient from that of the parts, relative to its length and a hundredth of that of
    /// all tensors together.
    pub gradient_difference: f64,
    /// Largest allowed `gradient_difference`.
    pub gradient_tolerance: f64,
    /// Loss and gradients are within their tolerances.
    pub passed: bool,
}

impl Correctness {
    /// How often samples and weights are drawn again at most. One draw of some dozens has to be in `airbench94`, and hardly any
    /// in other networks.
    pub const MOST_REDRAWS: u32 = 2;

    /// Largest `|loss - reference| / |reference|`. Losses that are missing, infinite or no numbers agree with nothing, on
    /// whichever side they are: the largest number there is, which also stands for such a loss.
    pub fn largest_difference_of(losses: &[f64], reference_losses: &[f64]) -> f64 {
        let is_number = |loss: &f64| loss.abs() < f64::MAX;
        let comparable = losses.len() == reference_losses.len() && !losses.is_empty();
        if !comparable || !losses.iter().chain(reference_losses).all(is_number) {
            return f64::MAX;
        }
        let pairs = losses.iter().zip(reference_losses);
        pairs.map(|(loss, reference)| relative_difference(*loss, *reference)).fold(0.0, f64::max)
    }

    /// Whether the numbers say that it passed.
    pub fn should_pass(&self) -> bool {
        self.disagreement().is_none()
    }

    /// What differs by more than is allowed, the losses first.
    pub fn disagreement(&self) -> Option<Disagreement> {
        let whole = self.whole_batch.iter().flat_map(|whole| {
            [
                (Compared::WholeBatchLoss, whole.loss_difference(), self.tolerance),
                (Compared::WholeBatchGradient, whole.gradient_difference, whole.gradient_tolerance),
            ]
        });
        let others = self.differences.iter().map(|found| (found.compared, found.largest_difference, found.tolerance));
        let losses = [(Compared::Losses, self.largest_difference, self.tolerance)];
        let mut compared = losses.into_iter().chain(others).chain(whole);
        let (compared, largest_difference, tolerance) = compared
            .find(|(_, difference, tolerance)| difference.partial_cmp(tolerance).is_none_or(Ordering::is_gt))?;
        Some(Disagreement { compared, largest_difference, tolerance })
    }
}

impl Correctness {
    /// Whether everything was compared that a comparison looks at; records of layout 1 have losses only.
    pub fn is_complete(&self) -> bool {
        Compared::OF_FIRST_STEPS.iter().all(|wanted| self.differences.iter().any(|found| found.compared == *wanted))
    }
}

impl WholeBatch {
    /// `|loss - loss_of_parts| / |loss_of_parts|`.
    pub fn loss_difference(&self) -> f64 {
        Correctness::largest_difference_of(&[self.loss], &[self.loss_of_parts])
    }

    /// What differs by more than is allowed, with this tolerance of a loss.
    pub fn disagreement(&self, tolerance: f64) -> Option<Disagreement> {
        let loss = Disagreement::found(Compared::WholeBatchLoss, self.loss_difference(), tolerance);
        let gradient = || {
            let (difference, tolerance) = (self.gradient_difference, self.gradient_tolerance);
            Disagreement::found(Compared::WholeBatchGradient, difference, tolerance)
        };
        loss.or_else(gradient)
    }
}

/// How far something of a back end is from what it should be, which is a disagreement where it is more than allowed: then
/// it has no figures.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Disagreement {
    /// Compared quantity.
    pub compared: Compared,
    /// Relative to what it was compared with.
    pub largest_difference: f64,
    /// What it is allowed to be.
    pub tolerance: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Compared {
    /// The first losses, with those of the reference.
    Losses,
    /// The losses of tests before the first step, with the reference's.
    UntrainedTest,
    /// The logits of the first step, with the reference's.
    Logits,
    /// The gradient of each tensor in the first step, with the reference's.
    Gradient,
    /// What the first steps change of each tensor, with what they change on the reference.
    Update,
    /// What the first steps change of the losses of tests, with what they change on the reference.
    TrainedTest,
    /// The loss of a batch of the timed size, with that of the same samples in smaller batches.
    WholeBatchLoss,
    /// The gradient of such a batch, likewise.
    WholeBatchGradient,
}

impl Disagreement {
    fn found(compared: Compared, largest_difference: f64, tolerance: f64) -> Option<Self> {
        // What cannot be compared is not allowed either.
        let allowed = largest_difference.partial_cmp(&tolerance).is_some_and(Ordering::is_le);
        (!allowed).then_some(Self { compared, largest_difference, tolerance })
    }
}

impl fmt::Display for Disagreement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.compared {
            Compared::Losses => "its first losses differ from the reference's",
            Compared::UntrainedTest => "its test losses before training differ from the reference's",
            Compared::Logits => "the logits of its first step differ from the reference's",
            Compared::Gradient => "the gradients of its first step differ from the reference's",
            Compared::Update => {
                "what its first steps change of the weights differs from what they change on the reference"
            }
            Compared::TrainedTest => {
                "what its first steps change of test losses differs from what they change on the reference"
            }
            Compared::WholeBatchLoss => "the loss of its batches differs from that of the same samples in smaller ones",
            Compared::WholeBatchGradient => {
                "the gradient of its batches differs from that of the same samples in smaller ones"
            }
        })?;
        if self.largest_difference >= f64::MAX {
            return f.write_str(": a number is missing or not finite");
        }
        write!(f, " by up to {:.2e} where {:.0e} is allowed", self.largest_difference, self.tolerance)
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
fn is_zero(number: &u32) -> bool {
    *number == 0
}

fn relative_difference(loss: f64, reference: f64) -> f64 {
    let difference = (loss - reference).abs() / reference.abs();
    if difference.is_finite() { difference } else { f64::MAX }
}

impl Compared {
    /// What every comparison of first steps looks at, beside their losses.
    pub const OF_FIRST_STEPS: [Self; 5] =
        [Self::UntrainedTest, Self::Logits, Self::Gradient, Self::Update, Self::TrainedTest];

    /// The most that may be allowed of a comparison of first steps, relative to what would be left if nothing were computed.
    ///
    /// A value within rounding of an edge of a ReLU or of a maximum may fall on its other side, which changes gradients by
    /// up to 0.05 in f32, and in f16, where many more do, by up to 0.2 (batch normalisation of three random images). Where
    /// weights move by little they are rounded by as much, and rules that divide by the size of a gradient make whole
    /// updates of what is little but rounding: in f16 these are off by up to 0.6.
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
    fn losses_that_are_missing_or_no_numbers_agree_with_nothing() {
        let right = [2.3, 2.2];
        assert_eq!(Correctness::largest_difference_of(&right, &right), 0.0);
        for wrong in [&[][..], &[2.3], &[2.3, 2.2, 2.1], &[2.3, f64::MAX], &[f64::NAN, 2.2], &[2.3, f64::NEG_INFINITY]]
        {
            assert_eq!(Correctness::largest_difference_of(wrong, &right), f64::MAX, "{wrong:?}");
            assert_eq!(Correctness::largest_difference_of(&right, wrong), f64::MAX, "{wrong:?}");
            let itself = if wrong.len() == 2 || wrong.is_empty() { f64::MAX } else { 0.0 };
            assert_eq!(Correctness::largest_difference_of(wrong, wrong), itself, "{wrong:?} with itself");
        }
    }

    #[test]
    fn the_largest_difference_is_relative_to_the_reference() {
        let difference = Correctness::largest_difference_of(&[2.0, 2.0, 2.0], &[2.0, 2.5, 2.1]);
        assert!((difference - 0.2).abs() < 1e-12, "{difference}");
        assert_eq!(Correctness::largest_difference_of(&[2.0, 2.0], &[2.0, 0.0]), f64::MAX);
    }

    #[test]
    fn it_passes_when_losses_and_the_whole_batch_do() {
        let whole = WholeBatch {
            batch_size: 128,
            part_size: 18,
            loss: 2.3,
            loss_of_parts: 2.3,
            gradient_difference: 0.01,
            gradient_tolerance: 0.05,
            passed: true,
        };
        let right = Correctness {
            batch_size: 18,
            redraws: 0,
            losses: vec![2.3],
            reference_losses: vec![2.3],
            tolerance: 1e-3,
            largest_difference: 0.0,
            differences: Vec::new(),
            whole_batch: None,
            passed: true,
        };
        let with = |whole_batch| Correctness { whole_batch: Some(whole_batch), ..right.clone() };
        assert!(right.should_pass());
        assert!(with(whole.clone()).should_pass());
        let wrong =
            |correctness: Correctness| correctness.disagreement().map(|found| (found.compared, found.to_string()));
        let told = |compared, text: &str| Some((compared, text.to_owned()));
        assert_eq!(
            wrong(Correctness { largest_difference: 2e-3, ..with(whole.clone()) }),
            told(
                Compared::Losses,
                "its first losses differ from the reference's by up to 2.00e-3 where 1e-3 is allowed"
            )
        );
        assert_eq!(
            wrong(Correctness { largest_difference: f64::MAX, ..with(whole.clone()) }),
            told(Compared::Losses, "its first losses differ from the reference's: a number is missing or not finite")
        );
        let gradient = Disagreement { compared: Compared::Gradient, largest_difference: 0.06, tolerance: 0.05 };
        assert_eq!(
            wrong(Correctness { differences: vec![gradient], ..with(whole.clone()) }),
            told(
                Compared::Gradient,
                "the gradients of its first step differ from the reference's by up to 6.00e-2 where 5e-2 is allowed"
            )
        );
        let nothing = WholeBatch { loss: f64::MAX, loss_of_parts: f64::MAX, ..whole.clone() };
        for loss in [WholeBatch { loss: 2.31, ..whole.clone() }, nothing] {
            assert_eq!(wrong(with(loss)).map(|(compared, _)| compared), Some(Compared::WholeBatchLoss));
        }
        assert_eq!(
            wrong(with(WholeBatch { gradient_difference: 0.06, ..whole })),
            told(
                Compared::WholeBatchGradient,
                "the gradient of its batches differs from that of the same samples in smaller ones by up to 6.00e-2 \
                 where 5e-2 is allowed"
            )
        );
    }
}
