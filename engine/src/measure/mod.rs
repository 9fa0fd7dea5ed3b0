//! Shared parts of every measurement (a run, a comparison, steps per second, kernels): timing and length of windows,
//! turns, the device's peak, events and outcomes.

use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;

use async_trait::async_trait;
use results::{Adapter, PeakSample, statistics};

use crate::backends::reference::{Classifier, Writer};
use crate::clock::Clock;
use crate::error::{EngineError, Result};
use crate::trainer::{Backend, StepReport, Trainer};

pub use crate::trainer::Gauge;
pub use results::Phase;
pub use results::measured::{MeasurementOutcome, Window};

/// Event of a series of measurements: steps per second, or kernels. Their numbers begin with 1.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    Opened { adapter: Adapter },
    Started { what: String, number: usize, count: usize },
    Again { what: String },
    Phase { who: &'static str, phase: Phase },
    Window { who: &'static str, window: Window },
}

/// Moments at which an observer shows texts that a language model writes while it trains.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WantedTexts {
    #[default]
    None,
    /// After every evaluation.
    AtEvaluations,
    /// Before the first step, and every few seconds.
    AtIntervals,
}

/// Receiver of a measurement's events: a run's [`crate::Event`], or [`Event`].
pub trait Observer<E> {
    fn event(&mut self, event: &E);

    /// Returns true to end the measurement. Called between windows, and before other long work.
    fn cancelled(&self) -> bool {
        false
    }

    /// Returns true if the observer shows the network's answers on a few test images.
    fn wants_examples(&self) -> bool {
        false
    }

    /// Receives the network of a finished workload whose answers on test images were shown.
    fn trained(&mut self, _workload: &str, _network: Classifier<f32>) {}

    fn wants_texts(&self) -> WantedTexts {
        WantedTexts::None
    }

    /// Receives the language model of a finished workload whose texts were shown.
    fn trained_writer(&mut self, _workload: &str, _writer: Writer) {}

    /// Returns a future to await before continuing, which completes on cancellation. Called like [`Self::cancelled`].
    fn pause(&self) -> Option<Pin<Box<dyn Future<Output = ()>>>> {
        None
    }
}

/// Converts an error to the outcome of one measurement among others.
pub(crate) fn refused<Figures, Difference>(error: &EngineError) -> MeasurementOutcome<Figures, Difference> {
    match error {
        EngineError::DoesNotFit { what, needed_bytes, allowed_bytes } => MeasurementOutcome::DoesNotFit {
            what: what.clone(),
            needed_bytes: *needed_bytes,
            allowed_bytes: *allowed_bytes,
        },
        EngineError::InvalidSetting { .. } => MeasurementOutcome::Skipped { reason: error.to_string() },
        other => MeasurementOutcome::Failed { message: other.to_string() },
    }
}

pub(crate) fn median(figures: impl Iterator<Item = f64>) -> Option<f64> {
    statistics::quantile(&figures.collect::<Vec<f64>>(), 0.5)
}

/// Returns the windows' median peak, and the median share of each window's peak.
pub(crate) fn median_peaks(windows: &[Window], flops_each: f64) -> (Option<f64>, Option<f64>) {
    let peaks = median(windows.iter().filter_map(|window| window.peak_flops_per_second));
    (peaks, median(windows.iter().filter_map(|window| window.share_of_peak(flops_each))))
}

pub(crate) async fn timed_steps(
    trainer: &mut dyn Trainer,
    steps: u32,
    clock: &dyn Clock,
) -> Result<(StepReport, Window)> {
    let start = clock.now_seconds();
    let report = trainer.train_steps(steps).await?;
    let passed = clock.now_seconds() - start;
    // A coarse clock may report zero elapsed time.
    let seconds = report.seconds.unwrap_or(passed).max(1e-9);
    let window = Window { samples: Some(report.samples), ..Window::new(steps, seconds) };
    Ok((report, window))
}

/// Maximum growth factor between windows. The first ones include the driver's preparations.
const MAX_GROWTH: u32 = 8;

/// Estimated time per repetition, which determines the length of the next window.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct WindowLength {
    seconds_each: Option<f64>,
    most_repetitions: u32,
}

impl WindowLength {
    pub(crate) fn note(&mut self, window: &Window) {
        self.seconds_each = Some(window.seconds_each());
        self.most_repetitions = self.most_repetitions.max(window.repetitions);
    }

    /// Returns the smallest number of repetitions that takes at least `seconds`; 1 before the first window.
    pub(crate) fn repetitions(self, seconds: f64) -> u32 {
        let Some(seconds_each) = self.seconds_each else { return 1 };
        // A shortfall of a thousandth of a repetition is accepted.
        let wanted = (seconds / seconds_each.max(1e-9) - 1e-3).ceil();
        let most = self.most_repetitions.max(1).saturating_mul(MAX_GROWTH);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to the range of u32")]
        let repetitions = wanted.clamp(1.0, f64::from(most)) as u32;
        repetitions
    }
}

/// Gauge of a backend, opened on first use. A run continues without one.
pub(crate) struct PeakMeter<'a> {
    backend: &'a dyn Backend,
    /// `None` until opened; then `Some(None)` if the backend has no gauge or it failed.
    gauge: Option<Option<Box<dyn Gauge>>>,
}

impl<'a> PeakMeter<'a> {
    pub(crate) fn new(backend: &'a dyn Backend) -> Self {
        Self { backend, gauge: None }
    }

    pub(crate) async fn open(&mut self) {
        if self.gauge.is_none() {
            // The next window reports a lost device.
            self.gauge = Some(self.backend.gauge().await.ok().flatten());
        }
    }

    /// Frees the gauge's memory on the device.
    pub(crate) fn close(&mut self) {
        self.gauge = None;
    }

    pub(crate) async fn measure(&mut self, window: usize) -> Option<PeakSample> {
        self.open().await;
        let gauge = self.gauge.as_mut()?.as_mut()?;
        let flops = gauge.peak_flops_per_second().await;
        let copied = gauge.copied_bytes_per_second().await;
        let (Ok(flops_per_second), Ok(copied_bytes_per_second)) = (flops, copied) else {
            self.gauge = Some(None);
            return None;
        };
        Some(PeakSample { window: u32::try_from(window).ok()?, flops_per_second, copied_bytes_per_second })
    }
}

/// One run of a comparison, as indices of seed and contender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    pub seed: usize,
    pub contender: usize,
}

/// Remaining turns of a comparison.
///
/// All contenders train from one seed before the next seed, so that finished runs can be compared at any time. The
/// contender that goes first rotates, so that none always finds the device cool.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Schedule {
    turns: VecDeque<Turn>,
    count: usize,
}

impl Schedule {
    pub fn new(seeds: usize, contenders: usize) -> Self {
        let of_seed = |seed| (0..contenders).map(move |place| Turn { seed, contender: (seed + place) % contenders });
        let turns: VecDeque<Turn> = (0..seeds).flat_map(of_seed).collect();
        Self { count: turns.len(), turns }
    }

    pub fn present(&self) -> Option<Turn> {
        self.turns.front().copied()
    }

    /// Returns the number of the current turn, from 1, of [`Self::count`].
    pub fn number(&self) -> usize {
        self.count - self.turns.len() + 1
    }

    pub fn count(&self) -> usize {
        self.count
    }

    pub fn go_on(&mut self) {
        self.turns.pop_front();
    }

    /// Removes all turns of the current contender, because its error would recur with the next seed.
    pub fn give_up(&mut self) {
        if let Some(Turn { contender, .. }) = self.present() {
            self.turns.retain(|turn| turn.contender != contender);
        }
    }

    pub fn end(&mut self) {
        self.turns.clear();
    }
}

#[async_trait(?Send)]
pub(crate) trait Repeatable {
    /// Runs `repetitions` repetitions. The device is idle at the start and at the end.
    async fn window(&mut self, repetitions: u32) -> Result<Window>;
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct ContestRules {
    pub(crate) window_seconds: f64,
    /// Time limit for warm-up and windows of all participants, excluding peaks. No round starts that would exceed it.
    pub(crate) budget_seconds: f64,
    pub(crate) fewest_rounds: usize,
    pub(crate) most_rounds: usize,
}

pub(crate) struct Participant<S> {
    pub(crate) name: &'static str,
    pub(crate) subject: Option<S>,
    /// True if its windows are compared with the gauge's peak.
    pub(crate) on_gauged_device: bool,
    /// Remaining repetitions of a slow participant, which skips the warm-up and has windows of one repetition.
    pub(crate) repetitions_left: Option<u32>,
    pub(crate) windows: Vec<Window>,
    pub(crate) ended: Option<EngineError>,
    length: WindowLength,
}

impl<S> Participant<S> {
    pub(crate) fn new(name: &'static str, subject: Option<S>) -> Self {
        Self {
            name,
            subject,
            on_gauged_device: true,
            repetitions_left: None,
            windows: Vec::new(),
            ended: None,
            length: WindowLength::default(),
        }
    }

    fn is_going(&self) -> bool {
        self.subject.is_some() && self.repetitions_left != Some(0)
    }
}

/// Participants timed in alternation (first, second, first, second …), so that changes in the machine's speed affect
/// all of them equally. The gauge also measures once per round.
pub(crate) struct Contest<'a, S> {
    pub(crate) participants: Vec<Participant<S>>,
    pub(crate) gauge: &'a mut Option<Box<dyn Gauge>>,
    pub(crate) clock: &'a dyn Clock,
    pub(crate) observer: &'a mut dyn Observer<Event>,
}

impl<S: Repeatable> Contest<'_, S> {
    pub(crate) async fn run(&mut self, rules: ContestRules) {
        let start = self.clock.now_seconds();
        for index in 0..self.participants.len() {
            self.warm_up(index, rules.window_seconds).await;
        }
        let mut measuring_peaks = 0.0;
        let mut rounds = 0;
        while rounds < rules.most_rounds
            && !self.observer.cancelled()
            && self.participants.iter().any(Participant::is_going)
        {
            let round = self.clock.now_seconds();
            let timed = self.round(rules.window_seconds).await;
            let end = self.clock.now_seconds();
            self.note_peak(&timed).await;
            let now = self.clock.now_seconds();
            measuring_peaks += now - end;
            rounds += 1;
            let spent = now - start - measuring_peaks;
            if rounds >= rules.fewest_rounds && spent + (end - round) > rules.budget_seconds {
                break;
            }
        }
    }

    /// Times a window of each participant, and returns the indices of those that completed one.
    async fn round(&mut self, window_seconds: f64) -> Vec<usize> {
        let mut timed = Vec::new();
        for index in 0..self.participants.len() {
            let participant = &self.participants[index];
            // Single repetitions show their spread.
            let single = participant.repetitions_left.is_some();
            let repetitions = if single { 1 } else { participant.length.repetitions(window_seconds) };
            if participant.is_going()
                && let Some(window) = self.window(index, repetitions).await
            {
                let participant = &mut self.participants[index];
                participant.windows.push(window);
                self.observer.event(&Event::Window { who: participant.name, window });
                timed.push(index);
            }
        }
        timed
    }

    async fn note_peak(&mut self, timed: &[usize]) {
        let wanted = self.participants.iter().any(|of| of.subject.is_some() && of.on_gauged_device);
        let Some(gauge) = self.gauge.as_mut().filter(|_| wanted) else { return };
        let Ok(peak) = gauge.peak_flops_per_second().await else {
            // The next window reports a lost device.
            *self.gauge = None;
            return;
        };
        for &index in timed {
            let Participant { on_gauged_device, windows, .. } = &mut self.participants[index];
            if let Some(window) = windows.last_mut().filter(|_| *on_gauged_device) {
                window.peak_flops_per_second = Some(peak);
            }
        }
    }

    /// Lengthens windows up to half a counted one, which fills caches, grows submissions and measures a repetition.
    async fn warm_up(&mut self, index: usize, window_seconds: f64) {
        let participant = &self.participants[index];
        if participant.repetitions_left.is_some() || !participant.is_going() {
            return;
        }
        self.observer.event(&Event::Phase { who: participant.name, phase: Phase::WarmingUp });
        loop {
            let repetitions = self.participants[index].length.repetitions(window_seconds);
            let Some(window) = self.window(index, repetitions).await else { return };
            // The first repetition includes the driver's preparations. It is enough if it fills a whole window.
            let enough = if repetitions == 1 { window_seconds } else { window_seconds / 2.0 };
            if window.seconds >= enough {
                return;
            }
        }
    }

    /// Times a window. Returns `None` if the participant cannot continue or the contest is canceled.
    async fn window(&mut self, index: usize, repetitions: u32) -> Option<Window> {
        let participant = &mut self.participants[index];
        let subject = participant.subject.as_mut()?;
        if self.observer.cancelled() {
            return None;
        }
        match subject.window(repetitions).await {
            Ok(window) => {
                participant.length.note(&window);
                participant.repetitions_left =
                    participant.repetitions_left.map(|left| left.saturating_sub(repetitions));
                Some(window)
            }
            Err(error) => {
                participant.subject = None;
                participant.ended = Some(error);
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repetitions_fill_a_window_and_never_leap() {
        let after = |repetitions, seconds| {
            let mut length = WindowLength::default();
            length.note(&Window::new(repetitions, seconds));
            length
        };
        assert_eq!(WindowLength::default().repetitions(1.0), 1);
        assert_eq!(after(1, 1e-6).repetitions(0.1), 8);
        assert_eq!(after(100, 0.05).repetitions(0.1), 200);
        assert_eq!(after(100, 0.05).repetitions(0.1002), 201);
        assert_eq!(after(4, 8.0).repetitions(0.1), 1);
        assert_eq!(after(10, 0.0).repetitions(0.1), 80);
        let mut after_a_short_window = after(400, 1.0);
        after_a_short_window.note(&Window::new(3, 0.0075));
        assert_eq!(after_a_short_window.repetitions(1.0), 400);
    }

    #[test]
    fn every_contender_trains_from_every_seed() {
        let all = Schedule::new(3, 2).turns;
        let first: Vec<usize> = all.iter().step_by(2).map(|turn| turn.contender).collect();
        assert_eq!(first, [0, 1, 0]);
        assert_eq!(all.len(), 6);
        for (seed, contender) in (0..3).flat_map(|seed| (0..2).map(move |contender| (seed, contender))) {
            assert!(all.contains(&Turn { seed, contender }), "{contender} from {seed}");
        }
        assert_eq!(Schedule::new(2, 0).present(), None);
    }

    #[test]
    fn giving_up_ends_only_a_contenders_own_turns() {
        let mut schedule = Schedule::new(2, 2);
        schedule.go_on();
        assert_eq!((schedule.number(), schedule.present()), (2, Some(Turn { seed: 0, contender: 1 })));
        schedule.give_up();
        assert_eq!((schedule.number(), schedule.count()), (4, 4));
        assert_eq!(schedule.turns, [Turn { seed: 1, contender: 0 }]);
        schedule.end();
        assert_eq!(schedule.present(), None);
    }
}
