use shaders::params::{BLOCK_ELEMENTS, BlockMultipliers, Optimizer, SumParts};
use shaders::reference as twin;

use super::{assert_close, bytes, double, floats, launch, numbers, runner, step, with_device};

type Twin = fn(&twin::Update<f64>, &[twin::Block<f64>], &[f64], &mut [f64], &mut [f64]);

/// Blocks with multipliers of their own, as tensors have.
fn check(kernel: &str, decay: f32, epsilon: f32, twin: Twin) {
    with_device(|device| {
        let check = |blocks: u32| {
            let params = Optimizer { elements: blocks * BLOCK_ELEMENTS, decay, epsilon, reserved: 0 };
            let multipliers: Vec<BlockMultipliers> = (0..blocks)
                .map(|b| BlockMultipliers {
                    learning_rate: 1.0 + b as f32,
                    weight_decay: 0.01 * b as f32,
                    frozen_from: u32::MAX,
                    reserved: 0,
                })
                .collect();
            let (gradients, weights) = (numbers(params.elements, 1), numbers(params.elements, 2));
            let state: Vec<f32> = numbers(params.elements, 3).iter().map(|v| v.abs()).collect();
            let step = step(1);
            let buffers = [bytes(&multipliers), bytes(&gradients), bytes(&weights), bytes(&state)];
            let found = launch(device, kernel, &params, &step, &buffers, u64::from(params.elements / 4));
            let update = twin::Update {
                learning_rate: f64::from(step.learning_rate),
                decay: f64::from(decay),
                epsilon: f64::from(epsilon),
            };
            let blocks: Vec<twin::Block<f64>> = multipliers
                .iter()
                .map(|m| twin::Block {
                    learning_rate: f64::from(m.learning_rate),
                    weight_decay: f64::from(m.weight_decay),
                })
                .collect();
            let (mut expected, mut expected_state) = (double(&weights), double(&state));
            twin(&update, &blocks, &double(&gradients), &mut expected, &mut expected_state);
            assert_close(&format!("{kernel}: weights"), &floats(&found[2]), &expected, 1e-6);
            assert_close(&format!("{kernel}: state"), &floats(&found[3]), &expected_state, 1e-6);
            Ok(())
        };
        runner().run(&(1u32..5), check).unwrap();
    });
}

#[test]
fn sgd_equals_its_twin() {
    check("sgd", 0.9, 0.0, twin::sgd);
}

#[test]
fn rmsprop_equals_its_twin() {
    check("rmsprop", 0.9, 1e-8, twin::rmsprop);
}

#[test]
fn sum_parts_equals_its_twin() {
    with_device(|device| {
        let check = |(fours, parts): (u32, u32)| {
            let params = SumParts { elements: 4 * fours, parts, reserved: [0; 2] };
            let values = numbers(params.elements * parts, 1);
            let sum = vec![0.0f32; params.elements as usize];
            let buffers = [bytes(&values), bytes(&sum)];
            let found = launch(device, "sum_parts", &params, &step(1), &buffers, u64::from(fours));
            let mut expected = double(&sum);
            twin::sum_parts(&params, &double(&values), &mut expected);
            assert_close(&format!("{params:?}"), &floats(&found[1]), &expected, 1e-6);
            Ok(())
        };
        runner().run(&(1u32..100, 1u32..20), check).unwrap();
    });
}
