use proptest::prelude::*;
use shaders::params::{Elementwise, Epilogue, Position, activation};
use shaders::reference as twin;

use super::dense::{ACTIVATIONS, dropout_behind};
use super::{assert_close, bytes, double, floats, launch, made_by, numbers, runner, step, with_device};

fn shapes() -> impl Strategy<Value = Position> {
    (1u32..20, 1u32..20, 1u32..8).prop_map(|(rows, fours, rows_per_part)| Position {
        rows,
        values: 4 * fours,
        rows_per_part,
        part_stride: 4 * fours + 8,
        epilogue: dropout_behind(activation::IDENTITY, 4 * fours),
    })
}

#[test]
fn position_forward_equals_its_twin() {
    with_device(|device| {
        let check = |params: Position| {
            let (x, embedding) = (numbers(params.rows * params.values, 1), numbers(params.values, 2));
            let y = vec![9.0f32; x.len()];
            let buffers = [bytes(&x), bytes(&embedding), bytes(&y)];
            let invocations = x.len() as u64 / 4;
            let found = launch(device, "position_forward", &params, &step(params.rows), &buffers, invocations);
            let mut expected = double(&y);
            twin::position_forward(&params, &step(params.rows), &double(&x), &double(&embedding), &mut expected);
            assert_close(&format!("{params:?}"), &floats(&found[2]), &expected, 1e-6);
            Ok(())
        };
        runner().run(&shapes(), check).unwrap();
    });
}

#[test]
fn position_gradient_equals_its_twin_part_by_part() {
    with_device(|device| {
        let check = |params: Position| {
            let dy = numbers(params.rows * params.values, 1);
            let parts = params.rows.div_ceil(params.rows_per_part);
            let gradient = vec![0.0f32; (parts * params.part_stride) as usize];
            let buffers = [bytes(&dy), bytes(&gradient)];
            let invocations = u64::from(parts * params.values / 4);
            let found = launch(device, "position_gradient", &params, &step(params.rows), &buffers, invocations);
            let mut expected = double(&gradient);
            twin::position_gradient(&params, &double(&dy), &mut expected);
            assert_close(&format!("{params:?}"), &floats(&found[1]), &expected, 1e-6);
            Ok(())
        };
        runner().run(&shapes(), check).unwrap();
    });
}

#[test]
fn pass_gradient_equals_its_twin() {
    with_device(|device| {
        let check = |(fours, kind, accumulate): (u32, usize, u32)| {
            let epilogue = Epilogue { accumulate, ..dropout_behind(ACTIVATIONS[kind], 4 * fours) };
            let params = Elementwise { elements: 4 * fours, reserved: [0; 3], epilogue };
            let (dy, dx) = (numbers(params.elements, 1), numbers(params.elements, 3));
            let x = made_by(&epilogue, &step(1), numbers(params.elements, 2));
            let buffers = [bytes(&dy), bytes(&x), bytes(&dx)];
            let found = launch(device, "pass_gradient", &params, &step(1), &buffers, u64::from(fours));
            let mut expected = double(&dx);
            twin::pass_gradient(&params, &step(1), &double(&dy), &double(&x), &mut expected);
            assert_close(&format!("{params:?}"), &floats(&found[2]), &expected, 1e-6);
            Ok(())
        };
        runner().run(&(1u32..200, 0..ACTIVATIONS.len(), 0u32..2), check).unwrap();
    });
}
