use shaders::Real;
use shaders::params::{Dense, Step};
use shaders::reference as twin;

use super::{ALIGNMENT, Network};
use crate::model::Stage;

impl<T: Real> Network<T> {
    fn dense_params(&self, stage: &Stage, per_pixel: bool, bias: bool) -> Dense {
        self.stages.dense_params(stage, per_pixel, bias, self.rows, ALIGNMENT)
    }

    pub(super) fn dense_forward(
        &self,
        stage: &Stage,
        per_pixel: bool,
        bias: bool,
        step: &Step,
        mut y: Vec<T>,
    ) -> Vec<T> {
        let params = self.dense_params(stage, per_pixel, bias);
        let (x, weights) = (&self.values[stage.inputs[0]], &self.tensors[stage.tensor]);
        twin::dense_forward(&params, step, x, weights, &self.bias(stage, bias, params.outputs), &mut y);
        y
    }

    pub(super) fn dense_backward(&mut self, stage: &Stage, per_pixel: bool, bias: bool, step: &Step, dy: &[T]) {
        let params = self.dense_params(stage, per_pixel, bias);
        let mut part = vec![T::ZERO; params.part_stride as usize];
        twin::dense_weight_gradient(&params, &self.values[stage.inputs[0]], dy, &mut part);
        self.store_weight_gradient(stage, &part, bias);
        self.contribute(stage, 0, |network, x, &epilogue, dx| {
            let params = Dense { epilogue, ..params };
            twin::dense_input_gradient(&params, step, dy, &network.tensors[stage.tensor], x, dx);
        });
    }
}
