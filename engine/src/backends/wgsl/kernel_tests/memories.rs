//! The kernels of memory networks and attention.

use std::env;

use proptest::prelude::*;
use shaders::params::{
    Attention, ChannelSoftmax, Concatenate, Epilogue, MAX_HEAD_SIZE, PixelProducts, SentenceSum, Step, Transpose,
    activation,
};
use shaders::reference as twin;

use super::super::device::GpuDevice;
use super::super::variants::AttentionVariant;
use super::{
    ACTIVATIONS, Case, ONLY_SUBGROUPS, Variants, dropout_after, numbers, on_shapes, padded, single, step, storable,
    test_variants, with_epilogue,
};

fn stored(channels: u32) -> u32 {
    channels.next_multiple_of(4)
}

fn epilogue(activation: u32, channels: u32) -> Epilogue {
    Epilogue { channels, stored_channels: stored(channels), ..dropout_after(activation, stored(channels)) }
}

fn activations() -> impl Strategy<Value = u32> {
    prop::sample::select(ACTIVATIONS.to_vec())
}

fn quads(values: &[f32]) -> u32 {
    u32::try_from(values.len() / 4).unwrap()
}

#[test]
fn sentence_sums_equal_their_twins() {
    let shapes = (1u32..9, 1u32..8, 1u32..14, activations(), 0u32..2);
    on_shapes(shapes, |device, (sentences, words, channels, activation, accumulate)| {
        let stored_channels = stored(channels);
        let epilogue = Epilogue { accumulate, ..epilogue(activation, channels) };
        let params = SentenceSum { sentences, words, channels, stored_channels, epilogue };
        let step = step(sentences);
        let x = with_epilogue(&epilogue, &step, padded(sentences * words, channels, stored_channels, 1));
        let dy = padded(sentences, channels, stored_channels, 2);
        let case = Case::new([&x], [&dy], |[a], [y]| twin::sentence_sum_forward(&params, &step, a, y));
        case.check(device, "sentence_sum_forward", (&params, &step), quads(&dy), 1e-5);
        let dx = padded(sentences * words, channels, stored_channels, 3);
        let case = Case::new([&dy, &x], [&dx], |[a, b], [dx]| twin::sentence_sum_gradient(&params, &step, a, b, dx));
        case.check(device, "sentence_sum_gradient", (&params, &step), quads(&x), 1e-5);
    });
}

#[test]
fn pixel_products_equal_their_twins() {
    let shapes = (1u32..5, 1u32..8, 1u32..10, 1u32..14, activations(), 0u32..2);
    on_shapes(shapes, |device, (rows, first, second, channels, activation, accumulate)| {
        let step = step(rows);
        let params = PixelProducts {
            rows,
            first_pixels: first,
            second_pixels: second,
            channels: stored(channels),
            stored_products: stored(second),
            epilogue: epilogue(activation, second),
            ..PixelProducts::default()
        };
        let factor_epilogue = Epilogue { accumulate, ..epilogue(activation, channels) };
        let factor = |pixels, stream| padded(rows * pixels, channels, stored(channels), stream);
        let [a, b] = [factor(first, 1), factor(second, 2)].map(|values| with_epilogue(&factor_epilogue, &step, values));
        let dy = padded(rows * first, second, stored(second), 3);
        let y = vec![9.0; dy.len()];
        let case = Case::new([&a, &b], [&y], |[a, b], [y]| twin::pixel_products_forward(&params, &step, a, b, y));
        case.check(device, "pixel_products_forward", (&params, &step), quads(&y), 1e-5);
        for (of_second, other, x, stream) in [(0, &b, &a, 4), (1, &a, &b, 5)] {
            let params = PixelProducts { of_second, epilogue: factor_epilogue, ..params };
            let dx = factor(if of_second == 1 { second } else { first }, stream);
            let case = Case::new([&dy, other, x], [&dx], |[dy, other, x], [dx]| {
                twin::pixel_products_gradient(&params, &step, dy, other, x, dx);
            });
            case.check(device, "pixel_products_gradient", (&params, &step), quads(x), 1e-5);
        }
    });
}

#[test]
fn channel_softmaxes_equal_their_twins() {
    let shapes = (1u32..40, 1u32..18, activations(), 0u32..2, 0u32..2, 0u32..2);
    on_shapes(shapes, |device, (pixels, channels, activation, accumulate, linear_start, linear)| {
        let step = Step { linear, ..step(pixels) };
        let stored_channels = stored(channels);
        let own = epilogue(activation::IDENTITY, channels);
        let params = ChannelSoftmax { pixels, channels, stored_channels, linear_start, epilogue: own };
        let below = Epilogue { accumulate, ..epilogue(activation, channels) };
        let values = |stream| padded(pixels, channels, stored_channels, stream);
        let x = with_epilogue(&below, &step, values(1));
        let y = vec![9.0; x.len()];
        let case = Case::new([&x], [&y], |[a], [y]| twin::channel_softmax_forward(&params, &step, a, y));
        case.check(device, "channel_softmax_forward", (&params, &step), pixels, 1e-5);
        let params = ChannelSoftmax { epilogue: below, ..params };
        let (dy, dx) = (values(2), values(3));
        let case = Case::new([&dy, &x], [&dx], |[a, b], [dx]| twin::channel_softmax_backward(&params, &step, a, b, dx));
        case.check(device, "channel_softmax_backward", (&params, &step), pixels, 1e-5);
    });
}

#[test]
fn transposes_equal_their_twins() {
    let shapes = (1u32..5, 1u32..14, 1u32..14, activations(), 0u32..2);
    on_shapes(shapes, |device, (rows, pixels, channels, activation, accumulate)| {
        let step = step(rows);
        let params = Transpose {
            rows,
            pixels,
            channels,
            stored_channels: stored(channels),
            stored_pixels: stored(pixels),
            epilogue: epilogue(activation, pixels),
            ..Transpose::default()
        };
        let below = Epilogue { accumulate, ..epilogue(activation, channels) };
        let values = |stream| padded(rows * pixels, channels, stored(channels), stream);
        let x = with_epilogue(&below, &step, values(1));
        let dy = padded(rows * channels, pixels, stored(pixels), 2);
        let y = vec![9.0; dy.len()];
        let case = Case::new([&x], [&y], |[a], [y]| twin::transpose_forward(&params, &step, a, y));
        case.check(device, "transpose_forward", (&params, &step), quads(&y), 1e-5);
        let params = Transpose { epilogue: below, ..params };
        let dx = values(3);
        let case = Case::new([&dy, &x], [&dx], |[a, b], [dx]| twin::transpose_gradient(&params, &step, a, b, dx));
        case.check(device, "transpose_gradient", (&params, &step), quads(&x), 1e-5);
    });
}

#[test]
fn concatenations_equal_their_twins() {
    let shapes = (1u32..20, 1u32..14, 1u32..14, activations(), 0u32..2);
    on_shapes(shapes, |device, (pixels, first, second, activation, accumulate)| {
        let step = step(pixels);
        let channels = first + second;
        let params = Concatenate {
            pixels,
            first,
            second,
            stored_first: stored(first),
            stored_second: stored(second),
            stored_channels: stored(channels),
            epilogue: epilogue(activation, channels),
            ..Concatenate::default()
        };
        let values = |channels, stream| padded(pixels, channels, stored(channels), stream);
        let below = |channels| Epilogue { accumulate, ..epilogue(activation, channels) };
        let [a, b] = [(first, 1), (second, 2)]
            .map(|(channels, stream)| with_epilogue(&below(channels), &step, values(channels, stream)));
        let dy = values(channels, 3);
        let y = vec![9.0; dy.len()];
        let case = Case::new([&a, &b], [&y], |[a, b], [y]| twin::concatenate_forward(&params, &step, a, b, y));
        case.check(device, "concatenate_forward", (&params, &step), quads(&y), 1e-5);
        for (of_second, channels, x) in [(0, first, &a), (1, second, &b)] {
            let params = Concatenate { of_second, epilogue: below(channels), ..params };
            let dx = values(channels, 4);
            let case = Case::new([&dy, x], [&dx], |[a, b], [dx]| twin::concatenate_gradient(&params, &step, a, b, dx));
            case.check(device, "concatenate_gradient", (&params, &step), quads(x), 1e-5);
        }
    });
}

/// Compares a variant of attention's kernels with their twins.
fn check_attention(device: &GpuDevice, variant: AttentionVariant, params: &Attention) {
    let (step, invocations) = (step(params.rows), u32::try_from(variant.invocations(params)).unwrap());
    let check = |case: &Case, pass: &str, tolerance: f64| {
        case.check(device, &variant.kernel(pass), (params, &step), invocations, tolerance);
    };
    let queries = params.rows * params.tokens * params.heads;
    let results = queries * params.head_size;
    let x = with_epilogue(&params.epilogue, &step, numbers(3 * results, 1));
    let (y, log_sum_exp) = (vec![9.0; results as usize], vec![9.0; queries as usize]);
    let case = Case::new([&x], [&y, &log_sum_exp], |[x], [y, log_sum_exp]| {
        twin::attention_forward(params, x, y, log_sum_exp);
    });
    check(&case, "forward", 1e-5);
    let [y, log_sum_exp] = [0, 1].map(|place| single(&case.expected[place]));
    let y = storable(y);
    let (dy, dx, means) = (numbers(results, 2), numbers(3 * results, 3), vec![9.0; queries as usize]);
    let inputs: [&[f32]; 4] = [&x, &y, &dy, &log_sum_exp];
    let case = Case::new(inputs, [&dx, &means], |[x, y, dy, log_sum_exp], [dx, means]| {
        let attended = twin::Attended { y, log_sum_exp };
        twin::attention_query_gradient(params, &step, x, &attended, dy, dx, means);
    });
    check(&case, "query_gradient", 2e-5);
    let means = numbers(queries, 4);
    let inputs: [&[f32]; 4] = [&x, &dy, &log_sum_exp, &means];
    let case = Case::new(inputs, [&dx], |[x, dy, log_sum_exp, means], [dx]| {
        twin::attention_key_value_gradient(params, &step, x, dy, log_sum_exp, means, dx);
    });
    check(&case, "key_value_gradient", 2e-5);
}

/// Returns true if a test of `which` variants launches `variant`.
fn is_launched(device: &GpuDevice, variant: AttentionVariant, which: Variants, params: &Attention) -> bool {
    let usual = AttentionVariant::usual(device.abilities, params);
    match which {
        Variants::Usual => [AttentionVariant::Plain, usual].contains(&variant),
        Variants::Every => variant == AttentionVariant::Subgroup || env::var_os(ONLY_SUBGROUPS).is_none(),
    }
}

fn check_attention_variants(which: Variants) {
    // One tile of tokens or several, heads from the smallest to the largest size, and flat and steep scores.
    let extents = (1u32..4, 1u32..80, 1u32..4, 1..=MAX_HEAD_SIZE / 4, 0.1f32..2.0);
    on_shapes((extents, 0u32..2, 0..ACTIVATIONS.len(), 0u32..2), |device, (extents, causal, kind, accumulate)| {
        let (rows, tokens, heads, fours, scale) = extents;
        let head_size = 4 * fours;
        let epilogue = Epilogue { accumulate, ..dropout_after(ACTIVATIONS[kind], 3 * heads * head_size) };
        let params = Attention { rows, tokens, heads, head_size, scale, causal, epilogue, ..Attention::default() };
        for variant in AttentionVariant::all_with(device.abilities, &params) {
            if is_launched(device, variant, which, &params) {
                check_attention(device, variant, &params);
            }
        }
    });
}

test_variants! {
    attention: check_attention_variants;
}
