use crate::Real;
use crate::params::RoundWeights;

/// Twin of `round_weights.wgsl`: `stored[i] = round(weights[i])`, where `round` is that of what is stored.
///
/// Both slices: (elements). Returns whether all weights are numbers that can be stored; if not, the loss is not a
/// number.
pub fn round_weights<T: Real>(params: &RoundWeights, weights: &[T], stored: &mut [T], round: impl Fn(T) -> T) -> bool {
    let weights = &weights[..params.elements as usize];
    for (stored, &weight) in stored.iter_mut().zip(weights) {
        *stored = round(weight);
    }
    weights.iter().all(|weight| weight.to_f64().abs() <= f64::from(params.largest))
}
