use crate::Real;

/// Twin of `limit_gradients.wgsl`, of all tensors of a network: what gradients are multiplied by, so that together they
/// are no longer than `limit`.
pub fn gradient_factor<'a, T: Real>(limit: T, gradients: impl Iterator<Item = &'a [T]>) -> T {
    let length = gradients.flatten().map(|&gradient| gradient * gradient).sum::<T>().sqrt();
    if length > limit { limit / length } else { T::ONE }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_gradients_that_are_too_long_are_shortened() {
        let tensors = [vec![3.0], vec![0.0, 4.0]];
        let factor = |limit: f64| gradient_factor(limit, tensors.iter().map(Vec::as_slice));
        assert!((factor(2.0) - 0.4).abs() < 1e-12);
        assert_eq!((factor(5.0), factor(6.0)), (1.0, 1.0));
    }
}
