//! Twin of `shared/recurrent_params.wgsl` and of what the recurrent layers have in common.

use super::epilogue::apply_epilogue;
use crate::Real;
use crate::params::{Epilogue, Recurrent, Step, activation};

/// What a step makes of a candidate for the hidden state.
pub(super) fn activated<T: Real>(z: T, params: &Recurrent) -> T {
    if params.activation == activation::RELU { z.maximum(T::ZERO) } else { z.tanh() }
}

/// Slope of [`activated`] where its result is `result`; that of ReLU is 0 at 0.
pub(super) fn activation_slope<T: Real>(result: T, params: &Recurrent) -> T {
    match params.activation {
        activation::RELU if result > T::ZERO => T::ONE,
        activation::RELU => T::ZERO,
        _ => T::ONE - result * result,
    }
}

/// `1 / (1 + exp(-z))`.
pub(super) fn sigmoid<T: Real>(z: T) -> T {
    T::ONE / (T::ONE + (T::ZERO - z).exp())
}

/// Applies the epilogue to the last hidden states.
pub(super) fn finish<T: Real>(epilogue: &Epilogue, step: &Step, y: &mut [T]) {
    for (at, y) in (0u32..).zip(y) {
        *y = apply_epilogue(*y, at, epilogue, step);
    }
}
