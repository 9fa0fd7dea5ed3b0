use shaders::params::{Add, Dense, Embedding};

use super::super::layout::CHANNEL_ALIGNMENT;
use super::super::products::{Pass, Product};
use super::super::recording::BufferRange;
use super::Planner;
use super::weight_gradient::rows_per_part;
use crate::model::{Stage, Words};

impl Planner<'_> {
    pub(super) fn lstm_forward(&mut self, index: usize, stage: &Stage) {
        let params = self.stages.lstm_params(stage, self.rows, CHANNEL_ALIGNMENT);
        let product = self.stages.lstm_input_params(stage, self.rows, CHANNEL_ALIGNMENT);
        let [gates, cells, previous] = self.lstm_memory(index, stage);
        let x = self.input_of(stage, 0);
        let [kernel, recurrent] = [0, 1].map(|tensor| self.product_weight(stage, tensor));
        let bias = self.weight(stage, 2);
        self.builder.product(self.choices, Product::new(Pass::Forward, product), &[x, kernel, bias, gates]);
        let bindings = [recurrent, gates, cells, previous, self.output_of(stage)];
        self.builder.product(self.choices, Product::new(Pass::Forward, params), &bindings);
    }

    /// Gates, cells and previous hidden states of all steps.
    fn lstm_memory(&mut self, index: usize, stage: &Stage) -> [BufferRange; 3] {
        let params = self.stages.lstm_params(stage, 1, CHANNEL_ALIGNMENT);
        let states = u64::from(params.sequences * params.steps) * u64::from(params.stored_units);
        [
            self.keep_stored(index, 0, "gates", 4 * states),
            self.keep(index, 1, "cell states", states),
            self.keep_stored(index, 2, "hidden states", states),
        ]
    }

    pub(super) fn lstm_backward(&mut self, index: usize, stage: &Stage) {
        let params = self.stages.lstm_params(stage, self.rows, CHANNEL_ALIGNMENT);
        let [gates, cells, previous] = self.lstm_memory(index, stage);
        let (x, dy) = (self.input_of(stage, 0), self.output_gradient(stage));
        let [kernel, recurrent] = [0, 1].map(|tensor| self.product_weight(stage, tensor));
        // The gates become the gradients of what went into them.
        self.builder.product(self.choices, Product::new(Pass::InputGradient, params), &[recurrent, dy, cells, gates]);
        let product = self.stages.lstm_input_params(stage, self.rows, CHANNEL_ALIGNMENT);
        self.product_gradient(stage.tensor, Some(stage.tensor + 2), product, x, gates);
        let hidden = self.stages.lstm_recurrent_params(stage, self.rows, CHANNEL_ALIGNMENT);
        self.product_gradient(stage.tensor + 1, None, hidden, previous, gates);
        if let Some((dx, epilogue)) = self.input_gradient(stage, 0) {
            let product = Product::new(Pass::InputGradient, Dense { epilogue, ..product });
            self.builder.product(self.choices, product, &[gates, kernel, x, dx]);
        }
    }

    pub(super) fn embedding_forward(&mut self, stage: &Stage, words: Words) {
        let params = self.stages.embedding_params(stage, words, self.rows, CHANNEL_ALIGNMENT);
        let y = self.output_of(stage);
        let bindings = [self.input_of(stage, 0), self.weight(stage, 0), y];
        self.builder.dispatch("embedding_forward", &params, &bindings, self.quads(y));
    }

    pub(super) fn embedding_backward(&mut self, stage: &Stage, words: Words) {
        let params = self.stages.embedding_params(stage, words, self.rows, CHANNEL_ALIGNMENT);
        let (ids, dy) = (self.input_of(stage, 0), self.output_gradient(stage));
        // One invocation for four channels of all words.
        let quads = u64::from(params.channels / 4);
        let tokens = params.rows * params.tokens;
        self.weight_gradient(stage.tensor, None, tokens, rows_per_part(tokens, quads), |planner, parts| {
            let params = Embedding { tokens_per_part: parts.rows_per_part, part_stride: parts.part_stride, ..params };
            let bindings = [ids, dy, parts.output];
            let invocations = u64::from(parts.parts) * quads;
            planner.builder.dispatch("embedding_weight_gradient", &params, &bindings, invocations);
        });
    }

    pub(super) fn add_forward(&mut self, stage: &Stage) {
        let params = self.stages.add_params(stage, self.rows, CHANNEL_ALIGNMENT);
        let y = self.output_of(stage);
        let bindings = [self.input_of(stage, 0), self.input_of(stage, 1), y];
        self.builder.dispatch("add_forward", &params, &bindings, self.quads(y));
    }

    pub(super) fn add_backward(&mut self, stage: &Stage) {
        let params = self.stages.add_params(stage, self.rows, CHANNEL_ALIGNMENT);
        let dy = self.output_gradient(stage);
        for (input, repeats) in [(0, 1), (1, params.repeats)] {
            let x = self.input_of(stage, input);
            if let Some((dx, epilogue)) = self.input_gradient(stage, input) {
                let params = Add { repeats, epilogue, ..params };
                self.builder.dispatch("add_gradient", &params, &[dy, x, dx], self.quads(dx));
            }
        }
    }
}
