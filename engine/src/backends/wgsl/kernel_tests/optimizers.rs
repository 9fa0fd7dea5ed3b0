use shaders::params::{BLOCK_ELEMENTS, BlockMultipliers, GradientLimit, Optimizer, Step, SumParts};
use shaders::reference as twin;

use super::{assert_close, bytes, double, floats, launch, numbers, runner, step, with_device};

/// The twin's update of (weights, states).
type Twin = fn(&twin::Update<f64>, &[twin::Block<f64>], &[f64], &mut [f64], &mut [Vec<f64>]);

/// A training step whose rates differ, so that one taken for the other shows.
fn rates() -> Step {
    Step { decay_rate: 0.5, ..step(1) }
}

/// Blocks with multipliers of their own, as tensors have. Some are frozen at the step of [`rates`], some will be.
fn multipliers(blocks: u32) -> Vec<BlockMultipliers> {
    let frozen_from = [u32::MAX, 0, rates().step + 1, rates().step, u32::MAX];
    (0..blocks)
        .map(|b| BlockMultipliers {
            learning_rate: 1.0 + b as f32,
            weight_decay: 0.01 * (1 + b) as f32,
            frozen_from: frozen_from[b as usize % frozen_from.len()],
            reserved: 0,
        })
        .collect()
}

/// What the kernel's parameters are for its twin.
fn update(params: &Optimizer, step: &Step) -> twin::Update<f64> {
    twin::Update {
        step: step.step,
        learning_rate: f64::from(step.learning_rate),
        decay_rate: f64::from(step.decay_rate),
        decay: f64::from(params.decay),
        second_decay: f64::from(params.second_decay),
        epsilon: f64::from(params.epsilon),
        nesterov: params.nesterov == 1,
        rate_outside: params.rate_outside == 1,
        gradient_scale: f64::from(params.gradient_scale),
    }
}

/// Holds `kernel` with so many states to its twin; `rule` is its parameters without the size of the arenas.
fn check(kernel: &str, rule: Optimizer, states: u32, twin: Twin) {
    with_device(|device| {
        let check = |blocks: u32| {
            let params = Optimizer { elements: blocks * BLOCK_ELEMENTS, gradient_scale: 0.25, ..rule };
            let multipliers = multipliers(blocks);
            let (gradients, weights) = (numbers(params.elements, 1), numbers(params.elements, 2));
            // Averages of squares are never negative.
            let states: Vec<Vec<f32>> =
                (0..states).map(|s| numbers(params.elements, 3 + s).iter().map(|v| v.abs()).collect()).collect();
            let mut buffers = vec![bytes(&multipliers), bytes(&gradients), bytes(&weights)];
            buffers.extend(states.iter().map(|state| bytes(state)));
            let found = launch(device, kernel, &params, &rates(), &buffers, u64::from(params.elements / 4));
            let twins: Vec<twin::Block<f64>> = multipliers
                .iter()
                .map(|m| twin::Block {
                    learning_rate: f64::from(m.learning_rate),
                    weight_decay: f64::from(m.weight_decay),
                    frozen_from: m.frozen_from,
                })
                .collect();
            let mut expected = double(&weights);
            let mut expected_states: Vec<Vec<f64>> = states.iter().map(|state| double(state)).collect();
            let update = update(&params, &rates());
            twin(&update, &twins, &double(&gradients), &mut expected, &mut expected_states);
            assert_close(&format!("{params:?}: weights"), &floats(&found[2]), &expected, 1e-6);
            for (found, expected) in found[3..].iter().zip(&expected_states) {
                assert_close(&format!("{params:?}: state"), &floats(found), expected, 1e-6);
            }
            for (block, _) in multipliers.iter().enumerate().filter(|(_, m)| m.frozen_from <= rates().step) {
                let range = 4 * BLOCK_ELEMENTS as usize * block..4 * BLOCK_ELEMENTS as usize * (block + 1);
                for (found, before) in found.iter().zip(&buffers).skip(2) {
                    assert_eq!(found[range.clone()], before[range.clone()], "{kernel} moved the frozen block {block}");
                }
            }
            Ok(())
        };
        runner().run(&(1u32..9), check).unwrap();
    });
}

#[test]
fn sgd_and_its_variants_equal_their_twin() {
    for nesterov in [0, 1] {
        for rate_outside in [0, 1] {
            let rule = Optimizer { decay: 0.9, nesterov, rate_outside, ..Optimizer::default() };
            check("sgd", rule, 1, |update, blocks, gradients, weights, states| {
                twin::sgd(update, blocks, gradients, weights, &mut states[0]);
            });
        }
    }
}

#[test]
fn rmsprop_equals_its_twin() {
    let rule = Optimizer { decay: 0.9, epsilon: 1e-3, ..Optimizer::default() };
    check("rmsprop", rule, 1, |update, blocks, gradients, weights, states| {
        twin::rmsprop(update, blocks, gradients, weights, &mut states[0]);
    });
}

#[test]
fn adadelta_equals_its_twin() {
    let rule = Optimizer { decay: 0.95, epsilon: 1e-3, ..Optimizer::default() };
    check("adadelta", rule, 2, |update, blocks, gradients, weights, states| {
        let (first, second) = states.split_at_mut(1);
        twin::adadelta(update, blocks, gradients, weights, &mut first[0], &mut second[0]);
    });
}

#[test]
fn adam_equals_its_twin() {
    let rule = Optimizer { decay: 0.9, second_decay: 0.99, epsilon: 1e-3, ..Optimizer::default() };
    check("adam", rule, 2, |update, blocks, gradients, weights, states| {
        let (first, second) = states.split_at_mut(1);
        twin::adam(update, blocks, gradients, weights, &mut first[0], &mut second[0]);
    });
}

#[test]
fn adamw_equals_its_twin() {
    let rule = Optimizer { decay: 0.9, second_decay: 0.99, epsilon: 1e-3, ..Optimizer::default() };
    check("adamw", rule, 2, |update, blocks, gradients, weights, states| {
        let (first, second) = states.split_at_mut(1);
        twin::adamw(update, blocks, gradients, weights, &mut first[0], &mut second[0]);
    });
}

#[test]
fn average_equals_its_twin_and_does_nothing_where_the_step_does_not_ask_for_it() {
    with_device(|device| {
        let check = |(blocks, mode, keep): (u32, u32, f32)| {
            let params = Optimizer { elements: blocks * BLOCK_ELEMENTS, ..Optimizer::default() };
            let (weights, shadow) = (numbers(params.elements, 1), numbers(params.elements, 2));
            let step = Step { average: mode, average_keep: keep, ..step(1) };
            let buffers = [bytes(&weights), bytes(&shadow)];
            let found = launch(device, "average", &params, &step, &buffers, u64::from(params.elements / 4));
            let (mut expected, mut expected_shadow) = (double(&weights), double(&shadow));
            twin::average(mode, f64::from(keep), &mut expected, &mut expected_shadow);
            // Lookahead copies, and without an order nothing changes: no rounding is allowed for that.
            assert_close(&format!("mode {mode}: weights"), &floats(&found[0]), &expected, 1e-6);
            assert_close(&format!("mode {mode}: shadow"), &floats(&found[1]), &expected_shadow, 1e-6);
            assert_eq!(mode == 2, found[0] == found[1], "mode {mode}: the weights are the average");
            assert_eq!(mode != 0, found[1] != bytes(&shadow), "mode {mode}: the average moves");
            assert_eq!(mode == 2, found[0] != bytes(&weights), "mode {mode}: the weights move");
            Ok(())
        };
        runner().run(&(1u32..9, 0u32..3, 0.0f32..0.99), check).unwrap();
    });
}

#[test]
fn sums_of_parts_equal_their_twin() {
    with_device(|device| {
        let check = |(fours, parts, accumulate): (u32, u32, u32)| {
            let params = SumParts { elements: 4 * fours, parts, accumulate, reserved: 0 };
            let values = numbers(params.elements * parts, 1);
            let sum = numbers(params.elements, 2);
            let buffers = [bytes(&values), bytes(&sum)];
            let mut expected = double(&sum);
            twin::sum_parts(&params, &double(&values), &mut expected);
            // Each addition rounds.
            let tolerance = 2e-7 * f64::from(parts.max(5));
            for (kernel, invocations) in [("sum_parts", fours), ("sum_many_parts", 256 * fours.div_ceil(4))] {
                let found = launch(device, kernel, &params, &step(1), &buffers, u64::from(invocations));
                assert_close(&format!("{kernel} {params:?}"), &floats(&found[1]), &expected, tolerance);
            }
            Ok(())
        };
        runner().run(&(1u32..100, 1u32..200, 0u32..2), check).unwrap();
    });
}

#[test]
fn gradients_are_shortened_to_the_limit_together() {
    with_device(|device| {
        let check = |(fours, limit): (u32, f32)| {
            let params = GradientLimit { elements: 4 * fours, limit, reserved: [0; 2] };
            let gradients = numbers(params.elements, 1);
            let limited = vec![9.0f32; gradients.len()];
            let found = launch(device, "limit_gradients", &params, &step(1), &[bytes(&gradients), bytes(&limited)], 1);
            let gradients = double(&gradients);
            let factor = twin::gradient_factor(f64::from(limit), std::iter::once(gradients.as_slice()));
            let expected: Vec<f64> = gradients.iter().map(|gradient| factor * gradient).collect();
            assert_close(&format!("{params:?}"), &floats(&found[1]), &expected, 1e-5);
            Ok(())
        };
        runner().run(&(1u32..900, 0.5f32..40.0), check).unwrap();
    });
}
