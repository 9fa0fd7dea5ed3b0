use super::epilogue::store_gradient;
use crate::Real;
use crate::params::{Pool, Step};

/// Twin of `max_pool_forward.wgsl`: the largest value of each window, and which tap of the window it was.
///
/// `x`: (B, H, W, C); `y`, `taps`: (B, H', W', C). The first of equal values in row-major order wins.
pub fn max_pool_forward<T: Real>(params: &Pool, x: &[T], y: &mut [T], taps: &mut [u32]) {
    for (output, at) in outputs(params) {
        let mut best = (x[input(params, at, 0)], 0);
        for tap in 1..params.side * params.side {
            let value = x[input(params, at, tap)];
            if value > best.0 {
                best = (value, tap);
            }
        }
        (y[output], taps[output]) = best;
    }
}

/// Twin of `max_pool_backward.wgsl`: each gradient goes to the tap that won, times `slope(x)`.
///
/// `dy`, `taps`: (B, H', W', C); `x`, `dx`: (B, H, W, C), where `epilogue` made `x`.
pub fn max_pool_backward<T: Real>(params: &Pool, step: &Step, dy: &[T], taps: &[u32], x: &[T], dx: &mut [T]) {
    let mut sums = vec![T::ZERO; dx.len()];
    for (output, at) in outputs(params) {
        sums[input(params, at, taps[output])] += dy[output];
    }
    store_gradient(&sums, x, &params.epilogue, step, dx);
}

/// Sample, row, column and channel of an output.
type At = (usize, u32, u32, usize);

fn outputs(params: &Pool) -> impl Iterator<Item = (usize, At)> {
    let (height, width, channels) = (params.output_height, params.output_width, params.channels as usize);
    (0..params.rows as usize)
        .flat_map(move |sample| (0..height).map(move |row| (sample, row)))
        .flat_map(move |(sample, row)| (0..width).map(move |column| (sample, row, column)))
        .flat_map(move |(sample, row, column)| (0..channels).map(move |channel| (sample, row, column, channel)))
        .enumerate()
}

/// Place of tap `tap` of the window of an output.
fn input(params: &Pool, (sample, row, column, channel): At, tap: u32) -> usize {
    let y = (row * params.stride + tap / params.side) as usize;
    let x = (column * params.stride + tap % params.side) as usize;
    ((sample * params.input_height as usize + y) * params.input_width as usize + x) * params.channels as usize + channel
}
