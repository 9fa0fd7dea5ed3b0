//! Vectors of words, and sums of what they became.

use shaders::Real;
use shaders::params::{Add, Step};
use shaders::reference as twin;

use super::{ALIGNMENT, Network};
use crate::model::{Stage, Words};

impl<T: Real> Network<T> {
    pub(super) fn embedding_forward(&self, stage: &Stage, words: Words, step: &Step, mut y: Vec<T>) -> Vec<T> {
        let params = self.stages.embedding_params(stage, words, self.rows, ALIGNMENT);
        twin::embedding_forward(&params, step, &self.values[stage.inputs[0]], &self.tensors[stage.tensor], &mut y);
        y
    }

    pub(super) fn embedding_backward(&mut self, stage: &Stage, words: Words, dy: &[T]) {
        let params = self.stages.embedding_params(stage, words, self.rows, ALIGNMENT);
        let ids = &self.values[stage.inputs[0]];
        twin::embedding_weight_gradient(&params, ids, dy, &mut self.gradients[stage.tensor]);
    }

    pub(super) fn add_forward(&self, stage: &Stage, step: &Step, mut y: Vec<T>) -> Vec<T> {
        let params = self.stages.add_params(stage, self.rows, ALIGNMENT);
        let [a, b] = [0, 1].map(|input| &self.values[stage.inputs[input]]);
        twin::add_forward(&params, step, a, b, &mut y);
        y
    }

    pub(super) fn add_backward(&mut self, stage: &Stage, step: &Step, dy: &[T]) {
        let params = self.stages.add_params(stage, self.rows, ALIGNMENT);
        for (input, repeats) in [(0, 1), (1, params.repeats)] {
            self.contribute(stage, input, |_, x, &epilogue, dx| {
                twin::add_gradient(&Add { repeats, epilogue, ..params }, step, dy, x, dx);
            });
        }
    }
}
