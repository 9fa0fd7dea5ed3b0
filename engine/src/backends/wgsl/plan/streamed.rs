//! Buffers for the batches of a few steps, which the host fills anew again and again.

use super::super::recording::BufferRange;
use super::builder::Builder;
use super::contents;
use crate::trainer::TrainingJob;

/// The batches that lie on the device come to no more than this, unless a single one does: enough steps for a submission to
/// be worth its launch on a fast device.
const MOST_BYTES: u64 = 16 << 20;
/// Steps of which batches lie on the device, at most: more than a submission has on any but the fastest.
const MOST_STEPS: u64 = 256;

/// Where the batches of a few steps lie, one after the other.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Streamed {
    /// (steps · rows, `sample_bytes`) bytes.
    pub(in super::super) images: BufferRange,
    /// (steps · rows) numbers of 16 bits.
    pub(in super::super) labels: BufferRange,
    /// (steps · rows) sample numbers.
    pub(in super::super) numbers: BufferRange,
    pub(in super::super) steps: u32,
    /// Places for the samples of a step: those of a batch, filled up to whole words of labels.
    pub(in super::super) rows: u32,
    /// A sample, filled up to whole words.
    pub(in super::super) sample_bytes: usize,
}

impl Streamed {
    pub(super) fn new(job: &TrainingJob, builder: &mut Builder) -> Self {
        let (_, sample_bytes) = contents::features(&job.data.train);
        let rows = job.batches.batch_size.next_multiple_of(2);
        let of_a_step = u64::from(rows) * sample_bytes as u64;
        let steps = (MOST_BYTES / of_a_step.max(1)).clamp(1, MOST_STEPS);
        let samples = steps * u64::from(rows);
        Self {
            images: builder.zeros("streamed images", samples * sample_bytes as u64),
            labels: builder.zeros("streamed labels", 2 * samples),
            numbers: builder.zeros("streamed sample numbers", 4 * samples),
            steps: u32::try_from(steps).expect("few"),
            rows,
            sample_bytes,
        }
    }
}
