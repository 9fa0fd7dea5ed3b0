//! Element-wise kernels, position embeddings, word embeddings and pools.

use proptest::prelude::*;
use shaders::Stored;
use shaders::params::{Add, Blend, Elementwise, Embedding, Epilogue, Pool, Position, activation};
use shaders::reference as twin;

use super::{
    ACTIVATIONS, Case, assert_close, bytes, double, dropout_after, floats, launch, numbers, on_shapes, step, storable,
    with_device, with_epilogue,
};

#[test]
fn sums_equal_their_twins() {
    // Sums use each pixel of the second summand once or several times.
    let repeats = prop_oneof![Just(1u32), 2u32..30];
    let shapes = (1u32..20, repeats, 1u32..5, 0..ACTIVATIONS.len());
    on_shapes(shapes, |device, (pixels, repeats, fours, kind)| {
        let (dropout_stream, dropout_rate) = if pixels % 3 == 0 { (0, 0.0) } else { (1000, 0.2) };
        let epilogue = Epilogue { dropout_stream, dropout_rate, ..dropout_after(ACTIVATIONS[kind], 4 * fours) };
        let epilogue = Epilogue { accumulate: pixels % 2, features: 0, ..epilogue };
        let (pixels, channels) = (pixels * repeats, 4 * fours);
        let params = Add { pixels, channels, repeats, epilogue, ..Add::default() };
        let (elements, step) = (params.pixels * params.channels, step(1));
        let (a, b, y) = (numbers(elements, 1), numbers(elements / params.repeats, 2), vec![0.0; elements as usize]);
        let case = Case::new([&a, &b], [&y], |[a, b], [y]| twin::add_forward(&params, &step, a, b, y));
        case.check(device, "add_forward", (&params, &step), elements / 4, 1e-6);
        for repeats in [1, params.repeats] {
            let params = Add { repeats, ..params };
            let x = with_epilogue(&params.epilogue, &step, numbers(elements / repeats, 2));
            let (dy, dx) = (numbers(elements, 1), numbers(elements / repeats, 3));
            let case = Case::new([&dy, &x], [&dx], |[dy, x], [dx]| twin::add_gradient(&params, &step, dy, x, dx));
            case.check(device, "add_gradient", (&params, &step), elements / repeats / 4, 1e-5);
        }
    });
}

#[test]
fn a_sum_too_large_to_store_becomes_infinite() {
    with_device(|device| {
        let params = Add { pixels: 1, channels: 4, repeats: 1, ..Add::default() };
        let [a, b, y] = [[60_000.0f32, -60_000.0, 30_000.0, 65_504.0], [60_000.0, -60_000.0, 30_000.0, 0.0], [9.0; 4]];
        let found = launch(device, "add_forward", &params, &step(1), &[bytes(&a), bytes(&b), bytes(&y)], 1);
        let sums = match device.form.stored {
            Stored::F32 => [120_000.0, -120_000.0, 60_000.0, 65_504.0],
            Stored::F16 => [f32::INFINITY, f32::NEG_INFINITY, 60_000.0, 65_504.0],
        };
        assert_eq!(floats(&found[2]), sums);
    });
}

#[test]
fn blend_equals_its_twin() {
    on_shapes((1u32..300, any::<bool>()), |device, (fours, first)| {
        let params = Blend { elements: 4 * fours, weight: 0.125, first: u32::from(first), ..Blend::default() };
        let (x, sum) = (numbers(params.elements, 1), numbers(params.elements, 2));
        let case = Case::new([&x], [&sum], |[x], [sum]| twin::blend(&params, x, sum));
        case.check(device, "blend", (&params, &step(1)), fours, 1e-6);
    });
}

fn elementwise(fours: u32, epilogue: Epilogue) -> Elementwise {
    Elementwise { elements: 4 * fours, epilogue, ..Elementwise::default() }
}

/// Returns arguments in -7..7, where GELU goes from nearly zero to nearly the identity.
fn spread(count: u32, stream: u32) -> Vec<f32> {
    storable(numbers(count, stream).iter().map(|x| 7.0 * x).collect())
}

#[test]
fn gelu_far_from_zero_is_zero_or_the_identity() {
    with_device(|device| {
        let params = elementwise(1, Epilogue { channels: 4, stored_channels: 4, ..Epilogue::default() });
        let x = [-400.0f32, -40.0, 40.0, 400.0];
        let y = [9.0f32; 4];
        let found = launch(device, "gelu_forward", &params, &step(1), &[bytes(&x), bytes(&y)], 1);
        assert_eq!(floats(&found[1]), [0.0, 0.0, 40.0, 400.0]);
        let found = launch(device, "gelu_backward", &params, &step(1), &[bytes(&y), bytes(&x), bytes(&y)], 1);
        assert_eq!(floats(&found[2]), [0.0, 0.0, 9.0, 9.0]);
    });
}

#[test]
fn gelu_and_pass_gradient_equal_their_twins() {
    on_shapes((1u32..200, 0..ACTIVATIONS.len(), 0u32..2), |device, (fours, kind, accumulate)| {
        // Dropout comes after the activation.
        let params = elementwise(fours, dropout_after(activation::IDENTITY, 4 * fours));
        let (x, y) = (spread(params.elements, 1), vec![9.0; params.elements as usize]);
        let case = Case::new([&x], [&y], |[x], [y]| twin::gelu_forward(&params, &step(1), x, y));
        case.check(device, "gelu_forward", (&params, &step(1)), fours, 5e-7);
        let params = elementwise(fours, Epilogue { accumulate, ..dropout_after(ACTIVATIONS[kind], 4 * fours) });
        let (dy, dx) = (numbers(params.elements, 1), numbers(params.elements, 3));
        let x = with_epilogue(&params.epilogue, &step(1), spread(params.elements, 2));
        let case = Case::new([&dy, &x], [&dx], |[dy, x], [dx]| twin::gelu_backward(&params, &step(1), dy, x, dx));
        case.check(device, "gelu_backward", (&params, &step(1)), fours, 2e-6);
        let x = with_epilogue(&params.epilogue, &step(1), numbers(params.elements, 2));
        let case = Case::new([&dy, &x], [&dx], |[dy, x], [dx]| twin::pass_gradient(&params, &step(1), dy, x, dx));
        case.check(device, "pass_gradient", (&params, &step(1)), fours, 1e-6);
    });
}

#[test]
fn positions_equal_their_twins() {
    on_shapes((1u32..20, 1u32..20, 1u32..8), |device, (rows, fours, rows_per_part)| {
        let epilogue = dropout_after(activation::IDENTITY, 4 * fours);
        let params = Position { rows, values: 4 * fours, rows_per_part, part_stride: 4 * fours + 8, epilogue };
        let (values, step) = (params.rows * params.values, step(params.rows));
        let (x, embedding, y) = (numbers(values, 1), numbers(params.values, 2), vec![9.0; values as usize]);
        let case = Case::new([&x, &embedding], [&y], |[x, embedding], [y]| {
            twin::position_forward(&params, &step, x, embedding, y);
        });
        case.check(device, "position_forward", (&params, &step), values / 4, 1e-6);
        let parts = params.rows.div_ceil(params.rows_per_part);
        let gradient = vec![0.0; (parts * params.part_stride) as usize];
        let case = Case::new([&x], [&gradient], |[dy], [parts]| twin::position_gradient(&params, dy, parts));
        case.check(device, "position_gradient", (&params, &step), parts * params.values / 4, 1e-6);
    });
}

/// Returns rows with word ids at the used positions and ids outside the vocabulary elsewhere.
fn ids(params: &Embedding) -> Vec<f32> {
    let used = params.id_offset..params.id_offset + params.tokens;
    let words = numbers(params.rows * params.id_stride, 1);
    let number = |(at, random): (u32, f32)| {
        if used.contains(&(at % params.id_stride)) {
            ((random + 1.0) / 2.0 * params.vocabulary as f32).floor().min(params.vocabulary as f32 - 1.0)
        } else {
            2048.0
        }
    };
    (0..).zip(words).map(number).collect()
}

#[test]
fn embeddings_equal_their_twins() {
    // Ids in the middle of each row, and vocabularies that have unused words or only one.
    let shapes = (1u32..6, 1u32..30, 0u32..4, 0u32..4, 1u32..40, 1u32..5, 0u32..2);
    on_shapes(shapes, |device, (rows, tokens, before, after, vocabulary, fours, zero_padding)| {
        let channels = 4 * fours;
        let dropout = dropout_after(activation::IDENTITY, channels);
        let params = Embedding {
            rows,
            tokens,
            id_stride: before + tokens + after,
            id_offset: before,
            vocabulary,
            channels,
            tokens_per_part: 17,
            part_stride: vocabulary * channels + 8,
            zero_padding,
            epilogue: Epilogue { dropout_rate: 0.3, features: 0, ..dropout },
            ..Embedding::default()
        };
        let (ids, weights) = (ids(&params), numbers(params.vocabulary * params.channels, 2));
        let tokens = params.rows * params.tokens;
        let (y, step) = (vec![0.0; (tokens * params.channels) as usize], step(params.rows));
        let case = Case::new([&ids, &weights], [&y], |[ids, weights], [y]| {
            twin::embedding_forward(&params, &step, ids, weights, y);
        });
        case.check(device, "embedding_forward", (&params, &step), tokens * params.channels / 4, 1e-6);
        let (dy, parts) = (numbers(tokens * params.channels, 2), tokens.div_ceil(params.tokens_per_part));
        // The kernel must overwrite the buffer's contents, not add to them.
        let stride = params.part_stride as usize;
        let mut gradient = vec![3.0; parts as usize * stride];
        gradient.chunks_exact_mut(stride).for_each(|part| part[stride - 8..].fill(0.0));
        let case = Case::new([&ids, &dy], [&gradient], |[ids, dy], [parts]| {
            twin::embedding_weight_gradient(&params, ids, dy, parts);
        });
        let invocations = parts * params.channels / 4;
        case.check(device, "embedding_weight_gradient", (&params, &step), invocations, 1e-5);
    });
}

/// Generates windows that overlap, touch, skip pixels, or extend past the edges.
fn pools() -> impl Strategy<Value = Pool> {
    let extents = (1u32..4, 3u32..9, 3u32..9, 1u32..4, 1u32..4, 1u32..4, 0u32..2, any::<bool>());
    extents.prop_map(|(rows, input_height, input_width, fours, side, stride, padding, ceil)| {
        let padding = padding.min(side / 2);
        let extent = |extent: u32| {
            let room = extent + 2 * padding - side;
            let outputs = if ceil { room.div_ceil(stride) } else { room / stride } + 1;
            // A window must cover at least one pixel.
            outputs.min((extent + padding).div_ceil(stride))
        };
        Pool {
            rows,
            input_height,
            input_width,
            channels: 4 * fours,
            output_height: extent(input_height),
            output_width: extent(input_width),
            side,
            stride,
            padding,
            epilogue: Epilogue { activation: activation::RELU, ..Epilogue::default() },
            ..Pool::default()
        }
    })
}

/// Returns the numbers of elements of the input and of the output.
fn elements(params: &Pool) -> [u32; 2] {
    let Pool { input_height, input_width, output_height, output_width, .. } = *params;
    [input_height * input_width, output_height * output_width].map(|pixels| params.rows * pixels * params.channels)
}

#[test]
fn max_pools_equal_their_twins() {
    on_shapes(pools(), |device, params| {
        let ([inputs, outputs], step) = (elements(&params), step(params.rows));
        // Few distinct values, so that ties occur.
        let x: Vec<f32> = numbers(inputs, 1).iter().map(|v| (v * 3.0).round()).collect();
        let (y, mut taps) = (numbers(outputs, 2), vec![0u32; outputs as usize]);
        let buffers = [bytes(&x), bytes(&y), bytes(&taps)];
        let found = launch(device, "max_pool_forward", &params, &step, &buffers, u64::from(outputs / 4));
        let mut expected = double(&y);
        twin::max_pool_forward(&params, &step, &double(&x), &mut expected, &mut taps);
        assert_close(&format!("{params:?}"), &floats(&found[1]), &expected, 0.0);
        assert_eq!(bytemuck::pod_collect_to_vec::<u8, u32>(&found[2]), taps);
        let (dy, dx) = (numbers(outputs, 3), vec![0.0f32; x.len()]);
        let buffers = [bytes(&dy), bytes(&taps), bytes(&x), bytes(&dx)];
        let found = launch(device, "max_pool_backward", &params, &step, &buffers, u64::from(inputs / 4));
        let mut expected = double(&dx);
        twin::max_pool_backward(&params, &step, &double(&dy), &taps, &double(&x), &mut expected);
        assert_close(&format!("{params:?}"), &floats(&found[3]), &expected, 1e-6);
    });
}

#[test]
fn average_pools_equal_their_twins() {
    on_shapes(pools(), |device, params| {
        let ([inputs, outputs], step) = (elements(&params), step(params.rows));
        let (x, y) = (numbers(inputs, 1), vec![0.0; outputs as usize]);
        let case = Case::new([&x], [&y], |[x], [y]| twin::average_pool_forward(&params, &step, x, y));
        case.check(device, "average_pool_forward", (&params, &step), outputs / 4, 1e-6);
        let (dy, x, dx) = (numbers(outputs, 1), numbers(inputs, 2), vec![0.0; inputs as usize]);
        let case = Case::new([&dy, &x], [&dx], |[dy, x], [dx]| twin::average_pool_backward(&params, &step, dy, x, dx));
        case.check(device, "average_pool_backward", (&params, &step), inputs / 4, 1e-6);
    });
}
