//! The loss, weight updates, and kernels that measure peaks.

use half::f16;
use proptest::prelude::*;
use shaders::Stored;
use shaders::params::{
    BLOCK_ELEMENTS, BlockMultipliers, GradientLimit, Optimizer, PeakFma, PeakStream, RoundWeights, Softmax,
    SoftmaxTotal, Step, StepResult, SumParts,
};
use shaders::reference as twin;

use super::super::device::GpuDevice;
use super::{
    Case, STORED, assert_close, bytes, double, floats, launch, numbers, on_shapes, on_shapes_in_every_mode,
    on_shapes_with, step, storable, uniform, with_device,
};

#[test]
fn softmax_cross_entropy_equals_its_twin() {
    let shapes = ((1u32..600, 1u32..4, 2u32..40, 0u32..20), any::<bool>());
    on_shapes_in_every_mode(shapes, |device, ((rows, positions, classes, missing), varied)| {
        let params = Softmax {
            rows,
            classes,
            stride: classes.next_multiple_of(4),
            summed: u32::from(varied),
            label_smoothing: if varied { 0.2 } else { 0.0 },
            logits_scale: if varied { 1.0 / 9.0 } else { 1.0 },
            gradient_scale: if varied { 4.0 } else { 1.0 },
            positions,
        };
        let count = rows.saturating_sub(missing).max(1);
        let step = Step { count, elsewhere: 3, slot: 2, mark: 77, ..step(rows) };
        let answers = rows * positions;
        // Steep logits and a tie in every answer.
        let mut logits = storable(numbers(answers * params.stride, 1).iter().map(|v| v * 20.0).collect());
        for row in logits.chunks_exact_mut(params.stride as usize) {
            row[(classes - 1) as usize] = row[0];
        }
        let labels: Vec<u32> = (0..answers).map(|answer| answer * 7 % classes).collect();
        let gradient = vec![9.0f32; logits.len()];
        let results = [StepResult::default(); 4];
        let buffers = [bytes(&logits), bytes(&labels), bytes(&gradient), bytes(&results)];
        let at_once = launch(device, "softmax_cross_entropy", &params, &step, &buffers, 1);
        let parts = answers.div_ceil(64);
        let losses = vec![9.0f32; 2 * parts as usize];
        let buffers = [buffers[0], buffers[1], buffers[2], bytes(&losses)];
        let many = launch(device, "softmax_many_answers", &params, &step, &buffers, u64::from(answers));
        let total = SoftmaxTotal { parts, ..SoftmaxTotal::default() };
        let total = launch(device, "softmax_total", &total, &step, &[&many[3], bytes(&results)], 1);
        let mut expected = double(&gradient);
        let (loss, result) = twin::softmax_cross_entropy(&params, &step, &double(&logits), &labels, &mut expected);
        for (gradient, results) in [(&at_once[2], &at_once[3]), (&many[2], &total[1])] {
            assert_close(&format!("{params:?}"), &floats(gradient), &expected, 1e-6);
            let found: Vec<StepResult> = bytemuck::pod_collect_to_vec(results);
            assert_close(&format!("{params:?}: loss"), &[found[2].loss], &[loss], 1e-5);
            assert_eq!((found[2].correct, found[2].mark), (result.correct, 77));
            assert_eq!([found[0], found[1], found[3]], [StepResult::default(); 3]);
        }
    });
}

/// Twin that updates weights and states.
type Twin = fn(&twin::Update<f64>, &mut [f64], [&mut [f64]; 2]);

/// Returns a training step with two different rates, so that confusing them changes the result.
fn rates() -> Step {
    Step { decay_rate: 0.5, ..step(1) }
}

/// Returns different multipliers for each block. Some blocks are frozen at the step of [`rates`], some later or never.
fn multipliers(blocks: u32) -> Vec<BlockMultipliers> {
    let frozen_from = [u32::MAX, 0, rates().step + 1, rates().step, u32::MAX];
    (0..blocks)
        .map(|b| BlockMultipliers {
            learning_rate: 1.0 + b as f32,
            weight_decay: 0.01 * (1 + b) as f32,
            frozen_from: frozen_from[b as usize % frozen_from.len()],
            ..BlockMultipliers::default()
        })
        .collect()
}

/// Compares `kernel` with its twin. `rule` has its parameters except for the size of the arenas.
fn check(device: &GpuDevice, kernel: &str, rule: Optimizer, states: u32, twin: Twin) {
    on_shapes_with(device, &(1u32..9), &|device, blocks| {
        let params = Optimizer { elements: blocks * BLOCK_ELEMENTS, gradient_scale: 0.25, ..rule };
        let multipliers = multipliers(blocks);
        let (gradients, weights) = (numbers(params.elements, 1), numbers(params.elements, 2));
        // Averages of squares are never negative.
        let states: Vec<Vec<f32>> =
            (0..states).map(|s| numbers(params.elements, 3 + s).iter().map(|v| v.abs()).collect()).collect();
        let mut buffers = vec![bytes(&multipliers), bytes(&gradients), bytes(&weights)];
        buffers.extend(states.iter().map(|state| bytes(state)));
        let found = launch(device, kernel, &params, &rates(), &buffers, u64::from(params.elements / 4));
        let wide = |m: &BlockMultipliers| twin::Block {
            learning_rate: f64::from(m.learning_rate),
            weight_decay: f64::from(m.weight_decay),
            frozen_from: m.frozen_from,
        };
        let blocks: Vec<twin::Block<f64>> = multipliers.iter().map(wide).collect();
        let mut expected = double(&weights);
        let mut expected_states = [0, 1].map(|place| states.get(place).map_or(Vec::new(), |state| double(state)));
        let states = expected_states.each_mut().map(Vec::as_mut_slice);
        let (gradients, step) = (double(&gradients), rates());
        let update = twin::Update {
            step: step.step,
            learning_rate: f64::from(step.learning_rate),
            decay_rate: f64::from(step.decay_rate),
            decay: f64::from(params.decay),
            second_decay: f64::from(params.second_decay),
            epsilon: f64::from(params.epsilon),
            nesterov: params.nesterov == 1,
            rate_outside: params.rate_outside == 1,
            gradient_scale: f64::from(params.gradient_scale),
            gradients: &gradients,
            blocks: &blocks,
        };
        twin(&update, &mut expected, states);
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
    });
}

#[test]
fn optimizers_equal_their_twins() {
    let rule = Optimizer { decay: 0.9, second_decay: 0.99, epsilon: 1e-3, ..Optimizer::default() };
    with_device(|device| {
        for (nesterov, rate_outside) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            check(device, "sgd", Optimizer { nesterov, rate_outside, ..rule }, 1, twin::sgd);
        }
        check(device, "rmsprop", rule, 1, twin::rmsprop);
        check(device, "adadelta", Optimizer { decay: 0.95, ..rule }, 2, twin::adadelta);
        check(device, "adam", rule, 2, twin::adam);
        check(device, "adamw", rule, 2, twin::adamw);
    });
}

#[test]
fn average_equals_its_twin_and_only_acts_on_request() {
    on_shapes((1u32..9, 0u32..3, 0.0f32..0.99), |device, (blocks, mode, keep)| {
        let params = Optimizer { elements: blocks * BLOCK_ELEMENTS, ..Optimizer::default() };
        let (weights, shadow) = (numbers(params.elements, 1), numbers(params.elements, 2));
        let step = Step { average: mode, average_keep: keep, ..step(1) };
        let case = Case::new([], [&weights, &shadow], |[], [weights, shadow]| {
            twin::average(mode, f64::from(keep), weights, shadow);
        });
        case.check(device, "average", (&params, &step), params.elements / 4, 1e-6);
        // Lookahead (2) copies the average and mode 0 changes nothing, so these must be exact.
        let found = case.launch(device, "average", &params, &step, u64::from(params.elements / 4));
        assert_eq!(mode == 2, found[0] == found[1], "mode {mode}: the weights are the average");
        assert_eq!(mode != 0, found[1] != shadow, "mode {mode}: the average moves");
        assert_eq!(mode == 2, found[0] != weights, "mode {mode}: the weights move");
    });
}

#[test]
fn sums_of_parts_equal_their_twin() {
    on_shapes_in_every_mode((1u32..100, 1u32..200, 0u32..2), |device, (fours, parts, accumulate)| {
        let params = SumParts { elements: 4 * fours, parts, accumulate, ..SumParts::default() };
        let (values, sum) = (numbers(params.elements * parts, 1), numbers(params.elements, 2));
        let case = Case::new([&values], [&sum], |[values], [sum]| twin::sum_parts(&params, values, sum));
        // Each addition rounds.
        let tolerance = 2e-7 * f64::from(parts.max(5));
        case.check(device, "sum_parts", (&params, &step(1)), fours, tolerance);
        case.check(device, "sum_many_parts", (&params, &step(1)), 256 * fours.div_ceil(4), tolerance);
    });
}

#[test]
fn gradients_are_clipped_by_their_global_norm() {
    on_shapes_in_every_mode((1u32..900, 0.5f32..40.0, 1u32..80), |device, (fours, limit, parts)| {
        let params = GradientLimit { elements: 4 * fours, limit, parts, ..GradientLimit::default() };
        let gradients = numbers(params.elements, 1);
        let limited = vec![9.0; gradients.len()];
        let case = Case::new([&gradients], [&limited], |[gradients], [limited]| {
            let factor = twin::gradient_factor(f64::from(limit), std::iter::once(gradients));
            limited.iter_mut().zip(gradients).for_each(|(limited, gradient)| *limited = factor * gradient);
        });
        case.check(device, "limit_gradients", (&params, &step(1)), 1, 1e-5);
        let buffers = [bytes(&gradients), &vec![0; 8 * parts as usize]];
        let squares = launch(device, "gradient_squares", &params, &step(1), &buffers, u64::from(64 * parts));
        let buffers = [bytes(&gradients), &squares[1], bytes(&limited)];
        let found = launch(device, "limit_many_gradients", &params, &step(1), &buffers, u64::from(64 * parts));
        assert_close(&format!("{params:?}"), &floats(&found[2]), &case.expected[0], 1e-5);
    });
}

const RESULTS: [StepResult; 3] = [StepResult { loss: 1.5, correct: 3, mark: 7 }; 3];

fn round_params(device: &GpuDevice, elements: u32) -> RoundWeights {
    RoundWeights { elements, largest: device.form.stored.largest(), ..RoundWeights::default() }
}

/// Rounds `weights` after the second of three steps, and returns them with the results of the steps.
fn launch_round_weights(device: &GpuDevice, weights: &[f32]) -> (Vec<f32>, Vec<StepResult>) {
    let elements = u32::try_from(weights.len()).unwrap();
    let stored = vec![9.0f32; weights.len()];
    let buffers = [bytes(weights), bytes(&stored), bytes(&RESULTS)];
    let step = Step { slot: 1, ..step(1) };
    let invocations = u64::from(elements / 4);
    let found = launch(device, "round_weights", &round_params(device, elements), &step, &buffers, invocations);
    (floats(&found[1]), bytemuck::pod_collect_to_vec(&found[2]))
}

#[test]
fn round_weights_equals_its_twin() {
    on_shapes(1u32..300, |device, fours| {
        // Weights that f16 cannot represent exactly, some of them so small that they are subnormal.
        let weight = |i| (2.0 * uniform(i, 1, 0, 7) - 1.0) * 0.5f32.powi((i % 24).cast_signed());
        let weights: Vec<f32> = (0..4 * fours).map(weight).collect();
        let mut expected = double(&weights);
        #[expect(clippy::cast_possible_truncation, reason = "the weights are float32")]
        let round = |value: f64| match STORED.get() {
            Stored::F32 => value,
            Stored::F16 => f64::from(f16::from_f32(value as f32)),
        };
        let params = round_params(device, 4 * fours);
        assert!(twin::round_weights(&params, &double(&weights), &mut expected, round));
        let (found, results) = launch_round_weights(device, &weights);
        assert_eq!(double(&found), expected);
        assert_eq!(results, RESULTS);
    });
}

#[test]
fn unstorable_weights_make_the_loss_nan() {
    with_device(|device| {
        let largest = device.form.stored.largest();
        for weight in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, largest * 1.001] {
            let mut weights = [0.5f32; 12];
            weights[6] = weight;
            let (found, results) = launch_round_weights(device, &weights);
            assert!(!found[6].is_finite(), "{weight} became {}", found[6]);
            assert!(
                results[1].loss.is_nan() && (results[1].correct, results[1].mark) == (3, 7),
                "{weight}: {results:?}"
            );
            assert_eq!([results[0], results[2]], [RESULTS[0]; 2]);
        }
        let (found, results) = launch_round_weights(device, &[-largest; 4]);
        assert_eq!((found, results), (vec![-largest; 4], RESULTS.to_vec()));
    });
}

#[test]
fn chains_of_multiply_adds_equal_their_twin() {
    for chains in [2, 4, 8] {
        on_shapes((0u32..6, 1u32..2000), |device, (iterations, invocations)| {
            let params = PeakFma { iterations, invocations, multiplier: 0.99, addend: 0.01 };
            let result = numbers(4 * invocations, 1);
            let case = Case::new([], [&result], |[], [result]| twin::peak_fma(&params, chains, result));
            case.check(device, &format!("peak_fma_{chains}"), (&params, &step(1)), invocations, 1e-5);
        });
    }
}

#[test]
fn streams_access_every_number_once_for_any_invocation_count() {
    on_shapes((1u32..3000, 1u32..1000), |device, (quads, invocations)| {
        let params = PeakStream { quads, invocations, ..PeakStream::default() };
        let (x, y, sums) = (numbers(4 * quads, 1), numbers(4 * quads, 2), numbers(4 * invocations, 3));
        let case = Case::new([&x], [&y], |[x], [y]| twin::peak_copy(&params, x, y));
        case.check(device, "peak_copy", (&params, &step(1)), invocations, 0.0);
        let case = Case::new([&x], [&sums], |[x], [sums]| twin::peak_read(&params, x, sums));
        case.check(device, "peak_read", (&params, &step(1)), invocations, 1e-5);
    });
}
