use super::epilogue::{apply_epilogue, store_gradient};
use crate::Real;
use crate::params::{Add, Step};

/// Twin of `add_forward.wgsl`: `y = epilogue(a + b)`, where each pixel of `b` is added to `repeats` pixels of `a`.
///
/// `a`, `y`: (P, C); `b`: (P / repeats, C).
pub fn add_forward<T: Real>(params: &Add, step: &Step, a: &[T], b: &[T], y: &mut [T]) {
    let (channels, repeats) = (params.channels as usize, params.repeats as usize);
    for (index, (y, &a)) in y.iter_mut().zip(a).enumerate() {
        let (pixel, channel) = (index / channels, index % channels);
        *y = a + b[pixel / repeats * channels + channel];
    }
    for (at, y) in (0u32..).zip(y) {
        *y = apply_epilogue(*y, at, &params.epilogue, step);
    }
}

/// Twin of `add_gradient.wgsl`: `dx = (Σ dy) ⊙ slope(x)` over the pixels that the summand `x` was added to, where
/// `epilogue` made `x`.
///
/// `dy`: (P, C); `x`, `dx`: (P / repeats, C).
pub fn add_gradient<T: Real>(params: &Add, step: &Step, dy: &[T], x: &[T], dx: &mut [T]) {
    let (channels, repeats) = (params.channels as usize, params.repeats as usize);
    let mut sums = vec![T::ZERO; dx.len()];
    for (index, &dy) in dy.iter().enumerate() {
        let (pixel, channel) = (index / channels, index % channels);
        sums[pixel / repeats * channels + channel] += dy;
    }
    store_gradient(&sums, x, &params.epilogue, step, dx);
}
