//! Products of dense layers and convolutions.

use proptest::prelude::*;
use shaders::params::{Conv2d, Dense, Epilogue, NO_BIAS, Step, activation};
use shaders::reference as twin;

use super::super::plan::weight_gradient::tiles;
use super::super::products::{Pass, Product};
use super::{
    ACTIVATIONS, Case, Variants, bytes, dropout_after, floats, launch, numbers, on_shapes, step, test_variants,
    with_device, with_epilogue,
};
use crate::backends::wgsl::device::Device;

/// Rows, then inputs and outputs in units of four.
type DenseShape = (u32, u32, u32);

/// Generates odd sizes, partial tiles and single rows.
fn dense_shapes() -> impl Strategy<Value = DenseShape> {
    (1u32..80, 1u32..20, 1u32..20)
}

fn dense(rows: u32, inputs: u32, outputs: u32, epilogue: Epilogue) -> Dense {
    Dense {
        rows,
        inputs,
        outputs,
        units: outputs - 1,
        rows_per_part: 7,
        part_stride: inputs * outputs + outputs + 8,
        bias_offset: inputs * outputs + 4,
        epilogue,
        ..Dense::default()
    }
}

/// Returns the tolerance for a sum of `terms` products. Longer sums accumulate more rounding errors.
fn tolerance(terms: u32) -> f64 {
    1e-5 * (f64::from(terms) / 80.0).max(1.0)
}

/// Checks random shapes, then `others`.
fn check_shapes<S: Strategy>(
    shapes: S,
    others: impl IntoIterator<Item = S::Value> + Clone,
    check: impl Fn(&Device, S::Value),
) {
    on_shapes(shapes, &check);
    with_device(|device| others.clone().into_iter().for_each(|shape| check(device, shape)));
}

fn check_dense_forward(which: Variants) {
    // Sums long enough to arrange tiles in bands, with a lower last band, and more than two of the largest tiles in
    // each direction.
    let others = [((170, 256, 19), 1), ((170, 5, 45), 1)];
    check_shapes((dense_shapes(), 0..ACTIVATIONS.len()), others, |device, ((rows, inputs, outputs), kind)| {
        let epilogue = dropout_after(ACTIVATIONS[kind], 4 * outputs);
        let (params, step) = (dense(rows, 4 * inputs, 4 * outputs, epilogue), step(rows));
        let x = numbers(rows * params.inputs, 1);
        let (weights, bias) = (numbers(params.inputs * params.outputs, 2), numbers(params.outputs, 3));
        let y = vec![0.0; (rows * params.outputs) as usize];
        let case = Case::new([&x, &weights, &bias], [&y], |[x, weights, bias], [y]| {
            twin::dense_forward(&params, &step, x, weights, bias, y);
        });
        let product = Product::new(Pass::Forward, params);
        case.check_variants(device, (&product, which), &step, tolerance(params.inputs));
    });
}

fn check_dense_input_gradient(which: Variants) {
    let others = [((170, 19, 256), 1), ((170, 45, 5), 1)];
    check_shapes((dense_shapes(), 0..ACTIVATIONS.len()), others, |device, ((rows, inputs, outputs), kind)| {
        let epilogue = Epilogue { accumulate: rows % 2, ..dropout_after(ACTIVATIONS[kind], 4 * inputs) };
        let (params, step) = (dense(rows, 4 * inputs, 4 * outputs, epilogue), step(rows));
        let dy = numbers(rows * params.outputs, 1);
        let x = with_epilogue(&epilogue, &step, numbers(rows * params.inputs, 2));
        let weights = numbers(params.inputs * params.outputs, 3);
        let dx = numbers(rows * params.inputs, 4);
        let case = Case::new([&dy, &weights, &x], [&dx], |[dy, weights, x], [dx]| {
            twin::dense_input_gradient(&params, &step, dy, weights, x, dx);
        });
        let product = Product::new(Pass::InputGradient, params);
        case.check_variants(device, (&product, which), &step, tolerance(params.outputs));
    });
}

fn check_dense_weight_gradient(which: Variants) {
    check_shapes(dense_shapes(), [(750, 45, 19), (20, 45, 40)], |device, (rows, inputs, outputs)| {
        let params = dense(rows, 4 * inputs, 4 * outputs, Epilogue::default());
        let params = Dense { rows_per_part: if rows > 80 { 700 } else { 7 }, ..params };
        let (x, dy) = (numbers(rows * params.inputs, 1), numbers(rows * params.outputs, 2));
        let parts = rows.div_ceil(params.rows_per_part);
        let gradient = vec![0.0; (parts * params.part_stride) as usize];
        let case = Case::new([&x, &dy], [&gradient], |[x, dy], [parts]| {
            twin::dense_weight_gradient(&params, x, dy, parts);
        });
        let product = Product::new(Pass::WeightGradient, params);
        case.check_variants(device, (&product, which), &step(rows), tolerance(params.rows_per_part));
    });
}

#[test]
fn dropout_matches_the_generator_and_only_in_training() {
    with_device(|device| {
        let params = dense(3, 4, 8, dropout_after(activation::RELU, 8));
        let buffers = [vec![1.0f32; 12], vec![1.0f32; 32], vec![0.0; 8], vec![0.0; 24]];
        let run = |training: u32| {
            let step = Step { training, ..step(3) };
            let buffers: Vec<&[u8]> = buffers.iter().map(|b| bytes(b)).collect();
            floats(&launch(device, "dense_forward", &params, &step, &buffers, tiles(3, 8))[3])
        };
        assert!(run(0).iter().all(|&y| y == 4.0));
        let dropped = run(1);
        for (i, &y) in (0u32..).zip(&dropped) {
            let (row, unit) = (i / 8, i % 8);
            // Random numbers are indexed over the whole batch, whose first rows are on other devices.
            let elsewhere = step(3).first_row * params.epilogue.features;
            let number = twin::pcg4d::uniform(elsewhere + row * params.units + unit, 1000, 3, 11);
            assert_eq!(y == 0.0, number < 0.2, "row {row}, unit {unit}");
        }
    });
}

/// Generates convolutions with and without padding, strides and bias, narrower and wider than a tile.
///
/// Windows may be rectangular, and rows and columns may be padded differently.
fn convolutions(channels: impl Strategy<Value = u32>) -> impl Strategy<Value = Conv2d> {
    let extents = (1u32..4, 3u32..9, 3u32..9, channels, 1u32..20);
    let windows = ([1u32..4, 1u32..4], [0u32..2, 0u32..2], 1u32..4, any::<bool>());
    (extents, windows).prop_map(|((rows, height, width, channels, filters), (window, padding, stride, bias))| {
        convolution([rows, height, width], [channels, 4 * filters], (window, padding, stride), bias)
    })
}

fn convolution(
    [rows, height, width]: [u32; 3],
    [input_channels, output_channels]: [u32; 2],
    (window, padding, stride): ([u32; 2], [u32; 2], u32),
    bias: bool,
) -> Conv2d {
    let ([window_height, window_width], [padding_rows, padding_columns]) = (window, padding);
    let kernel = window_height * window_width * input_channels * output_channels;
    let features = height * width * input_channels;
    Conv2d {
        rows,
        input_height: height,
        input_width: width,
        input_channels,
        output_height: (height + 2 * padding_rows - window_height) / stride + 1,
        output_width: (width + 2 * padding_columns - window_width) / stride + 1,
        output_channels,
        window_height,
        window_width,
        padding_rows,
        padding_columns,
        pixels_per_part: 23,
        part_stride: kernel.next_multiple_of(4) + 4 + output_channels,
        bias_offset: if bias { kernel.next_multiple_of(4) + 4 } else { NO_BIAS },
        stride,
        // Samples are padded to a multiple of four, as in a data set.
        input_spare: features.next_multiple_of(4) - features,
        epilogue: Epilogue { activation: activation::RELU, ..Epilogue::default() },
    }
}

/// Returns convolutions of more than two of the largest tiles in each direction in every pass, and with the windows of
/// Inception-v3: a row and a column of seven taps.
fn large_convolutions() -> [Conv2d; 3] {
    let [row, column] = [([1, 7], [0, 3]), ([7, 1], [3, 0])]
        .map(|(window, padding)| convolution([2, 9, 8], [20, 24], (window, padding, 1), false));
    [convolution([3, 9, 8], [132, 136], ([1; 2], [0; 2], 1), true), row, column]
}

fn wide_convolutions() -> impl Strategy<Value = Conv2d> {
    convolutions((1u32..10).prop_map(|fours| 4 * fours))
}

fn narrow_convolutions() -> impl Strategy<Value = Conv2d> {
    convolutions(prop_oneof![Just(1u32), Just(2), Just(3), Just(5)])
}

/// Returns the number of elements in the input, the kernel and the output.
fn convolution_sizes(params: &Conv2d) -> [u32; 3] {
    [
        params.rows * (params.input_height * params.input_width * params.input_channels + params.input_spare),
        params.window_height * params.window_width * params.input_channels * params.output_channels,
        params.rows * params.output_height * params.output_width * params.output_channels,
    ]
}

fn check_conv2d_forward(which: Variants, shapes: impl Strategy<Value = Conv2d>, others: &[Conv2d]) {
    check_shapes(shapes, others.iter().copied(), |device, params| {
        let ([inputs, kernel, outputs], step) = (convolution_sizes(&params), step(params.rows));
        let (x, weights, bias) = (numbers(inputs, 1), numbers(kernel, 2), numbers(params.output_channels, 3));
        let y = vec![0.0; outputs as usize];
        let case = Case::new([&x, &weights, &bias], [&y], |[x, weights, bias], [y]| {
            twin::conv2d_forward(&params, &step, x, weights, bias, y);
        });
        case.check_variants(device, (&Product::new(Pass::Forward, params), which), &step, 1e-5);
    });
}

#[test]
fn conv2d_forward_narrow_equals_its_twin() {
    check_conv2d_forward(Variants::Every, narrow_convolutions(), &[]);
}

fn check_conv2d_weight_gradient(which: Variants, shapes: impl Strategy<Value = Conv2d>, others: &[Conv2d]) {
    check_shapes(shapes, others.iter().copied(), |device, params| {
        let [inputs, _, outputs] = convolution_sizes(&params);
        let (x, dy) = (numbers(inputs, 1), numbers(outputs, 2));
        let parts = (outputs / params.output_channels).div_ceil(params.pixels_per_part);
        let gradient = vec![0.0; (parts * params.part_stride) as usize];
        let case = Case::new([&x, &dy], [&gradient], |[x, dy], [parts]| {
            twin::conv2d_weight_gradient(&params, x, dy, parts);
        });
        let product = Product::new(Pass::WeightGradient, params);
        case.check_variants(device, (&product, which), &step(params.rows), 1e-5);
    });
}

#[test]
fn conv2d_weight_gradient_narrow_equals_its_twin() {
    check_conv2d_weight_gradient(Variants::Every, narrow_convolutions(), &[]);
}

fn check_conv2d_input_gradient(which: Variants) {
    check_shapes(wide_convolutions(), large_convolutions(), |device, params| {
        let ([inputs, kernel, outputs], step) = (convolution_sizes(&params), step(params.rows));
        let (dy, weights, x) = (numbers(outputs, 1), numbers(kernel, 2), numbers(inputs, 3));
        let dx = vec![0.0; x.len()];
        let case = Case::new([&dy, &weights, &x], [&dx], |[dy, weights, x], [dx]| {
            twin::conv2d_input_gradient(&params, &step, dy, weights, x, dx);
        });
        case.check_variants(device, (&Product::new(Pass::InputGradient, params), which), &step, 1e-5);
    });
}

test_variants! {
    dense_forward: check_dense_forward;
    dense_input_gradient: check_dense_input_gradient;
    dense_weight_gradient: check_dense_weight_gradient;
    conv2d_forward: |which| check_conv2d_forward(which, wide_convolutions(), &large_convolutions());
    conv2d_weight_gradient: |which| check_conv2d_weight_gradient(which, wide_convolutions(), &large_convolutions());
    conv2d_input_gradient: check_conv2d_input_gradient;
}
