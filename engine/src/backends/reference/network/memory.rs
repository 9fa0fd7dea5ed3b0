//! What memory networks are made of.

use shaders::Real;
use shaders::params::{ChannelSoftmax, Concatenate, PixelProducts, SentenceSum, Step, Transpose};
use shaders::reference as twin;

use super::{ALIGNMENT, Network};
use crate::model::Stage;

impl<T: Real> Network<T> {
    pub(super) fn sentence_sum_forward(&self, stage: &Stage, words: u32, step: &Step, mut y: Vec<T>) -> Vec<T> {
        let params = self.stages.sentence_sum_params(stage, words, self.rows, ALIGNMENT);
        twin::sentence_sum_forward(&params, step, &self.values[stage.inputs[0]], &mut y);
        y
    }

    pub(super) fn sentence_sum_backward(&mut self, stage: &Stage, words: u32, step: &Step, dy: &[T]) {
        let params = self.stages.sentence_sum_params(stage, words, self.rows, ALIGNMENT);
        self.contribute(stage, 0, |_, x, &epilogue, dx| {
            twin::sentence_sum_gradient(&SentenceSum { epilogue, ..params }, step, dy, x, dx);
        });
    }

    pub(super) fn word_scores_forward(&self, stage: &Stage, step: &Step, mut y: Vec<T>) -> Vec<T> {
        let params = self.stages.word_scores_params(stage, self.rows, ALIGNMENT);
        let (x, words) = (&self.values[stage.inputs[0]], &self.tensors[stage.tensor]);
        twin::pixel_products_forward(&params, step, x, words, &mut y);
        y
    }

    pub(super) fn word_scores_backward(&mut self, stage: &Stage, step: &Step, dy: &[T]) {
        let params = self.stages.word_vectors_params(stage, self.rows, ALIGNMENT);
        let x = &self.values[stage.inputs[0]];
        twin::dense_weight_gradient(&params, dy, x, &mut self.gradients[stage.tensor]);
        let params = self.stages.word_scores_params(stage, self.rows, ALIGNMENT);
        self.contribute(stage, 0, |network, x, &epilogue, dx| {
            let params = PixelProducts { epilogue, ..params };
            twin::pixel_products_gradient(&params, step, dy, &network.tensors[stage.tensor], x, dx);
        });
    }

    pub(super) fn pixel_products_forward(&self, stage: &Stage, step: &Step, mut y: Vec<T>) -> Vec<T> {
        let params = self.stages.pixel_products_params(stage, self.rows, ALIGNMENT);
        let [a, b] = [0, 1].map(|input| &self.values[stage.inputs[input]]);
        twin::pixel_products_forward(&params, step, a, b, &mut y);
        y
    }

    pub(super) fn pixel_products_backward(&mut self, stage: &Stage, step: &Step, dy: &[T]) {
        let params = self.stages.pixel_products_params(stage, self.rows, ALIGNMENT);
        for (input, of_second) in [(0, 0), (1, 1)] {
            let other = self.values[stage.inputs[1 - input]].clone();
            self.contribute(stage, input, |_, x, &epilogue, dx| {
                let params = PixelProducts { of_second, epilogue, ..params };
                twin::pixel_products_gradient(&params, step, dy, &other, x, dx);
            });
        }
    }

    pub(super) fn softmax_forward(&self, stage: &Stage, linear_start: bool, step: &Step, mut y: Vec<T>) -> Vec<T> {
        let params = self.stages.channel_softmax_params(stage, linear_start, self.rows, ALIGNMENT);
        twin::channel_softmax_forward(&params, step, &self.values[stage.inputs[0]], &mut y);
        y
    }

    pub(super) fn softmax_backward(&mut self, stage: &Stage, linear_start: bool, step: &Step, dy: &[T]) {
        let params = self.stages.channel_softmax_params(stage, linear_start, self.rows, ALIGNMENT);
        self.contribute(stage, 0, |_, x, &epilogue, dx| {
            let params = ChannelSoftmax { epilogue, ..params };
            twin::channel_softmax_backward(&params, step, dy, x, dx);
        });
    }

    pub(super) fn transpose_forward(&self, stage: &Stage, step: &Step, mut y: Vec<T>) -> Vec<T> {
        let params = self.stages.transpose_params(stage, self.rows, ALIGNMENT);
        twin::transpose_forward(&params, step, &self.values[stage.inputs[0]], &mut y);
        y
    }

    pub(super) fn transpose_backward(&mut self, stage: &Stage, step: &Step, dy: &[T]) {
        let params = self.stages.transpose_params(stage, self.rows, ALIGNMENT);
        self.contribute(stage, 0, |_, x, &epilogue, dx| {
            let params = Transpose { epilogue, ..params };
            twin::transpose_gradient(&params, step, dy, x, dx);
        });
    }

    pub(super) fn concatenate_forward(&self, stage: &Stage, step: &Step, mut y: Vec<T>) -> Vec<T> {
        let params = self.stages.concatenate_params(stage, self.rows, ALIGNMENT);
        let [a, b] = [0, 1].map(|input| &self.values[stage.inputs[input]]);
        twin::concatenate_forward(&params, step, a, b, &mut y);
        y
    }

    pub(super) fn concatenate_backward(&mut self, stage: &Stage, step: &Step, dy: &[T]) {
        let params = self.stages.concatenate_params(stage, self.rows, ALIGNMENT);
        for (input, of_second) in [(0, 0), (1, 1)] {
            self.contribute(stage, input, |_, x, &epilogue, dx| {
                let params = Concatenate { of_second, epilogue, ..params };
                twin::concatenate_gradient(&params, step, dy, x, dx);
            });
        }
    }
}
