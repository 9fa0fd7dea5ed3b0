use proptest::prelude::*;
use shaders::params::{Epilogue, LayerNorm};
use shaders::reference as twin;

use super::dense::{ACTIVATIONS, dropout_behind};
use super::{assert_close, bytes, double, floats, launch, made_by, padded, runner, step, storable, with_device};

/// Two channels to many, of which none to three are padding.
fn shapes() -> impl Strategy<Value = LayerNorm> {
    let extents = (1u32..5, 1u32..20, 2u32..40, 1u32..30, 0..ACTIVATIONS.len(), 0u32..2);
    extents.prop_map(|(rows, tokens, channels, tokens_per_part, kind, accumulate)| {
        let stored_channels = channels.next_multiple_of(4);
        LayerNorm {
            rows,
            tokens,
            channels,
            stored_channels,
            tokens_per_part,
            part_stride: 2 * stored_channels + 12,
            bias_offset: stored_channels + 8,
            epsilon: 1e-3,
            epilogue: Epilogue { accumulate, channels, ..dropout_behind(ACTIVATIONS[kind], stored_channels) },
        }
    })
}

fn values(params: &LayerNorm, stream: u32) -> Vec<f32> {
    padded(params.rows * params.tokens, params.channels, params.stored_channels, stream)
}

fn channels(params: &LayerNorm, stream: u32) -> Vec<f32> {
    padded(1, params.channels, params.stored_channels, stream)
}

/// Mean and 1 / √(variance + epsilon) of each token of `x`.
fn saved(params: &LayerNorm, x: &[f32]) -> Vec<f32> {
    let ones = vec![1.0; params.stored_channels as usize];
    let (mut y, mut saved) = (x.to_vec(), vec![0.0; 2 * (params.rows * params.tokens) as usize]);
    twin::layer_norm_forward(params, &step(params.rows), x, &ones, &ones, &mut y, &mut saved);
    saved
}

#[test]
fn layer_norm_forward_equals_its_twin() {
    with_device(|device| {
        let check = |params: LayerNorm| {
            // Values far from zero, so that their variance is easily lost.
            let x = values(&params, 1).iter().map(|&v| if v == 0.0 { v } else { v + 10.0 }).collect();
            let x = storable(x);
            let (gamma, beta) = (channels(&params, 2), channels(&params, 3));
            let (y, saved) = (vec![9.0f32; x.len()], vec![9.0f32; 2 * (params.rows * params.tokens) as usize]);
            let buffers = [bytes(&x), bytes(&gamma), bytes(&beta), bytes(&y), bytes(&saved)];
            let (step, tokens) = (step(params.rows), u64::from(params.rows * params.tokens));
            let found = launch(device, "layer_norm_forward", &params, &step, &buffers, tokens);
            let [x, gamma, beta, mut expected, mut expected_saved] = [x, gamma, beta, y, saved].map(|v| double(&v));
            twin::layer_norm_forward(&params, &step, &x, &gamma, &beta, &mut expected, &mut expected_saved);
            assert_close(&format!("{params:?}"), &floats(&found[3]), &expected, 2e-5);
            assert_close(&format!("{params:?}"), &floats(&found[4]), &expected_saved, 2e-5);
            Ok(())
        };
        runner().run(&shapes(), check).unwrap();
    });
}

#[test]
fn layer_norm_input_gradient_equals_its_twin() {
    with_device(|device| {
        let check = |params: LayerNorm| {
            let (step, tokens) = (step(params.rows), u64::from(params.rows * params.tokens));
            let x = made_by(&params.epilogue, &step, values(&params, 1));
            let (dy, gamma, dx, saved) =
                (values(&params, 2), channels(&params, 3), values(&params, 4), saved(&params, &x));
            let buffers = [bytes(&x), bytes(&dy), bytes(&saved), bytes(&gamma), bytes(&dx)];
            let found = launch(device, "layer_norm_input_gradient", &params, &step, &buffers, tokens);
            let [x, dy, saved, gamma, mut expected] = [x, dy, saved, gamma, dx].map(|v| double(&v));
            twin::layer_norm_input_gradient(&params, &step, &x, &dy, &saved, &gamma, &mut expected);
            assert_close(&format!("{params:?}"), &floats(&found[4]), &expected, 2e-5);
            Ok(())
        };
        runner().run(&shapes(), check).unwrap();
    });
}

#[test]
fn layer_norm_weight_gradient_equals_its_twin_part_by_part() {
    with_device(|device| {
        let check = |params: LayerNorm| {
            let (x, dy) = (values(&params, 1), values(&params, 2));
            let saved = saved(&params, &x);
            let parts = (params.rows * params.tokens).div_ceil(params.tokens_per_part);
            let gradient = vec![0.0f32; (parts * params.part_stride) as usize];
            let invocations = u64::from(parts * params.stored_channels / 4);
            let buffers = [bytes(&x), bytes(&dy), bytes(&saved), bytes(&gradient)];
            let step = step(params.rows);
            let found = launch(device, "layer_norm_weight_gradient", &params, &step, &buffers, invocations);
            let [x, dy, saved, mut expected] = [x, dy, saved, gradient].map(|v| double(&v));
            twin::layer_norm_weight_gradient(&params, &x, &dy, &saved, &mut expected);
            assert_close(&format!("{params:?}"), &floats(&found[3]), &expected, 1e-5);
            Ok(())
        };
        runner().run(&shapes(), check).unwrap();
    });
}
