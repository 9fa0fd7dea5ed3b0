//! Several back ends that train the same network in turns.

use super::report::{Entry, Facts, Measured, Outcome, Size, Timed};
use super::{Contender, Request};
use crate::clock::Clock;
use crate::error::EngineError;
use crate::measure::{Event, Gauge, Observer, Phase};
use crate::trainer::{Preparation, Trainer, TrainingJob};

/// The budget is enough for so many windows of each back end; its warm-up takes the time of one more.
const WINDOWS: u32 = 5;
/// A larger budget means more windows instead of longer ones: whoever wants to stop waits for the end of one.
const LONGEST_WINDOW_SECONDS: f64 = 2.0;

/// Jobs that are trained in turns: one on all contenders that can, or several on one.
pub(super) struct Contest<'a> {
    request: &'a Request,
    gauge: &'a mut Option<Box<dyn Gauge>>,
    clock: &'a dyn Clock,
    observer: &'a mut dyn Observer<Event>,
    places: Vec<Place>,
}

/// A contender's place; its trainer is gone where it cannot go on.
struct Place {
    backend: &'static str,
    trainer: Option<Box<dyn Trainer>>,
    /// What ended it, if something did.
    ended: Option<Outcome>,
    facts: Facts,
    /// Steps that it may still train.
    steps_left: Option<u32>,
    /// Latest estimate.
    step_seconds: f64,
    windows: Vec<Timed>,
}

impl<'a> Contest<'a> {
    pub(super) fn new(
        request: &'a Request,
        gauge: &'a mut Option<Box<dyn Gauge>>,
        clock: &'a dyn Clock,
        observer: &'a mut dyn Observer<Event>,
    ) -> Self {
        Self { request, gauge, clock, observer, places: Vec::new() }
    }

    /// Builds the contender's trainer of this job, unless it is barred or does not fit.
    pub(super) async fn admit(&mut self, contender: &Contender, job: &TrainingJob, barred: Option<&Outcome>) {
        let mut place = Place {
            backend: contender.name(),
            trainer: None,
            ended: barred.cloned(),
            facts: Facts {
                flops_per_sample: job.model.operations().map_or(0, |operations| operations.training_flops()),
                on_gauged_device: contender.on_gauged_device,
                device_memory_bytes: 0,
                predicted_bytes: None,
                build_seconds: 0.0,
                preparation: Preparation::default(),
                variants: Vec::new(),
                losses_are_finite: true,
            },
            steps_left: contender.most_steps,
            step_seconds: 0.0,
            windows: Vec::new(),
        };
        if place.ended.is_none() && !self.observer.cancelled() {
            self.observer.event(&Event::Phase { who: place.backend, phase: Phase::Building });
            match self.build(contender, job, &mut place.facts).await {
                Ok(trainer) => place.trainer = Some(trainer),
                Err(error) => place.ended = Some(Outcome::of(&error)),
            }
        }
        self.places.push(place);
    }

    async fn build(
        &self,
        contender: &Contender,
        job: &TrainingJob,
        facts: &mut Facts,
    ) -> Result<Box<dyn Trainer>, EngineError> {
        facts.predicted_bytes = contender.backend.predicted_bytes(job)?;
        self.hold_to_budget("the workload as a whole", facts.predicted_bytes)?;
        let start = self.clock.now_seconds();
        let trainer = contender.backend.build(job).await?;
        facts.build_seconds = self.clock.now_seconds() - start;
        facts.device_memory_bytes = trainer.device_memory_bytes();
        // Not every back end can tell before.
        self.hold_to_budget("the workload as it was built", Some(facts.device_memory_bytes))?;
        facts.preparation = trainer.preparation();
        facts.variants = trainer.variants();
        Ok(trainer)
    }

    /// # Errors
    /// More bytes than the request allows, with both numbers.
    fn hold_to_budget(&self, what: &str, needed_bytes: Option<u64>) -> Result<(), EngineError> {
        match (needed_bytes, self.request.budget_bytes) {
            (Some(needed_bytes), Some(allowed_bytes)) if needed_bytes > allowed_bytes => {
                Err(EngineError::DoesNotFit { what: what.to_owned(), needed_bytes, allowed_bytes })
            }
            _ => Ok(()),
        }
    }

    /// Warms all up, then lets them take turns until the budget is spent. A round is not begun that would exceed it.
    pub(super) async fn run(&mut self) {
        let start = self.clock.now_seconds();
        let running = self.places.iter().filter(|place| place.trainer.is_some()).count().max(1);
        let window_seconds = self.request.budget_seconds / running as f64 / f64::from(WINDOWS + 1);
        let window_seconds = window_seconds.min(LONGEST_WINDOW_SECONDS);
        for index in 0..self.places.len() {
            self.warm_up(index, window_seconds).await;
        }
        let mut measuring_peaks = 0.0;
        loop {
            let round = self.clock.now_seconds();
            let mut timed = Vec::new();
            for index in 0..self.places.len() {
                let place = &self.places[index];
                let (steps_left, step_seconds) = (place.steps_left, place.step_seconds);
                // A back end of few steps shows the spread between them.
                let steps = if steps_left.is_some() { 1 } else { steps_in(window_seconds, step_seconds) };
                if steps_left != Some(0)
                    && let Some(window) = self.window(index, steps).await
                {
                    let place = &mut self.places[index];
                    place.windows.push(window);
                    let (who, samples_per_second) = (place.backend, window.samples_per_second());
                    self.observer.event(&Event::Window { who, samples_per_second });
                    timed.push(index);
                }
            }
            let now = self.clock.now_seconds();
            let peak = self.measure_peak().await;
            for index in timed {
                let Place { facts, windows, .. } = &mut self.places[index];
                if let Some(window) = windows.last_mut().filter(|_| facts.on_gauged_device) {
                    window.peak_flops_per_second = peak;
                }
            }
            measuring_peaks += self.clock.now_seconds() - now;
            let spent = self.clock.now_seconds() - start - measuring_peaks;
            if spent + (now - round) > self.request.budget_seconds || self.observer.cancelled() || !self.is_going() {
                break;
            }
        }
    }

    /// The peak of this round, for those who are given as a share of it; `None` where nobody is, or it cannot be measured.
    async fn measure_peak(&mut self) -> Option<f64> {
        let wanted = self.places.iter().any(|place| place.trainer.is_some() && place.facts.on_gauged_device);
        let gauge = self.gauge.as_mut().filter(|_| wanted)?;
        match gauge.peak_flops_per_second().await {
            Ok(peak) => Some(peak),
            // Shares are absent then; what has become of the device, the next window says.
            Err(_) => {
                *self.gauge = None;
                None
            }
        }
    }

    /// Whether anybody can still train.
    fn is_going(&self) -> bool {
        self.places.iter().any(|place| place.trainer.is_some() && place.steps_left != Some(0))
    }

    /// Trains ever more steps until they fill half a window: caches fill, submissions grow, and the length of a step
    /// is known.
    async fn warm_up(&mut self, index: usize, window_seconds: f64) {
        if self.places[index].steps_left.is_some() {
            return;
        }
        if self.places[index].trainer.is_some() {
            self.observer.event(&Event::Phase { who: self.places[index].backend, phase: Phase::WarmingUp });
        }
        let mut steps: u32 = 1;
        while let Some(window) = self.window(index, steps).await {
            // The first step includes the driver's own preparations; a very slow one is enough all the same.
            let enough = if steps == 1 { window_seconds } else { window_seconds / 2.0 };
            if window.seconds >= enough {
                break;
            }
            steps = steps.saturating_mul(2);
        }
    }

    /// Trains so many steps. `None` where there is no trainer, or it failed, or somebody wants to stop.
    async fn window(&mut self, index: usize, steps: u32) -> Option<Timed> {
        let place = &mut self.places[index];
        let trainer = place.trainer.as_mut()?;
        if self.observer.cancelled() {
            return None;
        }
        let start = self.clock.now_seconds();
        let trained = trainer.train_steps(steps).await;
        // No clock is so coarse that a step takes no time at all.
        let seconds = (self.clock.now_seconds() - start).max(1e-9);
        match trained {
            Ok(report) => {
                place.facts.losses_are_finite &= report.losses.iter().all(|loss| loss.is_finite());
                place.step_seconds = seconds / f64::from(steps.max(1));
                place.steps_left = place.steps_left.map(|left| left.saturating_sub(steps));
                Some(Timed { steps, samples: report.samples, seconds, peak_flops_per_second: None })
            }
            Err(error) => {
                place.trainer = None;
                place.ended = Some(Outcome::of(&error));
                None
            }
        }
    }

    /// What became of everybody, with the ratios to the fastest.
    pub(super) fn finish(self, batch_size: u32) -> Size {
        let entry = |place: Place| {
            let measured = Measured::of(place.facts, place.windows).map(Outcome::Measured);
            let outcome = place.ended.or(measured).unwrap_or(Outcome::Cancelled);
            Entry { backend: place.backend, outcome }
        };
        let mut size = Size { batch_size, entries: self.places.into_iter().map(entry).collect() };
        size.compare();
        size
    }
}

/// How many steps of this length come nearest to a window; at least one.
fn steps_in(window_seconds: f64, step_seconds: f64) -> u32 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to the range of u32")]
    let steps = (window_seconds / step_seconds.max(1e-7)).round().clamp(1.0, f64::from(u32::MAX)) as u32;
    steps
}
