use shaders::params::{Elementwise, Epilogue, activation};
use shaders::reference as twin;

use super::dense::{ACTIVATIONS, dropout_behind};
use super::{assert_close, bytes, double, floats, launch, made_by, numbers, runner, step, storable, with_device};

fn params(fours: u32, epilogue: Epilogue) -> Elementwise {
    Elementwise { elements: 4 * fours, reserved: [0; 3], epilogue }
}

/// From where all is cut off to where nothing is.
fn spread(count: u32, stream: u32) -> Vec<f32> {
    storable(numbers(count, stream).iter().map(|x| 7.0 * x).collect())
}

#[test]
fn gelu_forward_equals_its_twin() {
    with_device(|device| {
        let check = |fours: u32| {
            // What is dropped is dropped behind the activation.
            let params = params(fours, dropout_behind(activation::IDENTITY, 4 * fours));
            let x = spread(params.elements, 1);
            let y = vec![9.0f32; x.len()];
            let buffers = [bytes(&x), bytes(&y)];
            let found = launch(device, "gelu_forward", &params, &step(1), &buffers, u64::from(fours));
            let mut expected = double(&y);
            twin::gelu_forward(&params, &step(1), &double(&x), &mut expected);
            assert_close(&format!("{params:?}"), &floats(&found[1]), &expected, 5e-7);
            Ok(())
        };
        runner().run(&(1u32..200), check).unwrap();
    });
}

#[test]
fn far_from_zero_gelu_is_nothing_or_all() {
    with_device(|device| {
        let params = params(1, Epilogue { channels: 4, stored_channels: 4, ..Epilogue::default() });
        let x = [-400.0f32, -40.0, 40.0, 400.0];
        let y = [9.0f32; 4];
        let found = launch(device, "gelu_forward", &params, &step(1), &[bytes(&x), bytes(&y)], 1);
        assert_eq!(floats(&found[1]), [0.0, 0.0, 40.0, 400.0]);
        let found = launch(device, "gelu_backward", &params, &step(1), &[bytes(&y), bytes(&x), bytes(&y)], 1);
        assert_eq!(floats(&found[2]), [0.0, 0.0, 9.0, 9.0]);
    });
}

#[test]
fn gelu_backward_equals_its_twin() {
    with_device(|device| {
        let check = |(fours, kind, accumulate): (u32, usize, u32)| {
            let params = params(fours, Epilogue { accumulate, ..dropout_behind(ACTIVATIONS[kind], 4 * fours) });
            let dy = numbers(params.elements, 1);
            let x = made_by(&params.epilogue, &step(1), spread(params.elements, 2));
            let dx = numbers(params.elements, 3);
            let buffers = [bytes(&dy), bytes(&x), bytes(&dx)];
            let found = launch(device, "gelu_backward", &params, &step(1), &buffers, u64::from(fours));
            let mut expected = double(&dx);
            twin::gelu_backward(&params, &step(1), &double(&dy), &double(&x), &mut expected);
            assert_close(&format!("{params:?}"), &floats(&found[2]), &expected, 2e-6);
            Ok(())
        };
        runner().run(&(1u32..200, 0..ACTIVATIONS.len(), 0u32..2), check).unwrap();
    });
}
