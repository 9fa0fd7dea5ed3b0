use std::ops::Range;

use burn_tensor::{Tensor, activation, module};

use super::{Pass, Planned};
use crate::backends::burn::functions::Functions;
use crate::backends::burn::value::{Value, sides};

impl Planned {
    /// Each row of an image is a sequence of its columns; the last hidden states are the output.
    pub(super) fn lstm(&self, input: Value, units: usize, pass: &mut Pass<'_>) -> Value {
        let [height, width, channels] = sides(self.input);
        let kernel = pass.leaves.matrix(self.tensor, [channels, 4 * units]);
        let recurrent = pass.leaves.matrix(self.tensor + 1, [units, 4 * units]);
        let bias = pass.leaves.vector(self.tensor + 2);
        let x = input.channels_last(self.input);
        let rows = x.dims()[0];
        let sequences = x.reshape([rows * height, width, channels]);
        let mut state: Option<[Tensor<2>; 2]> = None;
        for place in 0..width {
            let now = sequences.clone().narrow(1, place, 1).reshape([rows * height, channels]);
            let gates = module::linear(now, kernel.clone(), Some(bias.clone()));
            state = Some(advance(gates, &recurrent, state, self.functions));
        }
        let [hidden, _] = state.expect("a sequence has at least one step");
        Value::ChannelsLast(hidden.reshape([rows, height, units]))
    }

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

/// Hidden state and cell after a step; `gates`: (sequences, 4·units), `x·W + b` of the gates i, f, c, o.
fn advance(
    gates: Tensor<2>,
    recurrent: &Tensor<2>,
    state: Option<[Tensor<2>; 2]>,
    functions: Functions,
) -> [Tensor<2>; 2] {
    let units = recurrent.dims()[0];
    let (gates, cell) = match state {
        Some([hidden, cell]) => (gates + hidden.matmul(recurrent.clone()), Some(cell)),
        // The state starts at zero.
        None => (gates, None),
    };
    let part = |gate: usize| gates.clone().narrow(1, gate * units, units);
    // The gate of Keras 2.
    let squashed = |gate: usize| activation::hard_sigmoid(part(gate), 0.2, 0.5);
    let written = squashed(0) * functions.tanh(part(2));
    let cell = match cell {
        Some(cell) => squashed(1) * cell + written,
        None => written,
    };
    [squashed(3) * functions.tanh(cell.clone()), cell]
}
