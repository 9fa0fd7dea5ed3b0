use super::dot::{ROWS, add_products, add_transposed_products, products_of_transposed};
use super::epilogue::{finish, store_gradient};
use crate::Real;
use crate::params::{Conv2d, Dense, NO_BIAS, Step};

/// Twin of `dense_forward.wgsl`: `y = epilogue(x·W + b)`.
/// `x`: (B, K); `weights`: (K, N); `bias`: (N); `y`: (B, N).
pub fn dense_forward<T: Real>(params: &Dense, step: &Step, x: &[T], weights: &[T], bias: &[T], y: &mut [T]) {
    let (inputs, outputs) = (params.inputs as usize, params.outputs as usize);
    for (x, y) in x.chunks_exact(inputs).zip(y.chunks_exact_mut(outputs)) {
        y.fill(T::ZERO);
        add_products(x, weights, y);
        add(y, bias);
    }
    finish(&params.epilogue, step, y);
}

/// Twin of `dense_input_gradient.wgsl`: `dx = (dy·Wᵀ) ⊙ slope(x)`, where `epilogue` made `x`.
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
    dy.chunks_exact(outputs).for_each(|dy| add(bias, dy));
}

/// `sum += values`
fn add<T: Real>(sum: &mut [T], values: &[T]) {
    for (sum, &value) in sum.iter_mut().zip(values) {
        *sum += value;
    }
}

/// A part of a weight gradient: the weights', and the bias' where there is one.
pub(super) fn weights_and_bias<T>(part: &mut [T], bias_offset: u32) -> (&mut [T], &mut [T]) {
    let length = part.len();
    part.split_at_mut(if bias_offset == NO_BIAS { length } else { bias_offset as usize })
}

/// An output pixel: sample, row, column.
pub(super) type Pixel = [u32; 3];

/// Returns every pixel of a batch, in the stored order.
pub(super) fn pixels([rows, height, width]: [u32; 3]) -> impl Iterator<Item = Pixel> {
    (0..rows)
        .flat_map(move |sample| (0..height).flat_map(move |row| (0..width).map(move |column| [sample, row, column])))
}

/// Returns the first channel of the input pixel of each tap (KH, KW), or `None` for taps outside the image.
fn taps(params: &Conv2d, [sample, row, column]: Pixel) -> impl Iterator<Item = Option<usize>> {
    let params = *params;
    let inside = move |at: u32, tap: u32, padding: u32, extent: u32| {
        (at * params.stride + tap).checked_sub(padding).filter(|&at| at < extent)
    };
    (0..params.window_height).flat_map(move |ky| {
        (0..params.window_width).map(move |kx| {
            let y = inside(row, ky, params.padding_rows, params.input_height)?;
            let x = inside(column, kx, params.padding_columns, params.input_width)?;
            let pixel = (sample * params.input_height + y) * params.input_width + x;
            Some((pixel * params.input_channels + sample * params.input_spare) as usize)
        })
    })
}

/// Appends the inputs of an output pixel to `patches`: (KH, KW, C), zeros outside the image.
fn push_patch<T: Real>(params: &Conv2d, x: &[T], pixel: Pixel, patches: &mut Vec<T>) {
    let channels = params.input_channels as usize;
    for tap in taps(params, pixel) {
        match tap {
            Some(first) => patches.extend_from_slice(&x[first..first + channels]),
            None => patches.resize(patches.len() + channels, T::ZERO),
        }
    }
}

/// Values of a patch, KH · KW · C.
fn patch_length(params: &Conv2d) -> usize {
    (params.window_height * params.window_width * params.input_channels) as usize
}

/// Twin of `conv2d_forward.wgsl` and `conv2d_forward_narrow.wgsl`: `y = epilogue(x ⋆ W + b)`, cross-correlation.
/// `x`: (B, H, W, C); `weights`: (KH, KW, C, F); `bias`: (F); `y`: (B, H', W', F).
pub fn conv2d_forward<T: Real>(params: &Conv2d, step: &Step, x: &[T], weights: &[T], bias: &[T], y: &mut [T]) {
    let filters = params.output_channels as usize;
    let mut patch = Vec::new();
    for (pixel, y) in pixels([params.rows, params.output_height, params.output_width]).zip(y.chunks_exact_mut(filters))
    {
        patch.clear();
        push_patch(params, x, pixel, &mut patch);
        y.fill(T::ZERO);
        add_products(&patch, weights, y);
        add(y, bias);
    }
    finish(&params.epilogue, step, y);
}

/// Twin of `conv2d_input_gradient.wgsl`: `dx = (dy ⋆ᵀ W) ⊙ slope(x)`, where `epilogue` made `x`.
/// `dy`: (B, H', W', F); `weights`: (KH, KW, C, F); `x`, `dx`: (B, H, W, C).
pub fn conv2d_input_gradient<T: Real>(params: &Conv2d, step: &Step, dy: &[T], weights: &[T], x: &[T], dx: &mut [T]) {
    let (filters, channels) = (params.output_channels as usize, params.input_channels as usize);
    let weights = &weights[..patch_length(params) * filters];
    let mut sums = vec![T::ZERO; dx.len()];
    let mut pixels = pixels([params.rows, params.output_height, params.output_width]);
    for dy in dy.chunks(ROWS * filters) {
        let patches = products_of_transposed(dy, filters, weights);
        let taps = pixels.by_ref().take(dy.len() / filters).flat_map(|pixel| taps(params, pixel));
        for (tap, patch) in taps.zip(patches.chunks_exact(channels)) {
            let Some(first) = tap else { continue };
            for (sum, &gradient) in sums[first..first + channels].iter_mut().zip(patch) {
                *sum += gradient;
            }
        }
    }
    store_gradient(&sums, x, &params.epilogue, step, dx);
}

/// Twin of `conv2d_weight_gradient.wgsl` and its narrow variant, summed in parts of the output pixels.
/// `x`: (B, H, W, C); `dy`: (B, H', W', F); `parts`: (parts, part stride), each dW (KH, KW, C, F) and, from
/// `bias_offset` on, db (F).
pub fn conv2d_weight_gradient<T: Real>(params: &Conv2d, x: &[T], dy: &[T], parts: &mut [T]) {
    let (filters, length) = (params.output_channels as usize, patch_length(params));
    parts.fill(T::ZERO);
    let mut pixels = pixels([params.rows, params.output_height, params.output_width]);
    let mut patches = Vec::new();
    for (part, dy) in
        parts.chunks_mut(params.part_stride as usize).zip(dy.chunks(params.pixels_per_part as usize * filters))
    {
        let (weights, bias) = weights_and_bias(part, params.bias_offset);
        for dy in dy.chunks(ROWS * filters) {
            patches.clear();
            for pixel in pixels.by_ref().take(dy.len() / filters) {
                push_patch(params, x, pixel, &mut patches);
            }
            add_transposed_products(&patches, length, dy, filters, weights);
        }
        add_bias_gradient(dy, filters, bias);
    }
}
