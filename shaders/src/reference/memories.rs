//! Layers of memory networks.

use super::dot::dot;
use super::epilogue::{finish, store_gradient};
use crate::Real;
use crate::params::{ChannelSoftmax, Concatenate, PixelProducts, SentenceSum, Step, Transpose};

/// Twin of `sentence_sum_forward.wgsl`: `y[k] = Σ weight(j, k)·x[j, k]` over the words j of each sentence.
/// `x`: (S, J, C); `y`: (S, C).
pub fn sentence_sum_forward<T: Real>(params: &SentenceSum, step: &Step, x: &[T], y: &mut [T]) {
    let (words, stored) = (params.words as usize, params.stored_channels as usize);
    for (sentence, y) in y.chunks_exact_mut(stored).enumerate() {
        y.fill(T::ZERO);
        for (word, x) in x[sentence * words * stored..].chunks_exact(stored).take(words).enumerate() {
            for (channel, (y, &x)) in y.iter_mut().zip(x).enumerate() {
                *y += sentence_weight::<T>(params, word, channel) * x;
            }
        }
    }
    finish(&params.epilogue, step, y);
}

/// Twin of `sentence_sum_gradient.wgsl`: `dx[j, k] = weight(j, k)·dy[k] ⊙ slope(x[j, k])`.
/// `dy`: (S, C); `x`, `dx`: (S, J, C).
pub fn sentence_sum_gradient<T: Real>(params: &SentenceSum, step: &Step, dy: &[T], x: &[T], dx: &mut [T]) {
    let (words, stored) = (params.words as usize, params.stored_channels as usize);
    let gradient = |at: usize| {
        let (token, channel) = (at / stored, at % stored);
        sentence_weight::<T>(params, token % words, channel) * dy[token / words * stored + channel]
    };
    let gradients: Vec<T> = (0..dx.len()).map(gradient).collect();
    store_gradient(&gradients, x, &params.epilogue, step, dx);
}

/// The position encoding of Sukhbaatar et al. (2015), section 4.1, for word j and value k, both counted from 1:
/// `(1 - j/J) - (k/d)·(1 - 2j/J)`.
pub fn sentence_weight<T: Real>(params: &SentenceSum, word: usize, channel: usize) -> T {
    let real = |number: usize| T::from_f64(number as f64);
    let place = real(word + 1) / real(params.words as usize);
    let height = real(channel + 1) / real(params.channels as usize);
    (T::ONE - place) - height * (T::ONE - place - place)
}

/// Twin of `pixel_products_forward.wgsl`: `y[b, p, q] = Σ a[b, p, c]·b[b, q, c]`, each pixel of `a` with each of `b`.
/// `a`: (B, P, C); `b`: (B, Q, C); `y`: (B, P, stored products).
pub fn pixel_products_forward<T: Real>(params: &PixelProducts, step: &Step, a: &[T], b: &[T], y: &mut [T]) {
    let [first, second, channels] = sizes(params);
    let stored = params.stored_products as usize;
    y.fill(T::ZERO);
    for (pixel, y) in y.chunks_exact_mut(stored).enumerate() {
        let a = &a[pixel * channels..][..channels];
        for (q, y) in y.iter_mut().take(second).enumerate() {
            *y = dot(a, &b[(pixel / first * second + q) * channels..][..channels]);
        }
    }
    finish(&params.epilogue, step, y);
}

/// Twin of `pixel_products_gradient.wgsl`: the gradient of the factor `x`, which is the first,
/// `dx[b, p] = Σ dy[b, p, q]·other[b, q]`, or the second, `dx[b, q] = Σ dy[b, p, q]·other[b, p]`.
/// `dy`: (B, P, stored products); `other`: the other factor; `x`, `dx`: of the factor's shape.
pub fn pixel_products_gradient<T: Real>(
    params: &PixelProducts,
    step: &Step,
    dy: &[T],
    other: &[T],
    x: &[T],
    dx: &mut [T],
) {
    let [first, second, channels] = sizes(params);
    let mut sums = vec![T::ZERO; dx.len()];
    for (at, &dy) in dy.iter().enumerate() {
        let (pixel, q) = (at / params.stored_products as usize, at % params.stored_products as usize);
        if q >= second {
            continue;
        }
        let q = pixel / first * second + q;
        let (x, other_pixel) = if params.of_second == 1 { (q, pixel) } else { (pixel, q) };
        for (sum, &other) in sums[x * channels..][..channels].iter_mut().zip(&other[other_pixel * channels..]) {
            *sum += dy * other;
        }
    }
    store_gradient(&sums, x, &params.epilogue, step, dx);
}

fn sizes(params: &PixelProducts) -> [usize; 3] {
    [params.first_pixels, params.second_pixels, params.channels].map(|number| number as usize)
}

/// Twin of `channel_softmax_forward.wgsl`: `y = exp(x) / Σ exp(x)` over the channels of each pixel, or `x` itself while
/// the step is linear and the layer starts so.
/// `x`, `y`: (P, C); padding stays zero.
pub fn channel_softmax_forward<T: Real>(params: &ChannelSoftmax, step: &Step, x: &[T], y: &mut [T]) {
    let (channels, stored) = (params.channels as usize, params.stored_channels as usize);
    y.fill(T::ZERO);
    for (x, y) in x.chunks_exact(stored).zip(y.chunks_exact_mut(stored)) {
        let (x, y) = (&x[..channels], &mut y[..channels]);
        y.copy_from_slice(x);
        if !is_linear(params, step) {
            to_shares(y);
        }
    }
    finish(&params.epilogue, step, y);
}

/// Twin of `channel_softmax_backward.wgsl`: `dx = y ⊙ (dy - Σ dy·y) ⊙ slope(x)` where `y = exp(x) / Σ exp(x)`, or
/// `dy ⊙ slope(x)` while the step is linear.
/// `dy`, `x`, `dx`: (P, C).
pub fn channel_softmax_backward<T: Real>(params: &ChannelSoftmax, step: &Step, dy: &[T], x: &[T], dx: &mut [T]) {
    let (channels, stored) = (params.channels as usize, params.stored_channels as usize);
    let mut gradients = dy.to_vec();
    if !is_linear(params, step) {
        for (gradients, x) in gradients.chunks_exact_mut(stored).zip(x.chunks_exact(stored)) {
            let mut y = x[..channels].to_vec();
            to_shares(&mut y);
            let shared: T = gradients.iter().zip(&y).map(|(&dy, &y)| dy * y).sum();
            gradients.iter_mut().zip(&y).for_each(|(gradient, &y)| *gradient = y * (*gradient - shared));
        }
    }
    store_gradient(&gradients, x, &params.epilogue, step, dx);
}

/// The softmax of some numbers, in their place.
fn to_shares<T: Real>(numbers: &mut [T]) {
    let largest = numbers.iter().copied().fold(numbers[0], T::maximum);
    numbers.iter_mut().for_each(|number| *number = (*number - largest).exp());
    let sum: T = numbers.iter().copied().sum();
    numbers.iter_mut().for_each(|number| *number = *number / sum);
}

fn is_linear(params: &ChannelSoftmax, step: &Step) -> bool {
    params.linear_start == 1 && step.linear == 1
}

/// Twin of `transpose_forward.wgsl`: `y[b, q, p] = x[b, p, q]`, pixels become channels and channels pixels.
/// `x`: (B, P, stored channels); `y`: (B, Q, stored pixels); padding is zero.
pub fn transpose_forward<T: Real>(params: &Transpose, step: &Step, x: &[T], y: &mut [T]) {
    y.fill(T::ZERO);
    for (at, from) in places(params) {
        y[from] = x[at];
    }
    finish(&params.epilogue, step, y);
}

/// Twin of `transpose_gradient.wgsl`: `dx[b, p, q] = dy[b, q, p] ⊙ slope(x[b, p, q])`.
/// `dy`: (B, Q, stored pixels); `x`, `dx`: (B, P, stored channels).
pub fn transpose_gradient<T: Real>(params: &Transpose, step: &Step, dy: &[T], x: &[T], dx: &mut [T]) {
    let mut gradients = vec![T::ZERO; dx.len()];
    for (at, from) in places(params) {
        gradients[at] = dy[from];
    }
    store_gradient(&gradients, x, &params.epilogue, step, dx);
}

/// Place of each value in the input, and in the output.
fn places(params: &Transpose) -> impl Iterator<Item = (usize, usize)> {
    let &Transpose { rows, pixels, channels, stored_channels, stored_pixels, .. } = params;
    (0..rows).flat_map(move |row| {
        (0..pixels).flat_map(move |p| {
            (0..channels).map(move |q| {
                let (input, output) =
                    ((row * pixels + p) * stored_channels + q, (row * channels + q) * stored_pixels + p);
                (input as usize, output as usize)
            })
        })
    })
}

/// Twin of `concatenate_forward.wgsl`: `y[p] = (a[p], b[p])`, the channels of both in sequence.
/// `a`: (P, stored first); `b`: (P, stored second); `y`: (P, stored channels); padding is zero.
pub fn concatenate_forward<T: Real>(params: &Concatenate, step: &Step, a: &[T], b: &[T], y: &mut [T]) {
    let (first, second) = (params.first as usize, params.second as usize);
    let (stored_first, stored_second) = (params.stored_first as usize, params.stored_second as usize);
    y.fill(T::ZERO);
    let inputs = a.chunks_exact(stored_first).zip(b.chunks_exact(stored_second));
    for (y, (a, b)) in y.chunks_exact_mut(params.stored_channels as usize).zip(inputs) {
        y[..first].copy_from_slice(&a[..first]);
        y[first..first + second].copy_from_slice(&b[..second]);
    }
    finish(&params.epilogue, step, y);
}

/// Twin of `concatenate_gradient.wgsl`: the part of `dy` that belongs to the input `x`, `⊙ slope(x)`.
/// `dy`: (P, stored channels); `x`, `dx`: of the input's shape, the first or the second.
pub fn concatenate_gradient<T: Real>(params: &Concatenate, step: &Step, dy: &[T], x: &[T], dx: &mut [T]) {
    let (from, channels, stored) = if params.of_second == 1 {
        (params.first, params.second, params.stored_second)
    } else {
        (0, params.first, params.stored_first)
    };
    let [from, channels, stored] = [from, channels, stored].map(|number| number as usize);
    let mut gradients = vec![T::ZERO; dx.len()];
    let pixels = dy.chunks_exact(params.stored_channels as usize);
    for (gradients, dy) in gradients.chunks_exact_mut(stored).zip(pixels) {
        gradients[..channels].copy_from_slice(&dy[from..from + channels]);
    }
    store_gradient(&gradients, x, &params.epilogue, step, dx);
}
