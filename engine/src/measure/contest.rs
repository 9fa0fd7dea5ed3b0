use async_trait::async_trait;

use super::{Event, Gauge, Observer, Phase, Window, WindowLength};
use crate::clock::Clock;
use crate::error::EngineError;

#[async_trait(?Send)]
pub(crate) trait Repeatable {
    /// Runs `repetitions` repetitions. The device is idle at the start and at the end.
    async fn window(&mut self, repetitions: u32) -> Result<Window, EngineError>;
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

    /// Lengthens windows until one is half as long as a counted window. This fills caches, grows submissions, and
    /// measures the length of a repetition.
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
