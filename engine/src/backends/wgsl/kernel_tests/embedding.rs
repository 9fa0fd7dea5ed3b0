use proptest::prelude::*;
use shaders::params::{Embedding, Epilogue};
use shaders::reference as twin;

use super::{assert_close, bytes, double, floats, launch, numbers, runner, step, with_device};

/// Words from the middle of each row of numbers, of vocabularies with words that never come up and with only one.
fn shapes() -> impl Strategy<Value = Embedding> {
    let sizes = (1u32..6, 1u32..30, 0u32..4, 0u32..4, 1u32..40, 1u32..5, 0u32..2);
    sizes.prop_map(|(rows, tokens, before, after, words, fours, zero_padding)| {
        let channels = 4 * fours;
        Embedding {
            rows,
            tokens,
            id_stride: before + tokens + after,
            id_offset: before,
            vocabulary: words,
            channels,
            tokens_per_part: 17,
            part_stride: words * channels + 8,
            zero_padding,
            reserved: [0; 3],
            epilogue: Epilogue {
                dropout_stream: 1000,
                dropout_rate: 0.3,
                channels: channels - 1,
                stored_channels: channels,
                ..Epilogue::default()
            },
        }
    })
}

/// Word numbers where they are used; elsewhere numbers that are beyond every vocabulary.
fn ids(params: &Embedding) -> Vec<f32> {
    let used = params.id_offset..params.id_offset + params.tokens;
    let words = numbers(params.rows * params.id_stride, 1);
    let number = |(at, random): (u32, f32)| {
        if used.contains(&(at % params.id_stride)) {
            ((random + 1.0) / 2.0 * params.vocabulary as f32).floor().min(params.vocabulary as f32 - 1.0)
        } else {
            2048.0
        }
    };
    (0..).zip(words).map(number).collect()
}

#[test]
fn embedding_forward_equals_its_twin() {
    with_device(|device| {
        let check = |params: Embedding| {
            let (ids, weights) = (ids(&params), numbers(params.vocabulary * params.channels, 2));
            let y = vec![0.0f32; (params.rows * params.tokens * params.channels) as usize];
            let buffers = [bytes(&ids), bytes(&weights), bytes(&y)];
            let step = step(params.rows);
            let found = launch(device, "embedding_forward", &params, &step, &buffers, y.len() as u64 / 4);
            let mut expected = double(&y);
            twin::embedding_forward(&params, &step, &double(&ids), &double(&weights), &mut expected);
            assert_close(&format!("{params:?}"), &floats(&found[2]), &expected, 1e-6);
            Ok(())
        };
        runner().run(&shapes(), check).unwrap();
    });
}

#[test]
fn embedding_weight_gradient_equals_its_twin_part_by_part() {
    with_device(|device| {
        let check = |params: Embedding| {
            let tokens = params.rows * params.tokens;
            let (ids, dy) = (ids(&params), numbers(tokens * params.channels, 2));
            let parts = tokens.div_ceil(params.tokens_per_part);
            // Sums begin at zero, whatever is there.
            let mut gradient = vec![3.0f32; (parts * params.part_stride) as usize];
            let stride = params.part_stride as usize;
            gradient.chunks_exact_mut(stride).for_each(|part| part[stride - 8..].fill(0.0));
            let buffers = [bytes(&ids), bytes(&dy), bytes(&gradient)];
            let invocations = u64::from(parts * params.channels / 4);
            let step = step(params.rows);
            let found = launch(device, "embedding_weight_gradient", &params, &step, &buffers, invocations);
            let mut expected = double(&gradient);
            twin::embedding_weight_gradient(&params, &double(&ids), &double(&dy), &mut expected);
            assert_close(&format!("{params:?}"), &floats(&found[2]), &expected, 1e-5);
            Ok(())
        };
        runner().run(&shapes(), check).unwrap();
    });
}
