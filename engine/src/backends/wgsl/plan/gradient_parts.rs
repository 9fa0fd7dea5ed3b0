//! Parts of the gradients. The first are exchanged while the others are computed.

use super::super::layout::TensorLayout;
use super::super::recording::{BufferRange, Dispatch, GradientPart};

/// Maximum number of parts if tensors are of similar size. Each part costs two more messages.
const MAX_PARTS: u32 = 4;
/// Minimum number of elements of a part before others: 256 KiB. Moving less takes no longer than an empty message
/// (docs/SCALING.md).
const MIN_ELEMENTS: u32 = 1 << 16;

/// Divides the gradient arena of these launches into parts, in order of completion. Each part begins with a tensor, and
/// together they cover the arena.
///
/// The backward pass begins with the last layers, which are the end of the arena. Li et al., "PyTorch Distributed: Experiences
/// on Accelerating Data Parallel Training" (VLDB 13, 2020) gather gradients into buckets in the same order.
pub(super) fn parts(tensors: &[TensorLayout], gradients: BufferRange, launches: &[Dispatch]) -> Vec<GradientPart> {
    let elements = u32::try_from(gradients.bytes / 4).expect("offsets are as many bits");
    let mut offsets: Vec<u32> = tensors.iter().map(|tensor| tensor.offset).collect();
    offsets.sort_unstable();
    let mut end = elements;
    let mut blocks = Vec::new();
    for offset in offsets.into_iter().rev() {
        let range =
            BufferRange { offset_bytes: 4 * u64::from(offset), bytes: 4 * u64::from(end - offset), ..gradients };
        let after = launches.iter().rposition(|launch| launch.bindings.iter().any(|bound| bound.overlaps(&range)));
        blocks.push(GradientPart { offset, elements: end - offset, after: after.map_or(0, |launch| launch + 1) });
        end = offset;
    }
    join_blocks(&blocks, MIN_ELEMENTS.max(elements / MAX_PARTS))
}

/// Joins adjacent blocks, from last to first. A part ends when it is large enough and the next block is computed later.
fn join_blocks(blocks: &[GradientPart], fewest_elements: u32) -> Vec<GradientPart> {
    let mut parts: Vec<GradientPart> = Vec::new();
    for block in blocks {
        match parts.last_mut() {
            Some(part) if part.elements < fewest_elements || block.after <= part.after => {
                part.offset = block.offset;
                part.elements += block.elements;
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

    /// Returns blocks from the end of an arena on, given their elements and the launches after which they are complete.
    fn blocks(sizes: &[(u32, usize)]) -> Vec<GradientPart> {
        let mut offset: u32 = sizes.iter().map(|(elements, _)| elements).sum();
        let block = |&(elements, after): &(u32, usize)| {
            offset -= elements;
            GradientPart { offset, elements, after }
        };
        sizes.iter().map(block).collect()
    }

    fn joined(sizes: &[(u32, usize)]) -> Vec<(u32, u32, usize)> {
        join_blocks(&blocks(sizes), 100).iter().map(|part| (part.offset, part.elements, part.after)).collect()
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
