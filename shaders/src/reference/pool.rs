use super::epilogue::{finish, store_gradient};
use super::products::{Pixel, pixels};
use crate::Real;
use crate::params::{Pool, Step};

/// Twin of `max_pool_forward.wgsl`: `y = epilogue(largest value of each window)`, and which tap of the window it was.
/// `x`: (B, H, W, C); `y`, `taps`: (B, H', W', C). The first of equal values in row-major order wins; what lies
/// outside the image never does.
pub fn max_pool_forward<T: Real>(params: &Pool, step: &Step, x: &[T], y: &mut [T], taps: &mut [u32]) {
    for (output, at) in outputs(params) {
        let mut best: Option<(T, u32)> = None;
        for (tap, place) in window(params, at) {
            if best.is_none_or(|(largest, _)| x[place] > largest) {
                best = Some((x[place], tap));
            }
        }
        let (largest, tap) = best.expect("a window covers at least one pixel");
        (y[output], taps[output]) = (largest, tap);
    }
    finish(&params.epilogue, step, y);
}

/// Twin of `max_pool_backward.wgsl`: each gradient goes to the tap that won, times `slope(x)`.
/// `dy`, `taps`: (B, H', W', C); `x`, `dx`: (B, H, W, C), where `epilogue` made `x`.
pub fn max_pool_backward<T: Real>(params: &Pool, step: &Step, dy: &[T], taps: &[u32], x: &[T], dx: &mut [T]) {
    let mut sums = vec![T::ZERO; dx.len()];
    for (output, at) in outputs(params) {
        for (tap, place) in window(params, at) {
            if tap == taps[output] {
                sums[place] += dy[output];
            }
        }
    }
    store_gradient(&sums, x, &params.epilogue, step, dx);
}

/// Twin of `average_pool_forward.wgsl`: `y = epilogue(mean of the window's pixels that are in the image)`.
/// `x`: (B, H, W, C); `y`: (B, H', W', C).
pub fn average_pool_forward<T: Real>(params: &Pool, step: &Step, x: &[T], y: &mut [T]) {
    for (output, at) in outputs(params) {
        let sum: T = window(params, at).map(|(_, place)| x[place]).sum();
        y[output] = sum / pixels_of::<T>(params, at);
    }
    finish(&params.epilogue, step, y);
}

/// Twin of `average_pool_backward.wgsl`: each gradient is shared equally among its window's pixels, times `slope(x)`.
/// `dy`: (B, H', W', C); `x`, `dx`: (B, H, W, C), where `epilogue` made `x`.
pub fn average_pool_backward<T: Real>(params: &Pool, step: &Step, dy: &[T], x: &[T], dx: &mut [T]) {
    let mut sums = vec![T::ZERO; dx.len()];
    for (output, at) in outputs(params) {
        for (_, place) in window(params, at) {
            sums[place] += dy[output] / pixels_of::<T>(params, at);
        }
    }
    store_gradient(&sums, x, &params.epilogue, step, dx);
}

/// Pixel and channel of an output.
type At = (Pixel, usize);

fn outputs(params: &Pool) -> impl Iterator<Item = (usize, At)> {
    let channels = params.channels as usize;
    let pixels = pixels([params.rows, params.output_height, params.output_width]);
    pixels.flat_map(move |pixel| (0..channels).map(move |channel| (pixel, channel))).enumerate()
}

/// The taps of an output's window that are in the image, and their places in the input.
fn window(params: &Pool, ([sample, row, column], channel): At) -> impl Iterator<Item = (u32, usize)> {
    let params = *params;
    (0..params.side * params.side).filter_map(move |tap| {
        let y = (row * params.stride + tap / params.side).checked_sub(params.padding)?;
        let x = (column * params.stride + tap % params.side).checked_sub(params.padding)?;
        let inside = y < params.input_height && x < params.input_width;
        let pixel = (sample * params.input_height + y) * params.input_width + x;
        inside.then_some((tap, pixel as usize * params.channels as usize + channel))
    })
}

fn pixels_of<T: Real>(params: &Pool, at: At) -> T {
    window(params, at).map(|_| T::ONE).sum()
}
