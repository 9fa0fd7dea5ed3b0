//! Layers of matrix products: dense, convolutional and recurrent ones.

use shaders::params::{Conv2d, Dense};

use super::super::layout::CHANNEL_ALIGNMENT;
use super::super::products::{Params, Pass, Product, recurrent_bindings};
use super::super::recording::BufferRange;
use super::planner::{LayerPhase, Planner};
use super::weight_gradient::{GradientSum, pixels_per_part, rows_per_part_of_product};
use crate::model::{Cell, SlidingWindow, Stage};

impl Planner<'_> {
    /// Records a product, by the kernel that was chosen for it.
    fn product(&mut self, pass: Pass, params: Params, bindings: &[BufferRange]) {
        let product = Product { pass, params };
        self.builder.product(&self.choices.pick(&product), &product, bindings);
    }

    pub(super) fn dense(&mut self, stage: &Stage, phase: LayerPhase, per_pixel: bool, bias: bool) {
        let params = self.sized(stage).dense(per_pixel, bias);
        let (x, weights) = (self.input_of(stage, 0), self.product_weight(stage, 0));
        if phase != LayerPhase::Backward {
            let bindings = [x, weights, self.bias(stage, bias), self.output_of(stage)];
            return self.product(Pass::Forward, Params::Dense(params), &bindings);
        }
        let dy = self.output_gradient(stage);
        self.product_gradient(stage.tensor, bias.then_some(stage.tensor + 1), params, x, dy);
        if let Some((dx, epilogue)) = self.input_gradient(stage, 0) {
            let params = Params::Dense(Dense { epilogue, ..params });
            self.product(Pass::InputGradient, params, &[dy, weights, x, dx]);
        }
    }

    /// Weight gradient of a product of matrices: of a tensor, and of the bias behind it in the arena if there is one.
    pub(super) fn product_gradient(
        &mut self,
        tensor: usize,
        bias: Option<usize>,
        params: Dense,
        x: BufferRange,
        dy: BufferRange,
    ) {
        let size = [params.inputs, params.outputs];
        let rows_per_part = rows_per_part_of_product(params.rows, size, self.choices.abilities.software);
        self.weight_gradient(tensor, bias, params.rows, rows_per_part, |planner, sum| {
            let &GradientSum { part_stride, bias_offset, output, .. } = sum;
            let params = Dense { rows_per_part, part_stride, bias_offset, ..params };
            planner.product(Pass::WeightGradient, Params::Dense(params), &[x, dy, output]);
        });
    }

    pub(super) fn conv2d(&mut self, stage: &Stage, phase: LayerPhase, window: SlidingWindow, bias: bool) {
        let params = self.sized(stage).conv2d(window, bias);
        let (x, weights) = (self.input_of(stage, 0), self.product_weight(stage, 0));
        if phase != LayerPhase::Backward {
            let bindings = [x, weights, self.bias(stage, bias), self.output_of(stage)];
            return self.product(Pass::Forward, Params::Conv2d(params), &bindings);
        }
        let dy = self.output_gradient(stage);
        let pixels = params.rows * params.output_height * params.output_width;
        let pixels_per_part = pixels_per_part(&params, self.choices.abilities.software);
        let bias = bias.then_some(stage.tensor + 1);
        self.weight_gradient(stage.tensor, bias, pixels, pixels_per_part, |planner, sum| {
            let &GradientSum { part_stride, bias_offset, output, .. } = sum;
            let params = Conv2d { pixels_per_part, part_stride, bias_offset, ..params };
            planner.product(Pass::WeightGradient, Params::Conv2d(params), &[x, dy, output]);
        });
        if let Some((dx, epilogue)) = self.input_gradient(stage, 0) {
            let params = Params::Conv2d(Conv2d { epilogue, ..params });
            self.product(Pass::InputGradient, params, &[dy, weights, x, dx]);
        }
    }

    pub(super) fn recurrent(&mut self, stage: &Stage, phase: LayerPhase, cell: Cell) {
        let params = self.sized(stage).recurrent(cell);
        let input = self.sized(stage).recurrent_input(cell);
        let one = self.stages.sized(stage, 1, CHANNEL_ALIGNMENT).recurrent(cell);
        let states = u64::from(one.sequences * one.steps) * u64::from(one.stored_units);
        let stored_bytes = self.choices.abilities.stored.bytes() * states;
        let gate_bytes = u64::from(cell.gates()) * stored_bytes;
        // The input of the steps, then the gates, then their gradients.
        let gates = self.keep(stage, 0, "gates", gate_bytes);
        // Hidden state before each step.
        let previous = self.keep(stage, 1, "hidden states", stored_bytes);
        let none = BufferRange::default();
        // An LSTM's cells, or a GRU's products with the hidden states, then their gradients.
        let own = match cell {
            Cell::Lstm => self.keep(stage, 2, "cell states", 4 * states),
            Cell::Gru(_) => self.keep(stage, 2, "recurrent products", gate_bytes),
            Cell::SimpleRnn(_) => none,
        };
        let x = self.input_of(stage, 0);
        let [kernel, recurrent] = [0, 1].map(|tensor| self.product_weight(stage, tensor));
        if phase != LayerPhase::Backward {
            let (y, bias) = (self.output_of(stage), self.weight(stage, 2));
            self.product(Pass::Forward, Params::Dense(input), &[x, kernel, bias, gates]);
            let recurrent_bias = if cell.has_recurrent_bias() { self.weight(stage, 3) } else { none };
            let all = [recurrent, recurrent_bias, gates, own, previous, y, none];
            let bindings = recurrent_bindings(cell, Pass::Forward, all);
            return self.product(Pass::Forward, Params::Recurrent(cell, params), &bindings);
        }
        let kept_gradient = match cell {
            Cell::Gru(_) => self.keep(stage, 3, "kept gradient", 4 * u64::from(one.sequences * one.stored_units)),
            _ => none,
        };
        let all = [recurrent, none, gates, own, previous, self.output_gradient(stage), kept_gradient];
        let bindings = recurrent_bindings(cell, Pass::InputGradient, all);
        self.product(Pass::InputGradient, Params::Recurrent(cell, params), &bindings);
        self.product_gradient(stage.tensor, Some(stage.tensor + 2), input, x, gates);
        let state = self.sized(stage).recurrent_state(cell);
        let (bias, into_products) =
            if cell.has_recurrent_bias() { (Some(stage.tensor + 3), own) } else { (None, gates) };
        self.product_gradient(stage.tensor + 1, bias, state, previous, into_products);
        if let Some((dx, epilogue)) = self.input_gradient(stage, 0) {
            let params = Params::Dense(Dense { epilogue, ..input });
            self.product(Pass::InputGradient, params, &[gates, kernel, x, dx]);
        }
    }
}
