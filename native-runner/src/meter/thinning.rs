use results::ResourceSample;

/// Keeps a bounded number of samples that lie evenly in time, however many come: when it is full, every second one goes,
/// and from then on as many are passed over.
pub(super) struct Thinning {
    kept: Vec<ResourceSample>,
    most: usize,
    /// Of so many samples that come, one is kept.
    every: usize,
    seen: usize,
}

impl Thinning {
    /// `most` is at least two: the first and the last are always kept.
    pub(super) fn new(most: usize) -> Self {
        Self { kept: Vec::with_capacity(most), most, every: 1, seen: 0 }
    }

    pub(super) fn add(&mut self, sample: ResourceSample) {
        let wanted = self.seen.is_multiple_of(self.every);
        self.seen += 1;
        if !wanted {
            return;
        }
        // One place is for the last sample.
        if self.kept.len() + 1 >= self.most {
            let mut place = 0;
            self.kept.retain(|_| {
                place += 1;
                place % 2 == 1
            });
            self.every *= 2;
            if !(self.seen - 1).is_multiple_of(self.every) {
                return;
            }
        }
        self.kept.push(sample);
    }

    /// Adds the last sample, wherever it lies.
    pub(super) fn end(&mut self, sample: ResourceSample) {
        self.kept.push(sample);
    }

    pub(super) fn kept(self) -> Vec<ResourceSample> {
        self.kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn thinned(count: u32, most: usize) -> Vec<f64> {
        let sample = |number: u32| ResourceSample { seconds: f64::from(number), ..ResourceSample::default() };
        let mut thinning = Thinning::new(most);
        (0..count - 1).for_each(|number| thinning.add(sample(number)));
        thinning.end(sample(count - 1));
        thinning.kept().iter().map(|sample| sample.seconds).collect()
    }

    #[test]
    fn few_samples_are_all_kept() {
        assert_eq!(thinned(8, 8), [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]);
        assert_eq!(thinned(2, 8), [0.0, 1.0]);
    }

    #[test]
    fn of_many_a_bounded_number_is_kept_evenly_with_the_first_and_the_last() {
        for count in [9, 15, 100, 1000, 12_345] {
            let kept = thinned(count, 8);
            assert!((4..=8).contains(&kept.len()), "{count}: {kept:?}");
            assert_eq!((kept[0], kept.last().copied()), (0.0, Some(f64::from(count - 1))));
            let gap = kept[1] - kept[0];
            let evenly = &kept[..kept.len() - 1];
            assert!(evenly.windows(2).all(|pair| pair[1] - pair[0] == gap), "{count}: {kept:?}");
        }
    }
}
