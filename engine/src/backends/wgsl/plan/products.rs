//! Layers of matrix products (dense, convolutional and recurrent ones), and sums of weight gradients.

use shaders::params::{Conv2d, Dense, NO_BIAS, SumParts};

use super::super::layout::CHANNEL_ALIGNMENT;
use super::super::products::{Params, Pass, Product, recurrent_bindings};
use super::super::recording::BufferRange;
use super::planner::{LayerPhase, Planner};
use crate::model::{Cell, SlidingWindow, Stage};

impl Planner<'_> {
    pub(super) fn product(&mut self, pass: Pass, params: Params, bindings: &[BufferRange]) {
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

/// Target number of invocations that share a sum over a batch on an emulated GPU.
const WANTED_INVOCATIONS: u64 = 4096;
/// Target number of invocations on a real GPU, which has thousands of lanes and hides memory latency behind more
/// invocations.
const WANTED_GPU_INVOCATIONS: u64 = 32_768;
/// Minimum number of rows per part, so that writing the part is worthwhile.
const MIN_PART: u32 = 16;
/// Minimum number of rows per part if a real GPU needs more parts than an emulated one.
const MIN_GPU_PART: u32 = 64;
/// Maximum number of rows per part. Every tile of a part reads all of its rows, which should stay in a cache.
const MAX_PART: u32 = 2048;

/// Divisor of the number of parts of a product's weight gradient on an emulated GPU. Its few cores need fewer tiles than
/// for other sums, and each part has to be written, read and added.
const EMULATED_TILE_SHARE: u64 = 8;
/// Target number of workgroups that share the tiles of a product's weight gradient on a real GPU with 100 or more
/// processors.
const WANTED_WORKGROUPS: u64 = 128;
/// Side of the largest tile that a workgroup shares.
const MAX_TILE_SIDE: u32 = 128;
/// Minimum number of rows per part for such workgroups. Writing and reading a part costs 8 bytes per element, time in
/// which a GPU could do several hundred operations.
const MIN_WORKGROUP_PART: u32 = 128;

/// Minimum number of parts that a real GPU adds up with 64 invocations per four elements.
const MIN_MANY_PARTS: u32 = 16;
/// Maximum number of groups of four elements for that kernel. With more, one invocation per group is enough.
const MAX_QUADS_FOR_MANY_PARTS: u64 = 16_384;

/// Division of a weight gradient into parts, and its destination.
pub(super) struct GradientSum {
    /// Distance between parts, in elements.
    pub(super) part_stride: u32,
    pub(super) bias_offset: u32,
    /// All parts, or the gradient itself if there is only one.
    pub(super) output: BufferRange,
    pub(super) parts: u32,
    pub(super) rows_per_part: u32,
}

impl Planner<'_> {
    /// Computes the gradient of a tensor, and of the bias behind it in the arena if there is one. It is a sum over
    /// `rows`, in parts of `rows_per_part`, launched by `dispatch`. Returns the place of the gradient, which is added
    /// to the gradient of a stage that shares the tensor.
    pub(super) fn weight_gradient(
        &mut self,
        tensor: usize,
        bias: Option<usize>,
        rows: u32,
        rows_per_part: u32,
        dispatch: impl FnOnce(&mut Self, &GradientSum),
    ) -> BufferRange {
        let weights = self.tensors[tensor];
        let bias = bias.map(|bias| self.tensors[bias]);
        let bias_offset = bias.map_or(NO_BIAS, |bias| bias.offset - weights.offset);
        let part_stride = bias.map_or(weights.span(), |bias| bias_offset + bias.span());
        let gradient = self.arenas.gradients.part(weights.offset, part_stride, 4);
        let parts = rows.div_ceil(rows_per_part);
        let accumulate = u32::from(std::mem::replace(&mut self.has_gradient[tensor], true));
        let output = if parts == 1 && accumulate == 0 {
            gradient
        } else {
            self.builder.floats("gradient parts", u64::from(parts) * u64::from(part_stride))
        };
        dispatch(self, &GradientSum { part_stride, bias_offset, output, parts, rows_per_part });
        if output != gradient {
            let params = SumParts { elements: part_stride, parts, accumulate, reserved: 0 };
            let (kernel, invocations) = sum_of_parts(&params, self.choices.abilities.software);
            self.builder.dispatch(kernel, &params, &[output, gradient], invocations);
        }
        gradient
    }
}

/// Chooses the kernel that adds up parts, and its number of invocations.
pub(crate) fn sum_of_parts(params: &SumParts, emulated: bool) -> (&'static str, u64) {
    let quads = u64::from(params.elements / 4);
    if emulated || params.parts < MIN_MANY_PARTS || quads > MAX_QUADS_FOR_MANY_PARTS {
        ("sum_parts", quads)
    } else {
        ("sum_many_parts", 256 * quads.div_ceil(4))
    }
}

/// Returns the number of 8 × 8 tiles that cover a matrix, one per invocation.
pub(crate) fn tiles(rows: u32, columns: u32) -> u64 {
    u64::from(rows.div_ceil(8)) * u64::from(columns.div_ceil(8))
}

/// Returns the rows per part of a sum over a batch, if a part is the work of `tiles` invocations.
pub(crate) fn rows_per_part(rows: u32, tiles: u64, emulated: bool) -> u32 {
    let part_for = |invocations: u64, smallest: u32| {
        let wanted = u32::try_from(invocations / tiles.max(1)).unwrap_or(u32::MAX).max(1);
        let parts = rows.div_ceil(MAX_PART).max(wanted);
        rows.div_ceil(parts).max(smallest).min(rows)
    };
    let usual = part_for(WANTED_INVOCATIONS, MIN_PART);
    if emulated { usual } else { usual.min(part_for(WANTED_GPU_INVOCATIONS, MIN_GPU_PART)) }
}

/// Returns the pixels per part of a convolution's weight gradient. If its input has few channels, no kernel shares
/// tiles in workgroups.
pub(crate) fn pixels_per_part(params: &Conv2d, emulated: bool) -> u32 {
    let pixels = params.rows * params.output_height * params.output_width;
    let size = [params.window_height * params.window_width * params.input_channels, params.output_channels];
    if params.input_channels.is_multiple_of(CHANNEL_ALIGNMENT) {
        rows_per_part_of_product(pixels, size, emulated)
    } else {
        rows_per_part(pixels, tiles(size[0], size[1]), emulated)
    }
}

/// Returns the rows per part of a product's weight gradient, a matrix of `height` rows and `width` columns.
pub(crate) fn rows_per_part_of_product(rows: u32, [height, width]: [u32; 2], emulated: bool) -> u32 {
    if emulated {
        return rows_per_part(rows, EMULATED_TILE_SHARE * tiles(height, width), true);
    }
    let usual = rows_per_part(rows, tiles(height, width), true);
    let large_tiles = u64::from(height.div_ceil(MAX_TILE_SIDE)) * u64::from(width.div_ceil(MAX_TILE_SIDE));
    let wanted = u32::try_from(WANTED_WORKGROUPS.div_ceil(large_tiles.max(1))).unwrap_or(u32::MAX);
    let parts = wanted.min(rows / MIN_WORKGROUP_PART).max(1);
    usual.min(rows.div_ceil(parts))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_gradients_of_long_sums_are_split() {
        assert_eq!(rows_per_part(36_864, 12, true), 109);
        assert_eq!(rows_per_part(128, 6272, true), 128);
        assert_eq!(rows_per_part(8, 1, true), 8);
        assert_eq!(rows_per_part(4097, 6272, true), 1366);
        // A real GPU has more and shorter parts.
        assert_eq!(rows_per_part(230_400, 16, true), 900);
        assert_eq!(rows_per_part(230_400, 16, false), 113);
        assert_eq!(rows_per_part(36_864, 12, false), 64);
        // A part that an emulated GPU shortens keeps its length.
        assert_eq!(rows_per_part(128, 4, false), rows_per_part(128, 4, true));
    }

    #[test]
    fn real_gpu_splits_sums_of_many_parts() {
        let kernel = |elements, parts, emulated| {
            sum_of_parts(&SumParts { elements, parts, accumulate: 0, reserved: 0 }, emulated)
        };
        assert_eq!(kernel(512, 2048, false), ("sum_many_parts", 256 * 32));
        assert_eq!(kernel(512, 2048, true), ("sum_parts", 128));
        assert_eq!(kernel(512, 8, false), ("sum_parts", 128));
        assert_eq!(kernel(1 << 20, 25, false), ("sum_parts", 1 << 18));
    }

    #[test]
    fn long_sums_give_every_gpu_processor_a_large_tile() {
        let parts = |rows: u32, size| rows.div_ceil(rows_per_part_of_product(rows, size, false));
        // One tile, 5 × 1 and 9 × 2 tiles, and more tiles than processors.
        assert_eq!(parts(100_352, [128, 128]), 128);
        assert_eq!(parts(36_864, [576, 64]) * 5, 130);
        assert_eq!(parts(8192, [1152, 256]) * 18, 144);
        assert_eq!(parts(1024, [4096, 4096]), 1);
        // Four tiles and a short sum: no part is shorter than 128 rows.
        assert_eq!(parts(3584, [128, 512]), 28);
        assert_eq!(parts(128, [784, 512]), 1);
    }

    #[test]
    fn real_gpu_has_no_fewer_parts_than_emulated() {
        let gradients = [(36_864, [576, 64]), (3584, [128, 512]), (128, [512, 12]), (8, [4, 4]), (7000, [4096, 4096])];
        for (rows, size) in gradients {
            let [emulated, real] = [true, false].map(|emulated| rows_per_part_of_product(rows, size, emulated));
            assert!(real <= emulated, "{rows} {size:?}");
        }
    }
}
