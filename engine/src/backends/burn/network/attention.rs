use burn_tensor::{Tensor, activation};

use super::Planned;
use crate::backends::burn::value::{Value, sides};

impl Planned {
    /// `softmax(q·kᵀ/√d)·v`, from its parts: Burn's own attention is for inference.
    pub(super) fn attention(&self, input: Value, heads: usize) -> Value {
        let [height, width, channels] = sides(self.output);
        let (tokens, size) = (height * width, channels / heads);
        let x = input.channels_last(self.input);
        let rows = x.dims()[0];
        // (rows, heads, tokens, d) of each third of the channels.
        let third = |third: usize| -> Tensor<4> {
            let part = x.clone().narrow(2, third * channels, channels);
            part.reshape([rows, tokens, heads, size]).swap_dims(1, 2)
        };
        let [queries, keys, values] = [0, 1, 2].map(third);
        let scale = 1.0 / (size as f32).sqrt();
        let scores = queries.matmul(keys.swap_dims(2, 3)) * scale;
        let attended = activation::softmax(scores, 3).matmul(values);
        Value::ChannelsLast(attended.swap_dims(1, 2).reshape([rows, tokens, channels]))
    }
}
