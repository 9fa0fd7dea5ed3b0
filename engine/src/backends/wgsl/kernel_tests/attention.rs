use shaders::params::{Attention, Epilogue, MAX_HEAD_SIZE};
use shaders::reference as twin;

use super::{ACTIVATIONS, Case, dropout_after, numbers, on_shapes, single, step, storable, with_epilogue};

#[test]
fn attention_kernels_equal_their_twins() {
    // Any number of tokens, heads from the smallest to the largest size, and flat and steep scores.
    let extents = (1u32..4, 1u32..20, 1u32..4, 1..=MAX_HEAD_SIZE / 4, 0.1f32..2.0);
    on_shapes((extents, 0..ACTIVATIONS.len(), 0u32..2), |device, (extents, kind, accumulate)| {
        let (rows, tokens, heads, fours, scale) = extents;
        let head_size = 4 * fours;
        let epilogue = Epilogue { accumulate, ..dropout_after(ACTIVATIONS[kind], 3 * heads * head_size) };
        let params = Attention { rows, tokens, heads, head_size, scale, epilogue, ..Attention::default() };
        let step = step(params.rows);
        let queries = params.rows * params.tokens * params.heads;
        let results = queries * params.head_size;
        let x = with_epilogue(&params.epilogue, &step, numbers(3 * results, 1));
        let (y, log_sum_exp) = (vec![9.0; results as usize], vec![9.0; queries as usize]);
        let case = Case::new([&x], [&y, &log_sum_exp], |[x], [y, log_sum_exp]| {
            twin::attention_forward(&params, x, y, log_sum_exp);
        });
        case.check(device, "attention_forward", (&params, &step), queries, 1e-5);
        let [y, log_sum_exp] = [0, 1].map(|place| single(&case.expected[place]));
        let y = storable(y);
        let (dy, dx, means) = (numbers(results, 2), numbers(3 * results, 3), vec![9.0; queries as usize]);
        let inputs: [&[f32]; 4] = [&x, &y, &dy, &log_sum_exp];
        let case = Case::new(inputs, [&dx, &means], |[x, y, dy, log_sum_exp], [dx, means]| {
            let attended = twin::Attended { y, log_sum_exp };
            twin::attention_query_gradient(&params, &step, x, &attended, dy, dx, means);
        });
        case.check(device, "attention_query_gradient", (&params, &step), queries, 2e-5);
        let means = numbers(queries, 4);
        let inputs: [&[f32]; 4] = [&x, &dy, &log_sum_exp, &means];
        let case = Case::new(inputs, [&dx], |[x, dy, log_sum_exp, means], [dx]| {
            twin::attention_key_value_gradient(&params, &step, x, dy, log_sum_exp, means, dx);
        });
        case.check(device, "attention_key_value_gradient", (&params, &step), queries, 2e-5);
    });
}
