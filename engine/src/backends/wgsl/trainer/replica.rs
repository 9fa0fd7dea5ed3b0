//! A trainer as one of several devices that share each batch. It does a step in stretches, between which the devices tell
//! each other what they found.

use std::ops::Range;

use shaders::params::{Step, StepResult};

use super::super::device::buffer::ReadBack;
use super::super::device::executor::Commands;
use super::super::plan::STEP_ROWS;
use super::super::recording::{BufferRange, Exchange};
use super::submissions::{mark, missing};
use super::{WgslTrainer, Work};
use crate::error::EngineError;
use shaders::Stored;

impl WgslTrainer {
    /// Where the stretches of a step end, all but the last.
    pub(in super::super) fn exchanges(&self) -> &[Exchange] {
        &self.exchanges
    }

    /// The launches of a stretch, by its number in the step.
    fn stretch(&self, number: usize) -> Range<usize> {
        let begin = number.checked_sub(1).map_or(0, |before| self.exchanges[before].after);
        begin..self.exchanges.get(number).map_or(self.training.launches(), |exchange| exchange.after)
    }

    /// Writes what the device trains on in the step of a slot.
    pub(in super::super) fn begin_step(&self, slot: u32, step: Step) {
        self.write_table(slot, &[Step { mark: mark(self.mark, slot), ..step }]);
    }

    /// Submits a stretch of the step of a slot, before it the order of a new epoch where one begins; what is returned ends
    /// when all of it is done. Where that is much, it is several submissions: drivers end what takes too long.
    pub(in super::super) fn compute(
        &self,
        slot: u32,
        number: usize,
        epoch_begins: bool,
    ) -> impl Future<Output = Result<(), EngineError>> + use<> {
        let (row, most, stretch) = (slot % STEP_ROWS, self.training_pace.work(), self.stretch(number));
        let mut commands = Commands::new(&self.device);
        if let (Some(shuffle), true) = (&self.shuffle, epoch_begins) {
            commands.add(shuffle, row, 0..shuffle.launches());
        }
        let mut next = stretch.start;
        loop {
            let (launches, _) = self.training.within(next, most, true);
            let end = launches.end.min(stretch.end);
            commands.add(&self.training, row, launches.start..end);
            let done = self.device.submit(commands.finish());
            next = end;
            if next >= stretch.end {
                return done;
            }
            // What went wrong with it is told by the last one.
            drop(done);
            commands = Commands::new(&self.device);
        }
    }

    /// Asks for a part of a buffer, after everything submitted so far.
    pub(in super::super) fn begin_to_read(
        &self,
        range: BufferRange,
    ) -> impl Future<Output = Result<Vec<u8>, EngineError>> + use<> {
        self.buffers.begin_to_read(&self.device, range)
    }

    /// The same through the staging buffer of this place, where the bytes stay, beside others that are under way.
    pub(in super::super) fn begin_to_read_through(
        &self,
        range: BufferRange,
        staging: usize,
    ) -> impl Future<Output = Result<ReadBack, EngineError>> + use<> {
        self.buffers.begin_to_read_through(&self.device, range, staging)
    }

    /// Overwrites a part of a buffer, before whatever is submitted next and after what was submitted before.
    pub(in super::super) fn hand_over(&self, range: BufferRange, bytes: &[u8]) {
        self.buffers.write(&self.device, range.buffer, range.offset_bytes, bytes);
    }

    /// The same at once; what is returned ends when the device has it.
    pub(in super::super) fn write(
        &self,
        range: BufferRange,
        bytes: &[u8],
    ) -> impl Future<Output = Result<(), EngineError>> + use<> {
        self.hand_over(range, bytes);
        self.device.submit(Commands::new(&self.device).finish())
    }

    /// Learns how long a step took.
    pub(in super::super) fn note_step(&mut self, seconds: f64) {
        let (_, operations) = self.training.within(0, u64::MAX, false);
        self.training_pace.note(operations, seconds);
    }

    /// What so many steps left behind, which are done with that.
    pub(in super::super) async fn results(&mut self, steps: u32) -> Result<Vec<StepResult>, EngineError> {
        let bytes = self.begin_to_read(self.results_of(steps)).await?;
        let results: Vec<StepResult> = bytemuck::pod_collect_to_vec(&bytes);
        let (before, first) = (self.mark, self.step);
        self.mark = mark(before, steps - 1);
        // A test asks how far the training is: until then an attention may have no softmax.
        self.step += u64::from(steps);
        match (0..steps).zip(&results).find(|(slot, result)| result.mark != mark(before, *slot)) {
            None => Ok(results),
            Some((slot, _)) => {
                let step = self.job.step(first + u64::from(slot), slot);
                Err(EngineError::WorkDropped { missing: missing(Work::Training, &step) })
            }
        }
    }

    /// All weights as they lie on the device.
    pub(in super::super) async fn arena(&self) -> Result<Vec<f32>, EngineError> {
        self.read_arena(self.places.weights, Stored::F32).await
    }
}
