use super::dot::{ROWS, add_products, add_transposed_products, products_of_transposed};
use super::epilogue::{apply_epilogue, store_gradient};
use crate::Real;
use crate::params::{Dense, NO_BIAS, Step};

/// Twin of `dense_forward.wgsl`: `y = epilogue(x·W + b)`.
///
/// `x`: (B, K); `weights`: (K, N); `bias`: (N); `y`: (B, N).
pub fn dense_forward<T: Real>(params: &Dense, step: &Step, x: &[T], weights: &[T], bias: &[T], y: &mut [T]) {
    let (inputs, outputs) = (params.inputs as usize, params.outputs as usize);
    for (row, (x, y)) in (0u32..).zip(x.chunks_exact(inputs).zip(y.chunks_exact_mut(outputs))) {
        let mut sums = vec![T::ZERO; outputs];
        add_products(x, weights, &mut sums);
        for (unit, (y, (sum, &bias))) in (0u32..).zip(y.iter_mut().zip(sums.into_iter().zip(bias))) {
            let at = row.wrapping_mul(params.outputs).wrapping_add(unit);
            *y = apply_epilogue(sum + bias, at, &params.epilogue, step);
        }
    }
}

/// Twin of `dense_input_gradient.wgsl`: `dx = (dy·Wᵀ) ⊙ slope(x)`, where `epilogue` made `x`.
///
/// `dy`: (B, N); `weights`: (K, N); `x`, `dx`: (B, K).
pub fn dense_input_gradient<T: Real>(params: &Dense, step: &Step, dy: &[T], weights: &[T], x: &[T], dx: &mut [T]) {
    let (inputs, outputs) = (params.inputs as usize, params.outputs as usize);
    let mut sums = Vec::with_capacity(dx.len());
    for dy in dy.chunks(ROWS * outputs) {
        sums.extend(products_of_transposed(dy, outputs, &weights[..inputs * outputs]));
    }
    store_gradient(&sums, x, &params.epilogue, step, dx);
}

/// Twin of `dense_weight_gradient.wgsl`: `dW = xᵀ·dy`, `db = Σ dy`, summed in parts of the batch.
///
/// `x`: (B, K); `dy`: (B, N); `parts`: (parts, part stride), each dW (K, N) and, from `bias_offset` on, db (N).
pub fn dense_weight_gradient<T: Real>(params: &Dense, x: &[T], dy: &[T], parts: &mut [T]) {
    let (inputs, outputs) = (params.inputs as usize, params.outputs as usize);
    let rows = params.rows_per_part as usize;
    parts.fill(T::ZERO);
    let rows_of_parts = x.chunks(rows * inputs).zip(dy.chunks(rows * outputs));
    for (part, (x, dy)) in parts.chunks_mut(params.part_stride as usize).zip(rows_of_parts) {
        let (weights, bias) = weights_and_bias(part, params.bias_offset);
        add_transposed_products(x, inputs, dy, outputs, weights);
        add_bias_gradient(dy, outputs, bias);
    }
}

/// Adds the rows of `dy`, of `outputs` values each, to the gradient of the bias, which is empty without a bias.
pub(super) fn add_bias_gradient<T: Real>(dy: &[T], outputs: usize, bias: &mut [T]) {
    for dy in dy.chunks_exact(outputs) {
        for (bias, &dy) in bias.iter_mut().zip(dy) {
            *bias += dy;
        }
    }
}

/// A part of a weight gradient: the weights', and the bias' where there is one.
pub(super) fn weights_and_bias<T>(part: &mut [T], bias_offset: u32) -> (&mut [T], &mut [T]) {
    let length = part.len();
    part.split_at_mut(if bias_offset == NO_BIAS { length } else { bias_offset as usize })
}
