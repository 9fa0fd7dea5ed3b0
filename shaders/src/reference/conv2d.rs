use std::ops::Range;

use super::dense::weights_and_bias;
use super::dot::{add_dots, add_outer_product, add_products};
use super::epilogue::{apply_epilogue, store_gradient};
use crate::Real;
use crate::params::{Conv2d, NO_BIAS, Step};

/// Where the taps of one output pixel fall: (offset of the input pixel, offset of the tap in the kernel).
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
