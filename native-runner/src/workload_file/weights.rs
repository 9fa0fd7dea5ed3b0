//! How the weights of a file's layers start, and how they are treated.

use engine::{Initializer, KernelSize, Multipliers};

use super::bounds::{Checked, finite, not_negative, positive, share};
use super::place::Place;

/// What an initialiser is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tensor {
    /// Of a convolution of `filters`, each of this size, that reads `channels`.
    Kernel {
        filters: u32,
        size: KernelSize,
        channels: u32,
        reads_data: bool,
    },
    Matrix,
    Bias,
}

/// # Errors
/// A number that is none, and an initialiser that such a tensor cannot have.
pub(super) fn check_initializer(place: &Place, initializer: Initializer, tensor: Tensor) -> Checked {
    match initializer {
        Initializer::GlorotUniform => Ok(()),
        Initializer::FanInUniform { scale } => positive(&place.field("fan_in_uniform").field("scale"), scale),
        Initializer::Uniform { limit } => positive(&place.field("uniform").field("limit"), limit),
        Initializer::Normal { deviation } => positive(&place.field("normal").field("deviation"), deviation),
        Initializer::FanInNormal { scale } => positive(&place.field("fan_in_normal").field("scale"), scale),
        Initializer::TruncatedNormal { deviation } => {
            positive(&place.field("truncated_normal").field("deviation"), deviation)
        }
        Initializer::Constant { value } => finite(&place.field("constant").field("value"), value),
        Initializer::Orthogonal if tensor == Tensor::Bias => {
            Err(place.mistake("`orthogonal` is for matrices, and a bias is none"))
        }
        Initializer::Orthogonal => Ok(()),
        Initializer::Dirac if matches!(tensor, Tensor::Kernel { .. }) => Ok(()),
        Initializer::Dirac => Err(place.mistake("`dirac` copies channels, which only the kernel of a `conv2d` can")),
        Initializer::WhitenedPatches { epsilon } => whitened(place, epsilon, tensor),
    }
}

/// Eigenvectors of the patches of the images, and their negatives.
fn whitened(place: &Place, epsilon: f64, tensor: Tensor) -> Checked {
    /// The covariance of larger patches takes minutes.
    const LARGEST_SIDE: u32 = 5;
    positive(&place.field("whitened_patches").field("epsilon"), epsilon)?;
    let Tensor::Kernel { filters, size, channels: channels @ 3, reads_data: true } = tensor else {
        let text = "`whitened_patches` is for a `conv2d` that reads colour images as they are";
        return Err(place.mistake(text));
    };
    let [side, width] = size.sides();
    let wanted = 2 * side * side * channels;
    if side > LARGEST_SIDE || side != width || filters != wanted {
        return Err(place.mistake(format!(
            "`whitened_patches` makes 2 · kernel_size² · {channels} filters, with a kernel_size of at most {LARGEST_SIDE}; \
             here are {filters} of {side} × {width}"
        )));
    }
    Ok(())
}

/// # Errors
/// A number that is none.
pub(super) fn check_multipliers(place: &Place, multipliers: Multipliers) -> Checked {
    let Multipliers { learning_rate, weight_decay, frozen_from } = multipliers;
    not_negative(&place.field("learning_rate"), learning_rate)?;
    not_negative(&place.field("weight_decay"), weight_decay)?;
    frozen_from.map_or(Ok(()), |from| share(&place.field("frozen_from"), from))
}
