//! Samples that come from the host, for a trainer whose data set does not lie on the device.
//!
//! The batches of a submission are gathered and written together. WebGPU does what it is given in order, writes too: a write
//! overwrites the batches that lie there after the steps that read them. So there is one place for batches on the device
//! however many are under way, and what can be done while the device computes is gathering and handing over, not the copy
//! into the device's memory, which comes between two submissions.

use std::collections::VecDeque;
use std::ops::Range;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use results::{InputMode, InputPipeline};
use shaders::params::Step;

use super::super::device::executor::Commands;
use super::super::plan::Streamed;
use super::host_batches::HostBatches;
use super::{WgslTrainer, Work};
use crate::error::EngineError;

/// How a trainer gets its batches from the host, and what that took.
pub(super) struct Streaming {
    mode: InputMode,
    place: Streamed,
    batches: HostBatches,
    /// Since it was asked for last.
    spent: InputPipeline,
}

/// Work that the device was given.
pub(super) struct Submission {
    pub(super) operations: u64,
    finishing: Pin<Box<dyn Future<Output = Result<(), EngineError>>>>,
    finished: Option<Result<(), EngineError>>,
}

impl Submission {
    pub(super) fn new(operations: u64, finishing: impl Future<Output = Result<(), EngineError>> + 'static) -> Self {
        Self { operations, finishing: Box::pin(finishing), finished: None }
    }

    /// Whether the device has told that it is done; nobody waits.
    fn is_finished(&mut self) -> bool {
        if self.finished.is_none()
            && let Poll::Ready(finished) = self.finishing.as_mut().poll(&mut Context::from_waker(Waker::noop()))
        {
            self.finished = Some(finished);
        }
        self.finished.is_some()
    }

    /// Waits until the device is done.
    pub(super) async fn finish(self) -> Result<(), EngineError> {
        match self.finished {
            Some(finished) => finished,
            None => self.finishing.await,
        }
    }
}

impl Streaming {
    pub(super) fn new(mode: InputMode, place: Streamed) -> Self {
        Self { mode, place, batches: HostBatches::new(place), spent: InputPipeline::new(mode) }
    }

    /// What was spent since the last time.
    pub(super) fn take_spent(&mut self) -> InputPipeline {
        std::mem::replace(&mut self.spent, InputPipeline::new(self.mode))
    }
}

impl WgslTrainer {
    /// The slots of so many steps whose batches need not be brought.
    pub(super) fn ready_from_the_start(&self, work: Work, steps: u32) -> Range<u32> {
        match (work, &self.streaming) {
            (Work::Training, Some(_)) => 0..0,
            _ => 0..steps,
        }
    }

    /// Whether batches may be brought while so many submissions are under way.
    pub(super) fn may_bring(&self, under_way: usize) -> bool {
        under_way == 0 || self.streaming.as_ref().is_none_or(|streaming| streaming.mode != InputMode::Stream)
    }

    /// A step with the place of its batch on the device, where the first that lies there is that of slot `first`.
    pub(super) fn placed(&self, work: Work, first: u32, step: Step) -> Step {
        match (work, &self.streaming) {
            (Work::Training, Some(streaming)) => Step { offset: (step.slot - first) * streaming.place.rows, ..step },
            _ => step,
        }
    }

    /// Brings the batches of the next submission to the device, from slot `first` on, of `steps` that are run. Returns the
    /// slots of which batches then lie there.
    ///
    /// The device waits as soon as it has nothing left to do. Whether it has is looked at between two batches, so what is
    /// noted is at most the gathering of one batch too little.
    pub(super) async fn bring(
        &mut self,
        first: u32,
        steps: u32,
        under_way: &mut VecDeque<Submission>,
    ) -> Result<Range<u32>, EngineError> {
        let (_, operations) = self.training.within(0, u64::MAX, false);
        let of_a_submission = self.training_pace.work() / operations.max(1);
        let Some(Streaming { mode, place, batches, spent }) = &mut self.streaming else { return Ok(0..steps) };
        let count = of_a_submission.clamp(1, u64::from(place.steps.min(steps - first)));
        let slots = first..first + u32::try_from(count).expect("no more than there are steps");
        let started = self.clock.now_seconds();
        let mut waiting_since = under_way.is_empty().then_some(started);
        batches.clear();
        for slot in slots.clone() {
            batches.gather(&self.job, self.step + u64::from(slot));
            if waiting_since.is_none() && under_way.back_mut().is_some_and(Submission::is_finished) {
                waiting_since = Some(self.clock.now_seconds());
            }
        }
        let gathered = self.clock.now_seconds();
        self.buffers.write(&self.device, place.images.buffer, 0, &batches.images);
        self.buffers.write(&self.device, place.labels.buffer, 0, bytemuck::cast_slice(&batches.labels));
        self.buffers.write(&self.device, place.numbers.buffer, 0, bytemuck::cast_slice(&batches.numbers));
        if *mode == InputMode::Stream {
            self.device.submit(Commands::new(&self.device).finish()).await?;
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

#[cfg(test)]
mod tests;
