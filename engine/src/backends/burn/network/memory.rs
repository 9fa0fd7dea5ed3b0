//! What memory networks are made of.

use burn_tensor::{Tensor, activation};

use super::{Pass, Planned};
use crate::backends::burn::value::{Value, sides};

impl Planned {
    /// Words times the weights of their places, added up in each sentence.
    pub(super) fn sentence_sum(&self, input: Value, words: usize, pass: &Pass<'_>) -> Value {
        let [_, sentences, channels] = sides(self.output);
        let x = input.channels_last(self.input);
        let rows = x.dims()[0];
        let weights = position_weights(words, channels);
        let weights = Tensor::<1>::from_floats(weights.as_slice(), pass.device).reshape([1, 1, words, channels]);
        let sum = (x.reshape([rows, sentences, words, channels]) * weights).sum_dim(2);
        Value::ChannelsLast(sum.reshape([rows, sentences, channels]))
    }

    pub(super) fn word_scores(&self, input: Value, vocabulary: u32, pass: &mut Pass<'_>) -> Value {
        let words = pass.leaves.matrix(self.tensor, [vocabulary, self.input.channels].map(|side| side as usize));
        Value::Flat(input.flat().matmul(words.transpose()))
    }

    /// Products of the pixels of this layer's first input, and of another value of that many channels.
    pub(super) fn pixel_products(&self, input: Value, second: Tensor<3>) -> Value {
        Value::ChannelsLast(input.channels_last(self.input).matmul(second.swap_dims(1, 2)))
    }

    pub(super) fn softmax(&self, input: Value, linear_until: f64, pass: &Pass<'_>) -> Value {
        let x = input.channels_last(self.input);
        let is_linear = linear_until > 0.0 && pass.step.linear == 1;
        Value::ChannelsLast(if is_linear { x } else { activation::softmax(x, 2) })
    }

    pub(super) fn transpose(&self, input: Value) -> Value {
        Value::ChannelsLast(input.channels_last(self.input).swap_dims(1, 2))
    }

    pub(super) fn concatenate(&self, input: Value, second: Tensor<3>) -> Value {
        Value::ChannelsLast(Tensor::cat(vec![input.channels_last(self.input), second], 2))
    }
}

/// `(1 - j/J) - (k/d)·(1 - 2j/J)` for word j and channel k, both counted from 1.
fn position_weights(words: usize, channels: usize) -> Vec<f32> {
    let weight = |at: usize| {
        let place = (at / channels + 1) as f64 / words as f64;
        let height = (at % channels + 1) as f64 / channels as f64;
        #[expect(clippy::cast_possible_truncation, reason = "the device computes in float32")]
        let weight = ((1.0 - place) - height * (1.0 - 2.0 * place)) as f32;
        weight
    };
    (0..words * channels).map(weight).collect()
}
