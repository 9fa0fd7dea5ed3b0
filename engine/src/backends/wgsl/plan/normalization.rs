use shaders::params::{BatchNorm, LayerNorm, LocalResponse};

use super::super::layout::CHANNEL_ALIGNMENT;
use super::super::recording::{BufferRange, Combination};
use super::weight_gradient::rows_per_part;
use super::{Forward, Planner};
use crate::model::Stage;

impl Planner<'_> {
    pub(super) fn local_response_forward(&mut self, stage: &Stage, params: LocalResponse) {
        let (x, y) = (self.input_of(stage, 0), self.output_of(stage));
        self.builder.dispatch("local_response_forward", &params, &[x, y], self.quads(y));
    }

    pub(super) fn local_response_backward(&mut self, stage: &Stage, params: LocalResponse) {
        let (x, dy) = (self.input_of(stage, 0), self.output_gradient(stage));
        if let Some((dx, epilogue)) = self.input_gradient(stage, 0) {
            let params = LocalResponse { epilogue, ..params };
            self.builder.dispatch("local_response_backward", &params, &[dy, x, dx], self.quads(dx));
        }
    }

    /// The same sums in as many parts as keep the device busy.
    fn in_parts(&self, params: BatchNorm) -> BatchNorm {
        let pixels = params.rows * params.pixels;
        let pixels_per_part = rows_per_part(pixels, u64::from(params.stored_channels / 4), self.choices.emulated());
        BatchNorm { pixels_per_part, parts: pixels.div_ceil(pixels_per_part), ..params }
    }

    pub(super) fn batch_norm_forward(&mut self, index: usize, stage: &Stage, params: BatchNorm, forward: Forward) {
        let params = self.in_parts(params);
        let channels = u64::from(params.stored_channels);
        let (x, y) = (self.input_of(stage, 0), self.output_of(stage));
        let parts = self.keep_values(index, 1, "batch statistics", u64::from(params.parts) * 2 * channels);
        let saved = self.keep_values(index, 0, "mean and deviation", 2 * channels);
        if forward == Forward::Training {
            let invocations = u64::from(params.parts) * channels / 4;
            self.builder.dispatch("batch_norm_statistics", &params, &[x, parts], invocations);
        }
        // What it makes of the running statistics is the same for all views of a sample.
        if forward != Forward::AnotherView {
            let running = self.running_statistics(stage);
            let (parts, params) =
                if forward == Forward::Training { self.of_all_devices(index, parts, params) } else { (parts, params) };
            self.builder.dispatch("batch_norm_finish", &params, &[parts, running, saved], 64 * channels / 4);
        }
        let [gamma, beta] = [0, 1].map(|tensor| self.weight(stage, tensor));
        self.builder.dispatch("batch_norm_forward", &params, &[x, saved, gamma, beta, y], self.quads(y));
    }

    /// Statistics of the whole batch, as one part, where several devices share it; otherwise those that are there.
    fn of_all_devices(&mut self, index: usize, parts: BufferRange, params: BatchNorm) -> (BufferRange, BatchNorm) {
        if self.exchanging.is_none() {
            return (parts, params);
        }
        let BatchNorm { stored_channels: channels, pixels: pixels_of_sample, pixels_per_part, .. } = params;
        let all = self.keep_values(index, 2, "statistics of all devices", 2 * u64::from(channels));
        self.builder.exchange(parts, all, Combination::Moments { channels, pixels_of_sample, pixels_per_part });
        (all, BatchNorm { parts: 1, pixels_per_part: u32::MAX, ..params })
    }

    /// Running mean and variance, which follow each other in the arena.
    fn running_statistics(&self, stage: &Stage) -> BufferRange {
        let mean = self.weight(stage, 2);
        BufferRange { bytes: 2 * mean.bytes, ..mean }
    }

    pub(super) fn batch_norm_backward(&mut self, index: usize, stage: &Stage, params: BatchNorm) {
        let pixels = params.rows * params.pixels;
        let quads = u64::from(params.stored_channels / 4);
        let (x, dy) = (self.input_of(stage, 0), self.output_gradient(stage));
        let saved = self.kept[index][0];
        let [gamma, beta] = [0, 1].map(|tensor| self.weight(stage, tensor));
        let per_part = rows_per_part(pixels, quads, self.choices.emulated());
        let sums = self.weight_gradient(stage.tensor, Some(stage.tensor + 1), pixels, per_part, |planner, parts| {
            let params = BatchNorm {
                pixels_per_part: parts.rows_per_part,
                parts: parts.parts,
                part_stride: parts.part_stride,
                bias_offset: parts.bias_offset,
                ..params
            };
            let bindings = [x, dy, saved, gamma, beta, parts.output];
            let invocations = u64::from(parts.parts) * quads;
            planner.builder.dispatch("batch_norm_gradient_sums", &params, &bindings, invocations);
        });
        // The arena keeps this device's share, which is summed with all other gradients.
        let sums = if self.exchanging.is_some() {
            let all = self.builder.zeros("gradient sums of all devices", sums.bytes);
            self.builder.exchange(sums, all, Combination::Sum);
            all
        } else {
            sums
        };
        if let Some((dx, epilogue)) = self.input_gradient(stage, 0) {
            let bias_offset = self.tensors[stage.tensor + 1].offset - self.tensors[stage.tensor].offset;
            let params = BatchNorm { epilogue, bias_offset, ..params };
            let bindings = [x, dy, saved, gamma, beta, sums, dx];
            self.builder.dispatch("batch_norm_input_gradient", &params, &bindings, self.quads(dx));
        }
    }

    pub(super) fn layer_norm_forward(&mut self, index: usize, stage: &Stage, epsilon: f32) {
        let params = self.stages.layer_norm_params(stage, epsilon, self.rows, CHANNEL_ALIGNMENT);
        let saved = self.keep(index, 0, "mean and deviation", 2 * u64::from(params.tokens));
        let [gamma, beta] = [0, 1].map(|tensor| self.weight(stage, tensor));
        let bindings = [self.input_of(stage, 0), gamma, beta, self.output_of(stage), saved];
        let invocations = u64::from(params.rows) * u64::from(params.tokens);
        self.builder.dispatch("layer_norm_forward", &params, &bindings, invocations);
    }

    pub(super) fn layer_norm_backward(&mut self, index: usize, stage: &Stage, epsilon: f32) {
        let params = self.stages.layer_norm_params(stage, epsilon, self.rows, CHANNEL_ALIGNMENT);
        let tokens = params.rows * params.tokens;
        let saved = self.keep(index, 0, "mean and deviation", 2 * u64::from(params.tokens));
        let (x, dy) = (self.input_of(stage, 0), self.output_gradient(stage));
        let quads = u64::from(params.stored_channels / 4);
        let per_part = rows_per_part(tokens, quads, self.choices.emulated());
        self.weight_gradient(stage.tensor, Some(stage.tensor + 1), tokens, per_part, |planner, parts| {
            let params = LayerNorm {
                tokens_per_part: parts.rows_per_part,
                part_stride: parts.part_stride,
                bias_offset: parts.bias_offset,
                ..params
            };
            let invocations = u64::from(parts.parts) * quads;
            let bindings = [x, dy, saved, parts.output];
            planner.builder.dispatch("layer_norm_weight_gradient", &params, &bindings, invocations);
        });
        if let Some((dx, epilogue)) = self.input_gradient(stage, 0) {
            let params = LayerNorm { epilogue, ..params };
            let bindings = [x, dy, saved, self.weight(stage, 0), dx];
            self.builder.dispatch("layer_norm_input_gradient", &params, &bindings, u64::from(tokens));
        }
    }
}
