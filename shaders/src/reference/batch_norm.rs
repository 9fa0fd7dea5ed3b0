use super::epilogue::{apply_epilogue, store_gradient};
use super::gelu::{gelu, gelu_slope};
use crate::Real;
use crate::params::{BatchNorm, Step, activation};

/// What each channel is normalised with.
#[derive(Clone, Copy, Debug)]
pub struct Normalizer<'a, T> {
    /// (2, C): mean, 1 / √(variance + epsilon).
    pub saved: &'a [T],
    /// (C): what the normalised value is multiplied by.
    pub gamma: &'a [T],
    /// (C): what is added to it then.
    pub beta: &'a [T],
}

impl<T: Real> Normalizer<'_, T> {
    /// The normalised value, before gamma and beta.
    fn normalized(&self, x: T, channel: usize) -> T {
        (x - self.saved[channel]) * self.saved[self.gamma.len() + channel]
    }

    /// The gradient of the activation's argument, given that of its result.
    fn through_activation(&self, params: &BatchNorm, dy: T, normalized: T, channel: usize) -> T {
        dy * slope(params.activation, normalized * self.gamma[channel] + self.beta[channel])
    }
}

fn activate<T: Real>(activation: u32, value: T) -> T {
    match activation {
        activation::RELU => value.maximum(T::ZERO),
        activation::TANH => value.tanh(),
        activation::GELU => gelu(value),
        _ => value,
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

/// Pixels that made the statistics: those of the batch's samples, on whatever device they are.
fn pixels_of_batch(params: &BatchNorm, step: &Step) -> usize {
    real_pixels(params, step) + (step.elsewhere * params.pixels) as usize
}

/// The samples' pixels of each part; the last parts may have none.
fn pixels_of_parts(params: &BatchNorm, step: &Step) -> Vec<std::ops::Range<usize>> {
    let (real, length) = (real_pixels(params, step), params.pixels_per_part as usize);
    (0..params.parts as usize).map(|part| (part * length).min(real)..((part + 1) * length).min(real)).collect()
}

/// Twin of `batch_norm_statistics.wgsl`: mean and sum of squared deviations of each channel in each part.
///
/// `x`: (B, P, C); `parts`: (parts, 2, C). Rows from `step.count` on are left out.
pub fn batch_norm_statistics<T: Real>(params: &BatchNorm, step: &Step, x: &[T], parts: &mut [T]) {
    let channels = params.stored_channels as usize;
    for (pixels, part) in pixels_of_parts(params, step).into_iter().zip(parts.chunks_exact_mut(2 * channels)) {
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
///
/// `parts`: (parts, 2, C); `running`: (2, C): mean, variance; `saved`: (2, C).
pub fn batch_norm_finish<T: Real>(params: &BatchNorm, step: &Step, parts: &[T], running: &mut [T], saved: &mut [T]) {
    let channels = params.stored_channels as usize;
    let [keep, epsilon] = [params.keep, params.epsilon].map(|value| T::from_f64(f64::from(value)));
    let (real, length) = (pixels_of_batch(params, step), params.pixels_per_part as usize);
    let pixels: Vec<_> =
        (0..params.parts as usize).map(|part| (part * length).min(real)..((part + 1) * length).min(real)).collect();
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
///
/// `x`, `y`: (B, P, C).
pub fn batch_norm_forward<T: Real>(params: &BatchNorm, step: &Step, x: &[T], by: &Normalizer<T>, y: &mut [T]) {
    let channels = params.stored_channels as usize;
    for (at, (y, &x)) in y.iter_mut().zip(x).enumerate() {
        let channel = at % channels;
        let value = by.normalized(x, channel) * by.gamma[channel] + by.beta[channel];
        let at = u32::try_from(at).expect("kernels count values in 32 bits");
        *y = apply_epilogue(activate(params.activation, value), at, &params.epilogue, step);
    }
}

/// Twin of `batch_norm_gradient_sums.wgsl`: `dgamma = Σ g·x̂` and `dbeta = Σ g`, summed in parts of the samples'
/// pixels; g is dy times the activation's slope.
///
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
    for (pixels, part) in pixels_of_parts(params, step).into_iter().zip(parts) {
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
///
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

#[cfg(test)]
mod tests {
    use super::super::finite_differences::{assert_gradient, dot, numbers};
    use super::super::sum_parts;
    use super::*;
    use crate::params::{Epilogue, SumParts};

    const VALUES: u32 = 4 * 5 * 3;

    /// Four rows of five pixels of three channels; parts end inside rows.
    fn params(activation: u32) -> BatchNorm {
        BatchNorm {
            rows: 4,
            pixels: 5,
            stored_channels: 3,
            pixels_per_part: 6,
            parts: 4,
            part_stride: 8,
            bias_offset: 4,
            activation,
            epsilon: 1e-3,
            keep: 0.6,
            reserved: [0; 2],
            epilogue: Epilogue::default(),
        }
    }

    /// Three of the four rows are samples.
    const STEP: Step = Step {
        step: 0,
        seed: 0,
        offset: 0,
        count: 3,
        slot: 0,
        training: 1,
        learning_rate: 0.0,
        decay_rate: 0.0,
        epoch: 0,
        average: 0,
        average_keep: 0.0,
        mark: 0,
        linear: 0,
        first_row: 0,
        elsewhere: 0,
        mirror_rest: 0,
    };

    fn saved(params: &BatchNorm, x: &[f64]) -> Vec<f64> {
        let (mut parts, mut running, mut saved) = (vec![0.0; 24], vec![0.0; 6], vec![0.0; 6]);
        batch_norm_statistics(params, &STEP, x, &mut parts);
        batch_norm_finish(params, &STEP, &parts, &mut running, &mut saved);
        saved
    }

    /// The gradients of these values count: those of the rows that are samples.
    fn loss(params: &BatchNorm, x: &[f64], gamma: &[f64], beta: &[f64], dy: &[f64]) -> f64 {
        let saved = saved(params, x);
        let mut y = vec![0.0; x.len()];
        batch_norm_forward(params, &STEP, x, &Normalizer { saved: &saved, gamma, beta }, &mut y);
        dot(&y, dy)
    }

    #[test]
    fn the_gradients_are_those_of_finite_differences() {
        for activation in [activation::IDENTITY, activation::RELU, activation::TANH, activation::GELU] {
            let params = params(activation);
            let (x, gamma, beta) = (numbers(VALUES, 1), numbers(3, 2), numbers(3, 3));
            let mut dy = numbers(VALUES, 4);
            dy[45..].fill(0.0);
            let saved = saved(&params, &x);
            let by = Normalizer { saved: &saved, gamma: &gamma, beta: &beta };
            let (mut parts, mut sums, mut dx) = (vec![0.0; 32], vec![0.0; 8], vec![0.0; x.len()]);
            batch_norm_gradient_sums(&params, &STEP, &x, &dy, &by, &mut parts);
            sum_parts(&SumParts { elements: 8, parts: 4, accumulate: 0, reserved: 0 }, &parts, &mut sums);
            batch_norm_input_gradient(&params, &STEP, &x, &dy, &by, &sums, &mut dx);
            assert_gradient(&x, &dx, |x| loss(&params, x, &gamma, &beta, &dy));
            assert_gradient(&gamma, &sums[..3], |gamma| loss(&params, &x, gamma, &beta, &dy));
            assert_gradient(&beta, &sums[4..7], |beta| loss(&params, &x, &gamma, beta, &dy));
        }
    }

    #[test]
    fn running_averages_keep_their_share_and_take_the_unbiased_variance() {
        let params = BatchNorm { pixels: 1, stored_channels: 1, pixels_per_part: 2, parts: 2, ..params(0) };
        let (mut parts, mut running, mut saved) = ([0.0; 4], [10.0, 20.0], [0.0; 2]);
        // The last value is no sample's.
        batch_norm_statistics(&params, &STEP, &[1.0, 2.0, 6.0, 99.0], &mut parts);
        batch_norm_finish(&params, &STEP, &parts, &mut running, &mut saved);
        let (keep, epsilon) = (f64::from(params.keep), f64::from(params.epsilon));
        let close = |found: f64, expected: f64| assert!((found - expected).abs() < 1e-14, "{found}, not {expected}");
        close(saved[0], 3.0);
        close(saved[1], 1.0 / (14.0 / 3.0 + epsilon).sqrt());
        close(running[0], keep * 10.0 + (1.0 - keep) * 3.0);
        close(running[1], keep * 20.0 + (1.0 - keep) * 7.0);
        let before = running;
        batch_norm_finish(&params, &Step { training: 0, ..STEP }, &parts, &mut running, &mut saved);
        assert_eq!(running, before);
        assert_eq!(saved, [before[0], 1.0 / (before[1] + epsilon).sqrt()]);
    }
}
