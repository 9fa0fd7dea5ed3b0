//! What every measurement shares, whichever asks for it: a run, a comparison, steps per second, kernels.
//!
//! Each of them is a policy: what is measured, in which order, and what its figures are. How a window is timed and how long
//! it is, how those that are compared take turns, what the device's peak is beside them, what is announced meanwhile, and
//! how a measurement can end: that is here, once.

mod contest;

use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;

use async_trait::async_trait;
use results::{Adapter, PeakSample, statistics};

use crate::clock::Clock;
use crate::error::EngineError;
use crate::trainer::{Backend, StepReport, Trainer};

pub(crate) use contest::{Contest, Participant, Repeatable, Rules};
pub use results::Phase;
pub use results::measured::{Outcome, Window};

/// What measurements announce that follow each other: steps per second, and kernels.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// The device is open.
    Opened { adapter: Adapter },
    /// A measurement begins, the `number`-th (from 1) of `count`.
    Started { what: String, number: usize, count: usize },
    /// Something is measured once more, because the first figures were surprising.
    Again { what: String },
    /// What goes on for one of those that are measured.
    Phase { who: &'static str, phase: Phase },
    /// A window is over. It is kept, even if nothing comes after it.
    Window { who: &'static str, window: Window },
}

/// Receives what a measurement announces, events of type `E`: a run's [`crate::Event`], or the [`super::Event`] of
/// measurements that follow each other. It knows nothing of what the engine does, as the engine knows nothing of screens.
pub trait Observer<E> {
    fn event(&mut self, event: &E);

    /// Asked between windows, and before whatever else takes long; true ends the measurement with what there is.
    fn cancelled(&self) -> bool {
        false
    }

    /// Whether somebody looks on who wants to see what a network answers on a few test images.
    fn wants_examples(&self) -> bool {
        false
    }

    /// Asked between windows and before whatever else takes long: what to wait for before it goes on, if anything. It
    /// ends when the measurement is cancelled as well.
    fn pause(&self) -> Option<Pin<Box<dyn Future<Output = ()>>>> {
        None
    }
}

/// What an error comes to, for whoever goes on with the next measurement.
pub(crate) fn refused<Figures, Difference>(error: &EngineError) -> Outcome<Figures, Difference> {
    match error {
        EngineError::DoesNotFit { what, needed_bytes, allowed_bytes } => {
            Outcome::DoesNotFit { what: what.clone(), needed_bytes: *needed_bytes, allowed_bytes: *allowed_bytes }
        }
        EngineError::InvalidSetting { .. } => Outcome::Skipped { reason: error.to_string() },
        other => Outcome::Failed { message: other.to_string() },
    }
}

/// The lowest, the median and the highest of some figures.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Spread {
    pub(crate) lowest: f64,
    pub(crate) median: f64,
    pub(crate) highest: f64,
}

impl Spread {
    /// `None` without figures.
    pub(crate) fn of(figures: impl Iterator<Item = f64>) -> Option<Self> {
        let figures: Vec<f64> = figures.collect();
        let quantile = |q| statistics::quantile(&figures, q);
        Some(Self { lowest: quantile(0.0)?, median: quantile(0.5)?, highest: quantile(1.0)? })
    }

    /// Half the distance of the highest from the lowest, as a share of the median; 0 for a single figure.
    pub(crate) fn relative(self) -> f64 {
        (self.highest - self.lowest) / 2.0 / self.median
    }
}

/// The peak beside these windows, and their share of it, each with its own: medians.
pub(crate) fn of_peak(windows: &[Window], flops_each: f64) -> (Option<f64>, Option<f64>) {
    let peaks = Spread::of(windows.iter().filter_map(|window| window.peak_flops_per_second));
    let shares = Spread::of(windows.iter().filter_map(|window| window.share_of_peak(flops_each)));
    (peaks.map(|peaks| peaks.median), shares.map(|shares| shares.median))
}

/// Trains so many steps and times them.
///
/// # Errors
/// The trainer's.
pub(crate) async fn timed_steps(
    trainer: &mut dyn Trainer,
    steps: u32,
    clock: &dyn Clock,
) -> Result<(StepReport, Window), EngineError> {
    let start = clock.now_seconds();
    let report = trainer.train_steps(steps).await?;
    let passed = clock.now_seconds() - start;
    // No clock is so coarse that a step takes no time at all.
    let seconds = report.seconds.unwrap_or(passed).max(1e-9);
    let window = Window { samples: Some(report.samples), ..Window::new(steps, seconds) };
    Ok((report, window))
}

/// A window has at most so many times as many repetitions as the longest before it: the first ones include the driver's own
/// preparations, and a coarse clock may see nothing of a few.
const MOST_GROWTH: u32 = 8;

/// How long a repetition takes, and so how many of them fill a window. That is decided before a window begins.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Length {
    /// The latest estimate; absent before the first window.
    seconds_each: Option<f64>,
    /// Of the windows so far.
    most_repetitions: u32,
}

impl Length {
    pub(crate) fn note(&mut self, window: &Window) {
        self.seconds_each = Some(window.seconds_each());
        self.most_repetitions = self.most_repetitions.max(window.repetitions);
    }

    /// The fewest repetitions that take at least `seconds`; one while nothing is known about them.
    pub(crate) fn repetitions(self, seconds: f64) -> u32 {
        let Some(seconds_each) = self.seconds_each else { return 1 };
        // A thousandth too short is long enough.
        let wanted = (seconds / seconds_each.max(1e-9) - 1e-3).ceil();
        let most = self.most_repetitions.max(1).saturating_mul(MOST_GROWTH);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to the range of u32")]
        let repetitions = wanted.clamp(1.0, f64::from(most)) as u32;
        repetitions
    }
}

/// The gauge of a back end, which is opened when it is first needed. A run goes on without one.
pub(crate) struct Peaks<'a> {
    backend: &'a dyn Backend,
    gauge: Option<Box<dyn Gauge>>,
    opened: bool,
}

impl<'a> Peaks<'a> {
    pub(crate) fn new(backend: &'a dyn Backend) -> Self {
        Self { backend, gauge: None, opened: false }
    }

    /// Opens the gauge, if the back end has one.
    pub(crate) async fn open(&mut self) {
        if !self.opened {
            self.opened = true;
            // What has become of the device, the next window says.
            self.gauge = self.backend.gauge().await.ok().flatten();
        }
    }

    /// Gives back what the gauge holds on the device. Whoever measures next opens another one.
    pub(crate) fn close(&mut self) {
        self.gauge = None;
        self.opened = false;
    }

    /// The peaks just now, after window number `window`.
    pub(crate) async fn measure(&mut self, window: usize) -> Option<PeakSample> {
        self.open().await;
        let gauge = self.gauge.as_mut()?;
        let flops = gauge.peak_flops_per_second().await;
        let copied = gauge.copied_bytes_per_second().await;
        let (Ok(flops_per_second), Ok(copied_bytes_per_second)) = (flops, copied) else {
            self.gauge = None;
            return None;
        };
        let window = u32::try_from(window).ok()?;
        Some(PeakSample { window, flops_per_second, copied_bytes_per_second })
    }
}

/// One run of a comparison: places in the lists of seeds and of contenders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    pub seed: usize,
    pub contender: usize,
}

/// The turns of a comparison, in order: the present one and those to come.
///
/// Every contender trains from a seed before any of them trains from the next one, so that those which are there when
/// somebody has seen enough belong together. They take turns in going first, so that none always finds the device cool.
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

    /// Whose turn it is; `None` when all are over.
    pub fn present(&self) -> Option<Turn> {
        self.turns.front().copied()
    }

    /// Place of the present turn, from 1, of [`Self::count`].
    pub fn number(&self) -> usize {
        self.count - self.turns.len() + 1
    }

    /// How many turns there are, those that were left out included.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The present turn is over.
    pub fn go_on(&mut self) {
        self.turns.pop_front();
    }

    /// The contender whose turn it is has no more: what stopped it with one seed would with the next.
    pub fn give_up(&mut self) {
        if let Some(Turn { contender, .. }) = self.present() {
            self.turns.retain(|turn| turn.contender != contender);
        }
    }

    /// Nobody has a turn any more.
    pub fn end(&mut self) {
        self.turns.clear();
    }
}

/// Measures peaks of a device, about a tenth of a second each.
#[async_trait(?Send)]
pub trait Gauge {
    /// Operations per second just now.
    ///
    /// # Errors
    /// A device that is lost.
    async fn peak_flops_per_second(&mut self) -> Result<f64, EngineError>;

    /// Bytes per second that copying reads and writes; `None` where nothing can be copied.
    ///
    /// # Errors
    /// A device that is lost.
    async fn copied_bytes_per_second(&mut self) -> Result<Option<f64>, EngineError> {
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repetitions_fill_a_window_and_never_leap() {
        let after = |repetitions, seconds| {
            let mut length = Length::default();
            length.note(&Window::new(repetitions, seconds));
            length
        };
        assert_eq!(Length::default().repetitions(1.0), 1);
        assert_eq!(after(1, 1e-6).repetitions(0.1), 8);
        assert_eq!(after(100, 0.05).repetitions(0.1), 200);
        assert_eq!(after(100, 0.05).repetitions(0.1002), 201);
        assert_eq!(after(4, 8.0).repetitions(0.1), 1);
        assert_eq!(after(10, 0.0).repetitions(0.1), 80);
    }

    #[test]
    fn what_was_reached_once_is_reached_again_after_a_short_window() {
        let mut length = Length::default();
        for window in [Window::new(400, 1.0), Window::new(3, 0.0075)] {
            length.note(&window);
        }
        assert_eq!(length.repetitions(1.0), 400);
    }

    fn rest(mut schedule: Schedule) -> Vec<Turn> {
        std::iter::from_fn(|| {
            let turn = schedule.present();
            schedule.go_on();
            turn
        })
        .collect()
    }

    #[test]
    fn every_contender_trains_from_every_seed_and_each_goes_first_in_turn() {
        let all = rest(Schedule::new(3, 2));
        let first: Vec<usize> = all.iter().step_by(2).map(|turn| turn.contender).collect();
        assert_eq!(first, [0, 1, 0]);
        assert_eq!(all.len(), 6);
        for (seed, contender) in (0..3).flat_map(|seed| (0..2).map(move |contender| (seed, contender))) {
            assert!(all.contains(&Turn { seed, contender }), "{contender} from {seed}");
        }
        assert_eq!(Schedule::new(2, 0).present(), None);
    }

    #[test]
    fn who_gives_up_has_no_more_turns_and_the_others_go_on() {
        let mut schedule = Schedule::new(2, 2);
        schedule.go_on();
        assert_eq!((schedule.number(), schedule.present()), (2, Some(Turn { seed: 0, contender: 1 })));
        schedule.give_up();
        assert_eq!((schedule.number(), schedule.count()), (4, 4));
        assert_eq!(rest(schedule.clone()), [Turn { seed: 1, contender: 0 }]);
        schedule.end();
        assert_eq!(schedule.present(), None);
    }
}
