use shaders::Real;
use shaders::params::{Conv2d, Step};
use shaders::reference as twin;

use super::{ALIGNMENT, Network};
use crate::model::{SlidingWindow, Stage};

impl<T: Real> Network<T> {
    fn conv2d_params(&self, stage: &Stage, window: SlidingWindow, bias: bool) -> Conv2d {
        self.stages.conv2d_params(stage, window, bias, self.rows, ALIGNMENT)
    }

    pub(super) fn conv2d_forward(
        &self,
        stage: &Stage,
        window: SlidingWindow,
        bias: bool,
        step: &Step,
        mut y: Vec<T>,
    ) -> Vec<T> {
        let params = self.conv2d_params(stage, window, bias);
        let (x, weights) = (&self.values[stage.inputs[0]], &self.tensors[stage.tensor]);
        twin::conv2d_forward(&params, step, x, weights, &self.bias(stage, bias, params.output_channels), &mut y);
        y
    }

    pub(super) fn conv2d_backward(&mut self, stage: &Stage, window: SlidingWindow, bias: bool, step: &Step, dy: &[T]) {
        let params = self.conv2d_params(stage, window, bias);
        let mut part = vec![T::ZERO; params.part_stride as usize];
        twin::conv2d_weight_gradient(&params, &self.values[stage.inputs[0]], dy, &mut part);
        self.store_weight_gradient(stage, &part, bias);
        self.contribute(stage, 0, |network, x, &epilogue, dx| {
            let params = Conv2d { epilogue, ..params };
            twin::conv2d_input_gradient(&params, step, dy, &network.tensors[stage.tensor], x, dx);
        });
    }
}
