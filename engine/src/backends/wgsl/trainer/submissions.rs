//! How steps are divided into submissions, of which several are under way at a time.

use std::collections::VecDeque;

use shaders::params::{Step, StepResult};

use super::super::device::executor::{Commands, Executor};
use super::super::pace::Pace;
use super::super::plan::STEP_ROWS;
use super::super::recording::{BufferRange, STEP_STRIDE_BYTES};
use super::streaming::Submission;
use super::{WgslTrainer, Work};
use crate::error::EngineError;
use crate::trainer::EvaluationSet;

/// What is submitted next.
#[derive(Clone, Copy, Default)]
struct Position {
    /// Place of the step among those that are run.
    slot: u32,
    /// Place of the launch in the step's recording.
    launch: usize,
}

impl WgslTrainer {
    /// Runs so many steps, at most as many as there are slots, and returns what they left behind. `step` makes the step of
    /// a slot.
    ///
    /// The device never waits for the host, unless its batches come from there, and the host reads nothing until all is
    /// done. Where a step is long, a submission is a part of it: drivers end what takes too long. What is left behind is
    /// asked for with the last submission, not after it: where a device's answers come late, that delay is waited for once.
    pub(super) async fn run(
        &mut self,
        work: Work,
        steps: u32,
        step: &dyn Fn(u32) -> Step,
    ) -> Result<Vec<StepResult>, EngineError> {
        let first_mark = self.mark;
        let mut next = Position::default();
        let mut ready = self.ready_from_the_start(work, steps);
        let mut under_way = VecDeque::new();
        let mut results = None;
        let mut last = self.clock.now_seconds();
        while next.slot < steps || !under_way.is_empty() {
            while next.slot < steps && under_way.len() < self.pace(work).in_flight() {
                if next.slot == ready.end {
                    if !self.may_bring(under_way.len()) {
                        break;
                    }
                    ready = self.bring(next.slot, steps, &mut under_way).await?;
                    // Until the batches were there, there was nothing to compute.
                    last = if under_way.is_empty() { self.clock.now_seconds() } else { last };
                }
                let marked = |slot| self.placed(work, ready.start, Step { mark: mark(first_mark, slot), ..step(slot) });
                under_way.push_back(self.submit(work, &mut next, ready.end, &marked));
            }
            if next.slot == steps && results.is_none() {
                results = Some(self.buffers.begin_to_read(&self.device, self.results_of(steps)));
            }
            if let Some(submission) = under_way.pop_front() {
                let operations = submission.operations;
                submission.finish().await?;
                let now = self.clock.now_seconds();
                self.pace(work).note(operations, now - last);
                last = now;
            }
        }
        self.mark = mark(first_mark, steps - 1);
        let Some(results) = results else { return Ok(Vec::new()) };
        let results: Vec<StepResult> = bytemuck::pod_collect_to_vec(&results.await?);
        match (0..steps).zip(&results).find(|(slot, result)| result.mark != mark(first_mark, *slot)) {
            None => Ok(results),
            Some((slot, _)) => Err(EngineError::WorkDropped { missing: missing(work, &step(slot)) }),
        }
    }

    /// Where so many steps leave their results.
    pub(super) fn results_of(&self, steps: u32) -> BufferRange {
        let bytes = u64::from(steps) * size_of::<StepResult>() as u64;
        BufferRange { buffer: self.places.results, offset_bytes: 0, bytes }
    }

    /// Submits as much of the steps as the pace allows, from `next` on, and moves that.
    fn submit(&self, work: Work, next: &mut Position, steps: u32, step: &dyn Fn(u32) -> Step) -> Submission {
        let executor = self.executor(work);
        let most = self.pace_of(work).work();
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
                if let (Work::Training, 0, Some(change), true) = (work, next.launch, change, is_due) {
                    commands.add(change, row, 0..change.launches());
                }
            }
            next.launch = launches.end;
            commands.add(executor, row, launches);
            if next.launch < executor.launches() {
                break;
            }
            *next = Position { slot: next.slot + 1, launch: 0 };
        }
        self.write_table(first, &table);
        Submission::new(operations, self.device.submit(commands.finish()))
    }

    /// Writes steps into the table that goes round, from the row of slot `first` on.
    pub(super) fn write_table(&self, first: u32, steps: &[Step]) {
        let stride = STEP_STRIDE_BYTES as usize;
        let mut bytes = vec![0; steps.len() * stride];
        for (row, step) in bytes.chunks_exact_mut(stride).zip(steps) {
            row[..size_of::<Step>()].copy_from_slice(bytemuck::bytes_of(step));
        }
        let row = (first % STEP_ROWS) as usize;
        let until_the_end = (STEP_ROWS as usize - row) * stride;
        let (end, start) = bytes.split_at(until_the_end.min(bytes.len()));
        self.buffers.write(&self.device, self.places.steps, (row * stride) as u64, end);
        if !start.is_empty() {
            self.buffers.write(&self.device, self.places.steps, 0, start);
        }
    }

    fn executor(&self, work: Work) -> &Executor {
        match work {
            Work::Training => &self.training,
            Work::Evaluation(EvaluationSet::Test) => &self.evaluation,
            Work::Evaluation(EvaluationSet::HeldOut) => {
                self.held_out.as_ref().expect("held-out samples are evaluated for jobs with early stopping")
            }
        }
    }

    fn pace_of(&self, work: Work) -> Pace {
        match work {
            Work::Training => self.training_pace,
            Work::Evaluation(_) => self.evaluation_pace,
        }
    }

    fn pace(&mut self, work: Work) -> &mut Pace {
        match work {
            Work::Training => &mut self.training_pace,
            Work::Evaluation(_) => &mut self.evaluation_pace,
        }
    }
}

/// The mark of a slot after those that end with `last`; never 0, which is what was never written.
pub(super) fn mark(last: u32, slot: u32) -> u32 {
    last.wrapping_add(slot) % (u32::MAX - 1) + 1
}

/// What a device did not leave behind.
pub(super) fn missing(work: Work, step: &Step) -> String {
    match work {
        Work::Training => format!("the loss of step {} was not written", step.step),
        Work::Evaluation(_) => format!("the results of samples {} and on were not written", step.offset),
    }
}
