//! One pass through the stages of a model, forth and back.

mod attention;
mod convolution;
mod dense;
mod memory;
mod normalization;
mod pooling;
mod recurrent;
mod words;

use shaders::Real;
use shaders::params::{Epilogue, Step};

use crate::model::{PoolKind, Stage, StageKind, Stages};

/// Layouts of the reference have no padding.
pub(super) const ALIGNMENT: u32 = 1;

/// The stages of a model, its tensors, and what one pass leaves behind.
pub(super) struct Network<T> {
    stages: Stages,
    /// All tensors in model order.
    pub(super) tensors: Vec<Vec<T>>,
    /// Loss gradients of `tensors` of the last [`Network::backward`].
    pub(super) gradients: Vec<Vec<T>>,
    /// (rows, features) of each value.
    values: Vec<Vec<T>>,
    /// Gradients of `values`, once something has contributed.
    value_gradients: Vec<Option<Vec<T>>>,
    /// For each stage, what its forward pass kept.
    kept: Vec<Kept<T>>,
    rows: u32,
}

/// What a stage's forward pass keeps for its backward pass.
#[derive(Clone, Debug, Default)]
pub(super) struct Kept<T> {
    /// Winning taps of a pooling stage.
    taps: Vec<u32>,
    /// Whatever numbers a stage needs again.
    numbers: Vec<Vec<T>>,
}

impl<T: Real> Network<T> {
    pub(super) fn new(stages: Stages, tensors: Vec<Vec<T>>) -> Self {
        Self {
            gradients: tensors.iter().map(|t| vec![T::ZERO; t.len()]).collect(),
            tensors,
            values: vec![Vec::new(); stages.values.len()],
            value_gradients: vec![None; stages.values.len()],
            kept: vec![Kept::default(); stages.stages.len()],
            stages,
            rows: 0,
        }
    }

    /// Logits of `input` (`rows` samples).
    pub(super) fn forward(&mut self, step: &Step, input: Vec<T>, rows: u32) -> &[T] {
        self.rows = rows;
        self.values[0] = input;
        for index in 0..self.stages.stages.len() {
            let stage = self.stages.stages[index].clone();
            let features = self.stages.output(&stage).stored_features(ALIGNMENT);
            let y = vec![T::ZERO; (rows * features) as usize];
            self.values[stage.output] = self.stage_forward(index, &stage, step, y);
        }
        self.logits()
    }

    fn stage_forward(&mut self, index: usize, stage: &Stage, step: &Step, y: Vec<T>) -> Vec<T> {
        let rows = self.rows;
        match stage.kind {
            StageKind::Dense { bias, per_pixel } => self.dense_forward(stage, per_pixel, bias, step, y),
            StageKind::Conv2d { window, bias } => self.conv2d_forward(stage, window, bias, step, y),
            StageKind::Pool { kind: PoolKind::Max, window } => self.max_pool_forward(index, stage, window, step, y),
            StageKind::Pool { kind: PoolKind::Average, window } => self.average_pool_forward(stage, window, step, y),
            StageKind::LocalResponseNorm { radius, bias, alpha, beta } => {
                let params = self.stages.local_response_params(stage, radius, [bias, alpha, beta], rows, ALIGNMENT);
                self.local_response_forward(stage, params, step, y)
            }
            StageKind::BatchNorm { epsilon, keep, activation } => {
                let params = self.stages.batch_norm_params(stage, (epsilon, keep), activation, rows, ALIGNMENT);
                self.batch_norm_forward(index, stage, params, step, y)
            }
            StageKind::LayerNorm { epsilon } => self.layer_norm_forward(index, stage, epsilon, step, y),
            StageKind::Recurrent(cell) => self.recurrent_forward(index, stage, cell, step, y),
            StageKind::Embedding(words) => self.embedding_forward(stage, words, step, y),
            StageKind::SentenceSum { words } => self.sentence_sum_forward(stage, words, step, y),
            StageKind::WordScores => self.word_scores_forward(stage, step, y),
            StageKind::PixelProducts => self.pixel_products_forward(stage, step, y),
            StageKind::Softmax { linear_start } => self.softmax_forward(stage, linear_start, step, y),
            StageKind::Transpose => self.transpose_forward(stage, step, y),
            StageKind::Concatenate => self.concatenate_forward(stage, step, y),
            StageKind::Add => self.add_forward(stage, step, y),
            StageKind::PositionEmbedding => self.position_forward(stage, step, y),
            StageKind::Attention { heads } => self.attention_forward(index, stage, heads, y),
            StageKind::Gelu => self.gelu_forward(stage, step, y),
        }
    }

    pub(super) fn logits(&self) -> &[T] {
        self.values.last().map_or(&[], |logits| logits)
    }

    /// Computes the gradient of every tensor, given the gradient of the logits of the last [`Network::forward`].
    pub(super) fn backward(&mut self, step: &Step, dy: Vec<T>) {
        self.value_gradients.fill(None);
        *self.value_gradients.last_mut().expect("there is at least the data") = Some(dy);
        for index in (0..self.stages.stages.len()).rev() {
            let stage = self.stages.stages[index].clone();
            let dy = self.value_gradients[stage.output].take().expect("every value is used");
            let later = stage.adds_to_gradient.then(|| self.gradients[stage.tensor].clone());
            self.stage_backward(index, &stage, step, &dy);
            if let Some(later) = later {
                self.gradients[stage.tensor].iter_mut().zip(later).for_each(|(gradient, later)| *gradient += later);
            }
        }
    }

    fn stage_backward(&mut self, index: usize, stage: &Stage, step: &Step, dy: &[T]) {
        let rows = self.rows;
        match stage.kind {
            StageKind::Dense { bias, per_pixel } => self.dense_backward(stage, per_pixel, bias, step, dy),
            StageKind::Conv2d { window, bias } => {
                self.conv2d_backward(stage, window, bias, step, dy);
            }
            StageKind::Pool { kind: PoolKind::Max, window } => {
                self.max_pool_backward(index, stage, window, step, dy);
            }
            StageKind::Pool { kind: PoolKind::Average, window } => {
                self.average_pool_backward(stage, window, step, dy);
            }
            StageKind::LocalResponseNorm { radius, bias, alpha, beta } => {
                let params = self.stages.local_response_params(stage, radius, [bias, alpha, beta], rows, ALIGNMENT);
                self.local_response_backward(stage, params, step, dy);
            }
            StageKind::BatchNorm { epsilon, keep, activation } => {
                let params = self.stages.batch_norm_params(stage, (epsilon, keep), activation, rows, ALIGNMENT);
                self.batch_norm_backward(index, stage, params, step, dy);
            }
            StageKind::LayerNorm { epsilon } => self.layer_norm_backward(index, stage, epsilon, step, dy),
            StageKind::Recurrent(cell) => self.recurrent_backward(index, stage, cell, step, dy),
            StageKind::Embedding(words) => self.embedding_backward(stage, words, dy),
            StageKind::SentenceSum { words } => self.sentence_sum_backward(stage, words, step, dy),
            StageKind::WordScores => self.word_scores_backward(stage, step, dy),
            StageKind::PixelProducts => self.pixel_products_backward(stage, step, dy),
            StageKind::Softmax { linear_start } => self.softmax_backward(stage, linear_start, step, dy),
            StageKind::Transpose => self.transpose_backward(stage, step, dy),
            StageKind::Concatenate => self.concatenate_backward(stage, step, dy),
            StageKind::Add => self.add_backward(stage, step, dy),
            StageKind::PositionEmbedding => self.position_backward(stage, step, dy),
            StageKind::Attention { heads } => self.attention_backward(index, stage, heads, step, dy),
            StageKind::Gelu => self.gelu_backward(stage, step, dy),
        }
    }

    /// Adds to the gradient of the value that `stage` reads as its input number `input`: `compute` gets the value,
    /// its epilogue, and the gradient to write. The data needs none.
    fn contribute(&mut self, stage: &Stage, input: usize, compute: impl FnOnce(&Self, &[T], &Epilogue, &mut [T])) {
        let value = stage.inputs[input];
        if value == 0 {
            return;
        }
        let so_far = self.value_gradients[value].take();
        let epilogue = Epilogue {
            accumulate: u32::from(so_far.is_some()),
            ..self.stages.values[value].stored_epilogue(ALIGNMENT)
        };
        let x = std::mem::take(&mut self.values[value]);
        let mut dx = so_far.unwrap_or_else(|| vec![T::ZERO; x.len()]);
        compute(self, &x, &epilogue, &mut dx);
        self.values[value] = x;
        self.value_gradients[value] = Some(dx);
    }

    /// Splits the gradient of a stage that was computed in one part among kernel and bias.
    fn store_weight_gradient(&mut self, stage: &Stage, part: &[T], bias: bool) {
        let (kernel, rest) = part.split_at(self.gradients[stage.tensor].len());
        self.gradients[stage.tensor].copy_from_slice(kernel);
        if bias {
            self.gradients[stage.tensor + 1].copy_from_slice(rest);
        }
    }

    /// The bias of a stage, or zeros for one that has none.
    fn bias(&self, stage: &Stage, bias: bool, outputs: u32) -> Vec<T> {
        if bias { self.tensors[stage.tensor + 1].clone() } else { vec![T::ZERO; outputs as usize] }
    }
}

#[cfg(test)]
mod tests;
