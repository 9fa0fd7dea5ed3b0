use shaders::params::{Attention, Elementwise, Position};

use super::super::layout::CHANNEL_ALIGNMENT;
use super::super::recording::BufferRange;
use super::Planner;
use super::weight_gradient::rows_per_part;
use crate::model::Stage;

impl Planner<'_> {
    pub(super) fn attention_forward(&mut self, index: usize, stage: &Stage, heads: u32) {
        let params = self.stages.attention_params(stage, heads, self.rows);
        let log_sum_exp = self.attention_memory(index, 0, "log of sums", &params);
        let bindings = [self.input_of(stage, 0), self.output_of(stage), log_sum_exp];
        self.builder.dispatch("attention_forward", &params, &bindings, queries(&params));
    }

    /// A value for each query.
    fn attention_memory(&mut self, index: usize, place: usize, name: &'static str, params: &Attention) -> BufferRange {
        self.keep(index, place, name, u64::from(params.heads) * u64::from(params.tokens))
    }

    pub(super) fn attention_backward(&mut self, index: usize, stage: &Stage, heads: u32) {
        let params = self.stages.attention_params(stage, heads, self.rows);
        let log_sum_exp = self.attention_memory(index, 0, "log of sums", &params);
        let means = self.attention_memory(index, 1, "mean products", &params);
        let (x, y, dy) = (self.input_of(stage, 0), self.output_of(stage), self.output_gradient(stage));
        if let Some((dx, epilogue)) = self.input_gradient(stage, 0) {
            let params = Attention { epilogue, ..params };
            let bindings = [x, y, dy, log_sum_exp, dx, means];
            self.builder.dispatch("attention_query_gradient", &params, &bindings, queries(&params));
            let bindings = [x, dy, log_sum_exp, means, dx];
            self.builder.dispatch("attention_key_value_gradient", &params, &bindings, queries(&params));
        }
    }

    pub(super) fn position_forward(&mut self, stage: &Stage) {
        let params = self.stages.position_params(stage, self.rows, CHANNEL_ALIGNMENT);
        let y = self.output_of(stage);
        let bindings = [self.input_of(stage, 0), self.weight(stage, 0), y];
        self.builder.dispatch("position_forward", &params, &bindings, self.quads(y));
    }

    pub(super) fn position_backward(&mut self, stage: &Stage) {
        let params = self.stages.position_params(stage, self.rows, CHANNEL_ALIGNMENT);
        let (x, dy) = (self.input_of(stage, 0), self.output_gradient(stage));
        let quads = u64::from(params.values / 4);
        let rows_per_part = rows_per_part(params.rows, quads, self.choices.emulated());
        self.weight_gradient(stage.tensor, None, params.rows, rows_per_part, |planner, parts| {
            let params = Position { rows_per_part: parts.rows_per_part, part_stride: parts.part_stride, ..params };
            let invocations = u64::from(parts.parts) * quads;
            planner.builder.dispatch("position_gradient", &params, &[dy, parts.output], invocations);
        });
        let elementwise = self.stages.elementwise_params(stage, self.rows, CHANNEL_ALIGNMENT);
        if let Some((dx, epilogue)) = self.input_gradient(stage, 0) {
            let params = Elementwise { epilogue, ..elementwise };
            self.builder.dispatch("pass_gradient", &params, &[dy, x, dx], self.quads(dx));
        }
    }

    pub(super) fn gelu_forward(&mut self, stage: &Stage) {
        let params = self.stages.elementwise_params(stage, self.rows, CHANNEL_ALIGNMENT);
        let (x, y) = (self.input_of(stage, 0), self.output_of(stage));
        self.builder.dispatch("gelu_forward", &params, &[x, y], self.quads(y));
    }

    pub(super) fn gelu_backward(&mut self, stage: &Stage) {
        let params = self.stages.elementwise_params(stage, self.rows, CHANNEL_ALIGNMENT);
        let (x, dy) = (self.input_of(stage, 0), self.output_gradient(stage));
        if let Some((dx, epilogue)) = self.input_gradient(stage, 0) {
            let params = Elementwise { epilogue, ..params };
            self.builder.dispatch("gelu_backward", &params, &[dy, x, dx], self.quads(dx));
        }
    }
}

/// One invocation for each query of each head.
fn queries(params: &Attention) -> u64 {
    u64::from(params.rows) * u64::from(params.heads) * u64::from(params.tokens)
}
