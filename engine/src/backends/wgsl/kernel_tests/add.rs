use proptest::prelude::*;
use shaders::Stored;
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

#[test]
fn a_sum_that_cannot_be_stored_is_stored_as_infinite() {
    with_device(|device| {
        let params = Add { pixels: 1, channels: 4, repeats: 1, reserved: 0, epilogue: Epilogue::default() };
        let [a, b, y] = [[60_000.0f32, -60_000.0, 30_000.0, 65_504.0], [60_000.0, -60_000.0, 30_000.0, 0.0], [9.0; 4]];
        let found = launch(device, "add_forward", &params, &step(1), &[bytes(&a), bytes(&b), bytes(&y)], 1);
        let sums = match device.stored() {
            Stored::F32 => [120_000.0, -120_000.0, 60_000.0, 65_504.0],
            Stored::F16 => [f32::INFINITY, f32::NEG_INFINITY, 60_000.0, 65_504.0],
        };
        assert_eq!(floats(&found[2]), sums);
    });
}
