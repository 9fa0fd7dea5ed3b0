use results::{CurvePoint, Epoch, Evaluation, Outcome, Warning, Window, WorkloadRecord, summary};

use super::progress::Progress;
use super::proof::{COMMITMENTS_OF_WINDOW, Pin, Proof};
use super::{Edges, Event, Limits};
use crate::error::EngineError;
use crate::measure::{Length, Phase, timed_steps};
use crate::trainer::{EvaluationSet, StepReport, Trainer, TrainingJob};
use crate::training::Patience;

/// Windows aim a little over the minimum: the last one of an epoch may then be a few steps shorter and still count.
const WINDOW_SECONDS: f64 = 1.1 * summary::MINIMUM_WINDOW_SECONDS;
/// A window ends when the host hears of it. It lasts so many times that delay, of which it cannot be told apart.
const LATENCIES_OF_WINDOW: f64 = 20.0;
/// A loss so many times that of the first step has diverged: no recipe recovers from it.
const DIVERGED_RATIO: f64 = 1000.0;
/// So many batches in a row do not have the same loss: their samples differ. Only 0 may come so often, from a network
/// that knows its samples by heart.
const MOST_EQUAL_LOSSES: u32 = 50;
/// The record keeps the loss of each of the first steps.
const FIRST_LOSSES: usize = 20;
/// Largest number of steps of a segment: a leaderboard accepts this number of losses at once.
const MAX_STEPS_OF_SEGMENT: u32 = 60_000;
/// Share of a workload's progress bar that is training; the rest is measuring.
pub(super) const TRAINING_SHARE: f64 = 0.85;

/// One workload being trained: the trainer and the samples collected so far.
pub(super) struct Learning<'a> {
    pub(super) record: &'a mut WorkloadRecord,
    pub(super) job: &'a TrainingJob,
    pub(super) trainer: &'a mut dyn Trainer,
    pub(super) progress: &'a mut Progress,
    /// Proof of this training, present while a leaderboard follows it.
    pub(super) proof: Option<Proof>,
    /// Steps done so far.
    pub(super) step: u64,
    training_seconds: f64,
    /// Time of the windows on the clock, which is longer than what a back end reports that leaves transfers out.
    elapsed_seconds: f64,
    length: Length,
    epoch: EpochSoFar,
    repetition: Repetition,
    stopped_early: bool,
    /// By the clock, when whoever looks on may see answers again; never before the first ones.
    pub(super) next_answers_seconds: f64,
    /// What was not ideal about it so far.
    pub(super) warnings: Vec<Warning>,
}

/// The latest loss, and how many times in a row it came.
#[derive(Default)]
struct Repetition {
    loss: f64,
    times: u32,
}

#[derive(Default)]
struct EpochSoFar {
    finished: u32,
    seconds: f64,
    loss: f64,
    correct: u64,
    samples: u64,
}

impl Repetition {
    /// # Errors
    /// A loss that came too often: then the device no longer computes.
    fn note(&mut self, losses: &[f64]) -> Result<(), EngineError> {
        for &loss in losses {
            self.times = if loss.to_bits() == self.loss.to_bits() { self.times + 1 } else { 1 };
            self.loss = loss;
            if self.times > MOST_EQUAL_LOSSES && loss != 0.0 && loss.is_finite() {
                let missing = format!("every one of {MOST_EQUAL_LOSSES} steps in a row has the loss {loss}");
                return Err(EngineError::WorkDropped { missing });
            }
        }
        Ok(())
    }
}

impl<'a> Learning<'a> {
    pub(super) fn new(
        record: &'a mut WorkloadRecord,
        job: &'a TrainingJob,
        trainer: &'a mut dyn Trainer,
        progress: &'a mut Progress,
    ) -> Self {
        Self {
            record,
            job,
            trainer,
            progress,
            proof: None,
            step: 0,
            training_seconds: 0.0,
            elapsed_seconds: 0.0,
            length: Length::default(),
            epoch: EpochSoFar::default(),
            repetition: Repetition::default(),
            stopped_early: false,
            next_answers_seconds: f64::INFINITY,
            warnings: Vec::new(),
        }
    }

    /// Whether training may go on: nothing diverged and nobody cancelled.
    pub(super) fn going(&self) -> bool {
        self.record.outcome == Outcome::Completed
    }

    /// Trains to the limits, looking at the test set at fixed step marks and at the end.
    pub(super) async fn train(
        &mut self,
        limits: &Limits,
        evaluations_per_epoch: u32,
        edges: &mut Edges<'_>,
    ) -> Result<(), EngineError> {
        self.announce_examples(edges)?;
        self.show_answers(edges).await?;
        let mut mark = 1;
        let mut patience = self.job.early_stopping.map(Patience::new);
        while self.going() && !self.stopped_early && self.step < limits.steps && self.elapsed_seconds < limits.seconds {
            self.progress.phase(edges, Phase::Training);
            let next_mark = self.job.batches.step_of_mark(mark, evaluations_per_epoch);
            let boundary = next_mark.min(self.end_of_epoch()).min(limits.steps);
            let seconds_left = limits.seconds - self.elapsed_seconds;
            let done = (self.step as f64 / limits.steps as f64).max(self.elapsed_seconds / limits.seconds);
            let epoch_ends = boundary == self.end_of_epoch();
            self.window(boundary, seconds_left, done * TRAINING_SHARE, edges).await?;
            if let Some(patience) = patience.as_mut().filter(|_| epoch_ends && self.step == boundary) {
                self.consult(patience, edges).await?;
            }
            if self.step == next_mark {
                mark += 1;
                self.evaluate(edges).await?;
            } else {
                self.show_answers_in_between(edges).await?;
            }
        }
        if self.going() && self.record.evaluations.last().is_none_or(|e| e.step != self.step) {
            self.evaluate(edges).await?;
        }
        Ok(())
    }

    /// Looks at the held-out samples, outside every window.
    async fn consult(&mut self, patience: &mut Patience, edges: &mut Edges<'_>) -> Result<(), EngineError> {
        let (held_out, _) = self.job.evaluated(EvaluationSet::HeldOut);
        let samples = u32::try_from(held_out.len()).unwrap_or(u32::MAX);
        self.pause(edges).await;
        if samples > 0 && self.going() {
            self.end_lap(edges).await?;
            self.progress.phase(edges, Phase::Testing);
            let report = self.trainer.evaluate(EvaluationSet::HeldOut, samples).await?;
            self.stopped_early = !patience.goes_on(self.step, 1.0 - report.accuracy());
        }
        Ok(())
    }

    /// Whether training ended because held-out samples were no longer classified better.
    pub(super) fn stopped_early(&self) -> bool {
        self.stopped_early
    }

    /// Waits for as long as the observer wants; whoever cancels meanwhile ends the training.
    pub(super) async fn pause(&mut self, edges: &mut Edges<'_>) {
        if self.progress.pause(edges).await && self.going() && edges.observer.cancelled() {
            self.record.outcome = Outcome::Cancelled;
        }
    }

    /// One timed stretch of training, up to step `boundary`, on the clock not much longer than `seconds_left`.
    pub(super) async fn window(
        &mut self,
        boundary: u64,
        seconds_left: f64,
        workload_fraction: f64,
        edges: &mut Edges<'_>,
    ) -> Result<(), EngineError> {
        self.pause(edges).await;
        if !self.going() {
            return Ok(());
        }
        let steps = self.steps_of_window(boundary, seconds_left);
        let beacon = self.begin_segment(edges).await?;
        let start = edges.clock.now_seconds();
        let (report, window) = timed_steps(self.trainer, steps, edges.clock).await?;
        let seconds = window.seconds;
        self.elapsed_seconds += seconds.max(edges.clock.now_seconds() - start);
        edges.meter.sample();
        if let (Some(sum), Some(told)) = (&mut self.record.communication, &report.communication) {
            sum.add(told);
        }
        if let (Some(sum), Some(brought)) = (&mut self.record.input, &report.input) {
            sum.add(brought);
        }
        self.repetition.note(&report.losses)?;

        self.record.windows.push(Window { steps, samples: report.samples, seconds });
        self.record.cold_start.first_step_seconds.get_or_insert(seconds);
        self.step += u64::from(steps);
        self.training_seconds += seconds;
        self.length.note(&window);
        self.note_losses(&report, seconds, workload_fraction, edges);
        self.note_epoch(&report, seconds);
        if let Some(beacon) = beacon {
            self.end_segment(beacon, &report.losses, edges).await?;
        }
        if self.going() && edges.observer.cancelled() {
            self.record.outcome = Outcome::Cancelled;
        }
        Ok(())
    }

    /// How many steps fit into a window.
    pub(super) fn steps_of_window(&self, boundary: u64, seconds_left: f64) -> u32 {
        let most = if self.proof.is_some() { MAX_STEPS_OF_SEGMENT } else { u32::MAX };
        let room = u32::try_from(boundary.saturating_sub(self.step)).unwrap_or(u32::MAX).clamp(1, most);
        let commitment_seconds = self.proof.as_ref().map_or(0.0, |proof| proof.commitment_seconds);
        let window_seconds = WINDOW_SECONDS
            .max(LATENCIES_OF_WINDOW * self.trainer.latency_seconds())
            .max(COMMITMENTS_OF_WINDOW * commitment_seconds);
        let reported_share = if self.step == 0 { 1.0 } else { self.training_seconds / self.elapsed_seconds };
        self.length.repetitions(window_seconds.min(seconds_left * reported_share).max(0.0)).min(room)
    }

    fn note_losses(&mut self, report: &StepReport, seconds: f64, workload_fraction: f64, edges: &mut Edges<'_>) {
        let missing = FIRST_LOSSES.saturating_sub(self.record.first_losses.len());
        let first_step = self.step - report.losses.len() as u64;
        let first_loss = self.record.first_losses.first().map(|&loss| f64::from(loss));
        let most = first_loss.or(report.losses.first().copied()).unwrap_or(f64::INFINITY) * DIVERGED_RATIO;
        let diverged = report.losses.iter().position(|&loss| !loss.is_finite() || loss > most);
        if let Some(position) = diverged {
            self.record.outcome = Outcome::Diverged { step: first_step + position as u64 };
        }
        // JSON has no infinity: losses are kept up to the last one before.
        let finite = &report.losses[..diverged.unwrap_or(report.losses.len())];
        if first_step == self.record.first_losses.len() as u64 {
            #[expect(clippy::cast_possible_truncation, reason = "losses are float32 on every back end that is timed")]
            self.record.first_losses.extend(finite.iter().take(missing).map(|&loss| loss as f32));
        }
        let loss = finite.iter().sum::<f64>() / finite.len().max(1) as f64;
        let accuracy = report.correct as f64 / report.samples.max(1) as f64;
        if !finite.is_empty() {
            let point = CurvePoint { step: self.step, training_seconds: self.training_seconds, loss, accuracy };
            self.record.curve.push(point);
        }
        let run_fraction = self.progress.advance(workload_fraction);
        // A window without a finite loss shows what came before it.
        let loss = if finite.is_empty() { self.record.curve.last().map_or(0.0, |point| point.loss) } else { loss };
        edges.observer.event(&Event::Progress {
            workload: self.progress.workload(),
            run_fraction,
            step: self.step,
            epochs: self.record.windows.iter().map(|w| w.samples).sum::<u64>() as f64
                / f64::from(self.job.batches.samples),
            training_seconds: self.training_seconds,
            loss,
            training_accuracy: accuracy,
            samples_per_second: report.samples as f64 / seconds,
        });
    }

    fn note_epoch(&mut self, report: &StepReport, seconds: f64) {
        let epoch = &mut self.epoch;
        let losses: f64 = report.losses.iter().sum();
        epoch.loss += losses / report.losses.len().max(1) as f64 * report.samples as f64;
        epoch.seconds += seconds;
        epoch.correct += report.correct;
        epoch.samples += report.samples;
        if self.step == self.job.batches.steps_of_epochs(epoch.finished + 1) {
            let finished = epoch.finished + 1;
            let samples = epoch.samples.max(1) as f64;
            if self.record.outcome == Outcome::Completed {
                self.record.epochs.push(Epoch {
                    epoch: finished,
                    seconds: epoch.seconds,
                    loss: epoch.loss / samples,
                    accuracy: epoch.correct as f64 / samples,
                });
            }
            self.epoch = EpochSoFar { finished, ..EpochSoFar::default() };
        }
    }

    /// The whole test set, outside every window.
    async fn evaluate(&mut self, edges: &mut Edges<'_>) -> Result<(), EngineError> {
        self.pause(edges).await;
        if !self.going() {
            return Ok(());
        }
        self.end_lap(edges).await?;
        self.progress.phase(edges, Phase::Testing);
        let start = edges.clock.now_seconds();
        let report = self.trainer.evaluate(EvaluationSet::Test, self.job.data.test.samples()).await?;
        let passed = edges.clock.now_seconds() - start;
        let evaluation = Evaluation {
            step: self.step,
            training_seconds: self.training_seconds,
            seconds: report.seconds.unwrap_or(passed),
            loss: report.loss,
            accuracy: report.accuracy(),
        };
        if !evaluation.loss.is_finite() {
            self.record.outcome = Outcome::Diverged { step: self.step };
            return Ok(());
        }
        self.record.evaluations.push(evaluation);
        if let Some(proof) = &mut self.proof {
            proof.pin(Pin::Tested);
        }
        if let Some(target) = &mut self.record.target
            && target.reached_step.is_none()
            && evaluation.accuracy >= target.accuracy
        {
            target.reached_seconds = Some(self.training_seconds);
            target.reached_step = Some(self.step);
            if let Some(proof) = &mut self.proof {
                proof.pin(Pin::Target);
            }
        }
        edges.observer.event(&Event::Evaluated { workload: self.progress.workload(), evaluation });
        self.show_answers(edges).await
    }

    /// Returns true once windows count for the throughput.
    pub(super) fn is_warm(&self) -> bool {
        self.training_seconds >= summary::WARM_UP_SECONDS
    }

    pub(super) fn end_of_epoch(&self) -> u64 {
        self.job.batches.steps_of_epochs(self.epoch.finished + 1)
    }
}
