//! Into which parts the gradients are divided, so that the first of them are on their way while the others are computed.

use super::super::layout::TensorLayout;
use super::super::recording::{BufferRange, Dispatch};

/// At most so many parts, so far as tensors are alike: each is two more messages.
const MOST_PARTS: u32 = 4;
/// The fewest elements of a part that others follow, 256 KiB: moving less takes no longer than a message does that holds
/// nothing (docs/SCALING.md).
const FEWEST_ELEMENTS: u32 = 1 << 16;

/// A part of the arena.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) offset: u32,
    pub(super) elements: u32,
    /// Launches after which it is there.
    pub(super) after: usize,
}

/// Parts of an arena of gradients which these launches compute, in the order in which they are there. Each begins with a
/// tensor; together they are the arena.
///
/// The backward pass begins with the last layers, which are the end of the arena. Li et al., "PyTorch Distributed: Experiences
/// on Accelerating Data Parallel Training" (VLDB 13, 2020) gather gradients into buckets in the same order.
pub(super) fn parts(tensors: &[TensorLayout], gradients: BufferRange, launches: &[Dispatch]) -> Vec<Part> {
    let elements = u32::try_from(gradients.bytes / 4).expect("offsets are as many bits");
    let mut offsets: Vec<u32> = tensors.iter().map(|tensor| tensor.offset).collect();
    offsets.sort_unstable();
    let mut end = elements;
    let mut blocks = Vec::new();
    for offset in offsets.into_iter().rev() {
        let range =
            BufferRange { offset_bytes: 4 * u64::from(offset), bytes: 4 * u64::from(end - offset), ..gradients };
        let after = launches.iter().rposition(|launch| launch.bindings.iter().any(|bound| bound.overlaps(&range)));
        blocks.push(Part { offset, elements: end - offset, after: after.map_or(0, |launch| launch + 1) });
        end = offset;
    }
    divided(&blocks, FEWEST_ELEMENTS.max(elements / MOST_PARTS))
}

/// The same from blocks that follow each other towards the beginning. A part ends where it is large enough and the next
/// block is computed later.
fn divided(blocks: &[Part], fewest_elements: u32) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
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

    /// Blocks from the end of an arena on, of so many elements that are there after so many launches.
    fn blocks(of: &[(u32, usize)]) -> Vec<Part> {
        let mut offset: u32 = of.iter().map(|(elements, _)| elements).sum();
        let block = |&(elements, after): &(u32, usize)| {
            offset -= elements;
            Part { offset, elements, after }
        };
        of.iter().map(block).collect()
    }

    fn found(of: &[(u32, usize)]) -> Vec<(u32, u32, usize)> {
        divided(&blocks(of), 100).iter().map(|part| (part.offset, part.elements, part.after)).collect()
    }

    #[test]
    fn small_tensors_wait_for_those_before_them_and_large_ones_do_not() {
        assert_eq!(found(&[(10, 3), (90, 5), (400, 7)]), [(400, 100, 5), (0, 400, 7)]);
        // However little is left, what is there before goes first.
        assert_eq!(found(&[(400, 3), (10, 7)]), [(10, 400, 3), (0, 10, 7)]);
        assert_eq!(found(&[(10, 3), (10, 7)]), [(0, 20, 7)]);
    }

    #[test]
    fn what_is_there_at_the_same_time_or_before_goes_along() {
        // A weight with its bias, a tensor that has no gradient, one that a later layer shares.
        assert_eq!(found(&[(100, 3), (50, 3), (50, 0), (300, 9)]), [(300, 200, 3), (0, 300, 9)]);
        assert_eq!(found(&[(100, 9), (200, 5), (300, 7)]), [(0, 600, 9)]);
        assert_eq!(found(&[(50, 9), (200, 5), (300, 10)]), [(300, 250, 9), (0, 300, 10)]);
    }
}
