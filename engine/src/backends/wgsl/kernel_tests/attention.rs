use proptest::prelude::*;
use shaders::params::{Attention, Epilogue, LARGEST_HEAD};
use shaders::reference as twin;

use super::dense::{ACTIVATIONS, dropout_behind};
use super::{assert_close, bytes, double, floats, launch, made_by, numbers, runner, step, storable, with_device};

/// Tokens in fours and not, heads from the smallest to the largest, scores mild and steep.
fn shapes() -> impl Strategy<Value = Attention> {
    let extents = (1u32..4, 1u32..20, 1u32..4, 1..=LARGEST_HEAD / 4, 0.1f32..2.0);
    (extents, 0..ACTIVATIONS.len(), 0u32..2).prop_map(|((rows, tokens, heads, fours, scale), kind, accumulate)| {
        let head_size = 4 * fours;
        let epilogue = Epilogue { accumulate, ..dropout_behind(ACTIVATIONS[kind], 3 * heads * head_size) };
        Attention { rows, tokens, heads, head_size, scale, reserved: [0; 3], epilogue }
    })
}

/// Values of the result, and queries of all heads.
fn sizes(params: &Attention) -> (u32, u32) {
    let queries = params.rows * params.tokens * params.heads;
    (queries * params.head_size, queries)
}

fn queries_keys_and_values(params: &Attention) -> Vec<f32> {
    made_by(&params.epilogue, &step(params.rows), numbers(3 * sizes(params).0, 1))
}

/// The result and the log-sum-exp, from the twin.
fn attended(params: &Attention, x: &[f32]) -> [Vec<f32>; 2] {
    let (results, queries) = sizes(params);
    let (mut y, mut log_sum_exp) = (vec![0.0; results as usize], vec![0.0; queries as usize]);
    twin::attention_forward(params, x, &mut y, &mut log_sum_exp);
    [storable(y), log_sum_exp]
}

#[test]
fn attention_forward_equals_its_twin() {
    with_device(|device| {
        let check = |params: Attention| {
            let x = queries_keys_and_values(&params);
            let (results, queries) = sizes(&params);
            let (y, log_sum_exp) = (vec![9.0f32; results as usize], vec![9.0f32; queries as usize]);
            let buffers = [bytes(&x), bytes(&y), bytes(&log_sum_exp)];
            let found = launch(device, "attention_forward", &params, &step(params.rows), &buffers, queries.into());
            let [x, mut expected, mut expected_log_sum_exp] = [x, y, log_sum_exp].map(|v| double(&v));
            twin::attention_forward(&params, &x, &mut expected, &mut expected_log_sum_exp);
            assert_close(&format!("{params:?}"), &floats(&found[1]), &expected, 1e-5);
            assert_close(&format!("{params:?}"), &floats(&found[2]), &expected_log_sum_exp, 1e-5);
            Ok(())
        };
        runner().run(&shapes(), check).unwrap();
    });
}

#[test]
fn attention_query_gradient_equals_its_twin_and_leaves_keys_and_values_alone() {
    with_device(|device| {
        let check = |params: Attention| {
            let x = queries_keys_and_values(&params);
            let (results, queries) = sizes(&params);
            let [y, log_sum_exp] = attended(&params, &x);
            let (dy, dx, means) = (numbers(results, 2), numbers(3 * results, 3), vec![9.0f32; queries as usize]);
            let buffers = [bytes(&x), bytes(&y), bytes(&dy), bytes(&log_sum_exp), bytes(&dx), bytes(&means)];
            let step = step(params.rows);
            let found = launch(device, "attention_query_gradient", &params, &step, &buffers, queries.into());
            let [x, y, dy, log_sum_exp, mut expected, mut expected_means] =
                [x, y, dy, log_sum_exp, dx, means].map(|v| double(&v));
            let attended = twin::Attended { y: &y, log_sum_exp: &log_sum_exp };
            twin::attention_query_gradient(&params, &step, &x, &attended, &dy, &mut expected, &mut expected_means);
            assert_close(&format!("{params:?}"), &floats(&found[4]), &expected, 2e-5);
            assert_close(&format!("{params:?}"), &floats(&found[5]), &expected_means, 2e-5);
            Ok(())
        };
        runner().run(&shapes(), check).unwrap();
    });
}

#[test]
fn attention_key_value_gradient_equals_its_twin_and_leaves_queries_alone() {
    with_device(|device| {
        let check = |params: Attention| {
            let x = queries_keys_and_values(&params);
            let (results, queries) = sizes(&params);
            let [_, log_sum_exp] = attended(&params, &x);
            let (dy, dx, means) = (numbers(results, 2), numbers(3 * results, 3), numbers(queries, 4));
            let buffers = [bytes(&x), bytes(&dy), bytes(&log_sum_exp), bytes(&means), bytes(&dx)];
            let step = step(params.rows);
            let found = launch(device, "attention_key_value_gradient", &params, &step, &buffers, queries.into());
            let [x, dy, log_sum_exp, means, mut expected] = [x, dy, log_sum_exp, means, dx].map(|v| double(&v));
            twin::attention_key_value_gradient(&params, &step, &x, &dy, &log_sum_exp, &means, &mut expected);
            assert_close(&format!("{params:?}"), &floats(&found[4]), &expected, 2e-5);
            Ok(())
        };
        runner().run(&shapes(), check).unwrap();
    });
}
