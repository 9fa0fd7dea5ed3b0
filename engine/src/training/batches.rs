use serde::{Deserialize, Serialize};

/// Assignment of samples to steps, the same for every backend.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct BatchPlan {
    /// First training sample. Earlier samples are excluded from training.
    pub first: u32,
    pub samples: u32,
    pub batch_size: u32,
    pub order: SampleOrder,
    pub batching: Batching,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SampleOrder {
    /// New random order every epoch.
    Shuffled,
    /// This number of windows of a text in every epoch, at random places.
    Drawn { per_epoch: u32 },
    /// File order in every epoch.
    File,
}

/// Treatment of the remainder if the batch size does not divide the set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Batching {
    /// The last batch of an epoch is short, as in Keras.
    ShortLast,
    /// An incomplete batch is dropped.
    DropLast,
    /// Batches wrap around the end of the set, as in Caffe's data layer. For file order only.
    Wrap,
}

/// Samples of one step: `count` positions of the epoch's order, starting at `offset`, modulo the set's size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BatchRange {
    /// Zero-based epoch.
    pub epoch: u32,
    pub offset: u32,
    pub count: u32,
}

impl BatchPlan {
    pub fn steps_per_epoch(&self) -> u32 {
        match self.batching {
            Batching::ShortLast | Batching::Wrap => self.samples.div_ceil(self.batch_size),
            Batching::DropLast => (self.samples / self.batch_size).max(1),
        }
    }

    pub fn steps_of_epochs(&self, epochs: u32) -> u64 {
        match self.batching {
            Batching::ShortLast | Batching::DropLast => u64::from(epochs) * u64::from(self.steps_per_epoch()),
            Batching::Wrap => (u64::from(epochs) * u64::from(self.samples)).div_ceil(u64::from(self.batch_size)),
        }
    }

    /// Returns the step of evaluation `mark`, counted from 1, with `per_epoch` evenly spaced evaluations per epoch.
    pub fn step_of_mark(&self, mark: u32, per_epoch: u32) -> u64 {
        let per_epoch = per_epoch.max(1);
        let begin = self.steps_of_epochs(mark / per_epoch);
        let end = self.steps_of_epochs(mark / per_epoch + 1);
        begin + ((end - begin) * u64::from(mark % per_epoch)).div_ceil(u64::from(per_epoch))
    }

    /// Returns the number of samples in the first `steps` steps.
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

    /// Returns the samples of `step`, counted from 0 across all epochs.
    #[expect(clippy::cast_possible_truncation, reason = "a remainder of a u32 is one")]
    pub fn step(&self, step: u64) -> BatchRange {
        let (batch_size, samples) = (u64::from(self.batch_size), u64::from(self.samples));
        let per_epoch = u64::from(self.steps_per_epoch());
        let (epoch, offset) = match self.batching {
            Batching::ShortLast | Batching::DropLast => (step / per_epoch, step % per_epoch * batch_size),
            Batching::Wrap => (step * batch_size / samples, step * batch_size % samples),
        };
        let rest = if self.batching == Batching::Wrap { batch_size } else { samples - offset };
        let epoch = u32::try_from(epoch).unwrap_or(u32::MAX);
        BatchRange { epoch, offset: offset as u32, count: batch_size.min(rest) as u32 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(batching: Batching) -> BatchPlan {
        BatchPlan { first: 0, samples: 10, batch_size: 4, order: SampleOrder::File, batching }
    }

    #[test]
    fn last_batches_of_an_epoch_are_short_wrapped_or_dropped() {
        for (batching, per_epoch, of_two_epochs, steps) in [
            (Batching::ShortLast, 3, 6, [(0, 8, 2), (1, 0, 4)]),
            (Batching::Wrap, 3, 5, [(0, 8, 4), (1, 2, 4)]),
            (Batching::DropLast, 2, 4, [(1, 0, 4), (1, 4, 4)]),
        ] {
            let plan = plan(batching);
            assert_eq!(u64::from(plan.steps_per_epoch()), per_epoch, "{batching:?}");
            assert_eq!([1, 2].map(|epochs| plan.steps_of_epochs(epochs)), [per_epoch, of_two_epochs], "{batching:?}");
            for (step, (epoch, offset, count)) in (2..).zip(steps) {
                assert_eq!(plan.step(step), BatchRange { epoch, offset, count }, "{batching:?}");
            }
        }
    }

    #[test]
    fn samples_of_steps_sums_all_batches() {
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
