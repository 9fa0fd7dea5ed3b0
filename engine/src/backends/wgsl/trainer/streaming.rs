//! Samples streamed from the host, for a trainer without the data set on the device.
//!
//! The batches of a submission are gathered and written together. WebGPU executes writes and submissions in order: a write
//! overwrites batches after the steps that read them. So one buffer for batches on the device is enough for any number of
//! submitted steps, and gathering and handing over can overlap with computing, but not the copy into the device's memory, which
//! comes between two submissions.

use std::collections::VecDeque;
use std::ops::Range;

use results::{InputMode, InputPipeline};
use shaders::params::Step;

use super::super::plan::Streamed;
use super::{StepKind, WgslTrainer};
use crate::backends::sharing::UnderWay;
use crate::data::Split;
use crate::error::Result;
use crate::trainer::TrainingJob;
use crate::training::Order;

/// Batches from the host, and the time and bytes spent on them.
pub(super) struct Streaming {
    pub(super) mode: InputMode,
    place: Streamed,
    batches: HostBatches,
    /// Cost since the last report.
    spent: InputPipeline,
}

impl Streaming {
    pub(super) fn new(mode: InputMode, place: Streamed) -> Self {
        Self { mode, place, batches: HostBatches::default(), spent: InputPipeline::new(mode) }
    }

    /// Returns and resets the cost.
    pub(super) fn take_spent(&mut self) -> InputPipeline {
        std::mem::replace(&mut self.spent, InputPipeline::new(self.mode))
    }
}

impl WgslTrainer {
    /// Sets the position of a step's batch on the device, given that slot `first` holds the first one.
    pub(super) fn placed(&self, kind: StepKind, first: u32, step: Step) -> Step {
        match (kind, &self.streaming) {
            (StepKind::Training, Some(streaming)) => {
                Step { offset: (step.slot - first) * streaming.place.rows, ..step }
            }
            _ => step,
        }
    }

    /// Brings the batches of the next submission to the device, from slot `first` on, of `steps` steps. Returns the slots
    /// whose batches are there then.
    ///
    /// The device waits as soon as it has nothing left to do, which is checked between two batches: the recorded wait may be
    /// too short by the gathering of one batch.
    pub(super) async fn bring(
        &mut self,
        first: u32,
        steps: u32,
        under_way: &mut VecDeque<(u64, UnderWay<()>)>,
    ) -> Result<Range<u32>> {
        let (_, operations) = self.training.within(0, u64::MAX, false);
        let of_a_submission = self.training_pace.work() / operations.max(1);
        let Some(Streaming { mode, place, batches, spent }) = &mut self.streaming else { return Ok(0..steps) };
        let count = of_a_submission.clamp(1, u64::from(place.steps.min(steps - first)));
        let slots = first..first + u32::try_from(count).expect("no more than there are steps");
        let started = self.clock.now_seconds();
        let mut waiting_since = under_way.is_empty().then_some(started);
        batches.clear();
        for slot in slots.clone() {
            batches.gather(&self.job, self.step + u64::from(slot), place);
            if waiting_since.is_none() && under_way.back_mut().is_some_and(|(_, work)| work.has_ended()) {
                waiting_since = Some(self.clock.now_seconds());
            }
        }
        let gathered = self.clock.now_seconds();
        self.buffers.write(&self.device, place.images.buffer, 0, &batches.images);
        self.buffers.write(&self.device, place.labels.buffer, 0, bytemuck::cast_slice(&batches.labels));
        self.buffers.write(&self.device, place.numbers.buffer, 0, bytemuck::cast_slice(&batches.numbers));
        if *mode == InputMode::Stream {
            self.device.submit_nothing().await?;
        }
        let brought = self.clock.now_seconds();
        spent.batches += count;
        spent.bytes += batches.bytes();
        spent.preparing_seconds += gathered - started;
        spent.uploading_seconds += brought - gathered;
        spent.waiting_seconds += waiting_since.map_or(0.0, |since| brought - since);
        Ok(slots)
    }
}

/// Batches of the next steps, gathered on the host in the device's layout. They contain the same samples, in the same
/// order, that the device would select.
#[derive(Default)]
struct HostBatches {
    order: Order,
    images: Vec<u8>,
    labels: Vec<u16>,
    numbers: Vec<u32>,
}

impl HostBatches {
    fn clear(&mut self) {
        self.images.clear();
        self.labels.clear();
        self.numbers.clear();
    }

    fn bytes(&self) -> u64 {
        (self.images.len() + size_of_val(self.labels.as_slice()) + size_of_val(self.numbers.as_slice())) as u64
    }

    /// Appends the batch of a step to those gathered since the last [`Self::clear`].
    fn gather(&mut self, job: &TrainingJob, step: u64, place: &Streamed) {
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
            // Samples are padded to whole words on the device.
            self.images.resize(self.images.len() + place.sample_bytes - features, 0);
            self.labels.push(labels[sample]);
            self.numbers.push(number);
        }
        let rows = rows_before + place.rows as usize;
        self.images.resize(rows * place.sample_bytes, 0);
        self.labels.resize(rows, 0);
        self.numbers.resize(rows, 0);
    }
}
