use shaders::Real;
use shaders::params::{Dense, Step};
use shaders::reference as twin;
use shaders::reference::GruSteps;

use super::{ALIGNMENT, Network};
use crate::model::{Cell, Stage};

impl<T: Real> Network<T> {
    pub(super) fn recurrent_forward(
        &mut self,
        index: usize,
        stage: &Stage,
        cell: Cell,
        step: &Step,
        mut y: Vec<T>,
    ) -> Vec<T> {
        let params = self.stages.recurrent_params(stage, cell, self.rows, ALIGNMENT);
        let product = self.stages.recurrent_input_params(stage, cell, self.rows, ALIGNMENT);
        let [kernel, recurrent, bias] = [0, 1, 2].map(|place| &self.tensors[stage.tensor + place]);
        let mut gates = vec![T::ZERO; (product.rows * product.outputs) as usize];
        twin::dense_forward(&product, step, &self.values[stage.inputs[0]], kernel, bias, &mut gates);
        let mut previous = vec![T::ZERO; (product.rows * params.stored_units) as usize];
        // What only some cells keep: an LSTM its cells, a GRU its products with the state.
        let mut kept = Vec::new();
        match cell {
            Cell::Lstm => {
                kept = previous.clone();
                twin::lstm_forward(&params, step, recurrent, &mut gates, &mut kept, &mut previous, &mut y);
            }
            Cell::Gru(_) => {
                kept = gates.clone();
                let weights = [recurrent.as_slice(), &self.tensors[stage.tensor + 3]];
                let steps = GruSteps { gates: &mut gates, products: &mut kept };
                twin::gru_forward(&params, step, weights, steps, &mut previous, &mut y);
            }
            Cell::SimpleRnn(_) => {
                twin::simple_rnn_forward(&params, step, recurrent, &mut gates, &mut previous, &mut y);
            }
        }
        self.kept[index].numbers = vec![gates, kept, previous];
        y
    }

    pub(super) fn recurrent_backward(&mut self, index: usize, stage: &Stage, cell: Cell, step: &Step, dy: &[T]) {
        let params = self.stages.recurrent_params(stage, cell, self.rows, ALIGNMENT);
        let mut numbers = std::mem::take(&mut self.kept[index].numbers);
        let [gates, kept, previous] = numbers.as_mut_slice() else { unreachable!("three lists were kept") };
        let recurrent = &self.tensors[stage.tensor + 1];
        // The gates become the gradients of what went into them.
        match cell {
            Cell::Lstm => twin::lstm_backward(&params, recurrent, dy, kept, gates),
            Cell::Gru(_) => {
                let steps = GruSteps { gates, products: kept };
                twin::gru_backward(&params, recurrent, dy, previous, steps, &mut vec![T::ZERO; dy.len()]);
            }
            Cell::SimpleRnn(_) => twin::simple_rnn_backward(&params, recurrent, dy, gates),
        }
        let input = self.stages.recurrent_input_params(stage, cell, self.rows, ALIGNMENT);
        let x = &self.values[stage.inputs[0]];
        let gradients = weight_gradient(&input, x, gates);
        self.gradients[stage.tensor].copy_from_slice(&gradients[0]);
        self.gradients[stage.tensor + 2].copy_from_slice(&gradients[1]);
        let state = self.stages.recurrent_state_params(stage, cell, self.rows, ALIGNMENT);
        let into_products = if cell.has_recurrent_bias() { &*kept } else { &*gates };
        let gradients = weight_gradient(&state, previous, into_products);
        self.gradients[stage.tensor + 1].copy_from_slice(&gradients[0]);
        if cell.has_recurrent_bias() {
            self.gradients[stage.tensor + 3].copy_from_slice(&gradients[1]);
        }
        self.contribute(stage, 0, |network, x, &epilogue, dx| {
            let params = Dense { epilogue, ..input };
            twin::dense_input_gradient(&params, step, gates, &network.tensors[stage.tensor], x, dx);
        });
    }
}

/// Gradients of a kernel and of the bias behind it, which is empty where there is none.
fn weight_gradient<T: Real>(params: &Dense, x: &[T], dy: &[T]) -> [Vec<T>; 2] {
    let mut kernel = vec![T::ZERO; params.part_stride as usize];
    twin::dense_weight_gradient(params, x, dy, &mut kernel);
    let bias = kernel.split_off((params.inputs * params.outputs) as usize);
    [kernel, bias]
}
