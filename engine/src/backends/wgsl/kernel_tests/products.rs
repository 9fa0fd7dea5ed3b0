//! Products of dense layers and convolutions.

use proptest::prelude::*;
use shaders::params::{Conv2d, Dense, Epilogue, NO_BIAS, Step, activation};
use shaders::reference as twin;

use super::super::plan::products::tiles;
use super::super::products::{Params, Pass, Product};
use super::{
    ACTIVATIONS, Case, Variants, assert_close, bytes, double, dropout_after, floats, launch, numbers, on_shapes_with,
    step, test_variants, variants, with_device, with_epilogue,
};
use crate::backends::wgsl::device::GpuDevice;

fn check_shapes<S: Strategy>(
    which: Variants,
    shapes: S,
    others: impl IntoIterator<Item = S::Value> + Clone,
    product: impl Fn(S::Value) -> Product,
) {
    let check = |device: &GpuDevice, shape| check(device, which, &product(shape));
    with_device(|device| {
        on_shapes_with(device, &shapes, &check);
        others.clone().into_iter().for_each(|shape| check(device, shape));
    });
}

fn check(device: &GpuDevice, which: Variants, product: &Product) {
    let (rows, epilogue) = match &product.params {
        Params::Dense(p) => (p.rows, p.epilogue),
        Params::Conv2d(p) => (p.rows, p.epilogue),
        Params::Recurrent(..) => unreachable!("other tests check recurrent layers"),
    };
    let step = step(rows);
    let elements = product.elements().into_iter().map(|elements| u32::try_from(elements).unwrap());
    let mut buffers: Vec<Vec<f32>> = elements.zip(1..).map(|(elements, stream)| numbers(elements, stream)).collect();
    match product.pass {
        Pass::Forward => {}
        Pass::InputGradient => buffers[2] = with_epilogue(&epilogue, &step, buffers[2].clone()),
        // Between weights and bias, a part stays as it is.
        Pass::WeightGradient => buffers[2].fill(0.0),
    }
    let mut wide: Vec<Vec<f64>> = buffers.iter().map(|buffer| double(buffer)).collect();
    let mut y = wide.pop().unwrap();
    let [a, b, c] = [0, 1, 2].map(|place| wide.get(place).map_or(&[][..], Vec::as_slice));
    match (&product.params, product.pass) {
        (Params::Dense(p), Pass::Forward) => twin::dense_forward(p, &step, a, b, c, &mut y),
        (Params::Dense(p), Pass::InputGradient) => twin::dense_input_gradient(p, &step, a, b, c, &mut y),
        (Params::Dense(p), Pass::WeightGradient) => twin::dense_weight_gradient(p, a, b, &mut y),
        (Params::Conv2d(p), Pass::Forward) => twin::conv2d_forward(p, &step, a, b, c, &mut y),
        (Params::Conv2d(p), Pass::InputGradient) => twin::conv2d_input_gradient(p, &step, a, b, c, &mut y),
        (Params::Conv2d(p), Pass::WeightGradient) => twin::conv2d_weight_gradient(p, a, b, &mut y),
        (Params::Recurrent(..), _) => unreachable!("other tests check recurrent layers"),
    }
    // Longer sums accumulate more rounding errors.
    let tolerance = match product.params {
        Params::Dense(_) => 1e-5 * (f64::from(product.extents().depth) / 80.0).max(1.0),
        _ => 1e-5,
    };
    let case = Case { buffers, expected: vec![y] };
    for variant in variants(device, product, which) {
        let found = case.launch_variant(device, &variant, product, &step).swap_remove(0);
        assert_close(&format!("{} {product:?}", variant.kernel), &found, &case.expected[0], tolerance);
    }
}

fn dense(rows: u32, inputs: u32, outputs: u32, epilogue: Epilogue) -> Dense {
    Dense {
        rows,
        inputs,
        outputs,
        units: outputs - 1,
        rows_per_part: if rows > 80 { 700 } else { 7 },
        part_stride: inputs * outputs + outputs + 8,
        bias_offset: inputs * outputs + 4,
        epilogue,
        ..Dense::default()
    }
}

fn check_dense(which: Variants, pass: Pass) {
    // Sums long enough to arrange tiles in bands, with a lower last band, and more than two of the largest tiles in
    // each direction.
    let others = match pass {
        Pass::Forward => [((170, 256, 19), 1), ((170, 5, 45), 1)],
        Pass::InputGradient => [((170, 19, 256), 1), ((170, 45, 5), 1)],
        Pass::WeightGradient => [((750, 45, 19), 1), ((20, 45, 40), 1)],
    };
    // Odd sizes, partial tiles and single rows: rows, inputs and outputs in units of four, and an activation.
    let shapes = ((1u32..80, 1u32..20, 1u32..20), 0..ACTIVATIONS.len());
    check_shapes(which, shapes, others, |((rows, inputs, outputs), kind)| {
        let (inputs, outputs) = (4 * inputs, 4 * outputs);
        let epilogue = match pass {
            Pass::Forward => dropout_after(ACTIVATIONS[kind], outputs),
            Pass::InputGradient => Epilogue { accumulate: rows % 2, ..dropout_after(ACTIVATIONS[kind], inputs) },
            Pass::WeightGradient => Epilogue::default(),
        };
        Product { pass, params: Params::Dense(dense(rows, inputs, outputs, epilogue)) }
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

fn check_conv2d(which: Variants, pass: Pass) {
    let wide = convolutions((1u32..10).prop_map(|fours| 4 * fours));
    // More than two of the largest tiles in each direction in every pass, and the windows of Inception-v3: a row and a
    // column of seven taps.
    let [row, column] = [([1, 7], [0, 3]), ([7, 1], [3, 0])]
        .map(|(window, padding)| convolution([2, 9, 8], [20, 24], (window, padding, 1), false));
    let large = [convolution([3, 9, 8], [132, 136], ([1; 2], [0; 2], 1), true), row, column];
    check_shapes(which, wide, large, |params| Product { pass, params: Params::Conv2d(params) });
}

#[test]
fn narrow_convolutions_equal_their_twins() {
    for pass in [Pass::Forward, Pass::WeightGradient] {
        let narrow = convolutions(prop_oneof![Just(1u32), Just(2), Just(3), Just(5)]);
        check_shapes(Variants::Usual, narrow, [], |params| Product { pass, params: Params::Conv2d(params) });
    }
}

test_variants! {
    dense_forward: |which| check_dense(which, Pass::Forward);
    dense_input_gradient: |which| check_dense(which, Pass::InputGradient);
    dense_weight_gradient: |which| check_dense(which, Pass::WeightGradient);
    conv2d_forward: |which| check_conv2d(which, Pass::Forward);
    conv2d_weight_gradient: |which| check_conv2d(which, Pass::WeightGradient);
    conv2d_input_gradient: |which| check_conv2d(which, Pass::InputGradient);
}
