use proptest::prelude::*;
use shaders::params::{Epilogue, LocalResponse};
use shaders::reference as twin;

use super::dense::{ACTIVATIONS, dropout_behind};
use super::{assert_close, bytes, double, floats, launch, made_by, padded, runner, step, with_device};

/// Radii smaller and larger than four channels and than all of them; the last channel is padding.
fn shapes() -> impl Strategy<Value = LocalResponse> {
    let extents = (1u32..4, 1u32..20, 1u32..7, 0u32..10, 0..ACTIVATIONS.len(), 0u32..2);
    extents.prop_map(|(rows, pixels, fours, radius, kind, accumulate)| LocalResponse {
        rows,
        pixels,
        stored_channels: 4 * fours,
        radius,
        bias: 0.7,
        alpha: 0.4,
        beta: 0.75,
        reserved: 0,
        epilogue: Epilogue { accumulate, ..dropout_behind(ACTIVATIONS[kind], 4 * fours) },
    })
}

fn values(params: &LocalResponse, stream: u32) -> Vec<f32> {
    padded(params.rows * params.pixels, params.stored_channels - 1, params.stored_channels, stream)
}

#[test]
fn local_response_forward_equals_its_twin() {
    with_device(|device| {
        let check = |params: LocalResponse| {
            let x = values(&params, 1);
            let y = vec![9.0f32; x.len()];
            let step = step(params.rows);
            let buffers = [bytes(&x), bytes(&y)];
            let invocations = x.len() as u64 / 4;
            let found = launch(device, "local_response_forward", &params, &step, &buffers, invocations);
            let mut expected = double(&y);
            twin::local_response_forward(&params, &step, &double(&x), &mut expected);
            assert_close(&format!("{params:?}"), &floats(&found[1]), &expected, 2e-6);
            Ok(())
        };
        runner().run(&shapes(), check).unwrap();
    });
}

#[test]
fn local_response_backward_equals_its_twin() {
    with_device(|device| {
        let check = |params: LocalResponse| {
            let step = step(params.rows);
            let (dy, x) = (values(&params, 1), made_by(&params.epilogue, &step, values(&params, 2)));
            let dx = values(&params, 3);
            let buffers = [bytes(&dy), bytes(&x), bytes(&dx)];
            let invocations = x.len() as u64 / 4;
            let found = launch(device, "local_response_backward", &params, &step, &buffers, invocations);
            let mut expected = double(&dx);
            twin::local_response_backward(&params, &step, &double(&dy), &double(&x), &mut expected);
            assert_close(&format!("{params:?}"), &floats(&found[2]), &expected, 4e-6);
            Ok(())
        };
        runner().run(&shapes(), check).unwrap();
    });
}
