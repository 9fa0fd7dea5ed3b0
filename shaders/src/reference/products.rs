use std::ops::Range;

use super::dot::{add_dots, add_outer_product, add_products};
use super::{apply_epilogue, store_gradient};
use crate::Real;
use crate::params::{Conv2d, Dense, NO_BIAS, Step};

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
    let mut sums = vec![T::ZERO; dx.len()];
    for (dy, sums) in dy.chunks_exact(outputs).zip(sums.chunks_exact_mut(inputs)) {
        add_dots(dy, weights, sums);
    }
    store_gradient(&sums, x, &params.epilogue, step, dx);
}

/// Twin of `dense_weight_gradient.wgsl`: `dW = xᵀ·dy`, `db = Σ dy`, summed in parts of the batch.
///
/// `x`: (B, K); `dy`: (B, N); `parts`: (parts, part stride), each dW (K, N) and, from `bias_offset` on, db (N).
pub fn dense_weight_gradient<T: Real>(params: &Dense, x: &[T], dy: &[T], parts: &mut [T]) {
    let (inputs, outputs) = (params.inputs as usize, params.outputs as usize);
    parts.fill(T::ZERO);
    for (row, (x, dy)) in x.chunks_exact(inputs).zip(dy.chunks_exact(outputs)).enumerate() {
        let part = row / params.rows_per_part as usize;
        let (weights, bias) = weights_and_bias(&mut parts[part * params.part_stride as usize..], params.bias_offset);
        add_outer_product(x, dy, weights);
        if params.bias_offset != NO_BIAS {
            for (bias, &dy) in bias.iter_mut().zip(dy) {
                *bias += dy;
            }
        }
    }
}

/// A part of a weight gradient: the weights', and the bias' where there is one.
pub(super) fn weights_and_bias<T>(part: &mut [T], bias_offset: u32) -> (&mut [T], &mut [T]) {
    let length = part.len();
    part.split_at_mut(if bias_offset == NO_BIAS { length } else { bias_offset as usize })
}

/// Taps of one output pixel: (offset of the input pixel, offset of the tap in the kernel).
///
/// Taps outside the image read zeros and are left out.
fn taps(params: &Conv2d, sample: usize, row: u32, column: u32) -> impl Iterator<Item = (Range<usize>, usize)> {
    let params = *params;
    let channels = params.input_channels as usize;
    let inside = move |at: u32, tap: u32, padding: u32, extent: u32| {
        (at * params.stride + tap).checked_sub(padding).filter(|&at| at < extent)
    };
    (0..params.window_height).flat_map(move |ky| {
        (0..params.window_width).filter_map(move |kx| {
            let y = inside(row, ky, params.padding_rows, params.input_height)? as usize;
            let x = inside(column, kx, params.padding_columns, params.input_width)? as usize;
            let pixel = (sample * params.input_height as usize + y) * params.input_width as usize + x;
            let tap = (ky * params.window_width + kx) as usize;
            let first = pixel * channels + sample * params.input_spare as usize;
            Some((first..first + channels, tap * channels * params.output_channels as usize))
        })
    })
}

/// Every output pixel: (its number over the whole batch, sample, row, column).
fn pixels(params: &Conv2d) -> impl Iterator<Item = (usize, usize, u32, u32)> {
    let (height, width) = (params.output_height, params.output_width);
    (0..params.rows as usize)
        .flat_map(move |sample| (0..height).flat_map(move |row| (0..width).map(move |column| (sample, row, column))))
        .enumerate()
        .map(|(number, (sample, row, column))| (number, sample, row, column))
}

/// Twin of `conv2d_forward.wgsl` and `conv2d_forward_narrow.wgsl`: `y = epilogue(x ⋆ W + b)`, cross-correlation.
///
/// `x`: (B, H, W, C); `weights`: (KH, KW, C, F); `bias`: (F); `y`: (B, H', W', F).
pub fn conv2d_forward<T: Real>(params: &Conv2d, step: &Step, x: &[T], weights: &[T], bias: &[T], y: &mut [T]) {
    let filters = params.output_channels as usize;
    for (pixel, sample, row, column) in pixels(params) {
        let mut sums = vec![T::ZERO; filters];
        for (channels, tap) in taps(params, sample, row, column) {
            add_products(&x[channels], &weights[tap..], &mut sums);
        }
        let first = u32::try_from(pixel * filters).unwrap_or(u32::MAX);
        let outputs = y[pixel * filters..].iter_mut().zip(sums.into_iter().zip(bias));
        for (index, (y, (sum, &bias))) in (first..).zip(outputs) {
            *y = apply_epilogue(sum + bias, index, &params.epilogue, step);
        }
    }
}

/// Twin of `conv2d_input_gradient.wgsl`: `dx = (dy ⋆ᵀ W) ⊙ slope(x)`, where `epilogue` made `x`.
///
/// `dy`: (B, H', W', F); `weights`: (KH, KW, C, F); `x`, `dx`: (B, H, W, C).
pub fn conv2d_input_gradient<T: Real>(params: &Conv2d, step: &Step, dy: &[T], weights: &[T], x: &[T], dx: &mut [T]) {
    let filters = params.output_channels as usize;
    let mut sums = vec![T::ZERO; dx.len()];
    for (pixel, sample, row, column) in pixels(params) {
        let dy = &dy[pixel * filters..(pixel + 1) * filters];
        for (channels, tap) in taps(params, sample, row, column) {
            add_dots(dy, &weights[tap..], &mut sums[channels]);
        }
    }
    store_gradient(&sums, x, &params.epilogue, step, dx);
}

/// Twin of `conv2d_weight_gradient.wgsl` and its narrow variant, summed in parts of the output pixels.
///
/// `x`: (B, H, W, C); `dy`: (B, H', W', F); `parts`: (parts, part stride), each dW (KH, KW, C, F) and, from
/// `bias_offset` on, db (F).
pub fn conv2d_weight_gradient<T: Real>(params: &Conv2d, x: &[T], dy: &[T], parts: &mut [T]) {
    let filters = params.output_channels as usize;
    parts.fill(T::ZERO);
    for (pixel, sample, row, column) in pixels(params) {
        let part = pixel / params.pixels_per_part as usize;
        let dy = &dy[pixel * filters..(pixel + 1) * filters];
        let (weights, bias) = weights_and_bias(&mut parts[part * params.part_stride as usize..], params.bias_offset);
        for (channels, tap) in taps(params, sample, row, column) {
            add_outer_product(&x[channels], dy, &mut weights[tap..]);
        }
        if params.bias_offset != NO_BIAS {
            for (bias, &dy) in bias.iter_mut().zip(dy) {
                *bias += dy;
            }
        }
    }
}
