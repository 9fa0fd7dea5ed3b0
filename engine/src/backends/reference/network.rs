use shaders::Real;
use shaders::params::Step;
use shaders::reference as twin;

use crate::model::{Stage, StageKind};

/// Layouts of the reference have no padding.
const ALIGNMENT: u32 = 1;

/// The stages of a model, and what one pass through them leaves behind.
pub(super) struct Network<T> {
    stages: Vec<Stage>,
    /// Input of each stage, and the logits last: (rows, features).
    activations: Vec<Vec<T>>,
    /// Winning taps of pooling stages.
    taps: Vec<Vec<u32>>,
    rows: u32,
}

impl<T: Real> Network<T> {
    pub(super) fn new(stages: Vec<Stage>) -> Self {
        let taps = vec![Vec::new(); stages.len()];
        Self { stages, activations: Vec::new(), taps, rows: 0 }
    }

    /// Logits of `input` (`rows` samples), by the `tensors` in model order.
    pub(super) fn forward(&mut self, step: &Step, tensors: &[Vec<T>], input: Vec<T>, rows: u32) -> &[T] {
        self.rows = rows;
        self.activations = vec![input];
        for (index, stage) in self.stages.iter().enumerate() {
            let x = &self.activations[index];
            let mut y = vec![T::ZERO; (rows * stage.stored_outputs(ALIGNMENT)) as usize];
            match (stage.kind, stage.kernel) {
                (StageKind::Dense, Some(kernel)) => {
                    let params = stage.dense_params(rows, ALIGNMENT);
                    twin::dense_forward(&params, step, x, &tensors[kernel], &tensors[kernel + 1], &mut y);
                }
                (StageKind::Conv2d { side, padding }, Some(kernel)) => {
                    let params = stage.conv2d_params(rows, side, padding, ALIGNMENT);
                    twin::conv2d_forward(&params, step, x, &tensors[kernel], &tensors[kernel + 1], &mut y);
                }
                (StageKind::MaxPool { side, stride }, _) => {
                    self.taps[index] = vec![0; y.len()];
                    let params = stage.pool_params(rows, side, stride, ALIGNMENT);
                    twin::max_pool_forward(&params, x, &mut y, &mut self.taps[index]);
                }
                (_, None) => unreachable!("a stage with weights has a kernel"),
            }
            self.activations.push(y);
        }
        self.logits()
    }

    pub(super) fn logits(&self) -> &[T] {
        self.activations.last().map_or(&[], |logits| logits)
    }

    /// Writes the gradient of every tensor, given the gradient of the logits of the last [`Network::forward`].
    pub(super) fn backward(&self, step: &Step, tensors: &[Vec<T>], mut dy: Vec<T>, gradients: &mut [Vec<T>]) {
        for (index, stage) in self.stages.iter().enumerate().rev() {
            let x = &self.activations[index];
            if let Some(kernel) = stage.kernel {
                self.weight_gradient(stage, x, &dy, &mut gradients[kernel..kernel + 2]);
            }
            if !stage.reads_data {
                dy = self.input_gradient(step, index, tensors, x, &dy);
            }
        }
    }

    fn weight_gradient(&self, stage: &Stage, x: &[T], dy: &[T], gradients: &mut [Vec<T>]) {
        let mut part = vec![T::ZERO; gradients[0].len() + gradients[1].len()];
        match stage.kind {
            StageKind::Dense => {
                twin::dense_weight_gradient(&stage.dense_params(self.rows, ALIGNMENT), x, dy, &mut part);
            }
            StageKind::Conv2d { side, padding } => {
                let params = stage.conv2d_params(self.rows, side, padding, ALIGNMENT);
                twin::conv2d_weight_gradient(&params, x, dy, &mut part);
            }
            StageKind::MaxPool { .. } => unreachable!("pooling has no weights"),
        }
        let (kernel, bias) = part.split_at(gradients[0].len());
        gradients[0].copy_from_slice(kernel);
        gradients[1].copy_from_slice(bias);
    }

    fn input_gradient(&self, step: &Step, index: usize, tensors: &[Vec<T>], x: &[T], dy: &[T]) -> Vec<T> {
        let stage = &self.stages[index];
        let mut dx = vec![T::ZERO; x.len()];
        match (stage.kind, stage.kernel) {
            (StageKind::Dense, Some(kernel)) => {
                let mut params = stage.dense_params(self.rows, ALIGNMENT);
                params.epilogue = stage.epilogue_below.stored(ALIGNMENT);
                twin::dense_input_gradient(&params, step, dy, &tensors[kernel], x, &mut dx);
            }
            (StageKind::Conv2d { side, padding }, Some(kernel)) => {
                let mut params = stage.conv2d_params(self.rows, side, padding, ALIGNMENT);
                params.epilogue = stage.epilogue_below.stored(ALIGNMENT);
                twin::conv2d_input_gradient(&params, step, dy, &tensors[kernel], x, &mut dx);
            }
            (StageKind::MaxPool { side, stride }, _) => {
                let params = stage.pool_params(self.rows, side, stride, ALIGNMENT);
                twin::max_pool_backward(&params, step, dy, &self.taps[index], x, &mut dx);
            }
            (_, None) => unreachable!("a stage with weights has a kernel"),
        }
        dx
    }
}
