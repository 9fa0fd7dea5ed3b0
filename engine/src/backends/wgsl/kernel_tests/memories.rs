//! The kernels of memory networks.

use bytemuck::Pod;
use proptest::prelude::*;
use shaders::params::{ChannelSoftmax, Concatenate, Epilogue, PixelProducts, SentenceSum, Step, Transpose, activation};
use shaders::reference as twin;

use super::dense::{ACTIVATIONS, dropout_behind};
use super::{assert_close, bytes, double, floats, launch, made_by, padded, runner, step, with_device};
use crate::backends::wgsl::device::Device;

/// Channels that are filled up to fours, of which the last may be padding.
fn stored(channels: u32) -> u32 {
    channels.next_multiple_of(4)
}

/// An activation and dropout behind a value of so many channels.
fn epilogue(activation: u32, channels: u32) -> Epilogue {
    Epilogue { channels, stored_channels: stored(channels), ..dropout_behind(activation, stored(channels)) }
}

fn activations() -> impl Strategy<Value = u32> {
    prop::sample::select(ACTIVATIONS.to_vec())
}

/// Runs a kernel that makes its last buffer from the others, and holds that to its twin's.
fn check<P: Pod + std::fmt::Debug>(
    device: &Device,
    kernel: &str,
    (params, step): (&P, &Step),
    (inputs, before): (&[&[f32]], &[f32]),
    invocations: u64,
    twin: impl FnOnce(&[Vec<f64>], &mut [f64]),
) {
    let mut buffers: Vec<&[u8]> = inputs.iter().map(|values| bytes(values)).collect();
    buffers.push(bytes(before));
    let found = launch(device, kernel, params, step, &buffers, invocations);
    let mut expected = double(before);
    twin(&inputs.iter().map(|values| double(values)).collect::<Vec<_>>(), &mut expected);
    assert_close(
        &format!("{kernel} {params:?}"),
        &floats(found.last().expect("a kernel has buffers")),
        &expected,
        1e-5,
    );
}

fn quads(values: &[f32]) -> u64 {
    values.len() as u64 / 4
}

#[test]
fn sentence_sums_equal_their_twins() {
    with_device(|device| {
        let strategy = (1u32..9, 1u32..8, 1u32..14, activations(), 0u32..2);
        let run = |(sentences, words, channels, activation, accumulate): (u32, u32, u32, u32, u32)| {
            let stored_channels = stored(channels);
            let epilogue = Epilogue { accumulate, ..epilogue(activation, channels) };
            let params = SentenceSum { sentences, words, channels, stored_channels, epilogue };
            let step = step(sentences);
            let x = made_by(&epilogue, &step, padded(sentences * words, channels, stored_channels, 1));
            let dy = padded(sentences, channels, stored_channels, 2);
            check(device, "sentence_sum_forward", (&params, &step), (&[&x], &dy), quads(&dy), |inputs, y| {
                twin::sentence_sum_forward(&params, &step, &inputs[0], y);
            });
            let dx = padded(sentences * words, channels, stored_channels, 3);
            check(device, "sentence_sum_gradient", (&params, &step), (&[&dy, &x], &dx), quads(&x), |inputs, dx| {
                twin::sentence_sum_gradient(&params, &step, &inputs[0], &inputs[1], dx);
            });
            Ok(())
        };
        runner().run(&strategy, run).unwrap();
    });
}

#[test]
fn pixel_products_equal_their_twins() {
    with_device(|device| {
        let strategy = (1u32..5, 1u32..8, 1u32..10, 1u32..14, activations(), 0u32..2);
        let run = |(rows, first, second, channels, activation, accumulate): (u32, u32, u32, u32, u32, u32)| {
            let step = step(rows);
            let params = PixelProducts {
                rows,
                first_pixels: first,
                second_pixels: second,
                channels: stored(channels),
                stored_products: stored(second),
                of_second: 0,
                reserved: [0; 2],
                epilogue: epilogue(activation, second),
            };
            let of_factor = Epilogue { accumulate, ..epilogue(activation, channels) };
            let factor = |pixels, stream| padded(rows * pixels, channels, stored(channels), stream);
            let [a, b] = [factor(first, 1), factor(second, 2)].map(|values| made_by(&of_factor, &step, values));
            let dy = padded(rows * first, second, stored(second), 3);
            let y = vec![9.0; dy.len()];
            check(device, "pixel_products_forward", (&params, &step), (&[&a, &b], &y), quads(&y), |inputs, y| {
                twin::pixel_products_forward(&params, &step, &inputs[0], &inputs[1], y);
            });
            for (of_second, other, x, stream) in [(0, &b, &a, 4), (1, &a, &b, 5)] {
                let params = PixelProducts { of_second, epilogue: of_factor, ..params };
                let dx = factor(if of_second == 1 { second } else { first }, stream);
                let buffers: [&[f32]; 3] = [&dy, other, x];
                check(device, "pixel_products_gradient", (&params, &step), (&buffers, &dx), quads(x), |inputs, dx| {
                    twin::pixel_products_gradient(&params, &step, &inputs[0], &inputs[1], &inputs[2], dx);
                });
            }
            Ok(())
        };
        runner().run(&strategy, run).unwrap();
    });
}

#[test]
fn softmaxes_over_channels_equal_their_twins_before_and_after_a_linear_start() {
    with_device(|device| {
        let strategy = (1u32..40, 1u32..18, activations(), 0u32..2, 0u32..2, 0u32..2);
        let run = |(pixels, channels, activation, accumulate, linear_start, linear): (u32, u32, u32, u32, u32, u32)| {
            let step = Step { linear, ..step(pixels) };
            let stored_channels = stored(channels);
            let own = epilogue(activation::IDENTITY, channels);
            let params = ChannelSoftmax { pixels, channels, stored_channels, linear_start, epilogue: own };
            let below = Epilogue { accumulate, ..epilogue(activation, channels) };
            let values = |stream| padded(pixels, channels, stored_channels, stream);
            let x = made_by(&below, &step, values(1));
            let y = vec![9.0; x.len()];
            let pixels = u64::from(pixels);
            check(device, "channel_softmax_forward", (&params, &step), (&[&x], &y), pixels, |inputs, y| {
                twin::channel_softmax_forward(&params, &step, &inputs[0], y);
            });
            let params = ChannelSoftmax { epilogue: below, ..params };
            let (dy, dx) = (values(2), values(3));
            check(device, "channel_softmax_backward", (&params, &step), (&[&dy, &x], &dx), pixels, |inputs, dx| {
                twin::channel_softmax_backward(&params, &step, &inputs[0], &inputs[1], dx);
            });
            Ok(())
        };
        runner().run(&strategy, run).unwrap();
    });
}

#[test]
fn transposes_equal_their_twins() {
    with_device(|device| {
        let strategy = (1u32..5, 1u32..14, 1u32..14, activations(), 0u32..2);
        let run = |(rows, pixels, channels, activation, accumulate): (u32, u32, u32, u32, u32)| {
            let step = step(rows);
            let params = Transpose {
                rows,
                pixels,
                channels,
                stored_channels: stored(channels),
                stored_pixels: stored(pixels),
                reserved: [0; 3],
                epilogue: epilogue(activation, pixels),
            };
            let below = Epilogue { accumulate, ..epilogue(activation, channels) };
            let values = |stream| padded(rows * pixels, channels, stored(channels), stream);
            let x = made_by(&below, &step, values(1));
            let dy = padded(rows * channels, pixels, stored(pixels), 2);
            let y = vec![9.0; dy.len()];
            check(device, "transpose_forward", (&params, &step), (&[&x], &y), quads(&y), |inputs, y| {
                twin::transpose_forward(&params, &step, &inputs[0], y);
            });
            let params = Transpose { epilogue: below, ..params };
            let dx = values(3);
            check(device, "transpose_gradient", (&params, &step), (&[&dy, &x], &dx), quads(&x), |inputs, dx| {
                twin::transpose_gradient(&params, &step, &inputs[0], &inputs[1], dx);
            });
            Ok(())
        };
        runner().run(&strategy, run).unwrap();
    });
}

#[test]
fn concatenations_equal_their_twins() {
    with_device(|device| {
        let strategy = (1u32..20, 1u32..14, 1u32..14, activations(), 0u32..2);
        let run = |(pixels, first, second, activation, accumulate): (u32, u32, u32, u32, u32)| {
            let step = step(pixels);
            let channels = first + second;
            let params = Concatenate {
                pixels,
                first,
                second,
                stored_first: stored(first),
                stored_second: stored(second),
                stored_channels: stored(channels),
                of_second: 0,
                reserved: 0,
                epilogue: epilogue(activation, channels),
            };
            let values = |channels, stream| padded(pixels, channels, stored(channels), stream);
            let below = |channels| Epilogue { accumulate, ..epilogue(activation, channels) };
            let [a, b] = [(first, 1), (second, 2)]
                .map(|(channels, stream)| made_by(&below(channels), &step, values(channels, stream)));
            let dy = values(channels, 3);
            let y = vec![9.0; dy.len()];
            check(device, "concatenate_forward", (&params, &step), (&[&a, &b], &y), quads(&y), |inputs, y| {
                twin::concatenate_forward(&params, &step, &inputs[0], &inputs[1], y);
            });
            for (of_second, channels, x) in [(0, first, &a), (1, second, &b)] {
                let params = Concatenate { of_second, epilogue: below(channels), ..params };
                let dx = values(channels, 4);
                check(device, "concatenate_gradient", (&params, &step), (&[&dy, x], &dx), quads(x), |inputs, dx| {
                    twin::concatenate_gradient(&params, &step, &inputs[0], &inputs[1], dx);
                });
            }
            Ok(())
        };
        runner().run(&strategy, run).unwrap();
    });
}
