mod proving;
mod writing;

use std::ptr;

use results::summary::{self, MINIMUM_WINDOWS};
use results::{CurvePoint, Epoch, Evaluation, Outcome, Warning, Window, WorkloadRecord};

use super::progress::Progress;
use super::proof::{COMMITMENTS_PER_WINDOW, KeptReason, Proof};
use super::{Edges, Event, TrainingLimits};
use crate::backends::reference::{Classifier, Writer};
use crate::data::Origin;
use crate::error::{EngineError, Result};
use crate::measure::{PeakMeter, Phase, WantedTexts, WindowLength, timed_steps};
use crate::trainer::{EvaluationSet, StepReport, Trainer, TrainingJob};
use crate::training::Patience;
use writing::Writing;

/// Target window length, slightly above the minimum because the last window of an epoch may be a few steps shorter.
const WINDOW_SECONDS: f64 = 1.1 * summary::MINIMUM_WINDOW_SECONDS;
/// Minimum window length as a multiple of the delay until the host notices its end, which the measured time includes.
const LATENCIES_PER_WINDOW: f64 = 20.0;
/// Ratio to the first loss above which training has diverged.
const DIVERGED_RATIO: f64 = 1000.0;
/// Identical losses in a row after which the device is assumed to drop work. Memorized samples may repeat a loss of 0.
const MAX_REPEATED_LOSSES: u32 = 50;
/// Number of first steps with recorded losses.
const FIRST_LOSSES: usize = 20;
/// Maximum number of steps per segment. A leaderboard accepts this number of losses at once.
const MAX_SEGMENT_STEPS: u32 = 60_000;
/// Share of training in a workload's progress bar; the rest is measuring.
pub(super) const TRAINING_SHARE: f64 = 0.85;

/// Workload in training, with its trainer and the samples so far.
pub(super) struct Learning<'a, 'e> {
    pub(super) record: &'a mut WorkloadRecord,
    pub(super) job: &'a TrainingJob,
    pub(super) trainer: &'a mut dyn Trainer,
    pub(super) progress: &'a mut Progress,
    pub(super) edges: &'a mut Edges<'e>,
    /// Proof of this training, present while a leaderboard follows it.
    pub(super) proof: Option<Proof>,
    pub(super) step: u64,
    /// Answers for a sample.
    positions: u32,
    training_seconds: f64,
    /// Clock time of windows, including transfers that a backend may not report.
    elapsed_seconds: f64,
    length: WindowLength,
    epoch: EpochSoFar,
    /// Latest loss, and its number of consecutive occurrences.
    repeated_loss: (f64, u32),
    /// True if training stopped because held-out accuracy no longer improved.
    pub(super) stopped_early: bool,
    pub(super) next_answers_seconds: f64,
    /// Present while a language model trains and the observer shows its texts.
    writing: Option<Writing>,
    pub(super) warnings: Vec<Warning>,
}

#[derive(Default)]
struct EpochSoFar {
    finished: u32,
    seconds: f64,
    loss: f64,
    correct: u64,
    samples: u64,
}

impl<'a, 'e> Learning<'a, 'e> {
    pub(super) fn new(
        record: &'a mut WorkloadRecord,
        job: &'a TrainingJob,
        trainer: &'a mut dyn Trainer,
        progress: &'a mut Progress,
        edges: &'a mut Edges<'e>,
    ) -> Self {
        let (wanted, now) = (edges.observer.wants_texts(), edges.clock.now_seconds());
        let writer = Some(job).filter(|_| wanted != WantedTexts::None).and_then(Writer::new);
        Self {
            record,
            job,
            trainer,
            progress,
            edges,
            writing: writer.map(|writer| Writing::new(writer, wanted, now)),
            proof: None,
            step: 0,
            positions: job.model.positions().expect("the trainer was built"),
            training_seconds: 0.0,
            elapsed_seconds: 0.0,
            length: WindowLength::default(),
            epoch: EpochSoFar::default(),
            repeated_loss: (0.0, 0),
            stopped_early: false,
            next_answers_seconds: f64::INFINITY,
            warnings: Vec::new(),
        }
    }

    /// Returns true unless training has diverged or was canceled.
    pub(super) fn going(&self) -> bool {
        self.record.outcome == Outcome::Completed
    }

    /// Trains to the limits, evaluating at fixed steps and at the end.
    pub(super) async fn train(&mut self, limits: &TrainingLimits, evaluations_per_epoch: u32) -> Result<()> {
        self.announce_examples()?;
        self.show_answers().await?;
        self.write_at_intervals().await?;
        let mut mark = 1;
        let mut patience = self.job.early_stopping.map(Patience::new);
        while self.going() && !self.stopped_early && self.step < limits.steps && self.elapsed_seconds < limits.seconds {
            self.progress.phase(self.edges, Phase::Training);
            let next_mark = self.job.batches.step_of_mark(mark, evaluations_per_epoch);
            let boundary = next_mark.min(self.end_of_epoch()).min(limits.steps);
            let seconds_left = limits.seconds - self.elapsed_seconds;
            let done = (self.step as f64 / limits.steps as f64).max(self.elapsed_seconds / limits.seconds);
            let epoch_ends = boundary == self.end_of_epoch();
            self.window(boundary, seconds_left, done * TRAINING_SHARE).await?;
            if let Some(patience) = patience.as_mut().filter(|_| epoch_ends && self.step == boundary) {
                self.consult(patience).await?;
            }
            if self.step == next_mark {
                mark += 1;
                self.evaluate().await?;
            } else if self.edges.clock.now_seconds() >= self.next_answers_seconds {
                self.show_answers().await?;
            }
            self.write_at_intervals().await?;
        }
        if self.going() && self.record.evaluations.last().is_none_or(|e| e.step != self.step) {
            self.evaluate().await?;
        }
        Ok(())
    }

    async fn consult(&mut self, patience: &mut Patience) -> Result<()> {
        let samples = self.job.evaluated_samples(EvaluationSet::HeldOut);
        if self.pause().await && samples > 0 {
            self.end_lap().await?;
            self.progress.phase(self.edges, Phase::Testing);
            let report = self.trainer.evaluate(EvaluationSet::HeldOut, samples).await?;
            self.stopped_early = !patience.goes_on(self.step, 1.0 - report.accuracy());
        }
        Ok(())
    }

    /// Waits while the observer pauses the run. Returns false if training has ended, which may happen meanwhile.
    pub(super) async fn pause(&mut self) -> bool {
        if self.progress.pause(self.edges).await && self.going() && self.edges.observer.cancelled() {
            self.record.outcome = Outcome::Cancelled;
        }
        self.going()
    }

    /// Trains one window, which ends by step `boundary` and takes little longer than `seconds_left`.
    pub(super) async fn window(&mut self, boundary: u64, seconds_left: f64, workload_fraction: f64) -> Result<()> {
        if !self.pause().await {
            return Ok(());
        }
        let steps = self.steps_of_window(boundary, seconds_left);
        let beacon = self.begin_segment().await?;
        let start = self.edges.clock.now_seconds();
        let (report, window) = timed_steps(self.trainer, steps, self.edges.clock).await?;
        let seconds = window.seconds;
        self.elapsed_seconds += seconds.max(self.edges.clock.now_seconds() - start);
        self.edges.meter.sample();
        if let (Some(sum), Some(told)) = (&mut self.record.communication, &report.communication) {
            sum.add(told);
        }
        if let (Some(sum), Some(brought)) = (&mut self.record.input, &report.input) {
            sum.add(brought);
        }
        self.check_repetition(&report.losses)?;

        self.record.windows.push(Window { steps, samples: report.samples, seconds });
        self.record.cold_start.first_step_seconds.get_or_insert(seconds);
        self.step += u64::from(steps);
        self.training_seconds += seconds;
        self.length.note(&window);
        self.note_losses(&report, seconds, workload_fraction);
        self.note_epoch(&report, seconds);
        if let Some(beacon) = beacon {
            self.end_segment(beacon, &report.losses).await?;
        }
        if self.going() && self.edges.observer.cancelled() {
            self.record.outcome = Outcome::Cancelled;
        }
        Ok(())
    }

    fn check_repetition(&mut self, losses: &[f64]) -> Result<()> {
        for &loss in losses {
            let (last, times) = self.repeated_loss;
            let times = if loss.to_bits() == last.to_bits() { times + 1 } else { 1 };
            self.repeated_loss = (loss, times);
            if times > MAX_REPEATED_LOSSES && loss != 0.0 && loss.is_finite() {
                let missing = format!("{MAX_REPEATED_LOSSES} consecutive steps have the loss {loss}");
                return Err(EngineError::WorkDropped { missing });
            }
        }
        Ok(())
    }

    pub(super) fn steps_of_window(&self, boundary: u64, seconds_left: f64) -> u32 {
        let most = if self.proof.is_some() { MAX_SEGMENT_STEPS } else { u32::MAX };
        let room = u32::try_from(boundary.saturating_sub(self.step)).unwrap_or(u32::MAX).clamp(1, most);
        let commitment_seconds = self.proof.as_ref().map_or(0.0, |proof| proof.commitment_seconds);
        let window_seconds = WINDOW_SECONDS
            .max(LATENCIES_PER_WINDOW * self.trainer.latency_seconds())
            .max(COMMITMENTS_PER_WINDOW * commitment_seconds);
        let reported_share = if self.step == 0 { 1.0 } else { self.training_seconds / self.elapsed_seconds };
        self.length.repetitions(window_seconds.min(seconds_left * reported_share).max(0.0)).min(room)
    }

    fn note_losses(&mut self, report: &StepReport, seconds: f64, workload_fraction: f64) {
        let record = &mut *self.record;
        let first_step = self.step - report.losses.len() as u64;
        let first_loss = record.first_losses.first().map(|&loss| f64::from(loss));
        let most = first_loss.or(report.losses.first().copied()).unwrap_or(f64::INFINITY) * DIVERGED_RATIO;
        let diverged = report.losses.iter().position(|&loss| !loss.is_finite() || loss > most);
        if let Some(position) = diverged {
            record.outcome = Outcome::Diverged { step: first_step + position as u64 };
        }
        // JSON cannot represent infinity, so only losses before the divergence are kept.
        let finite = &report.losses[..diverged.unwrap_or(report.losses.len())];
        if first_step == record.first_losses.len() as u64 {
            let missing = FIRST_LOSSES.saturating_sub(record.first_losses.len());
            #[expect(clippy::cast_possible_truncation, reason = "losses are float32 on every backend that is timed")]
            record.first_losses.extend(finite.iter().take(missing).map(|&loss| loss as f32));
        }
        let answers = report.samples * u64::from(self.positions);
        let accuracy = report.correct as f64 / answers.max(1) as f64;
        if !finite.is_empty() {
            let loss = finite.iter().sum::<f64>() / finite.len() as f64;
            let (step, training_seconds) = (self.step, self.training_seconds);
            record.curve.push(CurvePoint { step, training_seconds, loss, accuracy });
        }
        let trained: u64 = record.windows.iter().map(|window| window.samples).sum();
        self.edges.observer.event(&Event::Progress {
            workload: self.progress.workload(),
            run_fraction: self.progress.advance(workload_fraction),
            step: self.step,
            epochs: trained as f64 / f64::from(self.job.batches.samples),
            training_seconds: self.training_seconds,
            // If the window has no finite loss, the previous one is shown.
            loss: record.curve.last().map_or(0.0, |point| point.loss),
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
            let answers = samples * f64::from(self.positions);
            if self.record.outcome == Outcome::Completed {
                self.record.epochs.push(Epoch {
                    epoch: finished,
                    seconds: epoch.seconds,
                    loss: epoch.loss / samples,
                    accuracy: epoch.correct as f64 / answers,
                });
            }
            self.epoch = EpochSoFar { finished, ..EpochSoFar::default() };
        }
    }

    /// Evaluates the whole test set, outside timed windows.
    async fn evaluate(&mut self) -> Result<()> {
        if !self.pause().await {
            return Ok(());
        }
        self.end_lap().await?;
        self.progress.phase(self.edges, Phase::Testing);
        let start = self.edges.clock.now_seconds();
        let report = self.trainer.evaluate(EvaluationSet::Test, self.job.test_samples()).await?;
        let passed = self.edges.clock.now_seconds() - start;
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
            proof.pin(KeptReason::Tested);
        }
        if let Some(target) = &mut self.record.target
            && target.reached_step.is_none()
            && target.goal.is_reached(&evaluation)
        {
            target.reached_seconds = Some(self.training_seconds);
            target.reached_step = Some(self.step);
            if let Some(proof) = &mut self.proof {
                proof.pin(KeptReason::Target);
            }
        }
        self.edges.observer.event(&Event::Evaluated { workload: self.progress.workload(), evaluation });
        self.show_answers().await?;
        self.write_after_evaluation().await
    }

    /// Returns true once windows count for the throughput.
    pub(super) fn is_warm(&self) -> bool {
        self.training_seconds >= summary::WARM_UP_SECONDS
    }

    pub(super) fn end_of_epoch(&self) -> u64 {
        self.job.batches.steps_of_epochs(self.epoch.finished + 1)
    }
}

/// Limits of measurement after training.
const MAXIMUM_WINDOWS: usize = 4 * MINIMUM_WINDOWS;
const BUDGET_SECONDS: f64 = 30.0;

impl Learning<'_, '_> {
    /// Continues training without evaluations until the throughput settles, and measures the device's peak in between.
    /// A fast device finishes its epochs before it has filled five one-second windows.
    pub(super) async fn measure(&mut self, peaks: &mut PeakMeter<'_>) -> Result<()> {
        if !self.going() {
            return Ok(());
        }
        self.end_lap().await?;
        self.progress.phase(self.edges, Phase::MeasuringPeak);
        peaks.open().await;
        let start = self.edges.clock.now_seconds() - self.progress.paused_seconds;
        let mut is_over = false;
        while self.going() && !is_over {
            // A leaderboard cannot distinguish peak measurements from training, so the peak is measured rarely.
            for _ in 0..MINIMUM_WINDOWS {
                let elapsed = self.edges.clock.now_seconds() - self.progress.paused_seconds - start;
                let windows = self.measured_windows();
                let settled = windows >= MAXIMUM_WINDOWS || summary::summarise(self.record).stable;
                is_over = !self.going() || settled || elapsed >= BUDGET_SECONDS;
                if is_over {
                    break;
                }
                let done = (windows as f64 / MINIMUM_WINDOWS as f64).min(1.0).max(elapsed / BUDGET_SECONDS);
                self.progress.phase(self.edges, Phase::Measuring);
                // The end of an epoch only changes the order of the samples, so it need not end a window.
                self.window(u64::MAX, f64::INFINITY, TRAINING_SHARE + (1.0 - TRAINING_SHARE) * done).await?;
                self.pause().await;
            }
            self.measure_last_peak(peaks).await?;
        }
        Ok(())
    }

    /// Measures the peak for the last counted window, unless it was measured already.
    pub(super) async fn measure_last_peak(&mut self, peaks: &mut PeakMeter<'_>) -> Result<()> {
        self.end_lap().await?;
        self.progress.phase(self.edges, Phase::MeasuringPeak);
        let windows = &self.record.windows;
        let last = summary::counted_windows(windows).last();
        let place = last.and_then(|last| windows.iter().position(|window| ptr::eq(window, last)));
        let is_measured = |place: usize| self.record.peaks.last().is_some_and(|peak| peak.window as usize == place);
        if let Some(place) = place.filter(|&place| self.going() && !is_measured(place)) {
            self.record.peaks.extend(peaks.measure(place).await);
        }
        Ok(())
    }

    pub(super) fn measured_windows(&self) -> usize {
        summary::counted_windows(&self.record.windows).count()
    }

    pub(super) fn announce_examples(&mut self) -> Result<()> {
        let samples = examples(self.job, self.edges)? as usize;
        if samples == 0 {
            return Ok(());
        }
        let (shape, test) = (self.job.data.definition.test, &self.job.data.test);
        self.edges.observer.event(&Event::Examples {
            workload: self.progress.workload(),
            height: shape.height,
            width: shape.width,
            channels: shape.channels,
            images: test.images[..samples * shape.features() as usize].to_vec(),
            labels: test.labels[..samples].to_vec(),
        });
        Ok(())
    }

    /// Announces the network's answers, outside timed windows. The plain loops compute them, so backends need not.
    pub(super) async fn show_answers(&mut self) -> Result<()> {
        let samples = examples(self.job, self.edges)?;
        if samples == 0 || !self.going() {
            return Ok(());
        }
        self.progress.phase(self.edges, Phase::Testing);
        let start = self.edges.clock.now_seconds();
        let weights = self.trainer.weights().await?;
        let answers = Classifier::<f32>::new(self.job, weights)?.answers(&self.job.data.test, samples);
        self.edges.observer.event(&Event::Answered { workload: self.progress.workload(), answers });
        let end = self.edges.clock.now_seconds();
        self.next_answers_seconds = end + SECONDS_BETWEEN_ANSWERS.max((end - start) / MAX_ANSWERING_SHARE);
        Ok(())
    }
}

const MAX_EXAMPLES: u32 = 12;
/// Compute budget of the plain loops for all examples, a fraction of a second. Larger networks show fewer examples.
const MAX_FLOPS: u64 = 200_000_000;
/// Minimum number of examples; networks that can afford fewer show none.
const MIN_EXAMPLES: u32 = 4;
/// Minimum time between answers, so that a person can follow them.
const SECONDS_BETWEEN_ANSWERS: f64 = 2.0;
/// Maximum share of time spent on answers, because a leaderboard counts it as training.
const MAX_ANSWERING_SHARE: f64 = 1.0 / 60.0;

/// Returns the number of test images to show with the network's answers. Returns 0 if the observer shows none, if the
/// samples are not images, if the network is slow, or if evaluations use averaged weights.
pub(super) fn examples(job: &TrainingJob, edges: &Edges<'_>) -> Result<u32> {
    let shows_something = matches!(job.data.definition.origin, Origin::Files { .. });
    let tests_averages = job.average.is_some_and(|average| average.is_tested());
    if !edges.observer.wants_examples() || !shows_something || tests_averages {
        return Ok(0);
    }
    let flops = job.model.operations()?.forward_flops * job.input.test_views.len() as u64;
    let affordable = u32::try_from(MAX_FLOPS / flops.max(1)).unwrap_or(u32::MAX);
    let samples = MAX_EXAMPLES.min(affordable).min(job.test_samples());
    Ok(if samples >= MIN_EXAMPLES { samples } else { 0 })
}
