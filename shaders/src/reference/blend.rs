use crate::Real;
use crate::params::Blend;

/// Twin of `blend.wgsl`: `sum = weight·x` at first, and `sum += weight·x` from then on.
///
/// `x`, `sum`: (elements).
pub fn blend<T: Real>(params: &Blend, x: &[T], sum: &mut [T]) {
    let weight = T::from_f64(f64::from(params.weight));
    for (sum, &x) in sum.iter_mut().zip(x) {
        *sum = if params.first == 1 { weight * x } else { *sum + weight * x };
    }
}
