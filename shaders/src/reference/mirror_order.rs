//! Twin of `kernels/mirror_order.wgsl`.

use super::pcg4d::pcg4d;
use crate::params::{MirrorOrder, Step};

/// Changes `order`, of (samples): the places from the one on at which the batch of `step` begins, and those before it.
pub fn mirror_order(params: &MirrorOrder, step: &Step, order: &mut [u32]) {
    let [x, y, ..] = pcg4d([0, params.stream, step.step, step.seed]);
    let (before, rest) = order[..params.samples as usize].split_at_mut(step.offset as usize);
    for (random, part) in [(y, before), (x, rest)] {
        let length = part.len();
        for place in 0..length {
            let partner = (random as usize % length + length - place) % length;
            if place < partner {
                part.swap(place, partner);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_change_in_pairs_on_both_sides_of_the_offset() {
        let params = MirrorOrder { samples: 20, stream: 8000, reserved: [0; 2] };
        for seed in 0..50 {
            let step = Step { step: 3, seed, offset: 7, ..Step::default() };
            let mut order: Vec<u32> = (0..20).collect();
            mirror_order(&params, &step, &mut order);
            let mut before = order[..7].to_vec();
            before.sort_unstable();
            assert!(before.iter().copied().eq(0..7), "{order:?}");
            assert!(!order.iter().take(7).copied().eq(0..7) && !order.iter().skip(7).copied().eq(7..20), "{order:?}");
            mirror_order(&params, &step, &mut order);
            assert!(order.iter().copied().eq(0..20), "{order:?}");
        }
    }
}
