use shaders::params::Conv2d;

use super::super::layout::CHANNEL_ALIGNMENT;
use super::{Planner, tiles};
use crate::model::Stage;

/// Side, stride and zeros before the first row and column.
type Window = (u32, u32, u32);

impl Planner<'_> {
    pub(super) fn conv2d_forward(&mut self, stage: &Stage, window: Window, bias: bool) {
        let params = self.stages.conv2d_params(stage, window, bias, self.rows, CHANNEL_ALIGNMENT);
        let kernel = if is_narrow(&params) { "conv2d_forward_narrow" } else { "conv2d_forward" };
        let bindings = [self.input_of(stage, 0), self.weight(stage, 0), self.bias(stage, bias), self.output_of(stage)];
        let invocations = tiles(params.rows * params.output_height * params.output_width, params.output_channels);
        self.builder.dispatch_with(kernel, &stride(window), &params, &bindings, invocations);
    }

    pub(super) fn conv2d_backward(&mut self, stage: &Stage, window: Window, bias: bool) {
        let params = self.stages.conv2d_params(stage, window, bias, self.rows, CHANNEL_ALIGNMENT);
        let constants = stride(window);
        let (x, dy) = (self.input_of(stage, 0), self.output_gradient(stage));
        let part_tiles = tiles(params.side * params.side * params.input_channels, params.output_channels);
        let pixels = params.rows * params.output_height * params.output_width;
        let bias = bias.then_some(stage.tensor + 1);
        self.weight_gradient(stage.tensor, bias, pixels, part_tiles, |planner, parts| {
            let params = Conv2d {
                pixels_per_part: parts.rows_per_part,
                part_stride: parts.part_stride,
                bias_offset: parts.bias_offset,
                ..params
            };
            let kernel = if is_narrow(&params) { "conv2d_weight_gradient_narrow" } else { "conv2d_weight_gradient" };
            let invocations = u64::from(parts.parts) * part_tiles;
            planner.builder.dispatch_with(kernel, &constants, &params, &[x, dy, parts.output], invocations);
        });
        if let Some((dx, epilogue)) = self.input_gradient(stage, 0) {
            let params = Conv2d { epilogue, ..params };
            let bindings = [dy, self.weight(stage, 0), x, dx];
            let invocations = tiles(params.rows * params.input_height * params.input_width, params.input_channels);
            self.builder.dispatch_with("conv2d_input_gradient", &constants, &params, &bindings, invocations);
        }
    }
}

/// Constants of a kernel whose windows move by so many pixels.
fn stride((_, stride, _): Window) -> [(&'static str, f64); 1] {
    [("STRIDE", f64::from(stride))]
}

/// Whether an input has too few channels to be read four at a time.
fn is_narrow(params: &Conv2d) -> bool {
    !params.input_channels.is_multiple_of(CHANNEL_ALIGNMENT)
}
