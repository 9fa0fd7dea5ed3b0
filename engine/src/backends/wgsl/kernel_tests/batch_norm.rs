use proptest::prelude::*;
use shaders::params::{BatchNorm, Epilogue, Step, activation};
use shaders::reference as twin;

use super::super::device::Device;
use super::dense::{ACTIVATIONS, dropout_behind};
use super::{
    assert_close, bytes, double, floats, launch, made_by, numbers, padded, runner, step, storable, with_device,
};

const OWN_ACTIVATIONS: [u32; 4] = [activation::IDENTITY, activation::RELU, activation::TANH, activation::GELU];

/// Parts that end inside rows, are longer and shorter than eight pixels, or hold nothing because the last rows are
/// no samples; the last channel is padding.
fn cases() -> impl Strategy<Value = (BatchNorm, Step)> {
    let extents = (1u32..6, 1u32..30, 1u32..6, 1u32..40, 0u32..3);
    let kinds = (0..OWN_ACTIVATIONS.len(), 0..ACTIVATIONS.len(), 0u32..2);
    (extents, kinds).prop_map(|((rows, pixels, fours, pixels_per_part, missing), (own, below, accumulate))| {
        let params = BatchNorm {
            rows,
            pixels,
            stored_channels: 4 * fours,
            pixels_per_part,
            parts: (rows * pixels).div_ceil(pixels_per_part),
            part_stride: 8 * fours + 12,
            bias_offset: 4 * fours + 8,
            activation: OWN_ACTIVATIONS[own],
            epsilon: 1e-3,
            keep: 0.6,
            reserved: [0; 2],
            epilogue: Epilogue { accumulate, ..dropout_behind(ACTIVATIONS[below], 4 * fours) },
        };
        (params, Step { count: rows.saturating_sub(missing).max(1), elsewhere: missing, ..step(rows) })
    })
}

fn values(params: &BatchNorm, stream: u32) -> Vec<f32> {
    padded(params.rows * params.pixels, params.stored_channels - 1, params.stored_channels, stream)
}

/// A mean and a variance or what follows from it, gamma, and beta, of each channel.
fn channels(params: &BatchNorm) -> [Vec<f32>; 3] {
    let channel = |stream| padded(1, params.stored_channels - 1, params.stored_channels, stream);
    let saved = [channel(10), channel(11).iter().map(|v| v + 1.5).collect()].concat();
    [saved, channel(12), channel(13)]
}

/// Gradients of rows that are no samples are zero.
fn arriving(params: &BatchNorm, step: &Step) -> Vec<f32> {
    let mut dy = values(params, 1);
    dy[(step.count * params.pixels * params.stored_channels) as usize..].fill(0.0);
    dy
}

fn invocations_of_parts(params: &BatchNorm) -> u64 {
    u64::from(params.parts * params.stored_channels / 4)
}

/// Statistics of `x`, finished: the running averages and the saved values that the kernels leave.
fn statistics(device: &Device, params: &BatchNorm, step: &Step, x: &[f32], running: &[f32]) -> [Vec<f32>; 2] {
    let parts = vec![9.0f32; (2 * params.parts * params.stored_channels) as usize];
    let buffers = [bytes(x), bytes(&parts)];
    let parts =
        launch(device, "batch_norm_statistics", params, step, &buffers, invocations_of_parts(params)).swap_remove(1);
    let saved = vec![9.0f32; running.len()];
    let buffers = [&parts, bytes(running), bytes(&saved)];
    let found = launch(device, "batch_norm_finish", params, step, &buffers, invocations_to_finish(params));
    [floats(&found[1]), floats(&found[2])]
}

fn invocations_to_finish(params: &BatchNorm) -> u64 {
    64 * u64::from(params.stored_channels / 4)
}

#[test]
fn batch_norm_statistics_equal_their_twin_part_by_part() {
    with_device(|device| {
        let check = |(params, step): (BatchNorm, Step)| {
            let x = values(&params, 1);
            let parts = vec![9.0f32; (2 * params.parts * params.stored_channels) as usize];
            let buffers = [bytes(&x), bytes(&parts)];
            let invocations = invocations_of_parts(&params);
            let found = launch(device, "batch_norm_statistics", &params, &step, &buffers, invocations);
            let mut expected = double(&parts);
            twin::batch_norm_statistics(&params, &step, &double(&x), &mut expected);
            assert_close(&format!("{params:?}, {step:?}"), &floats(&found[1]), &expected, 1e-6);
            Ok(())
        };
        runner().run(&cases(), check).unwrap();
    });
}

#[test]
fn batch_norm_finish_equals_its_twin_in_training_and_in_tests() {
    with_device(|device| {
        let check = |((params, step), training): ((BatchNorm, Step), u32)| {
            let step = Step { training, ..step };
            let (x, [running, ..]) = (values(&params, 1), channels(&params));
            let mut parts = vec![0.0; (2 * params.parts * params.stored_channels) as usize];
            twin::batch_norm_statistics(&params, &step, &x, &mut parts);
            let saved = vec![9.0f32; running.len()];
            let buffers = [bytes(&parts), bytes(&running), bytes(&saved)];
            let invocations = invocations_to_finish(&params);
            let found = launch(device, "batch_norm_finish", &params, &step, &buffers, invocations);
            let (mut expected_running, mut expected) = (double(&running), double(&saved));
            twin::batch_norm_finish(&params, &step, &double(&parts), &mut expected_running, &mut expected);
            assert_close(&format!("{params:?}, {step:?}"), &floats(&found[1]), &expected_running, 1e-6);
            // A pixel alone has no variance, and its inverse deviation is far above one: the error is relative.
            assert_close(&format!("{params:?}, {step:?}"), &floats(&found[2]), &expected, 1e-5);
            Ok(())
        };
        runner().run(&(cases(), 0u32..2), check).unwrap();
    });
}

#[test]
fn a_variance_far_from_zero_is_not_lost_among_many_parts() {
    with_device(|device| {
        let params = BatchNorm {
            rows: 100,
            pixels: 97,
            stored_channels: 8,
            pixels_per_part: 61,
            parts: 160,
            part_stride: 16,
            bias_offset: 8,
            activation: activation::IDENTITY,
            epsilon: 1e-12,
            keep: 0.0,
            reserved: [0; 2],
            epilogue: Epilogue::default(),
        };
        // Deviations are a thousandth of the mean, so a plain sum of squares would lose a tenth of the variance.
        let x = storable(numbers(100 * 97 * 8, 1).iter().map(|v| 1000.0 + v).collect());
        let [running, saved] = statistics(device, &params, &step(100), &x, &[0.0; 16]);
        let (mut parts, mut expected_running, mut expected) = (vec![0.0; 2560], vec![0.0; 16], vec![0.0; 16]);
        twin::batch_norm_statistics(&params, &step(100), &double(&x), &mut parts);
        twin::batch_norm_finish(&params, &step(100), &parts, &mut expected_running, &mut expected);
        assert_close("running averages", &running, &expected_running, 1e-5);
        assert_close("saved values", &saved, &expected, 1e-5);
    });
}

#[test]
fn batch_norm_forward_equals_its_twin() {
    with_device(|device| {
        let check = |(params, step): (BatchNorm, Step)| {
            let (x, [saved, gamma, beta]) = (values(&params, 1), channels(&params));
            let y = vec![9.0f32; x.len()];
            let buffers = [bytes(&x), bytes(&saved), bytes(&gamma), bytes(&beta), bytes(&y)];
            let found = launch(device, "batch_norm_forward", &params, &step, &buffers, x.len() as u64 / 4);
            let mut expected = double(&y);
            let [saved, gamma, beta] = [saved, gamma, beta].map(|v| double(&v));
            let by = twin::Normalizer { saved: &saved, gamma: &gamma, beta: &beta };
            twin::batch_norm_forward(&params, &step, &double(&x), &by, &mut expected);
            assert_close(&format!("{params:?}"), &floats(&found[4]), &expected, 3e-6);
            Ok(())
        };
        runner().run(&cases(), check).unwrap();
    });
}

#[test]
fn batch_norm_gradient_sums_equal_their_twin_part_by_part() {
    with_device(|device| {
        let check = |(params, step): (BatchNorm, Step)| {
            let (x, dy, [saved, gamma, beta]) = (values(&params, 2), arriving(&params, &step), channels(&params));
            let parts = vec![0.0f32; (params.parts * params.part_stride) as usize];
            let buffers = [bytes(&x), bytes(&dy), bytes(&saved), bytes(&gamma), bytes(&beta), bytes(&parts)];
            let invocations = invocations_of_parts(&params);
            let found = launch(device, "batch_norm_gradient_sums", &params, &step, &buffers, invocations);
            let mut expected = double(&parts);
            let [saved, gamma, beta] = [saved, gamma, beta].map(|v| double(&v));
            let by = twin::Normalizer { saved: &saved, gamma: &gamma, beta: &beta };
            twin::batch_norm_gradient_sums(&params, &step, &double(&x), &double(&dy), &by, &mut expected);
            assert_close(&format!("{params:?}, {step:?}"), &floats(&found[5]), &expected, 1e-5);
            Ok(())
        };
        runner().run(&cases(), check).unwrap();
    });
}

#[test]
fn batch_norm_input_gradient_equals_its_twin() {
    with_device(|device| {
        let check = |(params, step): (BatchNorm, Step)| {
            let x = made_by(&params.epilogue, &step, values(&params, 2));
            let (dy, [saved, gamma, beta]) = (arriving(&params, &step), channels(&params));
            let sums = padded(1, params.part_stride, params.part_stride, 4);
            let dx = values(&params, 3);
            let [a, b, c] = [&saved, &gamma, &beta].map(|values| bytes(values));
            let buffers = [bytes(&x), bytes(&dy), a, b, c, bytes(&sums), bytes(&dx)];
            let invocations = x.len() as u64 / 4;
            let found = launch(device, "batch_norm_input_gradient", &params, &step, &buffers, invocations);
            let mut expected = double(&dx);
            let [saved, gamma, beta] = [saved, gamma, beta].map(|v| double(&v));
            let by = twin::Normalizer { saved: &saved, gamma: &gamma, beta: &beta };
            let sums = double(&sums);
            twin::batch_norm_input_gradient(&params, &step, &double(&x), &double(&dy), &by, &sums, &mut expected);
            assert_close(&format!("{params:?}, {step:?}"), &floats(&found[6]), &expected, 1e-5);
            Ok(())
        };
        runner().run(&cases(), check).unwrap();
    });
}
