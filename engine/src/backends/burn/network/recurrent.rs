use burn_tensor::{Tensor, activation, module};

use super::{Pass, Planned};
use crate::backends::burn::functions::Functions;
use crate::backends::burn::value::{Value, sides};
use crate::model::{Activation, Cell};

/// What a step has besides its input.
struct Recurrence {
    /// (units, gates·units).
    weights: Tensor<2>,
    /// (gates·units), of the products with the hidden state.
    bias: Option<Tensor<1>>,
    units: usize,
    functions: Functions,
}

/// What a sequence hands from step to step; nothing is zero.
#[derive(Default)]
struct State {
    hidden: Option<Tensor<2>>,
    cell: Option<Tensor<2>>,
}

impl Planned {
    /// Each row of an image is a sequence of its columns; the last hidden states are the output.
    pub(super) fn recurrent(&self, input: Value, cell: Cell, units: u32, pass: &mut Pass<'_>) -> Value {
        let [height, width, channels] = sides(self.input);
        let (units, columns) = (units as usize, (cell.gates() * units) as usize);
        let kernel = pass.leaves.matrix(self.tensor, [channels, columns]);
        let recurrence = Recurrence {
            weights: pass.leaves.matrix(self.tensor + 1, [units, columns]),
            bias: cell.has_recurrent_bias().then(|| pass.leaves.vector(self.tensor + 3)),
            units,
            functions: self.functions,
        };
        let bias = pass.leaves.vector(self.tensor + 2);
        let x = input.channels_last(self.input);
        let rows = x.dims()[0];
        let sequences = x.reshape([rows * height, width, channels]);
        let mut state = State::default();
        for place in 0..width {
            let now = sequences.clone().narrow(1, place, 1).reshape([rows * height, channels]);
            let input = module::linear(now, kernel.clone(), Some(bias.clone()));
            state = match cell {
                Cell::Lstm => recurrence.lstm(input, state),
                Cell::Gru(activation) => recurrence.gru(input, state, activation),
                Cell::SimpleRnn(activation) => recurrence.simple(input, state, activation),
            };
        }
        let hidden = state.hidden.expect("a sequence has at least one step");
        Value::ChannelsLast(hidden.reshape([rows, height, units]))
    }
}

/// The state after a step; `input`: (sequences, gates·units), `x·W + b`.
impl Recurrence {
    /// `input` with the products of the hidden state.
    fn with_products(&self, input: Tensor<2>, hidden: Option<Tensor<2>>) -> Tensor<2> {
        match hidden {
            Some(hidden) => input + hidden.matmul(self.weights.clone()),
            None => input,
        }
    }

    fn part(&self, gates: &Tensor<2>, gate: usize) -> Tensor<2> {
        gates.clone().narrow(1, gate * self.units, self.units)
    }

    /// Gates i, f, c, o.
    fn lstm(&self, input: Tensor<2>, State { hidden, cell }: State) -> State {
        let gates = self.with_products(input, hidden);
        // The gate of Keras 2.
        let squashed = |gate: usize| activation::hard_sigmoid(self.part(&gates, gate), 0.2, 0.5);
        let written = squashed(0) * self.functions.tanh(self.part(&gates, 2));
        let cell = match cell {
            Some(cell) => squashed(1) * cell + written,
            None => written,
        };
        State { hidden: Some(squashed(3) * self.functions.tanh(cell.clone())), cell: Some(cell) }
    }

    /// Gates z, r, g; the reset gate works on the products, which have a bias of their own.
    fn gru(&self, input: Tensor<2>, State { hidden, .. }: State, function: Activation) -> State {
        let bias = self.bias.clone().expect("a GRU has two biases").unsqueeze_dim(0);
        let products = match hidden.clone() {
            Some(hidden) => hidden.matmul(self.weights.clone()) + bias,
            None => bias.expand(input.dims()),
        };
        let gate = |gate: usize| activation::sigmoid(self.part(&input, gate) + self.part(&products, gate));
        let candidate = self.part(&input, 2) + gate(1) * self.part(&products, 2);
        let candidate = self.functions.activate(candidate, function);
        let kept = gate(0);
        let written = candidate.clone() - kept.clone() * candidate;
        let hidden = match hidden {
            Some(hidden) => kept * hidden + written,
            None => written,
        };
        State { hidden: Some(hidden), cell: None }
    }

    fn simple(&self, input: Tensor<2>, State { hidden, .. }: State, function: Activation) -> State {
        let sum = self.with_products(input, hidden);
        State { hidden: Some(self.functions.activate(sum, function)), cell: None }
    }
}
