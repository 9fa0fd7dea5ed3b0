use super::super::plan::Streamed;
use crate::data::Split;
use crate::trainer::TrainingJob;
use crate::training::Order;

/// Batches of the next steps, gathered on the host as they will lie on the device. They have the samples that the device
/// would pick, in the same order.
pub(super) struct HostBatches {
    place: Streamed,
    order: Order,
    pub(super) images: Vec<u8>,
    pub(super) labels: Vec<u16>,
    pub(super) numbers: Vec<u32>,
}

impl HostBatches {
    pub(super) fn new(place: Streamed) -> Self {
        let samples = (place.steps * place.rows) as usize;
        Self {
            place,
            order: Order::default(),
            images: Vec::with_capacity(samples * place.sample_bytes),
            labels: Vec::with_capacity(samples),
            numbers: Vec::with_capacity(samples),
        }
    }

    pub(super) fn clear(&mut self) {
        self.images.clear();
        self.labels.clear();
        self.numbers.clear();
    }

    pub(super) fn bytes(&self) -> u64 {
        (self.images.len() + size_of_val(self.labels.as_slice()) + size_of_val(self.numbers.as_slice())) as u64
    }

    /// Adds the batch of a step after those that were gathered since the last [`Self::clear`].
    pub(super) fn gather(&mut self, job: &TrainingJob, step: u64) {
        let batch = job.batches.step(step);
        self.order.advance(job, step);
        let order = &self.order.samples;
        let Split { images, labels, .. } = &job.data.train;
        let features = images.len() / labels.len().max(1);
        let rows_before = self.labels.len();
        for row in 0..batch.count {
            let number = order[(batch.offset + row) as usize % order.len()];
            let sample = number as usize;
            self.images.extend_from_slice(&images[sample * features..][..features]);
            // Samples are whole words on the device.
            self.images.resize(self.images.len() + self.place.sample_bytes - features, 0);
            self.labels.push(labels[sample]);
            self.numbers.push(number);
        }
        let rows = rows_before + self.place.rows as usize;
        self.images.resize(rows * self.place.sample_bytes, 0);
        self.labels.resize(rows, 0);
        self.numbers.resize(rows, 0);
    }
}
