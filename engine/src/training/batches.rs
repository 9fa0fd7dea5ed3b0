use serde::Serialize;

/// Which samples each step trains on: the same for every back end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct BatchPlan {
    /// First sample that is trained on; those outside may be held out.
    pub first: u32,
    /// Samples that are trained on.
    pub samples: u32,
    pub batch_size: u32,
    pub order: SampleOrder,
    pub batching: Batching,
    pub seed: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum SampleOrder {
    /// A new random order every epoch.
    Shuffled,
    /// The order of the file, every epoch.
    File,
}

/// What happens where the batch size does not divide the set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Batching {
    /// The last batch of an epoch is short, as in Keras.
    ShortLast,
    /// What does not fill a batch is left out.
    DropLast,
    /// Batches run across the end of the set into its beginning, as in Caffe's data layer. For file order only.
    Wrap,
}

/// The samples of one step: `count` places of the epoch's order from `offset` on, modulo the set's size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BatchRange {
    /// From 0.
    pub epoch: u32,
    pub offset: u32,
    pub count: u32,
}

impl BatchPlan {
    /// Steps after which every sample was used once.
    pub fn steps_per_epoch(&self) -> u32 {
        match self.batching {
            Batching::ShortLast | Batching::Wrap => self.samples.div_ceil(self.batch_size),
            Batching::DropLast => (self.samples / self.batch_size).max(1),
        }
    }

    /// Steps after which `epochs` epochs are finished.
    pub fn steps_of_epochs(&self, epochs: u32) -> u64 {
        match self.batching {
            Batching::ShortLast | Batching::DropLast => u64::from(epochs) * u64::from(self.steps_per_epoch()),
            Batching::Wrap => (u64::from(epochs) * u64::from(self.samples)).div_ceil(u64::from(self.batch_size)),
        }
    }

    /// The step after which the test set is looked at for the `mark`-th time, from 1, where that happens `per_epoch` times
    /// in each epoch, evenly spread.
    pub fn step_of_mark(&self, mark: u32, per_epoch: u32) -> u64 {
        let per_epoch = per_epoch.max(1);
        let begin = self.steps_of_epochs(mark / per_epoch);
        let end = self.steps_of_epochs(mark / per_epoch + 1);
        begin + ((end - begin) * u64::from(mark % per_epoch)).div_ceil(u64::from(per_epoch))
    }

    /// Samples that so many steps train on, from the first one on.
    pub fn samples_of_steps(&self, steps: u64) -> u64 {
        let batch_size = u64::from(self.batch_size);
        match self.batching {
            Batching::DropLast | Batching::Wrap => steps.saturating_mul(batch_size),
            Batching::ShortLast => {
                let per_epoch = u64::from(self.steps_per_epoch());
                (steps / per_epoch).saturating_mul(u64::from(self.samples)) + steps % per_epoch * batch_size
            }
        }
    }

    /// What step `step`, counted from 0 over the whole training, trains on.
    #[expect(clippy::cast_possible_truncation, reason = "a remainder of a u32 is one")]
    pub fn step(&self, step: u64) -> BatchRange {
        match self.batching {
            Batching::ShortLast | Batching::DropLast => {
                let per_epoch = u64::from(self.steps_per_epoch());
                let offset = (step % per_epoch) as u32 * self.batch_size;
                BatchRange {
                    epoch: u32::try_from(step / per_epoch).unwrap_or(u32::MAX),
                    offset,
                    count: self.batch_size.min(self.samples - offset),
                }
            }
            Batching::Wrap => {
                let start = step * u64::from(self.batch_size);
                let samples = u64::from(self.samples);
                BatchRange {
                    epoch: u32::try_from(start / samples).unwrap_or(u32::MAX),
                    offset: (start % samples) as u32,
                    count: self.batch_size,
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(batching: Batching) -> BatchPlan {
        BatchPlan { first: 0, samples: 10, batch_size: 4, order: SampleOrder::File, batching, seed: 1 }
    }

    #[test]
    fn the_last_batch_of_an_epoch_is_short_as_in_keras() {
        let plan = plan(Batching::ShortLast);
        assert_eq!(plan.steps_per_epoch(), 3);
        assert_eq!(plan.step(2), BatchRange { epoch: 0, offset: 8, count: 2 });
        assert_eq!(plan.step(3), BatchRange { epoch: 1, offset: 0, count: 4 });
        assert_eq!(plan.steps_of_epochs(2), 6);
    }

    #[test]
    fn batches_run_across_the_end_of_the_set_as_in_caffe() {
        let plan = plan(Batching::Wrap);
        assert_eq!(plan.step(2), BatchRange { epoch: 0, offset: 8, count: 4 });
        assert_eq!(plan.step(3), BatchRange { epoch: 1, offset: 2, count: 4 });
        assert_eq!(plan.steps_of_epochs(1), 3);
        assert_eq!(plan.steps_of_epochs(2), 5);
    }

    #[test]
    fn what_does_not_fill_a_batch_can_be_left_out() {
        let plan = plan(Batching::DropLast);
        assert_eq!(plan.steps_per_epoch(), 2);
        assert_eq!(plan.step(2), BatchRange { epoch: 1, offset: 0, count: 4 });
    }

    #[test]
    fn samples_of_steps_are_those_of_each_of_them() {
        for batching in [Batching::ShortLast, Batching::DropLast, Batching::Wrap] {
            let plan = plan(batching);
            let mut samples = 0;
            for step in 0..20 {
                assert_eq!(plan.samples_of_steps(step), samples, "{batching:?}, {step}");
                samples += u64::from(plan.step(step).count);
            }
        }
    }
}
