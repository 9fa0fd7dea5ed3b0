use shaders::params::{Dense, Recurrent};

use super::super::layout::CHANNEL_ALIGNMENT;
use super::super::products::{Pass, Product};
use super::super::recording::BufferRange;
use super::Planner;
use crate::model::{Cell, Stage};

/// What a recurrent layer keeps of all steps.
struct Memory {
    /// What the steps are made from, then the gates, then their gradients.
    gates: BufferRange,
    /// Hidden state before each step.
    previous: BufferRange,
    /// An LSTM's cells, or a GRU's products with the hidden states, then their gradients.
    own: BufferRange,
}

impl Planner<'_> {
    pub(super) fn recurrent_forward(&mut self, index: usize, stage: &Stage, cell: Cell) {
        let params = self.recurrent_params(stage, cell);
        let product = self.stages.recurrent_input_params(stage, cell, self.rows, CHANNEL_ALIGNMENT);
        let Memory { gates, previous, own } = self.recurrent_memory(index, stage, cell);
        let (x, y) = (self.input_of(stage, 0), self.output_of(stage));
        let [kernel, recurrent] = [0, 1].map(|tensor| self.product_weight(stage, tensor));
        let bias = self.weight(stage, 2);
        self.builder.product(self.choices, Product::new(Pass::Forward, product), &[x, kernel, bias, gates]);
        let bindings = match cell {
            Cell::Lstm => vec![recurrent, gates, own, previous, y],
            Cell::Gru(_) => vec![recurrent, self.weight(stage, 3), gates, own, previous, y],
            Cell::SimpleRnn(_) => vec![recurrent, gates, previous, y],
        };
        self.builder.product(self.choices, Product::new(Pass::Forward, (cell, params)), &bindings);
    }

    fn recurrent_params(&self, stage: &Stage, cell: Cell) -> Recurrent {
        self.stages.recurrent_params(stage, cell, self.rows, CHANNEL_ALIGNMENT)
    }

    fn recurrent_memory(&mut self, index: usize, stage: &Stage, cell: Cell) -> Memory {
        let params = self.stages.recurrent_params(stage, cell, 1, CHANNEL_ALIGNMENT);
        let states = u64::from(params.sequences * params.steps) * u64::from(params.stored_units);
        let gates = u64::from(cell.gates()) * states;
        Memory {
            gates: self.keep_stored(index, 0, "gates", gates),
            previous: self.keep_stored(index, 1, "hidden states", states),
            own: match cell {
                Cell::Lstm => self.keep(index, 2, "cell states", states),
                Cell::Gru(_) => self.keep_stored(index, 2, "recurrent products", gates),
                Cell::SimpleRnn(_) => BufferRange::default(),
            },
        }
    }

    pub(super) fn recurrent_backward(&mut self, index: usize, stage: &Stage, cell: Cell) {
        let params = self.recurrent_params(stage, cell);
        let Memory { gates, previous, own } = self.recurrent_memory(index, stage, cell);
        let (x, dy) = (self.input_of(stage, 0), self.output_gradient(stage));
        let [kernel, recurrent] = [0, 1].map(|tensor| self.product_weight(stage, tensor));
        // The gates become the gradients of what went into them.
        let bindings = match cell {
            Cell::Lstm => vec![recurrent, dy, own, gates],
            Cell::Gru(_) => {
                let one = self.stages.recurrent_params(stage, cell, 1, CHANNEL_ALIGNMENT);
                let states = u64::from(one.sequences * one.stored_units);
                let kept_gradient = self.keep(index, 3, "kept gradient", states);
                vec![recurrent, dy, previous, gates, own, kept_gradient]
            }
            Cell::SimpleRnn(_) => vec![recurrent, dy, gates],
        };
        self.builder.product(self.choices, Product::new(Pass::InputGradient, (cell, params)), &bindings);
        let input = self.stages.recurrent_input_params(stage, cell, self.rows, CHANNEL_ALIGNMENT);
        self.product_gradient(stage.tensor, Some(stage.tensor + 2), input, x, gates);
        let state = self.stages.recurrent_state_params(stage, cell, self.rows, CHANNEL_ALIGNMENT);
        let (bias, into_products) =
            if cell.has_recurrent_bias() { (Some(stage.tensor + 3), own) } else { (None, gates) };
        self.product_gradient(stage.tensor + 1, bias, state, previous, into_products);
        if let Some((dx, epilogue)) = self.input_gradient(stage, 0) {
            let product = Product::new(Pass::InputGradient, Dense { epilogue, ..input });
            self.builder.product(self.choices, product, &[gates, kernel, x, dx]);
        }
    }
}
