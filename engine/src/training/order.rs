use shaders::params::{DrawWindows, MirrorOrder, Shuffle};
use shaders::reference as twin;

use super::{SampleOrder, TrainingJob};
use crate::random::stream;

impl TrainingJob {
    pub(crate) fn order_at(&self, step: u64) -> Vec<u32> {
        let begin = match self.batches.order {
            SampleOrder::File => 0,
            SampleOrder::Shuffled | SampleOrder::Drawn { .. } => {
                self.batches.steps_of_epochs(self.batches.step(step).epoch)
            }
        };
        let mut order = self.file_order();
        self.change_order(begin, &mut order);
        for first_step in self.segments.beginning_in(begin + 1..step + 1) {
            self.change_order(first_step, &mut order);
        }
        order
    }

    /// Returns the order before the change at the start of `step`.
    #[cfg(any(feature = "wgsl", test))]
    pub(crate) fn order_before(&self, step: u64) -> Vec<u32> {
        step.checked_sub(1).map_or_else(|| self.file_order(), |before| self.order_at(before))
    }

    fn file_order(&self) -> Vec<u32> {
        self.places(self.batches.first..self.batches.first + self.batches.samples)
    }

    /// Returns the parameters that draw an epoch's windows.
    pub(crate) fn drawn_windows(&self) -> DrawWindows {
        let starts = self.data.train.samples().saturating_sub(self.model.input.features()).max(1);
        DrawWindows { samples: self.batches.samples, starts, stream: stream::WINDOWS, reserved: 0 }
    }

    /// Changes the order at the start of a step: a new epoch shuffles or draws it, and a new segment mirrors its rest.
    fn change_order(&self, number: u64, order: &mut [u32]) {
        let (batches, step) = (&self.batches, self.step(number, 0));
        let samples = batches.samples;
        let begins_epoch = number == batches.steps_of_epochs(step.epoch);
        match batches.order {
            SampleOrder::Shuffled if begins_epoch => {
                let params = Shuffle { samples, first: batches.first, stream: stream::SHUFFLE, reserved: 0 };
                twin::shuffle(&params, &step, order);
            }
            SampleOrder::Drawn { .. } if begins_epoch => twin::draw_windows(&self.drawn_windows(), &step, order),
            _ if step.mirror_rest == 1 => {
                let params = MirrorOrder { samples, stream: stream::SEGMENT, reserved: [0; 2] };
                twin::mirror_order(&params, &step, order);
            }
            _ => {}
        }
    }
}

/// Sample order, updated step by step.
#[derive(Default)]
pub(crate) struct Order {
    pub(crate) samples: Vec<u32>,
    step: Option<u64>,
}

impl Order {
    pub(crate) fn advance(&mut self, job: &TrainingJob, step: u64) {
        if self.step.is_some_and(|before| before + 1 == step) {
            job.change_order(step, &mut self.samples);
        } else {
            self.samples = job.order_at(step);
        }
        self.step = Some(step);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::testing::samples;
    use crate::training::{BatchPlan, Batching};

    /// Returns jobs that train on ten samples of a file in batches of four. Half of them have segments that begin
    /// within epochs, at their start, and at consecutive steps.
    fn jobs() -> Vec<TrainingJob> {
        use Batching::{DropLast, ShortLast, Wrap};
        use SampleOrder::{File, Shuffled};
        let workload = crate::workload("keras-mnist-mlp").unwrap();
        let data = samples("mnist", [14, 14], |_| 0);
        let kinds = [(File, ShortLast), (File, DropLast), (File, Wrap), (Shuffled, ShortLast), (Shuffled, DropLast)];
        let of_kind = |(order, batching)| {
            let batches = BatchPlan { first: 3, samples: 10, batch_size: 4, order, batching };
            let job = workload.job(Arc::clone(&data), batches, 1);
            let mut in_segments = job.clone();
            (20..).zip([0, 2, 6, 7, 8, 14, 25]).for_each(|(seed, step)| in_segments.segments.begin(step, seed));
            [job, in_segments]
        };
        kinds.into_iter().flat_map(of_kind).collect()
    }

    fn trained(job: &TrainingJob, steps: u64) -> Vec<u32> {
        let mut order = Order::default();
        let mut trained = Vec::new();
        for step in 0..steps {
            order.advance(job, step);
            let batch = job.batches.step(step);
            trained.extend((batch.offset..batch.offset + batch.count).map(|place| order.samples[place as usize % 10]));
        }
        trained
    }

    #[test]
    fn each_sample_is_used_once_in_an_epoch() {
        for job in jobs() {
            let expected = if job.batches.batching == Batching::DropLast { 8 } else { 10 };
            for epoch in trained(&job, 30).chunks_exact(expected) {
                let mut sorted = epoch.to_vec();
                sorted.sort_unstable();
                sorted.dedup();
                assert!(sorted.len() == expected && sorted.iter().all(|number| (3..13).contains(number)), "{epoch:?}");
            }
        }
    }

    #[test]
    fn segment_changes_only_later_samples() {
        for job in jobs() {
            let mut other = job.clone();
            other.segments.begin(28, 5);
            let samples = usize::try_from(job.batches.samples_of_steps(28)).unwrap();
            let (without, with) = (trained(&job, 40), trained(&other, 40));
            assert_eq!(without[..samples], with[..samples], "{:?}", job.batches);
            assert_ne!(without[samples..], with[samples..], "{:?}", job.batches);
        }
    }

    #[test]
    fn segment_seed_changes_the_whole_file_order() {
        let job = jobs().into_iter().find(|job| job.batches.batching == Batching::Wrap).unwrap();
        let order_of = |seed| {
            let mut job = job.clone();
            job.segments.begin(29, seed);
            job.order_at(29)
        };
        let offset = job.batches.step(29).offset as usize;
        assert_eq!(offset, 6);
        let first = order_of(1);
        assert!((2..50).any(|seed| order_of(seed)[..offset] != first[..offset]));
        assert!((2..50).any(|seed| order_of(seed)[offset..] != first[offset..]));
    }

    #[test]
    fn order_advances_incrementally() {
        for job in jobs() {
            let mut kept = Order::default();
            for step in 0..40 {
                let mut order = job.order_before(step);
                job.change_order(step, &mut order);
                kept.advance(&job, step);
                assert_eq!(order, job.order_at(step), "{step}, {:?}", job.batches);
                assert_eq!(order, kept.samples, "{step}, {:?}", job.batches);
            }
        }
    }
}
