use std::collections::VecDeque;

/// One run of a comparison: places in the lists of seeds and of contenders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    pub seed: usize,
    pub contender: usize,
}

/// The turns of a comparison, in order: the present one and those to come.
///
/// Every contender trains from a seed before any of them trains from the next one, so that those which are there when
/// somebody has seen enough belong together. They take turns in going first, so that none always finds the device cool.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Schedule {
    turns: VecDeque<Turn>,
    count: usize,
}

impl Schedule {
    pub fn new(seeds: usize, contenders: usize) -> Self {
        let of_seed = |seed| (0..contenders).map(move |place| Turn { seed, contender: (seed + place) % contenders });
        let turns: VecDeque<Turn> = (0..seeds).flat_map(of_seed).collect();
        Self { count: turns.len(), turns }
    }

    /// Whose turn it is; `None` when all are over.
    pub fn present(&self) -> Option<Turn> {
        self.turns.front().copied()
    }

    /// Place of the present turn, from 1, of [`Self::count`].
    pub fn number(&self) -> usize {
        self.count - self.turns.len() + 1
    }

    /// How many turns there are, those that were left out included.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The present turn is over.
    pub fn go_on(&mut self) {
        self.turns.pop_front();
    }

    /// The contender whose turn it is has no more: what stopped it with one seed would with the next.
    pub fn give_up(&mut self) {
        if let Some(Turn { contender, .. }) = self.present() {
            self.turns.retain(|turn| turn.contender != contender);
        }
    }

    /// Nobody has a turn any more.
    pub fn end(&mut self) {
        self.turns.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rest(mut schedule: Schedule) -> Vec<Turn> {
        std::iter::from_fn(|| {
            let turn = schedule.present();
            schedule.go_on();
            turn
        })
        .collect()
    }

    #[test]
    fn every_contender_trains_from_every_seed_and_each_goes_first_in_turn() {
        let all = rest(Schedule::new(3, 2));
        let first: Vec<usize> = all.iter().step_by(2).map(|turn| turn.contender).collect();
        assert_eq!(first, [0, 1, 0]);
        assert_eq!(all.len(), 6);
        for (seed, contender) in (0..3).flat_map(|seed| (0..2).map(move |contender| (seed, contender))) {
            assert!(all.contains(&Turn { seed, contender }), "{contender} from {seed}");
        }
        assert_eq!(Schedule::new(2, 0).present(), None);
    }

    #[test]
    fn who_gives_up_has_no_more_turns_and_the_others_go_on() {
        let mut schedule = Schedule::new(2, 2);
        schedule.go_on();
        assert_eq!((schedule.number(), schedule.present()), (2, Some(Turn { seed: 0, contender: 1 })));
        schedule.give_up();
        assert_eq!((schedule.number(), schedule.count()), (4, 4));
        assert_eq!(rest(schedule.clone()), [Turn { seed: 1, contender: 0 }]);
        schedule.end();
        assert_eq!(schedule.present(), None);
    }
}
