use shaders::params::Conv2d;

use super::super::layout::CHANNEL_ALIGNMENT;
use super::super::products::{Pass, Product};
use super::Planner;
use super::weight_gradient::pixels_per_part;
use crate::model::{SlidingWindow, Stage};

impl Planner<'_> {
    pub(super) fn conv2d_forward(&mut self, stage: &Stage, window: SlidingWindow, bias: bool) {
        let params = self.stages.conv2d_params(stage, window, bias, self.rows, CHANNEL_ALIGNMENT);
        let bindings =
            [self.input_of(stage, 0), self.product_weight(stage, 0), self.bias(stage, bias), self.output_of(stage)];
        self.builder.product(self.choices, Product::new(Pass::Forward, params), &bindings);
    }

    pub(super) fn conv2d_backward(&mut self, stage: &Stage, window: SlidingWindow, bias: bool) {
        let params = self.stages.conv2d_params(stage, window, bias, self.rows, CHANNEL_ALIGNMENT);
        let (x, dy) = (self.input_of(stage, 0), self.output_gradient(stage));
        let pixels = params.rows * params.output_height * params.output_width;
        let pixels_per_part = pixels_per_part(&params, self.choices.emulated());
        let bias = bias.then_some(stage.tensor + 1);
        self.weight_gradient(stage.tensor, bias, pixels, pixels_per_part, |planner, parts| {
            let product = Product::new(
                Pass::WeightGradient,
                Conv2d {
                    pixels_per_part: parts.rows_per_part,
                    part_stride: parts.part_stride,
                    bias_offset: parts.bias_offset,
                    ..params
                },
            );
            planner.builder.product(planner.choices, product, &[x, dy, parts.output]);
        });
        if let Some((dx, epilogue)) = self.input_gradient(stage, 0) {
            let product = Product::new(Pass::InputGradient, Conv2d { epilogue, ..params });
            let bindings = [dy, self.product_weight(stage, 0), x, dx];
            self.builder.product(self.choices, product, &bindings);
        }
    }
}
