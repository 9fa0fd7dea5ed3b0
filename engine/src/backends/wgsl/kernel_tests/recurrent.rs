use proptest::prelude::*;
use shaders::params::{Epilogue, Lstm, activation};
use shaders::reference as twin;

use super::super::device::Device;
use super::super::products::{Pass, Product};
use super::{
    assert_close, bytes, double, every_variant, floats, launch, numbers, runner, step, storable, stored_on_the_way,
    with_device,
};

/// Sequences, steps and units: workgroups with sequences to spare, single steps, units with padding.
fn shapes() -> impl Strategy<Value = Lstm> {
    (1u32..70, 1u32..6, 1u32..40).prop_map(|(sequences, steps, units)| lstm(sequences, steps, units))
}

fn lstm(sequences: u32, steps: u32, units: u32) -> Lstm {
    let epilogue = Epilogue {
        activation: activation::IDENTITY,
        dropout_stream: 1000,
        dropout_rate: 0.3,
        channels: units,
        features: units,
        ..Epilogue::default()
    };
    let stored_units = units.next_multiple_of(4);
    Lstm { sequences, steps, units, stored_units, epilogue: epilogue.stored(4) }
}

/// Rows of `blocks` times the stored units, each block with its padding of zeros; numbers in `-limit..limit`.
fn padded(params: &Lstm, rows: u32, blocks: u32, stream: u32, limit: f32) -> Vec<f32> {
    let values = numbers(rows * blocks * params.stored_units, stream);
    let known = |at: u32| at % params.stored_units < params.units;
    (0..).zip(values).map(|(at, value)| if known(at) { limit * value } else { 0.0 }).collect()
}

fn recurrent_weights(params: &Lstm) -> Vec<f32> {
    let mut weights = padded(params, params.stored_units, 4, 1, 0.5);
    weights[(params.units * 4 * params.stored_units) as usize..].fill(0.0);
    weights
}

/// Whether the padding of rows of stored units is zero.
fn padding_is_zero(params: &Lstm, values: &[f32]) -> bool {
    (0..).zip(values).all(|(at, &value): (u32, _)| at % params.stored_units < params.units || value == 0.0)
}

fn check_forward(device: &Device, params: &Lstm) {
    let places = params.sequences * params.steps;
    let recurrent = recurrent_weights(params);
    let gates = padded(params, places, 4, 2, 2.0);
    // Whatever was there before must not matter.
    let cells = numbers(places * params.stored_units, 3);
    let previous = numbers(places * params.stored_units, 4);
    let y = numbers(params.sequences * params.stored_units, 5);
    let buffers = [bytes(&recurrent), bytes(&gates), bytes(&cells), bytes(&previous), bytes(&y)];
    let step = step(params.sequences);
    let mut expected = [double(&gates), double(&cells), double(&previous), double(&y)];
    let [gates, cells, previous, y] = &mut expected;
    twin::lstm_forward(params, &step, &double(&recurrent), gates, cells, previous, y);
    let product = Product::new(Pass::Forward, *params);
    for variant in every_variant(device, &product) {
        let found = launch(device, variant.kernel, params, &step, &buffers, variant.invocations(&product));
        let found = found[1..].iter().zip(&expected);
        for (what, (found, expected)) in ["gates", "cells", "previous", "y"].iter().zip(found) {
            let (found, what) = (floats(found), format!("{what} of {} of {params:?}", variant.kernel));
            assert_close(&what, &found, expected, stored_on_the_way(8.0, 1e-5));
            assert!(what.starts_with("gates") || padding_is_zero(params, &found), "{what}: padding");
        }
    }
}

fn check_backward(device: &Device, params: &Lstm) {
    let places = params.sequences * params.steps;
    let recurrent = recurrent_weights(params);
    let dy = padded(params, params.sequences, 1, 2, 1.0);
    let mut state = [
        double(&padded(params, places, 4, 3, 2.0)),
        vec![0.0; (places * params.stored_units) as usize],
        vec![0.0; (places * params.stored_units) as usize],
        vec![0.0; (params.sequences * params.stored_units) as usize],
    ];
    let [gates, cells, previous, y] = &mut state;
    twin::lstm_forward(params, &step(params.sequences), &double(&recurrent), gates, cells, previous, y);
    #[expect(clippy::cast_possible_truncation, reason = "kernels compute in float32")]
    let single = |values: &[f64]| -> Vec<f32> { values.iter().map(|&v| v as f32).collect() };
    let (gates, cells) = (storable(single(gates)), single(cells));
    let buffers = [bytes(&recurrent), bytes(&dy), bytes(&cells), bytes(&gates)];
    let mut expected = [double(&cells), double(&gates)];
    let [cells, gates] = &mut expected;
    twin::lstm_backward(params, &double(&recurrent), &double(&dy), cells, gates);
    let product = Product::new(Pass::InputGradient, *params);
    for variant in every_variant(device, &product) {
        let step = step(params.sequences);
        let found = launch(device, variant.kernel, params, &step, &buffers, variant.invocations(&product));
        for (what, (found, expected)) in ["cells", "gates"].iter().zip(found[2..].iter().zip(&expected)) {
            let (found, what) = (floats(found), format!("{what} of {} of {params:?}", variant.kernel));
            assert_close(&what, &found, expected, stored_on_the_way(8.0, 1e-5));
            assert!(padding_is_zero(params, &found), "{what}: padding");
        }
    }
}

#[test]
fn every_variant_of_lstm_forward_equals_the_twin() {
    with_device(|device| {
        let check = |params: Lstm| {
            check_forward(device, &params);
            Ok(())
        };
        runner().run(&shapes(), check).unwrap();
    });
}

#[test]
fn every_variant_of_lstm_backward_equals_the_twin() {
    with_device(|device| {
        let check = |params: Lstm| {
            check_backward(device, &params);
            Ok(())
        };
        runner().run(&shapes(), check).unwrap();
    });
}

#[test]
fn lstms_of_more_units_than_a_workgroup_holds_equal_their_twins() {
    with_device(|device| {
        for units in [131, 259, 512, 530] {
            check_forward(device, &lstm(3, 3, units));
            check_backward(device, &lstm(3, 3, units));
        }
    });
}

#[test]
fn sequences_without_a_gradient_get_none() {
    with_device(|device| {
        let params = lstm(9, 4, 6);
        let places = params.sequences * params.steps;
        let recurrent = recurrent_weights(&params);
        let (cells, gates) = (padded(&params, places, 1, 2, 1.0), padded(&params, places, 4, 3, 1.0));
        let mut dy = padded(&params, params.sequences, 1, 4, 1.0);
        let empty = 5;
        dy[(empty * params.stored_units) as usize..].fill(0.0);
        let buffers = [bytes(&recurrent), bytes(&dy), bytes(&cells), bytes(&gates)];
        let product = Product::new(Pass::InputGradient, params);
        for variant in every_variant(device, &product) {
            let invocations = variant.invocations(&product);
            let found = launch(device, variant.kernel, &params, &step(empty), &buffers, invocations);
            let (some, none) = (floats(&found[3]), (empty * params.steps * 4 * params.stored_units) as usize);
            assert!(some[..none].iter().any(|&dz| dz != 0.0), "{}", variant.kernel);
            assert!(some[none..].iter().all(|&dz| dz == 0.0), "{}", variant.kernel);
        }
    });
}
