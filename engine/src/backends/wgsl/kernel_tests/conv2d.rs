use proptest::prelude::*;
use shaders::params::{Conv2d, Epilogue, NO_BIAS, activation};
use shaders::reference as twin;

use super::super::device::Device;
use super::super::products::{Pass, Product};
use super::{Variants, assert_close, bytes, double, floats, launch_with, numbers, runner, step, variants, with_device};

const RELU: Epilogue = Epilogue {
    activation: activation::RELU,
    dropout_stream: 0,
    dropout_rate: 0.0,
    accumulate: 0,
    channels: 0,
    stored_channels: 0,
    features: 0,
    reserved: 0,
};

/// Rows, height, width, channels, filters in fours, window, padding: padded and not, narrower than a tile and wider;
/// strides, and no bias. Windows are squares and rectangles, and rows may be padded otherwise than columns.
fn shapes(channels: impl Strategy<Value = u32>) -> impl Strategy<Value = Conv2d> {
    let extents = (1u32..4, 3u32..9, 3u32..9, channels, 1u32..20);
    let windows = ([1u32..4, 1u32..4], [0u32..2, 0u32..2], 1u32..4, any::<bool>());
    (extents, windows).prop_map(|((rows, height, width, channels, filters), (window, padding, stride, bias))| {
        layer([rows, height, width], [channels, 4 * filters], (window, padding, stride), bias)
    })
}

fn layer(
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
        // As the data is stored.
        input_spare: features.next_multiple_of(4) - features,
        epilogue: RELU,
    }
}

/// Two of the largest tiles and more in each direction, in every pass; and what Inception-v3 has: a row of seven taps, and a
/// column of them.
fn large() -> [Conv2d; 3] {
    let [row, column] = [([1, 7], [0, 3]), ([7, 1], [3, 0])]
        .map(|(window, padding)| layer([2, 9, 8], [20, 24], (window, padding, 1), false));
    [layer([3, 9, 8], [132, 136], ([1; 2], [0; 2], 1), true), row, column]
}

fn wide() -> impl Strategy<Value = Conv2d> {
    shapes((1u32..10).prop_map(|fours| 4 * fours))
}

fn narrow() -> impl Strategy<Value = Conv2d> {
    shapes(prop_oneof![Just(1u32), Just(2), Just(3), Just(5)])
}

/// Launches variants of `product`, and compares the last buffer of each with the twin's.
fn check_variants<const N: usize>(
    device: &Device,
    (product, which): (&Product, Variants),
    params: &Conv2d,
    buffers: &[&[u8]; N],
    expected: &[f64],
) {
    for variant in variants(device, product, which) {
        let (constants, invocations) = (product.constants(), variant.invocations(product));
        let found = launch_with(device, variant.kernel, &constants, params, &step(params.rows), buffers, invocations);
        assert_close(&format!("{} {params:?}", variant.kernel), &floats(&found[N - 1]), expected, 1e-5);
    }
}

struct Sizes {
    inputs: u32,
    kernel: u32,
    output_pixels: u32,
}

fn sizes(params: &Conv2d) -> Sizes {
    Sizes {
        inputs: params.rows * (params.input_height * params.input_width * params.input_channels + params.input_spare),
        kernel: params.window_height * params.window_width * params.input_channels * params.output_channels,
        output_pixels: params.rows * params.output_height * params.output_width,
    }
}

fn check_forward(which: Variants, shapes: impl Strategy<Value = Conv2d>, others: &[Conv2d]) {
    with_device(|device| {
        let check = |params: Conv2d| {
            let sizes = sizes(&params);
            let (x, weights) = (numbers(sizes.inputs, 1), numbers(sizes.kernel, 2));
            let bias = numbers(params.output_channels, 3);
            let y = vec![0.0f32; (sizes.output_pixels * params.output_channels) as usize];
            let buffers = [bytes(&x), bytes(&weights), bytes(&bias), bytes(&y)];
            let step = step(params.rows);
            let mut expected = double(&y);
            twin::conv2d_forward(&params, &step, &double(&x), &double(&weights), &double(&bias), &mut expected);
            let product = Product::new(Pass::Forward, params);
            check_variants(device, (&product, which), &params, &buffers, &expected);
            Ok(())
        };
        runner().run(&shapes, check).unwrap();
        for params in others {
            check(*params).unwrap();
        }
    });
}

fn check_weight_gradient(which: Variants, shapes: impl Strategy<Value = Conv2d>, others: &[Conv2d]) {
    with_device(|device| {
        let check = |params: Conv2d| {
            let sizes = sizes(&params);
            let x = numbers(sizes.inputs, 1);
            let dy = numbers(sizes.output_pixels * params.output_channels, 2);
            let parts = sizes.output_pixels.div_ceil(params.pixels_per_part);
            let gradient = vec![0.0f32; (parts * params.part_stride) as usize];
            let buffers = [bytes(&x), bytes(&dy), bytes(&gradient)];
            let mut expected = double(&gradient);
            twin::conv2d_weight_gradient(&params, &double(&x), &double(&dy), &mut expected);
            let product = Product::new(Pass::WeightGradient, params);
            check_variants(device, (&product, which), &params, &buffers, &expected);
            Ok(())
        };
        runner().run(&shapes, check).unwrap();
        for params in others {
            check(*params).unwrap();
        }
    });
}

fn check_input_gradient(which: Variants) {
    with_device(|device| {
        let check = |params: Conv2d| {
            let sizes = sizes(&params);
            let dy = numbers(sizes.output_pixels * params.output_channels, 1);
            let (weights, x) = (numbers(sizes.kernel, 2), numbers(sizes.inputs, 3));
            let dx = vec![0.0f32; x.len()];
            let buffers = [bytes(&dy), bytes(&weights), bytes(&x), bytes(&dx)];
            let mut expected = double(&dx);
            twin::conv2d_input_gradient(
                &params,
                &step(params.rows),
                &double(&dy),
                &double(&weights),
                &double(&x),
                &mut expected,
            );
            let product = Product::new(Pass::InputGradient, params);
            check_variants(device, (&product, which), &params, &buffers, &expected);
            Ok(())
        };
        runner().run(&wide(), check).unwrap();
        for params in large() {
            check(params).unwrap();
        }
    });
}

#[test]
fn usual_variants_of_conv2d_forward_equal_the_twin() {
    check_forward(Variants::Usual, wide(), &large());
}

#[test]
#[ignore = "compiles every variant"]
fn every_variant_of_conv2d_forward_equals_the_twin() {
    check_forward(Variants::Every, wide(), &large());
}

#[test]
fn conv2d_forward_narrow_equals_its_twin() {
    check_forward(Variants::Every, narrow(), &[]);
}

#[test]
fn usual_variants_of_conv2d_weight_gradient_equal_the_twin_part_by_part() {
    check_weight_gradient(Variants::Usual, wide(), &large());
}

#[test]
#[ignore = "compiles every variant"]
fn every_variant_of_conv2d_weight_gradient_equals_the_twin_part_by_part() {
    check_weight_gradient(Variants::Every, wide(), &large());
}

#[test]
fn conv2d_weight_gradient_narrow_equals_its_twin_part_by_part() {
    check_weight_gradient(Variants::Every, narrow(), &[]);
}

#[test]
fn usual_variants_of_conv2d_input_gradient_equal_the_twin() {
    check_input_gradient(Variants::Usual);
}

#[test]
#[ignore = "compiles every variant"]
fn every_variant_of_conv2d_input_gradient_equals_the_twin() {
    check_input_gradient(Variants::Every);
}
