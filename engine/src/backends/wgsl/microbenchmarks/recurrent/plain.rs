//! What plain loops make of one sequence.

use results::kernels::Pass;
use shaders::Real;
use shaders::params::{Recurrent, Step};
use shaders::reference as twin;
use shaders::reference::GruSteps;

use super::RecurrentLayer;
use crate::backends::wgsl::microbenchmarks::operands::Operand;
use crate::model::Cell;

/// Some steps of a sequence in double precision.
pub(super) struct PlainSequence {
    /// Last hidden state of a forward pass.
    pub(super) y: Vec<f64>,
    /// What became of the gates of these steps: gates, or gradients of what they are made from.
    pub(super) gates: Vec<f64>,
    /// Place of the first of them among those of the whole sequence.
    pub(super) first_gate: usize,
}

/// Rows of an operand that belong to the steps.
fn rows(of: Operand, steps: std::ops::Range<u32>) -> Vec<f64> {
    steps.flat_map(|row| (0..of.columns).map(move |column| f64::from(of.at(row, column)))).collect()
}

impl RecurrentLayer {
    pub(super) fn computed_plainly(&self, sequence: u32) -> PlainSequence {
        let count = self.checked_steps();
        let first = if self.pass == Pass::Forward { 0 } else { self.steps - count };
        let start = sequence * self.steps + first;
        let params = Recurrent { sequences: 1, steps: count, ..self.params() };
        let weights: Vec<f64> = self.weights().into_iter().map(f64::from).collect();
        let x = rows(self.x(), start..start + count);
        let first_gate = (first * self.gate_columns()) as usize;
        let states = (count * params.stored_units) as usize;
        if self.pass == Pass::Forward {
            let (gates, y) = self.forward_plainly(&params, &weights, x, states);
            return PlainSequence { y, gates, first_gate };
        }
        let mut gates: Vec<f64> = x.into_iter().map(f64::abs).collect();
        let dy = rows(self.dy(), sequence..sequence + 1);
        match self.cell {
            Cell::Lstm => {
                let mut cells = rows(self.own(), start..start + count);
                twin::lstm_backward(&params, &weights, &dy, &mut cells, &mut gates);
            }
            Cell::Gru(_) => {
                let previous = rows(self.previous(), start..start + count);
                let mut products = rows(self.own(), start..start + count);
                let steps = GruSteps { gates: &mut gates, products: &mut products };
                let mut kept = vec![f64::ZERO; params.stored_units as usize];
                twin::gru_backward(&params, &weights, &dy, &previous, steps, &mut kept);
            }
            Cell::SimpleRnn(_) => twin::simple_rnn_backward(&params, &weights, &dy, &mut gates),
        }
        PlainSequence { y: Vec::new(), gates, first_gate }
    }

    fn forward_plainly(
        &self,
        params: &Recurrent,
        weights: &[f64],
        mut gates: Vec<f64>,
        states: usize,
    ) -> (Vec<f64>, Vec<f64>) {
        let (mut previous, mut y) = (vec![0.0; states], vec![0.0; params.stored_units as usize]);
        let step = Step::default();
        match self.cell {
            Cell::Lstm => {
                let mut cells = previous.clone();
                twin::lstm_forward(params, &step, weights, &mut gates, &mut cells, &mut previous, &mut y);
            }
            Cell::Gru(_) => {
                let bias = rows(self.recurrent_bias(), 0..1);
                let mut products = vec![0.0; gates.len()];
                let steps = GruSteps { gates: &mut gates, products: &mut products };
                twin::gru_forward(params, &step, [weights, &bias], steps, &mut previous, &mut y);
            }
            Cell::SimpleRnn(_) => twin::simple_rnn_forward(params, &step, weights, &mut gates, &mut previous, &mut y),
        }
        (gates, y)
    }
}
