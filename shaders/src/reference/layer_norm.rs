use super::epilogue::{apply_epilogue, store_gradient};
use crate::Real;
use crate::params::{LayerNorm, Step};

/// Twin of `layer_norm_forward.wgsl`: `y = epilogue(x̂·gamma + beta)`, where `x̂ = (x - mean) / √(variance + epsilon)`
/// with the mean and variance of each token's channels.
///
/// `x`, `y`: (B, T, C); `gamma`, `beta`: (C); `saved`: (B, T, 2): mean, 1 / √(variance + epsilon).
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
    let mut values = vec![T::ZERO; y.len()];
    let tokens = x.chunks_exact(stored).zip(values.chunks_exact_mut(stored));
    for ((x, values), saved) in tokens.zip(saved.chunks_exact_mut(2)) {
        let x = &x[..channels];
        let mean = x.iter().copied().sum::<T>() / count;
        let variance = x.iter().map(|&x| (x - mean) * (x - mean)).sum::<T>() / count;
        saved[0] = mean;
        saved[1] = T::ONE / (variance + T::from_f64(f64::from(params.epsilon))).sqrt();
        for (channel, &x) in x.iter().enumerate() {
            values[channel] = (x - mean) * saved[1] * gamma[channel] + beta[channel];
        }
    }
    for (at, (y, value)) in (0u32..).zip(y.iter_mut().zip(values)) {
        *y = apply_epilogue(value, at, &params.epilogue, step);
    }
}

/// Twin of `layer_norm_input_gradient.wgsl`: `dx = (g - mean(g) - x̂·mean(g·x̂)) / √(variance + epsilon)` with
/// `g = dy·gamma`, times `slope(x)`, where `epilogue` made `x`.
///
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
///
/// `x`, `dy`: (B, T, C); `saved`: (B, T, 2): mean, 1 / √(variance + epsilon); `parts`: (parts, part stride), each
/// dgamma (C) and, from `bias_offset` on, dbeta (C).
pub fn layer_norm_weight_gradient<T: Real>(params: &LayerNorm, x: &[T], dy: &[T], saved: &[T], parts: &mut [T]) {
    let stored = params.stored_channels as usize;
    parts.fill(T::ZERO);
    let tokens = x.chunks_exact(stored).zip(dy.chunks_exact(stored)).zip(saved.chunks_exact(2));
    for (token, ((x, dy), saved)) in tokens.enumerate() {
        let part = token / params.tokens_per_part as usize;
        let (gamma, beta) = parts[part * params.part_stride as usize..].split_at_mut(params.bias_offset as usize);
        for channel in 0..params.channels as usize {
            gamma[channel] += dy[channel] * (x[channel] - saved[0]) * saved[1];
            beta[channel] += dy[channel];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::finite_differences::{assert_gradient, dot, numbers};
    use super::super::sum_parts;
    use super::*;
    use crate::params::{Epilogue, SumParts};

    #[test]
    fn the_gradients_are_those_of_finite_differences() {
        let params = LayerNorm {
            rows: 2,
            tokens: 3,
            channels: 5,
            stored_channels: 5,
            tokens_per_part: 4,
            part_stride: 12,
            bias_offset: 6,
            epsilon: 1e-3,
            epilogue: Epilogue::default(),
        };
        let step = Step::default();
        let (x, gamma, beta, dy) = (numbers(30, 1), numbers(5, 2), numbers(5, 3), numbers(30, 4));
        let forward = |x: &[f64], gamma: &[f64], beta: &[f64]| {
            let (mut y, mut saved) = (vec![0.0; 30], vec![0.0; 12]);
            layer_norm_forward(&params, &step, x, gamma, beta, &mut y, &mut saved);
            (dot(&y, &dy), saved)
        };
        let saved = forward(&x, &gamma, &beta).1;
        let (mut parts, mut sums, mut dx) = (vec![0.0; 24], vec![0.0; 12], vec![0.0; 30]);
        layer_norm_weight_gradient(&params, &x, &dy, &saved, &mut parts);
        sum_parts(&SumParts { elements: 12, parts: 2, accumulate: 0, reserved: 0 }, &parts, &mut sums);
        layer_norm_input_gradient(&params, &step, &x, &dy, &saved, &gamma, &mut dx);
        assert_gradient(&x, &dx, |x| forward(x, &gamma, &beta).0);
        assert_gradient(&gamma, &sums[..5], |gamma| forward(&x, gamma, &beta).0);
        assert_gradient(&beta, &sums[6..11], |beta| forward(&x, &gamma, beta).0);
    }
}
