//! Samples streamed from the host, for a trainer without the data set on the device.
//!
//! The batches of a submission are gathered and written together. WebGPU executes writes and submissions in order: a write
//! overwrites batches after the steps that read them. So one buffer for batches on the device is enough for any number of
//! submitted steps, and gathering and handing over can overlap with computing, but not the copy into the device's memory, which
//! comes between two submissions.

use results::{InputMode, InputPipeline};

use super::super::plan::Streamed;
use crate::data::Split;
use crate::trainer::TrainingJob;
use crate::training::Order;

/// Batches of the next steps, gathered on the host in the device's layout, and their cost. They contain the same samples,
/// in the same order, that the device would select.
pub(super) struct Streaming {
    pub(super) mode: InputMode,
    pub(super) place: Streamed,
    order: Order,
    pub(super) images: Vec<u8>,
    pub(super) labels: Vec<u16>,
    pub(super) numbers: Vec<u32>,
    /// Cost since the last report.
    pub(super) spent: InputPipeline,
}

impl Streaming {
    pub(super) fn new(mode: InputMode, place: Streamed) -> Self {
        let samples = (place.steps * place.rows) as usize;
        Self {
            mode,
            place,
            order: Order::default(),
            images: Vec::with_capacity(samples * place.sample_bytes),
            labels: Vec::with_capacity(samples),
            numbers: Vec::with_capacity(samples),
            spent: InputPipeline::new(mode),
        }
    }

    /// Returns and resets the cost.
    pub(super) fn take_spent(&mut self) -> InputPipeline {
        std::mem::replace(&mut self.spent, InputPipeline::new(self.mode))
    }

    pub(super) fn clear(&mut self) {
        self.images.clear();
        self.labels.clear();
        self.numbers.clear();
    }

    /// Appends the batch of a step to those gathered since the last [`Self::clear`].
    pub(super) fn gather(&mut self, job: &TrainingJob, step: u64) {
        let sample_bytes = self.place.sample_bytes;
        let batch = job.batches.step(step);
        self.order.advance(job, step);
        let order = &self.order.samples;
        let Split { images, labels, .. } = &job.data.train;
        let features = images.len() / labels.len().max(1);
        let rows = self.labels.len() + self.place.rows as usize;
        for row in 0..batch.count {
            let number = order[(batch.offset + row) as usize % order.len()];
            let sample = number as usize;
            self.images.extend_from_slice(&images[sample * features..][..features]);
            // Samples are padded to whole words on the device.
            self.images.resize(self.images.len() + sample_bytes - features, 0);
            self.labels.push(labels[sample]);
            self.numbers.push(number);
        }
        self.images.resize(rows * sample_bytes, 0);
        self.labels.resize(rows, 0);
        self.numbers.resize(rows, 0);
    }
}
