use proptest::prelude::*;
use shaders::params::{Epilogue, Pool, activation};
use shaders::reference as twin;

use super::{Case, assert_close, bytes, double, floats, launch, numbers, on_shapes, step};

/// Generates windows that overlap, touch, skip pixels, or extend past the edges.
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
            epilogue: Epilogue { activation: activation::RELU, ..Epilogue::default() },
            ..Pool::default()
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
fn max_pools_equal_their_twins() {
    on_shapes(shapes(), |device, params| {
        let (inputs, outputs, step) = (inputs(&params), outputs(&params), step(params.rows));
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
    on_shapes(shapes(), |device, params| {
        let (inputs, outputs, step) = (inputs(&params), outputs(&params), step(params.rows));
        let (x, y) = (numbers(inputs, 1), vec![0.0; outputs as usize]);
        let case = Case::new([&x], [&y], |[x], [y]| twin::average_pool_forward(&params, &step, x, y));
        case.check(device, "average_pool_forward", (&params, &step), outputs / 4, 1e-6);
        let (dy, x, dx) = (numbers(outputs, 1), numbers(inputs, 2), vec![0.0; inputs as usize]);
        let case = Case::new([&dy, &x], [&dx], |[dy, x], [dx]| twin::average_pool_backward(&params, &step, dy, x, dx));
        case.check(device, "average_pool_backward", (&params, &step), inputs / 4, 1e-6);
    });
}
