use std::ops::Range;

use burn_tensor::module;

use super::{Pass, Planned};
use crate::backends::burn::value::Value;

impl Planned {
    pub(super) fn embedding(
        &self,
        input: Value,
        [vocabulary, units]: [u32; 2],
        words: Range<u32>,
        zero_padding: bool,
        pass: &mut Pass<'_>,
    ) -> Value {
        let weights = pass.leaves.matrix(self.tensor, [vocabulary as usize, units as usize]);
        let numbers = input.flat().narrow(1, words.start as usize, words.len());
        let vectors = module::embedding(weights, numbers.clone().int());
        if !zero_padding {
            return Value::ChannelsLast(vectors);
        }
        // 0 for word 0 and 1 for all others.
        let is_word = numbers.clamp(0.0, 1.0);
        Value::ChannelsLast(vectors * is_word.unsqueeze_dim(2))
    }
}
