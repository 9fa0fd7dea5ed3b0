use proptest::prelude::*;
use shaders::params::{BatchNorm, Epilogue, LayerNorm, LocalResponse, NO_BIAS, Step, activation};
use shaders::reference as twin;

use super::{
    ACTIVATIONS, Case, assert_close, dropout_after, numbers, on_shapes, padded, single, step, storable, with_device,
    with_epilogue,
};

#[test]
fn local_responses_equal_their_twins() {
    // Radii below and above four channels, up to more than all channels. The last channel is padding.
    let shapes = (1u32..4, 1u32..20, 1u32..7, 0u32..10, 0..ACTIVATIONS.len(), 0u32..2);
    on_shapes(shapes, |device, (rows, pixels, fours, radius, kind, accumulate)| {
        let epilogue = Epilogue { accumulate, ..dropout_after(ACTIVATIONS[kind], 4 * fours) };
        let sizes = LocalResponse { rows, pixels, stored_channels: 4 * fours, radius, ..LocalResponse::default() };
        let params = LocalResponse { bias: 0.7, alpha: 0.4, beta: 0.75, epilogue, ..sizes };
        let (pixels, stored, step) = (params.rows * params.pixels, params.stored_channels, step(params.rows));
        let values = |stream| padded(pixels, stored - 1, stored, stream);
        let (x, y) = (values(1), vec![9.0; (pixels * stored) as usize]);
        let case = Case::new([&x], [&y], |[x], [y]| twin::local_response_forward(&params, &step, x, y));
        case.check(device, "local_response_forward", (&params, &step), pixels * stored / 4, 2e-6);
        let (dy, x, dx) = (values(1), with_epilogue(&params.epilogue, &step, values(2)), values(3));
        let case = Case::new([&dy, &x], [&dx], |[dy, x], [dx]| {
            twin::local_response_backward(&params, &step, dy, x, dx);
        });
        case.check(device, "local_response_backward", (&params, &step), pixels * stored / 4, 4e-6);
    });
}

/// Generates parts that end inside rows, have more or fewer than eight pixels, or are empty because the last rows hold
/// no samples. The last channel is padding.
fn batch_norms() -> impl Strategy<Value = (BatchNorm, Step)> {
    let own = [activation::IDENTITY, activation::RELU, activation::TANH, activation::GELU];
    let extents = (1u32..6, 1u32..30, 1u32..6, 1u32..40, 0u32..3);
    let kinds = (0..own.len(), 0..ACTIVATIONS.len(), 0u32..2);
    (extents, kinds).prop_map(move |((rows, pixels, fours, pixels_per_part, missing), (kind, below, accumulate))| {
        let params = BatchNorm {
            rows,
            pixels,
            stored_channels: 4 * fours,
            pixels_per_part,
            parts: (rows * pixels).div_ceil(pixels_per_part),
            part_stride: 8 * fours + 12,
            bias_offset: 4 * fours + 8,
            activation: own[kind],
            epsilon: 1e-3,
            keep: 0.6,
            epilogue: Epilogue { accumulate, ..dropout_after(ACTIVATIONS[below], 4 * fours) },
            ..BatchNorm::default()
        };
        (params, Step { count: rows.saturating_sub(missing).max(1), elsewhere: missing, ..step(rows) })
    })
}

fn batch_values(params: &BatchNorm, stream: u32) -> Vec<f32> {
    padded(params.rows * params.pixels, params.stored_channels - 1, params.stored_channels, stream)
}

/// Returns per-channel statistics (means, then variances or inverse deviations), gamma and beta.
fn channels(params: &BatchNorm) -> [Vec<f32>; 3] {
    let channel = |stream| padded(1, params.stored_channels - 1, params.stored_channels, stream);
    let saved = [channel(10), channel(11).iter().map(|v| v + 1.5).collect()].concat();
    [saved, channel(12), channel(13)]
}

fn statistics(params: &BatchNorm, step: &Step, x: &[f32]) -> Case {
    let parts = vec![9.0; (2 * params.parts * params.stored_channels) as usize];
    Case::new([x], [&parts], |[x], [parts]| twin::batch_norm_statistics(params, step, x, parts))
}

#[test]
fn batch_norm_statistics_equal_their_twins_part_by_part() {
    on_shapes((batch_norms(), 0u32..2), |device, ((params, step), training)| {
        let quads = params.stored_channels / 4;
        let case = statistics(&params, &step, &batch_values(&params, 1));
        case.check(device, "batch_norm_statistics", (&params, &step), params.parts * quads, 1e-6);
        let step = Step { training, ..step };
        let (parts, [running, ..]) = (single(&case.expected[0]), channels(&params));
        let saved = vec![9.0; running.len()];
        let case = Case::new([&parts], [&running, &saved], |[parts], [running, saved]| {
            twin::batch_norm_finish(&params, &step, parts, running, saved);
        });
        let found = case.launch(device, "batch_norm_finish", &params, &step, 64 * u64::from(quads));
        assert_close(&format!("{params:?}, {step:?}"), &found[0], &case.expected[0], 1e-6);
        // A single pixel has zero variance, so its inverse deviation and the rounding error are large.
        assert_close(&format!("{params:?}, {step:?}"), &found[1], &case.expected[1], 1e-5);
    });
}

#[test]
fn small_variance_around_a_large_mean_survives_many_parts() {
    with_device(|device| {
        let sizes = BatchNorm { rows: 100, pixels: 97, stored_channels: 8, ..BatchNorm::default() };
        let parts = BatchNorm { pixels_per_part: 61, parts: 160, part_stride: 16, bias_offset: 8, ..sizes };
        let params = BatchNorm { epsilon: 1e-12, ..parts };
        let step = step(100);
        // Deviations are a thousandth of the mean, so a plain sum of squares would lose a tenth of the variance.
        let x = storable(numbers(100 * 97 * 8, 1).iter().map(|v| 1000.0 + v).collect());
        let statistics = statistics(&params, &step, &x);
        let parts = statistics.launch(device, "batch_norm_statistics", &params, &step, 160 * 2).swap_remove(0);
        let (running, saved) = ([0.0; 16], [9.0; 16]);
        let finish = Case::new([&parts], [&running, &saved], |_, [running, saved]| {
            twin::batch_norm_finish(&params, &step, &statistics.expected[0], running, saved);
        });
        finish.check(device, "batch_norm_finish", (&params, &step), 64 * 2, 1e-5);
    });
}

#[test]
fn batch_norms_equal_their_twins() {
    on_shapes(batch_norms(), |device, (params, step)| {
        let (x, [saved, gamma, beta]) = (batch_values(&params, 1), channels(&params));
        let (y, quads) = (vec![9.0; x.len()], params.rows * params.pixels * params.stored_channels / 4);
        let case = Case::new([&x, &saved, &gamma, &beta], [&y], |[x, saved, gamma, beta], [y]| {
            twin::batch_norm_forward(&params, &step, x, &twin::Normalizer { saved, gamma, beta }, y);
        });
        case.check(device, "batch_norm_forward", (&params, &step), quads, 3e-6);
        let (x, mut dy) = (batch_values(&params, 2), batch_values(&params, 1));
        // Rows without samples have no gradients.
        dy[(step.count * params.pixels * params.stored_channels) as usize..].fill(0.0);
        let parts = vec![0.0; (params.parts * params.part_stride) as usize];
        let inputs: [&[f32]; 5] = [&x, &dy, &saved, &gamma, &beta];
        let case = Case::new(inputs, [&parts], |[x, dy, saved, gamma, beta], [parts]| {
            twin::batch_norm_gradient_sums(&params, &step, x, dy, &twin::Normalizer { saved, gamma, beta }, parts);
        });
        let invocations = params.parts * params.stored_channels / 4;
        case.check(device, "batch_norm_gradient_sums", (&params, &step), invocations, 1e-5);
        let x = with_epilogue(&params.epilogue, &step, x);
        let (sums, dx) = (padded(1, params.part_stride, params.part_stride, 4), batch_values(&params, 3));
        let inputs: [&[f32]; 6] = [&x, &dy, &saved, &gamma, &beta, &sums];
        let case = Case::new(inputs, [&dx], |[x, dy, saved, gamma, beta, sums], [dx]| {
            let by = twin::Normalizer { saved, gamma, beta };
            twin::batch_norm_input_gradient(&params, &step, x, dy, &by, sums, dx);
        });
        case.check(device, "batch_norm_input_gradient", (&params, &step), quads, 1e-5);
    });
}

fn token_values(params: &LayerNorm, stream: u32) -> Vec<f32> {
    padded(params.rows * params.tokens, params.channels, params.stored_channels, stream)
}

fn channel_values(params: &LayerNorm, stream: u32) -> Vec<f32> {
    padded(1, params.channels, params.stored_channels, stream)
}

/// Returns the mean and 1 / √(variance + epsilon) of each token of `x`.
fn saved_of_tokens(params: &LayerNorm, x: &[f32]) -> Vec<f32> {
    let ones = vec![1.0; params.stored_channels as usize];
    let (mut y, mut saved) = (x.to_vec(), vec![0.0; 2 * (params.rows * params.tokens) as usize]);
    twin::layer_norm_forward(params, &step(params.rows), x, &ones, &ones, &mut y, &mut saved);
    saved
}

#[test]
fn layer_norms_equal_their_twins() {
    // Two or more channels, followed by up to three channels of padding.
    let extents = (1u32..5, 1u32..20, 2u32..140, 1u32..30);
    on_shapes((extents, any::<bool>(), 0..ACTIVATIONS.len(), 0u32..2), |device, (extents, bias, kind, accumulate)| {
        let (rows, tokens, channels, tokens_per_part) = extents;
        let stored_channels = channels.next_multiple_of(4);
        let params = LayerNorm {
            rows,
            tokens,
            channels,
            stored_channels,
            tokens_per_part,
            part_stride: 2 * stored_channels + 12,
            bias_offset: if bias { stored_channels + 8 } else { NO_BIAS },
            epsilon: 1e-3,
            epilogue: Epilogue { accumulate, channels, ..dropout_after(ACTIVATIONS[kind], stored_channels) },
        };
        let (tokens, step) = (params.rows * params.tokens, step(params.rows));
        let (gamma, beta) = (channel_values(&params, 2), channel_values(&params, 3));
        // Values far from zero, where a naive variance loses precision.
        let x = token_values(&params, 1).iter().map(|&v| if v == 0.0 { v } else { v + 10.0 }).collect();
        let x = storable(x);
        let (y, saved) = (vec![9.0; x.len()], vec![9.0; 2 * tokens as usize]);
        let case = Case::new([&x, &gamma, &beta], [&y, &saved], |[x, gamma, beta], [y, saved]| {
            twin::layer_norm_forward(&params, &step, x, gamma, beta, y, saved);
        });
        case.check(device, "layer_norm_forward", (&params, &step), tokens, 2e-5);
        case.check(device, "layer_norm_forward_shared", (&params, &step), 16 * tokens, 2e-5);
        let x = with_epilogue(&params.epilogue, &step, token_values(&params, 1));
        let (dy, dx, saved) = (token_values(&params, 2), token_values(&params, 4), saved_of_tokens(&params, &x));
        let case = Case::new([&x, &dy, &saved, &gamma], [&dx], |[x, dy, saved, gamma], [dx]| {
            twin::layer_norm_input_gradient(&params, &step, x, dy, saved, gamma, dx);
        });
        case.check(device, "layer_norm_input_gradient", (&params, &step), tokens, 2e-5);
        case.check(device, "layer_norm_input_gradient_shared", (&params, &step), 16 * tokens, 2e-5);
        let x = token_values(&params, 1);
        let saved = saved_of_tokens(&params, &x);
        let parts = tokens.div_ceil(params.tokens_per_part);
        let gradient = vec![0.0; (parts * params.part_stride) as usize];
        let case = Case::new([&x, &dy, &saved], [&gradient], |[x, dy, saved], [parts]| {
            twin::layer_norm_weight_gradient(&params, x, dy, saved, parts);
        });
        let invocations = parts * params.stored_channels / 4;
        case.check(device, "layer_norm_weight_gradient", (&params, &step), invocations, 1e-5);
    });
}
