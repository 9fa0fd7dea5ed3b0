//! The update of the weights after the gradients of a step.

use shaders::params::{GradientLimit, Optimizer};

use super::super::layout::TensorLayout;
use super::super::recording::{BufferRange, Combination, Dispatch};
use super::buffers::Arenas;
use super::planner::Planner;
use crate::training::Rule;

/// Maximum number of parts if tensors are of similar size. Each part costs two more messages.
const MAX_PARTS: u64 = 4;
/// Minimum size of a part before others. Moving less takes no longer than an empty message (docs/SCALING.md).
const MIN_BYTES: u64 = 256 << 10;

/// Minimum number of gradients for each workgroup of those that limit their norm.
const MIN_ELEMENTS_TO_LIMIT: u32 = 16_384;
/// Maximum number of such workgroups. Each adds up the squares of all others.
const MAX_PARTS_TO_LIMIT: u32 = 512;

impl Planner<'_> {
    /// Sums gradients across the devices that share the batch: in parts, each as soon as it is computed, or all
    /// together after the backward pass.
    pub(super) fn exchange_gradients(&mut self) {
        let gradients = self.arenas.gradients;
        if self.setup.devices > 1 && self.setup.overlaps {
            let parts = gradient_parts(&self.tensors, gradients, self.builder.dispatches());
            self.builder.exchange_parts(&parts);
        } else if self.setup.devices > 1 {
            self.builder.exchange(gradients, gradients, Combination::Sum);
        }
    }

    #[expect(clippy::cast_possible_truncation, reason = "kernels compute in float32")]
    pub(super) fn optimize(&mut self) {
        let rule = self.job.optimizer.rule;
        let constants = rule.constants();
        let params = Optimizer {
            elements: self.arenas.elements,
            decay: constants.decay as f32,
            second_decay: constants.second_decay as f32,
            epsilon: constants.epsilon as f32,
            nesterov: u32::from(constants.nesterov),
            rate_outside: u32::from(constants.nesterov),
            gradient_scale: 1.0 / self.gradient_scale,
            reserved: 0,
        };
        let kernel = match rule {
            Rule::Sgd { .. } | Rule::Nesterov { .. } => "sgd",
            Rule::RmsProp { .. } => "rmsprop",
            Rule::Adadelta { .. } => "adadelta",
            Rule::Adam { decoupled: false, .. } => "adam",
            Rule::Adam { decoupled: true, .. } => "adamw",
        };
        let Arenas { blocks, gradients, weights, .. } = self.arenas;
        let gradients = self.limit_gradients(gradients);
        let mut bindings = vec![blocks, gradients, weights];
        bindings.extend_from_slice(&self.arenas.memories);
        let invocations = u64::from(self.arenas.elements / 4);
        self.builder.dispatch(kernel, &params, &bindings, invocations);
        if let Some(shadow) = self.arenas.shadow {
            self.builder.dispatch("average", &params, &[weights, shadow], invocations);
        }
    }

    /// Limits the norm of all gradients together, in a separate arena because the trainer reports the computed ones.
    #[expect(clippy::cast_possible_truncation, reason = "kernels compute in float32")]
    fn limit_gradients(&mut self, gradients: BufferRange) -> BufferRange {
        let Some(limit) = self.job.optimizer.largest_gradient else { return gradients };
        let elements = self.arenas.elements;
        let limited = self.builder.floats("limited gradients", u64::from(elements));
        let parts = (elements / MIN_ELEMENTS_TO_LIMIT).min(MAX_PARTS_TO_LIMIT);
        let params = GradientLimit { elements, limit: limit as f32 * self.gradient_scale, parts, reserved: 0 };
        if parts <= 1 {
            // A single workgroup adds up all squares.
            self.builder.dispatch("limit_gradients", &params, &[gradients, limited], 1);
            return limited;
        }
        let squares = self.builder.floats("squares of gradients", 2 * u64::from(parts));
        let invocations = 64 * u64::from(parts);
        self.builder.dispatch("gradient_squares", &params, &[gradients, squares], invocations);
        let bindings = [gradients, squares, limited];
        self.builder.dispatch("limit_many_gradients", &params, &bindings, invocations);
        limited
    }
}

/// Divides the gradient arena of these launches into parts, in order of completion, each with the number of launches
/// after which it is complete. Each part begins with a tensor, and together they cover the arena.
///
/// The backward pass begins with the last layers, which are the end of the arena. Li et al., "PyTorch Distributed:
/// Experiences on Accelerating Data Parallel Training" (VLDB 13, 2020) gather gradients into buckets in the same order.
fn gradient_parts(
    tensors: &[TensorLayout],
    gradients: BufferRange,
    launches: &[Dispatch],
) -> Vec<(BufferRange, usize)> {
    let mut offsets: Vec<u64> = tensors.iter().map(|tensor| 4 * u64::from(tensor.offset)).collect();
    offsets.sort_unstable();
    let mut end = gradients.bytes;
    let mut blocks = Vec::new();
    for offset_bytes in offsets.into_iter().rev() {
        let range = BufferRange { offset_bytes, bytes: end - offset_bytes, ..gradients };
        let after = launches.iter().rposition(|launch| launch.bindings.iter().any(|bound| bound.overlaps(&range)));
        blocks.push((range, after.map_or(0, |launch| launch + 1)));
        end = offset_bytes;
    }
    join_blocks(&blocks, MIN_BYTES.max(gradients.bytes / MAX_PARTS))
}

/// Joins adjacent blocks, from last to first. A part ends when it is large enough and the next block is computed later.
fn join_blocks(blocks: &[(BufferRange, usize)], fewest_bytes: u64) -> Vec<(BufferRange, usize)> {
    let mut parts: Vec<(BufferRange, usize)> = Vec::new();
    for &(block, after) in blocks {
        match parts.last_mut() {
            Some((part, complete)) if part.bytes < fewest_bytes || after <= *complete => {
                *part = BufferRange { bytes: part.bytes + block.bytes, ..block };
                *complete = after.max(*complete);
            }
            _ => parts.push((block, after)),
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Joins blocks from the end of an arena on, given their bytes and the launches after which they are complete.
    fn joined(sizes: &[(u64, usize)]) -> Vec<(u64, u64, usize)> {
        let mut offset_bytes: u64 = sizes.iter().map(|(bytes, _)| bytes).sum();
        let block = |&(bytes, after): &(u64, usize)| {
            offset_bytes -= bytes;
            (BufferRange { buffer: 0, offset_bytes, bytes }, after)
        };
        let parts = join_blocks(&sizes.iter().map(block).collect::<Vec<_>>(), 100);
        parts.iter().map(|(part, after)| (part.offset_bytes, part.bytes, *after)).collect()
    }

    #[test]
    fn small_tensors_wait_for_others_and_large_ones_do_not() {
        assert_eq!(joined(&[(10, 3), (90, 5), (400, 7)]), [(400, 100, 5), (0, 400, 7)]);
        // A complete part goes first, even if little is left.
        assert_eq!(joined(&[(400, 3), (10, 7)]), [(10, 400, 3), (0, 10, 7)]);
        assert_eq!(joined(&[(10, 3), (10, 7)]), [(0, 20, 7)]);
    }

    #[test]
    fn tensors_complete_by_then_join_a_part() {
        // A weight with its bias, a tensor without a gradient, and one that a later layer shares.
        assert_eq!(joined(&[(100, 3), (50, 3), (50, 0), (300, 9)]), [(300, 200, 3), (0, 300, 9)]);
        assert_eq!(joined(&[(100, 9), (200, 5), (300, 7)]), [(0, 600, 9)]);
        assert_eq!(joined(&[(50, 9), (200, 5), (300, 10)]), [(300, 250, 9), (0, 300, 10)]);
    }
}
