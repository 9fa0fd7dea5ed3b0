use shaders::Real;
use shaders::params::{Add, Dense, Step};
use shaders::reference as twin;

use super::{ALIGNMENT, Network};
use crate::model::{Stage, Words};

impl<T: Real> Network<T> {
    pub(super) fn lstm_forward(&mut self, index: usize, stage: &Stage, step: &Step, mut y: Vec<T>) -> Vec<T> {
        let params = self.stages.lstm_params(stage, self.rows, ALIGNMENT);
        let product = self.stages.lstm_input_params(stage, self.rows, ALIGNMENT);
        let [kernel, recurrent, bias] = [0, 1, 2].map(|place| &self.tensors[stage.tensor + place]);
        let mut gates = vec![T::ZERO; (product.rows * product.outputs) as usize];
        twin::dense_forward(&product, step, &self.values[stage.inputs[0]], kernel, bias, &mut gates);
        let states = vec![T::ZERO; (product.rows * params.stored_units) as usize];
        let (mut cells, mut previous) = (states.clone(), states);
        twin::lstm_forward(&params, step, recurrent, &mut gates, &mut cells, &mut previous, &mut y);
        self.kept[index].numbers = vec![gates, cells, previous];
        y
    }

    pub(super) fn lstm_backward(&mut self, index: usize, stage: &Stage, step: &Step, dy: &[T]) {
        let params = self.stages.lstm_params(stage, self.rows, ALIGNMENT);
        let mut kept = std::mem::take(&mut self.kept[index].numbers);
        let [gates, cells, previous] = kept.as_mut_slice() else { unreachable!("three lists were kept") };
        // The gates become the gradients of what went into them.
        twin::lstm_backward(&params, &self.tensors[stage.tensor + 1], dy, cells, gates);
        let product = self.stages.lstm_input_params(stage, self.rows, ALIGNMENT);
        let mut part = vec![T::ZERO; product.part_stride as usize];
        twin::dense_weight_gradient(&product, &self.values[stage.inputs[0]], gates, &mut part);
        let (kernel, bias) = part.split_at(product.bias_offset as usize);
        self.gradients[stage.tensor].copy_from_slice(kernel);
        self.gradients[stage.tensor + 2].copy_from_slice(bias);
        let recurrent = self.stages.lstm_recurrent_params(stage, self.rows, ALIGNMENT);
        twin::dense_weight_gradient(&recurrent, previous, gates, &mut self.gradients[stage.tensor + 1]);
        self.contribute(stage, 0, |network, x, &epilogue, dx| {
            let params = Dense { epilogue, ..product };
            twin::dense_input_gradient(&params, step, gates, &network.tensors[stage.tensor], x, dx);
        });
    }

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
