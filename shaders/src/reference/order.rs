//! The order of the training samples.

use super::pcg4d::pcg4d;
use crate::params::{DrawWindows, MirrorOrder, Shuffle, Step};

/// Rounds of the permutation. Four already look random to a small machine (Luby and Rackoff, 1988); the halves are
/// short here, hence twice as many.
const ROUNDS: u32 = 8;

/// Twin of `shuffle.wgsl`: fills `order`, of (samples), with the order in which the epoch of `step` goes through its samples.
pub fn shuffle(params: &Shuffle, step: &Step, order: &mut [u32]) {
    for (place, sample) in (0..params.samples).zip(order) {
        *sample = params.first + permute(place, params, step);
    }
}

/// Value of a permutation of `0..samples` at `place`.
fn permute(place: u32, params: &Shuffle, step: &Step) -> u32 {
    let bits = (u32::BITS - (params.samples - 1).leading_zeros()).max(2);
    let low_bits = bits / 2;
    let (low_mask, high_mask) = ((1 << low_bits) - 1, (1 << (bits - low_bits)) - 1);
    let hash = |half: u32, round: u32| {
        let [x, ..] = pcg4d([half, params.stream.wrapping_add(round), step.epoch, step.seed]);
        x >> 16
    };
    let mut number = place;
    loop {
        let (mut high, mut low) = (number >> low_bits, number & low_mask);
        for round in (0..ROUNDS).step_by(2) {
            high ^= hash(low, round) & high_mask;
            low ^= hash(high, round + 1) & low_mask;
        }
        number = (high << low_bits) | low;
        if number < params.samples {
            return number;
        }
    }
}

/// Twin of `draw_windows.wgsl`: fills `order`, of (samples), with the first characters of the epoch's windows.
pub fn draw_windows(params: &DrawWindows, step: &Step, order: &mut [u32]) {
    for (place, start) in (0..params.samples).zip(order) {
        let [x, ..] = pcg4d([place, params.stream, step.epoch, step.seed]);
        *start = x % params.starts;
    }
}

/// Twin of `mirror_order.wgsl`: changes `order`, of (samples): the places from the one on at which the batch of `step` begins, and those before it.
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

    fn order(samples: u32, epoch: u32, seed: u32) -> Vec<u32> {
        let mut order = vec![0; samples as usize];
        let params = Shuffle { samples, first: 0, stream: 2000, ..Shuffle::default() };
        shuffle(&params, &Step { epoch, seed, ..Step::default() }, &mut order);
        order
    }

    #[test]
    fn every_number_comes_once() {
        for samples in (1..70).chain([255, 256, 257, 1000, 60_000]) {
            let mut sorted = order(samples, 3, 1);
            sorted.sort_unstable();
            assert!(sorted.into_iter().eq(0..samples), "{samples}");
        }
    }

    #[test]
    fn each_epoch_and_each_seed_has_its_own_order() {
        let orders = [order(1000, 0, 1), order(1000, 1, 1), order(1000, 0, 2)];
        assert!(orders[0] != orders[1] && orders[0] != orders[2] && orders[1] != orders[2]);
    }

    /// Pearson's test: of many orders, every number is as often at every place. Neighbours are as often neighbours.
    #[test]
    fn all_places_and_all_neighbors_are_equally_likely() {
        const SAMPLES: u32 = 12;
        const ORDERS: u32 = 12_000;
        let cells = (SAMPLES * SAMPLES) as usize;
        let (mut places, mut followers) = (vec![0u32; cells], vec![0u32; cells]);
        for seed in 0..ORDERS {
            let order = order(SAMPLES, seed / 7, seed);
            for (place, number) in (0..).zip(&order) {
                places[(place * SAMPLES + number) as usize] += 1;
            }
            for pair in order.windows(2) {
                followers[(pair[0] * SAMPLES + pair[1]) as usize] += 1;
            }
        }
        let chi_squared = |counts: &mut dyn Iterator<Item = u32>, expected: f64| {
            counts.map(|count| (f64::from(count) - expected).powi(2) / expected).sum::<f64>()
        };
        // 121 degrees of freedom: with one chance in a million the sum is above 206.
        let of_places = chi_squared(&mut places.into_iter(), f64::from(ORDERS / SAMPLES));
        assert!(of_places < 206.0, "{of_places}");
        // No number follows itself. About 131 degrees of freedom, above 220 with one chance in a million.
        let off_diagonal = |&(cell, _): &(usize, u32)| cell / SAMPLES as usize != cell % SAMPLES as usize;
        let counts = followers.into_iter().enumerate().filter(off_diagonal).map(|(_, count)| count);
        let of_followers = chi_squared(&mut counts.into_iter(), f64::from(ORDERS) / f64::from(SAMPLES));
        assert!(of_followers < 220.0, "{of_followers}");
    }

    #[test]
    fn places_change_in_pairs_on_both_sides_of_the_offset() {
        let params = MirrorOrder { samples: 20, stream: 8000, ..MirrorOrder::default() };
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
