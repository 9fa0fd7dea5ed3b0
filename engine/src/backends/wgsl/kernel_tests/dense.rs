use shaders::params::{Dense, Epilogue, activation};
use shaders::reference as twin;

use super::super::plan::weight_gradient::tiles;
use super::super::products::{Pass, Product};
use super::{
    Variants, assert_close, bytes, double, floats, launch, made_by, numbers, runner, step, variants, with_device,
};

/// Rows, inputs and outputs: odd sizes, edges of tiles, and single rows.
fn shapes() -> (std::ops::Range<u32>, std::ops::Range<u32>, std::ops::Range<u32>) {
    (1..80, 1..20, 1..20)
}

fn params(rows: u32, inputs: u32, outputs: u32, epilogue: Epilogue) -> Dense {
    Dense {
        rows,
        inputs,
        outputs,
        units: outputs - 1,
        rows_per_part: 7,
        part_stride: inputs * outputs + outputs + 8,
        bias_offset: inputs * outputs + 4,
        reserved: 0,
        epilogue,
    }
}

/// Of sums of so many products: the longer, the more is rounded.
fn tolerance(terms: u32) -> f64 {
    1e-5 * (f64::from(terms) / 80.0).max(1.0)
}

/// Dropout behind an activation; layers of `channels` of which the last is padding.
pub(super) fn dropout_behind(activation: u32, stored_channels: u32) -> Epilogue {
    Epilogue {
        activation,
        dropout_stream: 1000,
        dropout_rate: 0.2,
        channels: stored_channels - 1,
        stored_channels,
        features: 3 * (stored_channels - 1),
        ..Epilogue::default()
    }
}

pub(super) const ACTIVATIONS: [u32; 3] = [activation::IDENTITY, activation::RELU, activation::TANH];

#[test]
fn usual_variants_of_dense_forward_equal_the_twin() {
    check_forward(Variants::Usual);
}

#[test]
#[ignore = "compiles every variant"]
fn every_variant_of_dense_forward_equals_the_twin() {
    check_forward(Variants::Every);
}

fn check_forward(which: Variants) {
    with_device(|device| {
        let check = |((rows, inputs, outputs), kind): ((u32, u32, u32), usize)| {
            let epilogue = dropout_behind(ACTIVATIONS[kind], 4 * outputs);
            let params = params(rows, 4 * inputs, 4 * outputs, epilogue);
            let x = numbers(rows * params.inputs, 1);
            let (weights, bias) = (numbers(params.inputs * params.outputs, 2), numbers(params.outputs, 3));
            let y = vec![0.0f32; (rows * params.outputs) as usize];
            let buffers = [bytes(&x), bytes(&weights), bytes(&bias), bytes(&y)];
            let mut expected = double(&y);
            twin::dense_forward(&params, &step(rows), &double(&x), &double(&weights), &double(&bias), &mut expected);
            let product = Product::new(Pass::Forward, params);
            for variant in variants(device, &product, which) {
                let invocations = variant.invocations(&product);
                let found = launch(device, variant.kernel, &params, &step(rows), &buffers, invocations);
                assert_close(
                    &format!("{} {params:?}", variant.kernel),
                    &floats(&found[3]),
                    &expected,
                    tolerance(params.inputs),
                );
            }
            Ok(())
        };
        runner().run(&(shapes(), 0..ACTIVATIONS.len()), check).unwrap();
        // Sums so long that tiles come in bands, the last of them lower.
        check(((170, 256, 19), 1)).unwrap();
        // Two of the largest tiles and more in each direction.
        check(((170, 5, 45), 1)).unwrap();
    });
}

#[test]
fn usual_variants_of_dense_input_gradient_equal_the_twin() {
    check_input_gradient(Variants::Usual);
}

#[test]
#[ignore = "compiles every variant"]
fn every_variant_of_dense_input_gradient_equals_the_twin() {
    check_input_gradient(Variants::Every);
}

fn check_input_gradient(which: Variants) {
    with_device(|device| {
        let check = |((rows, inputs, outputs), kind): ((u32, u32, u32), usize)| {
            let mut epilogue = dropout_behind(ACTIVATIONS[kind], 4 * inputs);
            epilogue.accumulate = rows % 2;
            let params = params(rows, 4 * inputs, 4 * outputs, epilogue);
            let dy = numbers(rows * params.outputs, 1);
            let x = made_by(&epilogue, &step(rows), numbers(rows * params.inputs, 2));
            let weights = numbers(params.inputs * params.outputs, 3);
            let dx = numbers(rows * params.inputs, 4);
            let buffers = [bytes(&dy), bytes(&weights), bytes(&x), bytes(&dx)];
            let mut expected = double(&dx);
            twin::dense_input_gradient(
                &params,
                &step(rows),
                &double(&dy),
                &double(&weights),
                &double(&x),
                &mut expected,
            );
            let product = Product::new(Pass::InputGradient, params);
            for variant in variants(device, &product, which) {
                let invocations = variant.invocations(&product);
                let found = launch(device, variant.kernel, &params, &step(rows), &buffers, invocations);
                assert_close(
                    &format!("{} {params:?}", variant.kernel),
                    &floats(&found[3]),
                    &expected,
                    tolerance(params.outputs),
                );
            }
            Ok(())
        };
        runner().run(&(shapes(), 0..ACTIVATIONS.len()), check).unwrap();
        check(((170, 19, 256), 1)).unwrap();
        check(((170, 45, 5), 1)).unwrap();
    });
}

#[test]
fn usual_variants_of_dense_weight_gradient_equal_the_twin_part_by_part() {
    check_weight_gradient(Variants::Usual);
}

#[test]
#[ignore = "compiles every variant"]
fn every_variant_of_dense_weight_gradient_equals_the_twin_part_by_part() {
    check_weight_gradient(Variants::Every);
}

fn check_weight_gradient(which: Variants) {
    with_device(|device| {
        let check = |(rows, inputs, outputs): (u32, u32, u32)| {
            let params = params(rows, 4 * inputs, 4 * outputs, Epilogue::default());
            let params = Dense { rows_per_part: if rows > 80 { 700 } else { 7 }, ..params };
            let (x, dy) = (numbers(rows * params.inputs, 1), numbers(rows * params.outputs, 2));
            let parts = rows.div_ceil(params.rows_per_part);
            let gradient = vec![0.0f32; (parts * params.part_stride) as usize];
            let buffers = [bytes(&x), bytes(&dy), bytes(&gradient)];
            let mut expected = double(&gradient);
            twin::dense_weight_gradient(&params, &double(&x), &double(&dy), &mut expected);
            let product = Product::new(Pass::WeightGradient, params);
            for variant in variants(device, &product, which) {
                let invocations = variant.invocations(&product);
                let found = launch(device, variant.kernel, &params, &step(rows), &buffers, invocations);
                assert_close(
                    &format!("{} {params:?}", variant.kernel),
                    &floats(&found[2]),
                    &expected,
                    tolerance(params.rows_per_part),
                );
            }
            Ok(())
        };
        runner().run(&shapes(), check).unwrap();
        check((750, 45, 19)).unwrap();
        check((20, 45, 40)).unwrap();
    });
}

#[test]
fn dropout_drops_what_the_generator_says_and_only_in_training() {
    with_device(|device| {
        let params = params(3, 4, 8, dropout_behind(activation::RELU, 8));
        let buffers = [vec![1.0f32; 12], vec![1.0f32; 32], vec![0.0; 8], vec![0.0; 24]];
        let run = |training: u32| {
            let step = shaders::params::Step { training, ..step(3) };
            let buffers: Vec<&[u8]> = buffers.iter().map(|b| bytes(b)).collect();
            floats(&launch(device, "dense_forward", &params, &step, &buffers, tiles(3, 8))[3])
        };
        assert!(run(0).iter().all(|&y| y == 4.0));
        let dropped = run(1);
        for (i, &y) in (0u32..).zip(&dropped) {
            let (row, unit) = (i / 8, i % 8);
            // Numbers are counted over the whole batch, of which other devices have the first rows.
            let elsewhere = step(3).first_row * params.epilogue.features;
            let number = twin::pcg4d::uniform(elsewhere + row * params.units + unit, 1000, 3, 11);
            assert_eq!(y == 0.0, number < 0.2, "row {row}, unit {unit}");
        }
    });
}
