//! What memory networks are made of.

use shaders::params::{ChannelSoftmax, Concatenate, PixelProducts, SentenceSum, Transpose};

use super::super::layout::CHANNEL_ALIGNMENT;
use super::Planner;
use crate::model::Stage;

impl Planner<'_> {
    pub(super) fn sentence_sum_forward(&mut self, stage: &Stage, words: u32) {
        let params = self.stages.sentence_sum_params(stage, words, self.rows, CHANNEL_ALIGNMENT);
        let y = self.output_of(stage);
        self.builder.dispatch("sentence_sum_forward", &params, &[self.input_of(stage, 0), y], self.quads(y));
    }

    pub(super) fn sentence_sum_backward(&mut self, stage: &Stage, words: u32) {
        let params = self.stages.sentence_sum_params(stage, words, self.rows, CHANNEL_ALIGNMENT);
        let (x, dy) = (self.input_of(stage, 0), self.output_gradient(stage));
        if let Some((dx, epilogue)) = self.input_gradient(stage, 0) {
            let params = SentenceSum { epilogue, ..params };
            self.builder.dispatch("sentence_sum_gradient", &params, &[dy, x, dx], self.quads(dx));
        }
    }

    /// The words' vectors are the pixels of a second factor, stored as products read weights.
    pub(super) fn word_scores_forward(&mut self, stage: &Stage) {
        let params = self.stages.word_scores_params(stage, self.rows, CHANNEL_ALIGNMENT);
        let y = self.output_of(stage);
        let bindings = [self.input_of(stage, 0), self.product_weight(stage, 0), y];
        self.builder.dispatch("pixel_products_forward", &params, &bindings, self.quads(y));
    }

    pub(super) fn word_scores_backward(&mut self, stage: &Stage) {
        let (x, dy) = (self.input_of(stage, 0), self.output_gradient(stage));
        let product = self.stages.word_vectors_params(stage, self.rows, CHANNEL_ALIGNMENT);
        self.product_gradient(stage.tensor, None, product, dy, x);
        let params = self.stages.word_scores_params(stage, self.rows, CHANNEL_ALIGNMENT);
        if let Some((dx, epilogue)) = self.input_gradient(stage, 0) {
            let params = PixelProducts { epilogue, ..params };
            let bindings = [dy, self.product_weight(stage, 0), x, dx];
            self.builder.dispatch("pixel_products_gradient", &params, &bindings, self.quads(dx));
        }
    }

    pub(super) fn pixel_products_forward(&mut self, stage: &Stage) {
        let params = self.stages.pixel_products_params(stage, self.rows, CHANNEL_ALIGNMENT);
        let y = self.output_of(stage);
        let bindings = [self.input_of(stage, 0), self.input_of(stage, 1), y];
        self.builder.dispatch("pixel_products_forward", &params, &bindings, self.quads(y));
    }

    pub(super) fn pixel_products_backward(&mut self, stage: &Stage) {
        let params = self.stages.pixel_products_params(stage, self.rows, CHANNEL_ALIGNMENT);
        let dy = self.output_gradient(stage);
        for (input, of_second) in [(0, 0), (1, 1)] {
            let [x, other] = [input, 1 - input].map(|input| self.input_of(stage, input));
            if let Some((dx, epilogue)) = self.input_gradient(stage, input) {
                let params = PixelProducts { of_second, epilogue, ..params };
                self.builder.dispatch("pixel_products_gradient", &params, &[dy, other, x, dx], self.quads(dx));
            }
        }
    }

    pub(super) fn softmax_forward(&mut self, stage: &Stage, linear_start: bool) {
        let params = self.stages.channel_softmax_params(stage, linear_start, self.rows, CHANNEL_ALIGNMENT);
        let bindings = [self.input_of(stage, 0), self.output_of(stage)];
        self.builder.dispatch("channel_softmax_forward", &params, &bindings, u64::from(params.pixels));
    }

    pub(super) fn softmax_backward(&mut self, stage: &Stage, linear_start: bool) {
        let params = self.stages.channel_softmax_params(stage, linear_start, self.rows, CHANNEL_ALIGNMENT);
        let (x, dy) = (self.input_of(stage, 0), self.output_gradient(stage));
        if let Some((dx, epilogue)) = self.input_gradient(stage, 0) {
            let params = ChannelSoftmax { epilogue, ..params };
            let pixels = u64::from(params.pixels);
            self.builder.dispatch("channel_softmax_backward", &params, &[dy, x, dx], pixels);
        }
    }

    pub(super) fn transpose_forward(&mut self, stage: &Stage) {
        let params = self.stages.transpose_params(stage, self.rows, CHANNEL_ALIGNMENT);
        let y = self.output_of(stage);
        self.builder.dispatch("transpose_forward", &params, &[self.input_of(stage, 0), y], self.quads(y));
    }

    pub(super) fn transpose_backward(&mut self, stage: &Stage) {
        let params = self.stages.transpose_params(stage, self.rows, CHANNEL_ALIGNMENT);
        let (x, dy) = (self.input_of(stage, 0), self.output_gradient(stage));
        if let Some((dx, epilogue)) = self.input_gradient(stage, 0) {
            let params = Transpose { epilogue, ..params };
            self.builder.dispatch("transpose_gradient", &params, &[dy, x, dx], self.quads(dx));
        }
    }

    pub(super) fn concatenate_forward(&mut self, stage: &Stage) {
        let params = self.stages.concatenate_params(stage, self.rows, CHANNEL_ALIGNMENT);
        let y = self.output_of(stage);
        let bindings = [self.input_of(stage, 0), self.input_of(stage, 1), y];
        self.builder.dispatch("concatenate_forward", &params, &bindings, self.quads(y));
    }

    pub(super) fn concatenate_backward(&mut self, stage: &Stage) {
        let params = self.stages.concatenate_params(stage, self.rows, CHANNEL_ALIGNMENT);
        let dy = self.output_gradient(stage);
        for (input, of_second) in [(0, 0), (1, 1)] {
            let x = self.input_of(stage, input);
            if let Some((dx, epilogue)) = self.input_gradient(stage, input) {
                let params = Concatenate { of_second, epilogue, ..params };
                self.builder.dispatch("concatenate_gradient", &params, &[dy, x, dx], self.quads(dx));
            }
        }
    }
}
