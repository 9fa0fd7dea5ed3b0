use proptest::prelude::*;
use shaders::params::{Epilogue, Pool, activation};
use shaders::reference as twin;

use super::{assert_close, bytes, double, floats, launch, numbers, runner, step, with_device};

/// Windows that overlap, touch, leave pixels out, and hang over the edges.
fn shapes() -> impl Strategy<Value = Pool> {
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
            reserved: [0; 3],
            epilogue: Epilogue { activation: activation::RELU, ..Epilogue::default() },
        }
    })
}

fn inputs(params: &Pool) -> u32 {
    params.rows * params.input_height * params.input_width * params.channels
}

fn outputs(params: &Pool) -> u32 {
    params.rows * params.output_height * params.output_width * params.channels
}

#[test]
fn max_pool_forward_equals_its_twin() {
    with_device(|device| {
        let check = |params: Pool| {
            // Few different values, so that ties happen.
            let x: Vec<f32> = numbers(inputs(&params), 1).iter().map(|v| (v * 3.0).round()).collect();
            let (y, taps) = (vec![0.0f32; outputs(&params) as usize], vec![0u32; outputs(&params) as usize]);
            let buffers = [bytes(&x), bytes(&y), bytes(&taps)];
            let invocations = u64::from(outputs(&params) / 4);
            let found = launch(device, "max_pool_forward", &params, &step(params.rows), &buffers, invocations);
            let (mut expected, mut expected_taps) = (double(&y), taps);
            twin::max_pool_forward(&params, &step(params.rows), &double(&x), &mut expected, &mut expected_taps);
            assert_close(&format!("{params:?}"), &floats(&found[1]), &expected, 0.0);
            prop_assert_eq!(bytemuck::pod_collect_to_vec::<u8, u32>(&found[2]), expected_taps);
            Ok(())
        };
        runner().run(&shapes(), check).unwrap();
    });
}

#[test]
fn max_pool_backward_equals_its_twin() {
    with_device(|device| {
        let check = |params: Pool| {
            let (dy, x) = (numbers(outputs(&params), 1), numbers(inputs(&params), 2));
            let (mut y, mut taps) = (double(&dy), vec![0; dy.len()]);
            twin::max_pool_forward(&params, &step(params.rows), &double(&x), &mut y, &mut taps);
            let dx = vec![0.0f32; x.len()];
            let buffers = [bytes(&dy), bytes(&taps), bytes(&x), bytes(&dx)];
            let invocations = u64::from(inputs(&params) / 4);
            let found = launch(device, "max_pool_backward", &params, &step(params.rows), &buffers, invocations);
            let mut expected = double(&dx);
            twin::max_pool_backward(&params, &step(params.rows), &double(&dy), &taps, &double(&x), &mut expected);
            assert_close(&format!("{params:?}"), &floats(&found[3]), &expected, 1e-6);
            Ok(())
        };
        runner().run(&shapes(), check).unwrap();
    });
}

#[test]
fn average_pool_forward_equals_its_twin() {
    with_device(|device| {
        let check = |params: Pool| {
            let (x, y) = (numbers(inputs(&params), 1), vec![0.0f32; outputs(&params) as usize]);
            let step = step(params.rows);
            let invocations = u64::from(outputs(&params) / 4);
            let found = launch(device, "average_pool_forward", &params, &step, &[bytes(&x), bytes(&y)], invocations);
            let mut expected = double(&y);
            twin::average_pool_forward(&params, &step, &double(&x), &mut expected);
            assert_close(&format!("{params:?}"), &floats(&found[1]), &expected, 1e-6);
            Ok(())
        };
        runner().run(&shapes(), check).unwrap();
    });
}

#[test]
fn average_pool_backward_equals_its_twin() {
    with_device(|device| {
        let check = |params: Pool| {
            let (dy, x) = (numbers(outputs(&params), 1), numbers(inputs(&params), 2));
            let dx = vec![0.0f32; x.len()];
            let step = step(params.rows);
            let buffers = [bytes(&dy), bytes(&x), bytes(&dx)];
            let invocations = u64::from(inputs(&params) / 4);
            let found = launch(device, "average_pool_backward", &params, &step, &buffers, invocations);
            let mut expected = double(&dx);
            twin::average_pool_backward(&params, &step, &double(&dy), &double(&x), &mut expected);
            assert_close(&format!("{params:?}"), &floats(&found[2]), &expected, 1e-6);
            Ok(())
        };
        runner().run(&shapes(), check).unwrap();
    });
}
