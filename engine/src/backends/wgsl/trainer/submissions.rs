//! Division of steps into submissions, several of them in flight, and division of a step shared by several devices into
//! stretches, between which the devices exchange results.

use std::collections::VecDeque;
use std::ops::Range;

use results::InputMode;
use shaders::params::{Step, StepResult};

use super::super::device::executor::{Commands, Executor};
use super::super::pace::Pace;
use super::super::plan::STEP_ROWS;
use super::super::recording::{BufferRange, STEP_STRIDE_BYTES, STEPS, step_rows};
use super::{StepKind, Streaming, WgslTrainer};
use crate::backends::sharing::{Ending, UnderWay};
use crate::error::{EngineError, Result};
use crate::trainer::EvaluationSet;

/// Next launch to submit.
#[derive(Clone, Copy, Default)]
struct Cursor {
    /// Index of the step in this run.
    slot: u32,
    /// Index of the launch in the step's recording.
    launch: usize,
}

impl WgslTrainer {
    /// Runs at most as many steps as there are slots, and returns their results. `step` creates the step of a slot.
    ///
    /// The device never waits for the host, except for streamed batches, and the host reads nothing until all steps are
    /// done. A long step takes several submissions, because drivers abort what takes too long. The results are
    /// requested with the last submission, not after it, so the device's latency is incurred only once.
    pub(super) async fn run(
        &mut self,
        kind: StepKind,
        steps: u32,
        step: &dyn Fn(u32) -> Step,
    ) -> Result<Vec<StepResult>> {
        assert!(self.executor(kind).launches() > 0, "only jobs with early stopping hold samples out");
        let first_mark = self.mark;
        let mut next = Cursor::default();
        let streaming = self.streaming.as_ref().filter(|_| matches!(kind, StepKind::Training));
        let streamed = streaming.map(|streaming| (streaming.mode, streaming.place.rows));
        // Slots with batches on the device.
        let mut ready = if streamed.is_some() { 0..0 } else { 0..steps };
        let mut under_way = VecDeque::new();
        let mut results = None;
        let mut last = self.clock.now_seconds();
        while next.slot < steps || !under_way.is_empty() {
            while next.slot < steps && under_way.len() < self.pace(kind).in_flight() {
                if next.slot == ready.end {
                    if matches!(streamed, Some((InputMode::Stream, _))) && !under_way.is_empty() {
                        break;
                    }
                    ready = self.bring(next.slot, steps, &mut under_way).await?;
                    // Before the batches arrived, the device had nothing to compute.
                    last = if under_way.is_empty() { self.clock.now_seconds() } else { last };
                }
                let marked = |slot| {
                    let step = Step { mark: mark(first_mark, slot), ..step(slot) };
                    let offset = streamed.map_or(step.offset, |(_, rows)| (slot - ready.start) * rows);
                    Step { offset, ..step }
                };
                under_way.push_back(self.submit(kind, &mut next, ready.end, &marked));
            }
            if next.slot == steps && results.is_none() {
                results = Some(self.buffers.begin_to_read(&self.device, self.results_of(steps), 0));
            }
            if let Some((operations, work)) = under_way.pop_front() {
                work.ended().await.map_err(|(_, error)| error)?;
                let now = self.clock.now_seconds();
                self.pace(kind).note(operations, now - last);
                last = now;
            }
        }
        self.mark = mark(first_mark, steps - 1);
        let Some(results) = results else { return Ok(Vec::new()) };
        checked_results(&results.await?, first_mark, kind, step)
    }

    fn results_of(&self, steps: u32) -> BufferRange {
        let bytes = u64::from(steps) * size_of::<StepResult>() as u64;
        BufferRange { bytes, ..self.plan.results }
    }

    /// Submits as many of the steps from `next` on as the pace allows, and advances `next`. Returns the number of
    /// operations and their end.
    fn submit(&self, kind: StepKind, next: &mut Cursor, steps: u32, step: &dyn Fn(u32) -> Step) -> (u64, UnderWay<()>) {
        let executor = self.executor(kind);
        let most = match kind {
            StepKind::Training => self.training_pace.work,
            StepKind::Evaluation(_) => self.evaluation_pace.work,
        };
        let first = next.slot;
        let mut commands = Commands::new(&self.device);
        let mut table = Vec::new();
        let mut operations = 0;
        while next.slot < steps && next.slot - first < STEP_ROWS {
            let (launches, done) = executor.within(next.launch, most.saturating_sub(operations), table.is_empty());
            if launches.is_empty() {
                break;
            }
            operations += done;
            let row = next.slot % STEP_ROWS;
            let step = step(next.slot);
            table.push(step);
            let changes = [(&self.shuffle, step.offset == 0), (&self.mirror, step.mirror_rest == 1)];
            for (change, is_due) in changes {
                if let (StepKind::Training, 0, true) = (kind, next.launch, is_due) {
                    commands.add(change, row, 0..change.launches());
                }
            }
            next.launch = launches.end;
            commands.add(executor, row, launches);
            if next.launch < executor.launches() {
                break;
            }
            *next = Cursor { slot: next.slot + 1, launch: 0 };
        }
        self.write_table(first, &table);
        (operations, UnderWay::new([Box::pin(self.device.submit(commands.finish())) as Ending<()>].into_iter()))
    }

    /// Writes steps into the circular step table, from the row of slot `first` on.
    pub(super) fn write_table(&self, first: u32, steps: &[Step]) {
        let (stride, bytes) = (STEP_STRIDE_BYTES as usize, step_rows(steps.iter().copied()));
        let row = (first % STEP_ROWS) as usize;
        let until_the_end = (STEP_ROWS as usize - row) * stride;
        let (end, start) = bytes.split_at(until_the_end.min(bytes.len()));
        self.buffers.write(&self.device, STEPS, (row * stride) as u64, end);
        if !start.is_empty() {
            self.buffers.write(&self.device, STEPS, 0, start);
        }
    }

    /// Brings the batches of the next submission to the device, from slot `first` on, of `steps` steps. Returns the slots
    /// whose batches are there then.
    ///
    /// The device waits as soon as it has nothing left to do, which is checked between two batches: the recorded wait may be
    /// too short by the gathering of one batch.
    async fn bring(
        &mut self,
        first: u32,
        steps: u32,
        under_way: &mut VecDeque<(u64, UnderWay<()>)>,
    ) -> Result<Range<u32>> {
        let (_, operations) = self.training.within(0, u64::MAX, false);
        let of_a_submission = self.training_pace.work / operations.max(1);
        let Some(streaming) = &mut self.streaming else { return Ok(0..steps) };
        let count = of_a_submission.clamp(1, u64::from(streaming.place.steps.min(steps - first)));
        let slots = first..first + u32::try_from(count).expect("no more than there are steps");
        let started = self.clock.now_seconds();
        let mut waiting_since = under_way.is_empty().then_some(started);
        streaming.clear();
        for slot in slots.clone() {
            streaming.gather(&self.job, self.step + u64::from(slot));
            if waiting_since.is_none() && under_way.back_mut().is_some_and(|(_, work)| work.has_ended()) {
                waiting_since = Some(self.clock.now_seconds());
            }
        }
        let gathered = self.clock.now_seconds();
        let Streaming { mode, place, images, labels, numbers, spent, .. } = streaming;
        let parts: [(_, &[u8]); 3] = [
            (place.images, images),
            (place.labels, bytemuck::cast_slice(labels)),
            (place.numbers, bytemuck::cast_slice(numbers)),
        ];
        for (range, bytes) in parts {
            self.buffers.write(&self.device, range.buffer, 0, bytes);
            spent.bytes += bytes.len() as u64;
        }
        if *mode == InputMode::Stream {
            self.device.submit_nothing().await?;
        }
        let brought = self.clock.now_seconds();
        spent.batches += count;
        spent.preparing_seconds += gathered - started;
        spent.uploading_seconds += brought - gathered;
        spent.waiting_seconds += waiting_since.map_or(0.0, |since| brought - since);
        Ok(slots)
    }

    fn executor(&self, kind: StepKind) -> &Executor {
        match kind {
            StepKind::Training => &self.training,
            StepKind::Evaluation(EvaluationSet::Test) => &self.evaluation,
            StepKind::Evaluation(EvaluationSet::HeldOut) => &self.held_out,
        }
    }

    fn pace(&mut self, kind: StepKind) -> &mut Pace {
        match kind {
            StepKind::Training => &mut self.training_pace,
            StepKind::Evaluation(_) => &mut self.evaluation_pace,
        }
    }
}

/// A trainer as one of several devices that share each batch.
impl WgslTrainer {
    /// Returns the launches of a stretch, given its number in the step.
    fn stretch(&self, number: usize) -> Range<usize> {
        let begin = number.checked_sub(1).map_or(0, |before| self.plan.training.exchanges[before].after);
        begin..self.plan.training.exchanges.get(number).map_or(self.training.launches(), |exchange| exchange.after)
    }

    pub(crate) fn begin_step(&self, slot: u32, step: Step) {
        self.write_table(slot, &[Step { mark: mark(self.mark, slot), ..step }]);
    }

    /// Submits a stretch of a slot's step, preceded by the order of a new epoch if one begins. The future ends when the
    /// stretch is done. A long stretch takes several submissions, because drivers abort what takes too long.
    pub(crate) fn compute(
        &self,
        slot: u32,
        number: usize,
        epoch_begins: bool,
    ) -> impl Future<Output = Result<()>> + use<> {
        let (row, most, stretch) = (slot % STEP_ROWS, self.training_pace.work, self.stretch(number));
        let mut commands = Commands::new(&self.device);
        if epoch_begins {
            commands.add(&self.shuffle, row, 0..self.shuffle.launches());
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
            // The last one reports its errors.
            drop(done);
            commands = Commands::new(&self.device);
        }
    }

    /// Overwrites part of a buffer between the previous and the next submission.
    pub(crate) fn hand_over(&self, range: BufferRange, bytes: &[u8]) {
        self.buffers.write(&self.device, range.buffer, range.offset_bytes, bytes);
    }

    /// Overwrites part of a buffer immediately. The future ends when the device has the bytes.
    pub(crate) fn write(&self, range: BufferRange, bytes: &[u8]) -> impl Future<Output = Result<()>> + use<> {
        self.hand_over(range, bytes);
        self.device.submit_nothing()
    }

    pub(crate) fn note_step(&mut self, seconds: f64) {
        let (_, operations) = self.training.within(0, u64::MAX, false);
        self.training_pace.note(operations, seconds);
    }

    pub(crate) async fn results(&mut self, steps: u32) -> Result<Vec<StepResult>> {
        let bytes = self.buffers.begin_to_read(&self.device, self.results_of(steps), 0).await?;
        let (before, first) = (self.mark, self.step);
        self.mark = mark(before, steps - 1);
        // A test needs the step: attention may have no softmax until then.
        self.step += u64::from(steps);
        checked_results(&bytes, before, StepKind::Training, &|slot| self.job.step(first + u64::from(slot), slot))
    }
}

/// Returns the mark of a slot after those that end with `last`. It is never 0, the value before any write.
fn mark(last: u32, slot: u32) -> u32 {
    last.wrapping_add(slot) % (u32::MAX - 1) + 1
}

/// Reads the results of steps, whose marks follow `before`.
///
/// # Errors
/// The first step without results.
fn checked_results(bytes: &[u8], before: u32, kind: StepKind, step: &dyn Fn(u32) -> Step) -> Result<Vec<StepResult>> {
    let results: Vec<StepResult> = bytemuck::pod_collect_to_vec(bytes);
    let Some((slot, _)) = (0..).zip(&results).find(|(slot, result)| result.mark != mark(before, *slot)) else {
        return Ok(results);
    };
    let step = step(slot);
    let missing = match kind {
        StepKind::Training => format!("the loss of step {} was not written", step.step),
        StepKind::Evaluation(_) => format!("the results of samples {} and on were not written", step.offset),
    };
    Err(EngineError::WorkDropped { missing })
}
