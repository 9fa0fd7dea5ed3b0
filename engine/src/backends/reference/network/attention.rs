use shaders::Real;
use shaders::params::{Attention, Elementwise, Step};
use shaders::reference::{self as twin, Attended};

use super::{ALIGNMENT, Network};
use crate::model::Stage;

impl<T: Real> Network<T> {
    pub(super) fn attention_forward(&mut self, index: usize, stage: &Stage, heads: u32, mut y: Vec<T>) -> Vec<T> {
        let params = self.stages.attention_params(stage, heads, self.rows);
        let mut log_sum_exp = vec![T::ZERO; (params.rows * params.heads * params.tokens) as usize];
        twin::attention_forward(&params, &self.values[stage.inputs[0]], &mut y, &mut log_sum_exp);
        self.kept[index].numbers = vec![log_sum_exp];
        y
    }

    pub(super) fn attention_backward(&mut self, index: usize, stage: &Stage, heads: u32, step: &Step, dy: &[T]) {
        let params = self.stages.attention_params(stage, heads, self.rows);
        self.contribute(stage, 0, |network, x, &epilogue, dx| {
            let params = Attention { epilogue, ..params };
            let log_sum_exp = &network.kept[index].numbers[0];
            let attended = Attended { y: &network.values[stage.output], log_sum_exp };
            let mut means = vec![T::ZERO; log_sum_exp.len()];
            twin::attention_query_gradient(&params, step, x, &attended, dy, dx, &mut means);
            twin::attention_key_value_gradient(&params, step, x, dy, log_sum_exp, &means, dx);
        });
    }

    pub(super) fn position_forward(&self, stage: &Stage, step: &Step, mut y: Vec<T>) -> Vec<T> {
        let params = self.stages.position_params(stage, self.rows, ALIGNMENT);
        twin::position_forward(&params, step, &self.values[stage.inputs[0]], &self.tensors[stage.tensor], &mut y);
        y
    }

    pub(super) fn position_backward(&mut self, stage: &Stage, step: &Step, dy: &[T]) {
        let params = self.stages.position_params(stage, self.rows, ALIGNMENT);
        twin::position_gradient(&params, dy, &mut self.gradients[stage.tensor]);
        let elementwise = self.stages.elementwise_params(stage, self.rows, ALIGNMENT);
        self.contribute(stage, 0, |_, x, &epilogue, dx| {
            twin::pass_gradient(&Elementwise { epilogue, ..elementwise }, step, dy, x, dx);
        });
    }

    pub(super) fn gelu_forward(&self, stage: &Stage, step: &Step, mut y: Vec<T>) -> Vec<T> {
        let params = self.stages.elementwise_params(stage, self.rows, ALIGNMENT);
        twin::gelu_forward(&params, step, &self.values[stage.inputs[0]], &mut y);
        y
    }

    pub(super) fn gelu_backward(&mut self, stage: &Stage, step: &Step, dy: &[T]) {
        let params = self.stages.elementwise_params(stage, self.rows, ALIGNMENT);
        self.contribute(stage, 0, |_, x, &epilogue, dx| {
            twin::gelu_backward(&Elementwise { epilogue, ..params }, step, dy, x, dx);
        });
    }
}
