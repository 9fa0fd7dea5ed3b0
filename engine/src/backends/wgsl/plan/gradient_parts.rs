//! Parts of the gradients. The first are exchanged while the others are computed.

use super::super::layout::TensorLayout;
use super::super::recording::{BufferRange, Dispatch, GradientPart};

/// Maximum number of parts if tensors are of similar size. Each part costs two more messages.
const MAX_PARTS: u64 = 4;
/// Minimum size of a part before others. Moving less takes no longer than an empty message (docs/SCALING.md).
const MIN_BYTES: u64 = 256 << 10;

/// Divides the gradient arena of these launches into parts, in order of completion. Each part begins with a tensor, and
/// together they cover the arena.
///
/// The backward pass begins with the last layers, which are the end of the arena. Li et al., "PyTorch Distributed: Experiences
/// on Accelerating Data Parallel Training" (VLDB 13, 2020) gather gradients into buckets in the same order.
pub(super) fn parts(tensors: &[TensorLayout], gradients: BufferRange, launches: &[Dispatch]) -> Vec<GradientPart> {
    let mut offsets: Vec<u64> = tensors.iter().map(|tensor| 4 * u64::from(tensor.offset)).collect();
    offsets.sort_unstable();
    let mut end = gradients.bytes;
    let mut blocks = Vec::new();
    for offset_bytes in offsets.into_iter().rev() {
        let range = BufferRange { offset_bytes, bytes: end - offset_bytes, ..gradients };
        let after = launches.iter().rposition(|launch| launch.bindings.iter().any(|bound| bound.overlaps(&range)));
        blocks.push(GradientPart { range, after: after.map_or(0, |launch| launch + 1) });
        end = offset_bytes;
    }
    join_blocks(&blocks, MIN_BYTES.max(gradients.bytes / MAX_PARTS))
}

/// Joins adjacent blocks, from last to first. A part ends when it is large enough and the next block is computed later.
fn join_blocks(blocks: &[GradientPart], fewest_bytes: u64) -> Vec<GradientPart> {
    let mut parts: Vec<GradientPart> = Vec::new();
    for block in blocks {
        match parts.last_mut() {
            Some(part) if part.range.bytes < fewest_bytes || block.after <= part.after => {
                part.range.offset_bytes = block.range.offset_bytes;
                part.range.bytes += block.range.bytes;
                part.after = part.after.max(block.after);
            }
            _ => parts.push(*block),
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
            GradientPart { range: BufferRange { buffer: 0, offset_bytes, bytes }, after }
        };
        let parts = join_blocks(&sizes.iter().map(block).collect::<Vec<_>>(), 100);
        parts.iter().map(|part| (part.range.offset_bytes, part.range.bytes, part.after)).collect()
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
