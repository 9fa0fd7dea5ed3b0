//! Launches that order the samples and assemble batches.

use shaders::params::{LocalContrast, MirrorOrder, Shuffle, Standardize};

use super::super::recording::{BufferRange, Recording};
use super::input::SplitBuffers;
use super::planner::Planner;
use crate::preprocessing::GatherKind;
use crate::random::stream;
use crate::trainer::EvaluationSet;
use crate::training::{SampleOrder, TestView};

impl Planner<'_> {
    /// Records the shuffling of an epoch's samples, if each epoch has a different order.
    pub(super) fn shuffle(&mut self) -> Option<Recording> {
        let SplitBuffers { order, samples, .. } = self.input.training;
        // Streamed batches come in the order of the epoch.
        let shuffles = self.job.batches.order == SampleOrder::Shuffled && self.input.streamed.is_none();
        shuffles.then(|| {
            let first = self.job.batches.first;
            let params = Shuffle { samples, first, stream: stream::SHUFFLE, reserved: 0 };
            self.builder.dispatch("shuffle", &params, &[order], u64::from(samples));
            self.builder.take_recording()
        })
    }

    /// Records mirroring the rest of the order at the beginning of a segment.
    pub(super) fn mirror(&mut self) -> Option<Recording> {
        let SplitBuffers { order, samples, .. } = self.input.training;
        self.input.streamed.is_none().then(|| {
            let params = MirrorOrder { samples, stream: stream::SEGMENT, reserved: [0; 2] };
            self.builder.dispatch("mirror_order", &params, &[order], u64::from(samples));
            self.builder.take_recording()
        })
    }

    /// Returns the order of the training samples, if the whole set is on the device.
    pub(super) fn order(&self) -> Option<BufferRange> {
        self.input.streamed.is_none().then_some(self.input.training.order)
    }

    pub(super) fn gather_training(&mut self) {
        let kind = self.input.preprocessing.gather;
        let kind = if self.input.streamed.is_some() { kind.streamed() } else { kind };
        self.gather(self.input.training, kind);
    }

    pub(super) fn gather_evaluated(&mut self, set: EvaluationSet, view: &TestView) {
        let split = match set {
            EvaluationSet::Test => self.input.test,
            EvaluationSet::HeldOut => self.input.held_out.expect("jobs with early stopping have held-out samples"),
        };
        self.gather(split, self.input.preprocessing.gather.seen(view));
    }

    fn gather(&mut self, split: SplitBuffers, kind: GatherKind) {
        let SplitBuffers { images: [first, second], samples_in_first, labels, order, samples } = split;
        let rows = self.rows;
        let batch = self.rows_of(0, self.values[0].values);
        let batch_labels = BufferRange { bytes: 4 * u64::from(rows), ..self.labels };
        let invocations = self.quads(batch);
        match kind.of(rows, samples, samples_in_first) {
            GatherKind::Plain(params) => {
                let bindings = [first, second, labels, order, batch, batch_labels];
                self.builder.dispatch("gather", &params, &bindings, invocations);
            }
            GatherKind::Augmented(params) => {
                let bindings = [first, second, labels, order, self.input.mean_image, batch, batch_labels];
                self.builder.dispatch("gather_augmented", &params, &bindings, invocations);
            }
        }
        // One workgroup per image.
        if let Some(params) = self.input.preprocessing.standardize {
            let params = Standardize { rows, ..params };
            self.builder.dispatch("standardize", &params, &[batch], u64::from(rows) * 64);
        }
        if let Some(params) = self.input.preprocessing.local_contrast {
            let params = LocalContrast { rows, ..params };
            self.builder.dispatch("local_contrast", &params, &[batch], u64::from(rows) * 256);
        }
    }
}
