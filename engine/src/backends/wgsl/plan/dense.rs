use shaders::params::Dense;

use super::super::layout::CHANNEL_ALIGNMENT;
use super::super::products::{Pass, Product};
use super::super::recording::BufferRange;
use super::Planner;
use super::weight_gradient::rows_per_part_of_product;
use crate::model::Stage;

impl Planner<'_> {
    pub(super) fn dense_forward(&mut self, stage: &Stage, per_pixel: bool, bias: bool) {
        let params = self.stages.dense_params(stage, per_pixel, bias, self.rows, CHANNEL_ALIGNMENT);
        let bindings =
            [self.input_of(stage, 0), self.product_weight(stage, 0), self.bias(stage, bias), self.output_of(stage)];
        self.builder.product(self.choices, Product::new(Pass::Forward, params), &bindings);
    }

    pub(super) fn dense_backward(&mut self, stage: &Stage, per_pixel: bool, bias: bool) {
        let params = self.stages.dense_params(stage, per_pixel, bias, self.rows, CHANNEL_ALIGNMENT);
        let (x, dy) = (self.input_of(stage, 0), self.output_gradient(stage));
        self.product_gradient(stage.tensor, bias.then_some(stage.tensor + 1), params, x, dy);
        if let Some((dx, epilogue)) = self.input_gradient(stage, 0) {
            let params = Dense { epilogue, ..params };
            let bindings = [dy, self.product_weight(stage, 0), x, dx];
            self.builder.product(self.choices, Product::new(Pass::InputGradient, params), &bindings);
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
        let rows_per_part = rows_per_part_of_product(params.rows, size, self.choices.emulated());
        self.weight_gradient(tensor, bias, params.rows, rows_per_part, |planner, parts| {
            let params = Dense {
                rows_per_part: parts.rows_per_part,
                part_stride: parts.part_stride,
                bias_offset: parts.bias_offset,
                ..params
            };
            let product = Product::new(Pass::WeightGradient, params);
            planner.builder.product(planner.choices, product, &[x, dy, parts.output]);
        });
    }
}
