use shaders::params::{NO_BIAS, SumParts};

use super::super::recording::BufferRange;
use super::Planner;

/// Weight gradients are summed in so many parts that about this many invocations have work.
const WANTED_INVOCATIONS: u64 = 4096;
/// A part sums at least this many rows, so that writing it is worth it.
const SMALLEST_PART: u32 = 16;
/// And at most this many: every tile of a part reads all of its rows, which should stay in a cache.
const LARGEST_PART: u32 = 2048;

/// How a weight gradient is summed, and where it goes.
pub(super) struct Parts {
    pub(super) rows_per_part: u32,
    /// Elements from one part to the next.
    pub(super) part_stride: u32,
    pub(super) bias_offset: u32,
    /// All parts; the gradient itself when there is one.
    pub(super) output: BufferRange,
    pub(super) parts: u32,
}

impl Planner<'_> {
    /// Computes the gradient of a tensor, and of the bias behind it in the arena if there is one. It is a sum over
    /// `rows`, of which one part is `tiles` invocations' work; `dispatch` launches it. Returns where the gradient is.
    pub(super) fn weight_gradient(
        &mut self,
        tensor: usize,
        bias: Option<usize>,
        rows: u32,
        tiles: u64,
        dispatch: impl FnOnce(&mut Self, &Parts),
    ) -> BufferRange {
        let weights = self.tensors[tensor];
        let bias = bias.map(|bias| self.tensors[bias]);
        let bias_offset = bias.map_or(NO_BIAS, |bias| bias.offset - weights.offset);
        let part_stride = bias.map_or(weights.span(), |bias| bias_offset + bias.span());
        let gradient = self.arenas.part(self.arenas.gradients, weights.offset, part_stride);
        let rows_per_part = rows_per_part(rows, tiles);
        let parts = rows.div_ceil(rows_per_part);
        let output = if parts == 1 {
            gradient
        } else {
            self.builder.floats("gradient parts", u64::from(parts) * u64::from(part_stride))
        };
        dispatch(self, &Parts { rows_per_part, part_stride, bias_offset, output, parts });
        if parts > 1 {
            let params = SumParts { elements: part_stride, parts, reserved: [0; 2] };
            self.builder.dispatch("sum_parts", &params, &[output, gradient], u64::from(part_stride / 4));
        }
        gradient
    }
}

/// How many rows each part of a weight gradient sums, when a part is `tiles` invocations' work.
pub(in crate::backends::wgsl) fn rows_per_part(rows: u32, tiles: u64) -> u32 {
    let wanted = u32::try_from(WANTED_INVOCATIONS / tiles.max(1)).unwrap_or(u32::MAX).max(1);
    let parts = rows.div_ceil(LARGEST_PART).max(wanted);
    rows.div_ceil(parts).max(SMALLEST_PART).min(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_gradients_of_long_sums_are_split_and_large_ones_are_not() {
        assert_eq!(rows_per_part(36_864, 12), 109);
        assert_eq!(rows_per_part(128, 6272), 128);
        assert_eq!(rows_per_part(8, 1), 8);
        assert_eq!(rows_per_part(4097, 6272), 1366);
    }
}
