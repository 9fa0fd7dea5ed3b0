//! The backward half of a step.

use shaders::params::SumParts;

use super::super::layout::CHANNEL_ALIGNMENT;
use super::super::recording::BufferRange;
use super::{Planner, is_narrow, tiles};
use crate::model::{Stage, StageKind};

/// Weight gradients are summed in so many parts that about this many invocations have work.
const WANTED_INVOCATIONS: u64 = 4096;
/// A part sums at least this many rows, so that writing it is worth it.
const SMALLEST_PART: u32 = 16;

impl Planner<'_> {
    /// Gradients of all stages, last first.
    pub(super) fn backward(&mut self) {
        for index in (0..self.stages.len()).rev() {
            let stage = self.stages[index].clone();
            let dy = self.activation_gradients[index + 1].expect("every output has a gradient");
            if let Some(kernel) = stage.kernel {
                self.weight_gradient(&stage, kernel, self.activations[index], dy);
            }
            if let Some(dx) = self.activation_gradients[index] {
                self.input_gradient(&stage, index, dy, dx);
            }
        }
    }

    fn weight_gradient(&mut self, stage: &Stage, kernel: usize, x: BufferRange, dy: BufferRange) {
        let (weights, bias) = (self.tensors[kernel], self.tensors[kernel + 1]);
        let bias_offset = bias.offset - weights.offset;
        let part_stride = bias_offset + bias.span();
        let gradient = BufferRange {
            buffer: self.arenas.gradients.buffer,
            offset_bytes: 4 * u64::from(weights.offset),
            bytes: 4 * u64::from(part_stride),
        };
        let batch = self.rows();
        let (rows, inner, columns) = match stage.kind {
            StageKind::Conv2d { side, .. } => {
                let channels = stage.stored_input_channels(CHANNEL_ALIGNMENT);
                (batch * stage.output.pixels(), side * side * channels, stage.stored_output_channels(CHANNEL_ALIGNMENT))
            }
            _ => (batch, stage.stored_inputs(CHANNEL_ALIGNMENT), stage.stored_outputs(CHANNEL_ALIGNMENT)),
        };
        let rows_per_part = rows_per_part(rows, tiles(inner, columns));
        let parts = rows.div_ceil(rows_per_part);
        let output = if parts == 1 {
            gradient
        } else {
            self.builder.floats("gradient parts", u64::from(parts) * u64::from(part_stride))
        };
        let invocations = u64::from(parts) * tiles(inner, columns);
        match stage.kind {
            StageKind::Conv2d { side, padding } => {
                let mut params = stage.conv2d_params(batch, side, padding, CHANNEL_ALIGNMENT);
                (params.pixels_per_part, params.part_stride, params.bias_offset) =
                    (rows_per_part, part_stride, bias_offset);
                let narrow = is_narrow(params.input_channels);
                let name = if narrow { "conv2d_weight_gradient_narrow" } else { "conv2d_weight_gradient" };
                self.builder.dispatch(name, &params, &[x, dy, output], invocations);
            }
            _ => {
                let mut params = stage.dense_params(batch, CHANNEL_ALIGNMENT);
                (params.rows_per_part, params.part_stride, params.bias_offset) =
                    (rows_per_part, part_stride, bias_offset);
                self.builder.dispatch("dense_weight_gradient", &params, &[x, dy, output], invocations);
            }
        }
        if parts > 1 {
            let params = SumParts { elements: part_stride, parts, reserved: [0; 2] };
            self.builder.dispatch("sum_parts", &params, &[output, gradient], u64::from(part_stride / 4));
        }
    }

    fn input_gradient(&mut self, stage: &Stage, index: usize, dy: BufferRange, dx: BufferRange) {
        let x = self.activations[index];
        let rows = self.rows();
        match (stage.kind, stage.kernel) {
            (StageKind::MaxPool { side, stride }, _) => {
                let params = stage.pool_params(rows, side, stride, CHANNEL_ALIGNMENT);
                let taps = self.taps[index].expect("pooling stages have taps");
                self.builder.dispatch("max_pool_backward", &params, &[dy, taps, x, dx], dx.bytes / 16);
            }
            (StageKind::Dense, Some(kernel)) => {
                let mut params = stage.dense_params(rows, CHANNEL_ALIGNMENT);
                params.epilogue = stage.epilogue_below.stored(CHANNEL_ALIGNMENT);
                let tiles = tiles(rows, params.inputs);
                let weights = self.weight(kernel);
                self.builder.dispatch("dense_input_gradient", &params, &[dy, weights, x, dx], tiles);
            }
            (StageKind::Conv2d { side, padding }, Some(kernel)) => {
                let mut params = stage.conv2d_params(rows, side, padding, CHANNEL_ALIGNMENT);
                params.epilogue = stage.epilogue_below.stored(CHANNEL_ALIGNMENT);
                let tiles = tiles(rows * stage.input.pixels(), params.input_channels);
                let weights = self.weight(kernel);
                self.builder.dispatch("conv2d_input_gradient", &params, &[dy, weights, x, dx], tiles);
            }
            (_, None) => unreachable!("a stage with weights has a kernel"),
        }
    }
}

/// How many rows each part of a weight gradient sums, when a part is `tiles` invocations' work.
fn rows_per_part(rows: u32, tiles: u64) -> u32 {
    let wanted = u32::try_from(WANTED_INVOCATIONS / tiles.max(1)).unwrap_or(u32::MAX).max(1);
    rows.div_ceil(wanted).max(SMALLEST_PART).min(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_gradients_of_long_sums_are_split_and_large_ones_are_not() {
        assert_eq!(rows_per_part(36_864, 12), 109);
        assert_eq!(rows_per_part(128, 6272), 128);
        assert_eq!(rows_per_part(8, 1), 8);
    }
}
