use proptest::prelude::*;
use shaders::params::{Add, Epilogue, activation};
use shaders::reference as twin;

use super::{assert_close, bytes, double, floats, launch, made_by, numbers, runner, step, with_device};

/// Pixels of the second summand, how often each is used, channels in fours, activation.
fn shapes() -> impl Strategy<Value = Add> {
    let repeats = prop_oneof![Just(1u32), 2u32..30];
    (1u32..20, repeats, 1u32..5, 0u32..3).prop_map(|(pixels, repeats, fours, kind)| Add {
        pixels: pixels * repeats,
        channels: 4 * fours,
        repeats,
        reserved: 0,
        epilogue: Epilogue {
            activation: [activation::IDENTITY, activation::RELU, activation::TANH][kind as usize],
            dropout_stream: if pixels % 3 == 0 { 0 } else { 1000 },
            dropout_rate: if pixels % 3 == 0 { 0.0 } else { 0.2 },
            accumulate: pixels % 2,
            channels: 4 * fours - 1,
            stored_channels: 4 * fours,
            ..Epilogue::default()
        },
    })
}

#[test]
fn add_forward_equals_its_twin() {
    with_device(|device| {
        let check = |params: Add| {
            let elements = params.pixels * params.channels;
            let (a, b) = (numbers(elements, 1), numbers(elements / params.repeats, 2));
            let y = vec![0.0f32; elements as usize];
            let buffers = [bytes(&a), bytes(&b), bytes(&y)];
            let found = launch(device, "add_forward", &params, &step(1), &buffers, u64::from(elements / 4));
            let mut expected = double(&y);
            twin::add_forward(&params, &step(1), &double(&a), &double(&b), &mut expected);
            assert_close(&format!("{params:?}"), &floats(&found[2]), &expected, 1e-6);
            Ok(())
        };
        runner().run(&shapes(), check).unwrap();
    });
}

#[test]
fn add_gradient_equals_its_twin_for_both_summands() {
    with_device(|device| {
        let check = |params: Add| {
            let elements = params.pixels * params.channels;
            for repeats in [1, params.repeats] {
                let params = Add { repeats, ..params };
                let dy = numbers(elements, 1);
                let x = made_by(&params.epilogue, &step(1), numbers(elements / repeats, 2));
                let dx = numbers(elements / repeats, 3);
                let buffers = [bytes(&dy), bytes(&x), bytes(&dx)];
                let invocations = u64::from(elements / repeats / 4);
                let found = launch(device, "add_gradient", &params, &step(1), &buffers, invocations);
                let mut expected = double(&dx);
                twin::add_gradient(&params, &step(1), &double(&dy), &double(&x), &mut expected);
                assert_close(&format!("{params:?}"), &floats(&found[2]), &expected, 1e-5);
            }
            Ok(())
        };
        runner().run(&shapes(), check).unwrap();
    });
}
