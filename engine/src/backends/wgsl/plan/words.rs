use shaders::params::{Add, Embedding};

use super::super::layout::CHANNEL_ALIGNMENT;
use super::Planner;
use super::weight_gradient::rows_per_part;
use crate::model::{Stage, Words};

impl Planner<'_> {
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
        let rows_per_part = rows_per_part(tokens, quads, self.choices.emulated());
        self.weight_gradient(stage.tensor, None, tokens, rows_per_part, |planner, parts| {
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
