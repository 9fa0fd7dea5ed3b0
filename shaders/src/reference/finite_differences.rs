//! Central differences in double precision, the judge of the twins' gradients.

use super::pcg4d::uniform;

/// Numbers in -1..1, different for each `stream`.
pub(super) fn numbers(count: u32, stream: u32) -> Vec<f64> {
    (0..count).map(|i| 2.0 * f64::from(uniform(i, stream, 0, 7)) - 1.0).collect()
}

/// The loss whose gradient at `y` is `dy`.
pub(super) fn dot(y: &[f64], dy: &[f64]) -> f64 {
    y.iter().zip(dy).map(|(y, dy)| y * dy).sum()
}

/// Holds the `gradient` of `loss` at `x` to its central differences.
pub(super) fn assert_gradient(x: &[f64], gradient: &[f64], loss: impl Fn(&[f64]) -> f64) {
    const STEP: f64 = 1e-5;
    assert_eq!(x.len(), gradient.len());
    for (i, &gradient) in gradient.iter().enumerate() {
        let at = |offset: f64| {
            let mut moved = x.to_vec();
            moved[i] += offset;
            loss(&moved)
        };
        let expected = (at(STEP) - at(-STEP)) / (2.0 * STEP);
        let difference = (gradient - expected).abs();
        assert!(difference <= 1e-7 * (1.0 + expected.abs()), "element {i} is {gradient:e}, measured {expected:e}");
    }
}
