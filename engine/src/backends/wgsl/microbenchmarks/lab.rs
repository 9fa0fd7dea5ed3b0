//! Where things are timed.

use std::collections::VecDeque;
use std::rc::Rc;

use async_trait::async_trait;
use results::kernels::Timing;

use super::super::device::Device;
use super::super::device::buffer::Buffers;
use super::super::device::executor::Executor;
use super::super::pace::Pace;
use super::super::recording::BufferRange;
use super::work::{SLOTS, Work};
use crate::clock::Clock;
use crate::error::EngineError;
use crate::measure::{Contest, Event, Gauge, Length, Observer, Participant, Repeatable, Rules, Window};

/// A window is about so long, so that reading the clock and the last wait cost little.
const WINDOW_SECONDS: f64 = 0.1;
/// A look at a variant, to find the one that is worth measuring.
const LOOK_SECONDS: f64 = 0.02;
/// Where a device tells late that it is done, as in Firefox, every window is too long by up to that much: they last many
/// times as long, so that this makes a tenth of a window at most.
const LATENCIES_OF_WINDOW: f64 = 10.0;
const LATENCIES_OF_LOOK: f64 = 4.0;
const WINDOWS: usize = 5;
/// Windows that are made whatever they cost.
pub(super) const FEWEST_WINDOWS: usize = 3;

/// An open device and a clock.
#[derive(Clone)]
pub(super) struct Lab {
    pub(super) device: Rc<Device>,
    clock: Rc<dyn Clock>,
}

impl Lab {
    pub(super) fn new(device: Rc<Device>, clock: Rc<dyn Clock>) -> Self {
        Self { device, clock }
    }

    pub(super) fn clock(&self) -> &dyn Clock {
        self.clock.as_ref()
    }

    /// Compiles the kernels of `work`, allocates and uploads what `work` needs, and launches its preparation.
    ///
    /// # Errors
    /// A device that refuses, is full or lost.
    pub(super) async fn set_up(&self, mut work: Work) -> Result<Setup, EngineError> {
        let (params, steps) = work.finish();
        let latency = self.device.latency_seconds(self.clock()).await?;
        let buffers = Buffers::new(&self.device, &work.buffers, READ_BYTES).await?;
        let preparation = Executor::new(&self.device, &buffers, &work.preparation, params, steps).await?;
        let repeated = Executor::new(&self.device, &buffers, &work.repeated, params, steps).await?;
        self.device.submit(preparation.encode(&self.device, 0..1)).await?;
        let output = work.output.expect("every work leaves something behind");
        let pace = Pace::new(1, u64::from(SLOTS), latency);
        Ok(Setup { lab: self.clone(), buffers, repeated, output, pace, latency })
    }
}

/// A value that is read back.
const READ_BYTES: u64 = 4;

/// Something that is ready to be repeated.
pub(super) struct Setup {
    lab: Lab,
    buffers: Buffers,
    repeated: Executor,
    output: BufferRange,
    pace: Pace,
    /// Seconds from the end of work until the device tells.
    latency: f64,
}

impl Setup {
    /// One value of the output.
    pub(super) async fn value(&self, at: u64) -> Result<f32, EngineError> {
        let offset = self.output.offset_bytes + READ_BYTES * at;
        let bytes = self.buffers.read_at(&self.lab.device, self.output.buffer, offset, READ_BYTES).await?;
        Ok(bytemuck::pod_read_unaligned(&bytes))
    }

    /// Repeats, and returns how long that took until a value had come back.
    ///
    /// Several submissions are under way at a time, each of as many repetitions as the pace allows.
    pub(super) async fn window(&mut self, repetitions: u32) -> Result<Window, EngineError> {
        let Lab { device, clock } = &self.lab.clone();
        let start = clock.now_seconds();
        let mut last = start;
        let mut left = repetitions;
        let mut under_way = VecDeque::new();
        let mut reading = None;
        while left > 0 || !under_way.is_empty() {
            while left > 0 && under_way.len() < self.pace.in_flight() {
                let count = u32::try_from(self.pace.work()).unwrap_or(u32::MAX).min(left);
                under_way.push_back((count, device.submit(self.repeated.encode(device, 0..count))));
                left -= count;
            }
            if left == 0 && reading.is_none() {
                // Asked for only when the last has finished, it would come late once more.
                reading = Some(self.buffers.begin_to_read(device, BufferRange { bytes: READ_BYTES, ..self.output }));
            }
            if let Some((count, finished)) = under_way.pop_front() {
                finished.await?;
                let now = clock.now_seconds();
                self.pace.note(u64::from(count), now - last);
                last = now;
            }
        }
        if let Some(reading) = reading {
            reading.await?;
        }
        Ok(Window::new(repetitions, clock.now_seconds() - start))
    }

    /// One window of about the time of a short look, after a first run that warms up.
    pub(super) async fn look(&mut self) -> Result<Window, EngineError> {
        self.window(1).await?;
        let seconds = LOOK_SECONDS.max(LATENCIES_OF_LOOK * self.latency);
        let mut length = Length::default();
        loop {
            let window = self.window(length.repetitions(seconds)).await?;
            if window.seconds >= seconds / 2.0 {
                return Ok(window);
            }
            length.note(&window);
        }
    }

    /// Windows, after some that warm up.
    ///
    /// # Errors
    /// A device that is lost.
    pub(super) async fn timing(&mut self) -> Result<Timing, EngineError> {
        let timing = self.timing_beside(f64::INFINITY, &mut None, &mut Unobserved).await?;
        Ok(timing.expect("nobody cancels what is not observed"))
    }

    /// As [`Self::timing`], with the peak of arithmetic after each window, where there is a gauge. Some windows are left
    /// out when the budget is spent; `None` where `observer` cancelled before there was any.
    ///
    /// # Errors
    /// A device that is lost.
    pub(super) async fn timing_beside(
        &mut self,
        budget_seconds: f64,
        gauge: &mut Option<Box<dyn Gauge>>,
        observer: &mut dyn Observer<Event>,
    ) -> Result<Option<Timing>, EngineError> {
        let (lab, latency) = (self.lab.clone(), self.latency);
        let participants = vec![Participant::new(super::super::NAME, Some(self))];
        let mut contest = Contest { participants, gauge, clock: lab.clock(), observer };
        let (fewest_rounds, most_rounds) = (FEWEST_WINDOWS, WINDOWS);
        let window_seconds = WINDOW_SECONDS.max(LATENCIES_OF_WINDOW * latency);
        contest.run(Rules { window_seconds, budget_seconds, fewest_rounds, most_rounds }).await;
        match contest.participants.remove(0) {
            Participant { ended: Some(error), .. } => Err(error),
            Participant { windows, .. } => Ok(Timing::of(windows)),
        }
    }

    /// Windows of submissions that are each waited for before the next: what a round trip costs.
    pub(super) async fn round_trips(&mut self) -> Result<Timing, EngineError> {
        let Lab { device, clock } = &self.lab.clone();
        let mut windows = Vec::new();
        // The first window warms up.
        for _ in 0..=WINDOWS {
            let start = clock.now_seconds();
            let mut window = Window::new(0, 0.0);
            while window.seconds < WINDOW_SECONDS {
                device.submit(self.repeated.encode(device, 0..1)).await?;
                window.repetitions += 1;
                window.seconds = clock.now_seconds() - start;
            }
            windows.push(window);
        }
        windows.remove(0);
        Ok(Timing::of(windows).expect("there are windows"))
    }
}

#[async_trait(?Send)]
impl Repeatable for &mut Setup {
    async fn window(&mut self, repetitions: u32) -> Result<Window, EngineError> {
        Setup::window(self, repetitions).await
    }
}

/// Nobody looks on.
struct Unobserved;

impl Observer<Event> for Unobserved {
    fn event(&mut self, _event: &Event) {}
}
