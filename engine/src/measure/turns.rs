/// One run of a comparison: places in the lists of seeds and of contenders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    pub seed: usize,
    pub contender: usize,
}

/// The turns of a comparison, in order.
///
/// Every contender trains from a seed before any of them trains from the next one, so that those which are there when
/// somebody has seen enough belong together. They take turns in going first, so that none always finds the device cool.
pub fn turns(seeds: usize, contenders: usize) -> impl Iterator<Item = Turn> {
    (0..seeds)
        .flat_map(move |seed| (0..contenders).map(move |place| Turn { seed, contender: (seed + place) % contenders }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_contender_trains_from_every_seed_and_each_goes_first_in_turn() {
        let all: Vec<Turn> = turns(3, 2).collect();
        let first: Vec<usize> = all.iter().step_by(2).map(|turn| turn.contender).collect();
        assert_eq!(first, [0, 1, 0]);
        assert_eq!(all.len(), 6);
        for (seed, contender) in (0..3).flat_map(|seed| (0..2).map(move |contender| (seed, contender))) {
            assert!(all.contains(&Turn { seed, contender }), "{contender} from {seed}");
        }
        assert_eq!(turns(2, 0).count(), 0);
    }
}
