use std::ops::Range;

use super::epilogue::{activate, finish, gelu_slope, store_gradient};
use crate::Real;
use crate::params::{BatchNorm, LayerNorm, LocalResponse, NO_BIAS, Step, activation};

/// Twin of `local_response_forward.wgsl`: `y = epilogue(x / (bias + alpha·Σ x_j²)^beta)`, over neighbouring channels.
/// `x`, `y`: (B, P, C).
pub fn local_response_forward<T: Real>(params: &LocalResponse, step: &Step, x: &[T], y: &mut [T]) {
    let channels = params.stored_channels as usize;
    let beta = T::from_f64(f64::from(params.beta));
    for (x, y) in x.chunks_exact(channels).zip(y.chunks_exact_mut(channels)) {
        for ((y, &x), denominator) in y.iter_mut().zip(x).zip(denominators(params, x)) {
            *y = x / power(denominator, beta);
        }
    }
    finish(&params.epilogue, step, y);
}

/// Twin of `local_response_backward.wgsl`: the gradient of `x`, times `slope(x)`, where `epilogue` made `x`.
/// `dy`, `x`, `dx`: (B, P, C).
pub fn local_response_backward<T: Real>(params: &LocalResponse, step: &Step, dy: &[T], x: &[T], dx: &mut [T]) {
    let channels = params.stored_channels as usize;
    let [alpha, beta] = [params.alpha, params.beta].map(|value| T::from_f64(f64::from(value)));
    let two = T::ONE + T::ONE;
    let mut sums = vec![T::ZERO; dx.len()];
    let pixels = dy.chunks_exact(channels).zip(x.chunks_exact(channels));
    for ((dy, x), sums) in pixels.zip(sums.chunks_exact_mut(channels)) {
        for (channel, denominator) in denominators(params, x).into_iter().enumerate() {
            sums[channel] += dy[channel] / power(denominator, beta);
            // d y_c / d x_j through the denominator of y_c.
            let shared = two * alpha * beta * dy[channel] * x[channel] / power(denominator, beta + T::ONE);
            for neighbour in neighbours(params, channel) {
                sums[neighbour] -= shared * x[neighbour];
            }
        }
    }
    store_gradient(&sums, x, &params.epilogue, step, dx);
}

/// Channels within the radius of `channel`.
fn neighbours(params: &LocalResponse, channel: usize) -> Range<usize> {
    let radius = params.radius as usize;
    channel.saturating_sub(radius)..(channel + radius + 1).min(params.stored_channels as usize)
}

/// `bias + alpha·Σ x_j²` of every channel of a pixel.
fn denominators<T: Real>(params: &LocalResponse, pixel: &[T]) -> Vec<T> {
    let [bias, alpha] = [params.bias, params.alpha].map(|value| T::from_f64(f64::from(value)));
    let squares = |channel| -> T { pixel[neighbours(params, channel)].iter().map(|&x| x * x).sum() };
    (0..pixel.len()).map(|channel| bias + alpha * squares(channel)).collect()
}

/// `base^exponent` of a base above zero.
fn power<T: Real>(base: T, exponent: T) -> T {
    (exponent * base.ln()).exp()
}

/// Statistics and parameters that normalise each channel.
#[derive(Clone, Copy, Debug)]
pub struct Normalizer<'a, T> {
    /// (2, C): mean, 1 / √(variance + epsilon).
    pub saved: &'a [T],
    /// (C): factor of the normalised value.
    pub gamma: &'a [T],
    /// (C): summand after that.
    pub beta: &'a [T],
}

impl<T: Real> Normalizer<'_, T> {
    /// The normalised value, before gamma and beta.
    fn normalized(&self, x: T, channel: usize) -> T {
        (x - self.saved[channel]) * self.saved[self.gamma.len() + channel]
    }

    /// Gradient of the activation's argument, from the gradient of its result.
    fn through_activation(&self, params: &BatchNorm, dy: T, normalized: T, channel: usize) -> T {
        dy * slope(params.activation, normalized * self.gamma[channel] + self.beta[channel])
    }
}

/// Slope of the activation at its argument.
fn slope<T: Real>(activation: u32, value: T) -> T {
    match activation {
        activation::RELU if value > T::ZERO => T::ONE,
        activation::RELU => T::ZERO,
        activation::TANH => T::ONE - value.tanh() * value.tanh(),
        activation::GELU => gelu_slope(value),
        _ => T::ONE,
    }
}

fn count<T: Real>(number: usize) -> T {
    T::from_f64(number as f64)
}

/// Pixels of the batch that belong to samples.
fn real_pixels(params: &BatchNorm, step: &Step) -> usize {
    (step.count.min(params.rows) * params.pixels) as usize
}

/// Pixels of the statistics: of all samples of the batch, on all devices.
fn pixels_of_batch(params: &BatchNorm, step: &Step) -> usize {
    real_pixels(params, step) + (step.elsewhere * params.pixels) as usize
}

/// The samples' pixels of each part, of `real` ones; the last parts may have none.
fn pixels_of_parts(params: &BatchNorm, real: usize) -> Vec<Range<usize>> {
    let length = params.pixels_per_part as usize;
    (0..params.parts as usize).map(|part| (part * length).min(real)..((part + 1) * length).min(real)).collect()
}

/// Twin of `batch_norm_statistics.wgsl`: mean and sum of squared deviations of each channel in each part.
/// `x`: (B, P, C); `parts`: (parts, 2, C). Rows from `step.count` on are left out.
pub fn batch_norm_statistics<T: Real>(params: &BatchNorm, step: &Step, x: &[T], parts: &mut [T]) {
    let channels = params.stored_channels as usize;
    for (pixels, part) in
        pixels_of_parts(params, real_pixels(params, step)).into_iter().zip(parts.chunks_exact_mut(2 * channels))
    {
        for channel in 0..channels {
            let values = || pixels.clone().map(|pixel| x[pixel * channels + channel]);
            let mean = values().sum::<T>() / count(pixels.len().max(1));
            part[channel] = mean;
            part[channels + channel] = values().map(|x| (x - mean) * (x - mean)).sum();
        }
    }
}

/// Twin of `batch_norm_finish.wgsl`: mean and 1 / √(variance + epsilon), in training of the batch, whose unbiased
/// estimates the running averages then follow; in tests of the running averages.
/// `parts`: (parts, 2, C); `running`: (2, C): mean, variance; `saved`: (2, C).
pub fn batch_norm_finish<T: Real>(params: &BatchNorm, step: &Step, parts: &[T], running: &mut [T], saved: &mut [T]) {
    let channels = params.stored_channels as usize;
    let [keep, epsilon] = [params.keep, params.epsilon].map(|value| T::from_f64(f64::from(value)));
    let real = pixels_of_batch(params, step);
    let pixels = pixels_of_parts(params, real);
    for channel in 0..channels {
        let (mut mean, mut variance) = (running[channel], running[channels + channel]);
        if step.training == 1 {
            let parts = || pixels.iter().map(|pixels| count::<T>(pixels.len())).zip(parts.chunks_exact(2 * channels));
            mean = parts().map(|(values, part)| values * part[channel]).sum::<T>() / count(real);
            let deviations: T = parts()
                .map(|(values, part)| {
                    let distance = part[channel] - mean;
                    part[channels + channel] + values * distance * distance
                })
                .sum();
            variance = deviations / count(real);
            let unbiased = deviations / count((real - 1).max(1));
            running[channel] = keep * running[channel] + (T::ONE - keep) * mean;
            running[channels + channel] = keep * running[channels + channel] + (T::ONE - keep) * unbiased;
        }
        saved[channel] = mean;
        saved[channels + channel] = T::ONE / (variance + epsilon).sqrt();
    }
}

/// Twin of `batch_norm_forward.wgsl`: `y = epilogue(activation(x̂·gamma + beta))`, x̂ the normalised value.
/// `x`, `y`: (B, P, C).
pub fn batch_norm_forward<T: Real>(params: &BatchNorm, step: &Step, x: &[T], by: &Normalizer<T>, y: &mut [T]) {
    let channels = params.stored_channels as usize;
    for (at, (y, &x)) in y.iter_mut().zip(x).enumerate() {
        let channel = at % channels;
        let value = by.normalized(x, channel) * by.gamma[channel] + by.beta[channel];
        *y = activate(params.activation, value);
    }
    finish(&params.epilogue, step, y);
}

/// Twin of `batch_norm_gradient_sums.wgsl`: `dgamma = Σ g·x̂` and `dbeta = Σ g`, summed in parts of the samples'
/// pixels; g is dy times the activation's slope.
/// `x`, `dy`: (B, P, C); `parts`: (parts, part stride), each dgamma (C) and, from `bias_offset` on, dbeta (C).
pub fn batch_norm_gradient_sums<T: Real>(
    params: &BatchNorm,
    step: &Step,
    x: &[T],
    dy: &[T],
    by: &Normalizer<T>,
    parts: &mut [T],
) {
    let channels = params.stored_channels as usize;
    parts.fill(T::ZERO);
    let parts = parts.chunks_exact_mut(params.part_stride as usize);
    for (pixels, part) in pixels_of_parts(params, real_pixels(params, step)).into_iter().zip(parts) {
        for at in pixels.start * channels..pixels.end * channels {
            let channel = at % channels;
            let normalized = by.normalized(x[at], channel);
            let gradient = by.through_activation(params, dy[at], normalized, channel);
            part[channel] += gradient * normalized;
            part[params.bias_offset as usize + channel] += gradient;
        }
    }
}

/// Twin of `batch_norm_input_gradient.wgsl`: `dx = gamma / √(variance + epsilon)·(g - dbeta/n - x̂·dgamma/n)`, times
/// `slope(x)`, where `epilogue` made `x`; zero in rows from `step.count` on.
/// `x`, `dy`, `dx`: (B, P, C); `sums`: dgamma (C) and, from `bias_offset` on, dbeta (C), of all parts.
pub fn batch_norm_input_gradient<T: Real>(
    params: &BatchNorm,
    step: &Step,
    x: &[T],
    dy: &[T],
    by: &Normalizer<T>,
    sums: &[T],
    dx: &mut [T],
) {
    let channels = params.stored_channels as usize;
    let pixels = real_pixels(params, step);
    let mut gradients = vec![T::ZERO; dx.len()];
    for (at, through) in gradients.iter_mut().enumerate().take(pixels * channels) {
        let channel = at % channels;
        let normalized = by.normalized(x[at], channel);
        let gradient = by.through_activation(params, dy[at], normalized, channel);
        let means = (sums[params.bias_offset as usize + channel] + normalized * sums[channel])
            / count(pixels_of_batch(params, step));
        *through = by.gamma[channel] * by.saved[channels + channel] * (gradient - means);
    }
    store_gradient(&gradients, x, &params.epilogue, step, dx);
}

/// Twin of `layer_norm_forward.wgsl`: `y = epilogue(x̂·gamma + beta)`, where `x̂ = (x - mean) / √(variance + epsilon)`
/// with the mean and variance of each token's channels.
/// `x`, `y`: (B, T, C); `gamma`, `beta`: (C), where an empty `beta` is zero; `saved`: (B, T, 2): mean,
/// 1 / √(variance + epsilon).
pub fn layer_norm_forward<T: Real>(
    params: &LayerNorm,
    step: &Step,
    x: &[T],
    gamma: &[T],
    beta: &[T],
    y: &mut [T],
    saved: &mut [T],
) {
    let (channels, stored) = (params.channels as usize, params.stored_channels as usize);
    let count = T::from_f64(f64::from(params.channels));
    y.fill(T::ZERO);
    let tokens = x.chunks_exact(stored).zip(y.chunks_exact_mut(stored));
    for ((x, values), saved) in tokens.zip(saved.chunks_exact_mut(2)) {
        let x = &x[..channels];
        let mean = x.iter().copied().sum::<T>() / count;
        let variance = x.iter().map(|&x| (x - mean) * (x - mean)).sum::<T>() / count;
        saved[0] = mean;
        saved[1] = T::ONE / (variance + T::from_f64(f64::from(params.epsilon))).sqrt();
        for (channel, &x) in x.iter().enumerate() {
            let beta = beta.get(channel).copied().unwrap_or(T::ZERO);
            values[channel] = (x - mean) * saved[1] * gamma[channel] + beta;
        }
    }
    finish(&params.epilogue, step, y);
}

/// Twin of `layer_norm_input_gradient.wgsl`: `dx = (g - mean(g) - x̂·mean(g·x̂)) / √(variance + epsilon)` with
/// `g = dy·gamma`, times `slope(x)`, where `epilogue` made `x`.
/// `x`, `dy`, `dx`: (B, T, C); `saved`: (B, T, 2): mean, 1 / √(variance + epsilon); `gamma`: (C).
pub fn layer_norm_input_gradient<T: Real>(
    params: &LayerNorm,
    step: &Step,
    x: &[T],
    dy: &[T],
    saved: &[T],
    gamma: &[T],
    dx: &mut [T],
) {
    let (channels, stored) = (params.channels as usize, params.stored_channels as usize);
    let count = T::from_f64(f64::from(params.channels));
    let mut sums = vec![T::ZERO; dx.len()];
    let tokens = x.chunks_exact(stored).zip(dy.chunks_exact(stored)).zip(saved.chunks_exact(2));
    for (((x, dy), saved), sums) in tokens.zip(sums.chunks_exact_mut(stored)) {
        let normalized: Vec<T> = x[..channels].iter().map(|&x| (x - saved[0]) * saved[1]).collect();
        let gradients: Vec<T> = dy[..channels].iter().zip(gamma).map(|(&dy, &gamma)| dy * gamma).collect();
        let gradient_mean = gradients.iter().copied().sum::<T>() / count;
        let product_mean = gradients.iter().zip(&normalized).map(|(&g, &x)| g * x).sum::<T>() / count;
        for (channel, sum) in sums.iter_mut().enumerate().take(channels) {
            *sum = saved[1] * (gradients[channel] - gradient_mean - normalized[channel] * product_mean);
        }
    }
    store_gradient(&sums, x, &params.epilogue, step, dx);
}

/// Twin of `layer_norm_weight_gradient.wgsl`: `dgamma = Σ dy·x̂` and `dbeta = Σ dy`, summed in parts of the tokens.
/// `x`, `dy`: (B, T, C); `saved`: (B, T, 2): mean, 1 / √(variance + epsilon); `parts`: (parts, part stride), each
/// dgamma (C) and, from `bias_offset` on, dbeta (C), unless the layer has no bias.
pub fn layer_norm_weight_gradient<T: Real>(params: &LayerNorm, x: &[T], dy: &[T], saved: &[T], parts: &mut [T]) {
    let stored = params.stored_channels as usize;
    parts.fill(T::ZERO);
    let tokens = x.chunks_exact(stored).zip(dy.chunks_exact(stored)).zip(saved.chunks_exact(2));
    for (token, ((x, dy), saved)) in tokens.enumerate() {
        let part = token / params.tokens_per_part as usize;
        let part = &mut parts[part * params.part_stride as usize..];
        for channel in 0..params.channels as usize {
            part[channel] += dy[channel] * (x[channel] - saved[0]) * saved[1];
            if params.bias_offset != NO_BIAS {
                part[params.bias_offset as usize + channel] += dy[channel];
            }
        }
    }
}
