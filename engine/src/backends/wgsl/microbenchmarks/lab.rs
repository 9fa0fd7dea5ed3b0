//! Timing of repeated work.

use std::collections::VecDeque;
use std::rc::Rc;

use async_trait::async_trait;
use results::kernels::KernelTiming;
use shaders::params::Step;

use super::super::device::GpuDevice;
use super::super::device::buffer::Buffers;
use super::super::device::executor::Executor;
use super::super::pace::Pace;
use super::super::recording::{BufferRange, Builder, Recording, STEPS, step_rows};
use crate::backends::list::WGSL;
use crate::clock::Clock;
use crate::error::Result;
use crate::measure::{Contest, ContestRules, Event, Gauge, Observer, Participant, Repeatable, Window, WindowLength};

/// Duration of a window, long enough that the cost of clock readings and the final wait is negligible.
const WINDOW_SECONDS: f64 = 0.1;
/// Duration of a trial, which selects the variant to measure.
const TRIAL_SECONDS: f64 = 0.02;
/// Minimum duration of a window as a multiple of the device latency.
///
/// Each window is too long by up to one latency, so this limits the error to a tenth, which matters in Firefox.
const LATENCIES_PER_WINDOW: f64 = 10.0;
const LATENCIES_PER_TRIAL: f64 = 4.0;
const WINDOWS: usize = 5;
/// Minimum number of windows, even if they exceed the budget.
pub(super) const MIN_WINDOWS: usize = 3;

#[derive(Clone)]
pub(super) struct Lab {
    pub(super) device: Rc<GpuDevice>,
    pub(super) clock: Rc<dyn Clock>,
}

impl Lab {
    /// Compiles the kernels of `work`, allocates and uploads its data, and launches its preparation.
    pub(super) async fn set_up(&self, work: Work) -> Result<Bench> {
        let Work { mut builder, rows, preparation, output } = work;
        let repeated = builder.take_recording();
        let latency = self.device.latency_seconds(self.clock.as_ref()).await?;
        let buffers = Buffers::new(&self.device, &builder.finish(), &[READ_BYTES], None).await?;
        let step = Step { count: rows, training: 1, ..Step::default() };
        buffers.write(&self.device, STEPS, 0, &step_rows([step; SLOTS as usize]));
        let preparation = Executor::new(&self.device, &buffers, &preparation).await?;
        let repeated = Executor::new(&self.device, &buffers, &repeated).await?;
        self.device.submit(preparation.encode(&self.device, 0..1)).await?;
        let pace = Pace::new(1, u64::from(SLOTS), latency);
        Ok(Bench { lab: self.clone(), buffers, repeated, output, pace, latency })
    }
}

const READ_BYTES: u64 = 4;

pub(super) struct Bench {
    lab: Lab,
    buffers: Buffers,
    repeated: Executor,
    output: BufferRange,
    pace: Pace,
    /// Seconds from the end of work until the host is notified.
    latency: f64,
}

impl Bench {
    pub(super) async fn value(&self, at: u64) -> Result<f32> {
        let offset_bytes = self.output.offset_bytes + READ_BYTES * at;
        let range = BufferRange { offset_bytes, bytes: READ_BYTES, ..self.output };
        Ok(bytemuck::pod_read_unaligned(&self.buffers.read(&self.lab.device, range).await?))
    }

    /// Repeats the work and measures the time until a value has been read back.
    ///
    /// Keeps several submissions in flight, each with as many repetitions as the pace allows.
    pub(super) async fn window(&mut self, repetitions: u32) -> Result<Window> {
        let Lab { device, clock } = &self.lab.clone();
        let start = clock.now_seconds();
        let mut last = start;
        let mut left = repetitions;
        let mut under_way = VecDeque::new();
        let mut reading = None;
        while left > 0 || !under_way.is_empty() {
            while left > 0 && under_way.len() < self.pace.in_flight() {
                let count = u32::try_from(self.pace.work).unwrap_or(u32::MAX).min(left);
                under_way.push_back((count, device.submit(self.repeated.encode(device, 0..count))));
                left -= count;
            }
            if left == 0 && reading.is_none() {
                // Requesting the value after the last submission has finished would cost another latency.
                let value = BufferRange { bytes: READ_BYTES, ..self.output };
                reading = Some(self.buffers.begin_to_read(device, value, 0));
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

    /// Measures one short window after a warm-up run.
    pub(super) async fn trial(&mut self) -> Result<Window> {
        self.window(1).await?;
        let seconds = TRIAL_SECONDS.max(LATENCIES_PER_TRIAL * self.latency);
        let mut length = WindowLength::default();
        loop {
            let window = self.window(length.repetitions(seconds)).await?;
            if window.seconds >= seconds / 2.0 {
                return Ok(window);
            }
            length.note(&window);
        }
    }

    pub(super) async fn timing(&mut self) -> Result<KernelTiming> {
        let timing = self.timing_with_gauge(f64::INFINITY, &mut None, &mut ()).await?;
        Ok(timing.expect("an unobserved measurement is never canceled"))
    }

    /// Like [`Self::timing`], and also measures the arithmetic peak after each window if there is a gauge.
    ///
    /// Measures fewer windows if they would exceed the budget. Returns `None` if `observer` cancels before the first.
    pub(super) async fn timing_with_gauge(
        &mut self,
        budget_seconds: f64,
        gauge: &mut Option<Box<dyn Gauge>>,
        observer: &mut dyn Observer<Event>,
    ) -> Result<Option<KernelTiming>> {
        let (lab, latency) = (self.lab.clone(), self.latency);
        let participants = vec![Participant::new(WGSL, Some(self))];
        let mut contest = Contest { participants, gauge, clock: lab.clock.as_ref(), observer };
        let (fewest_rounds, most_rounds) = (MIN_WINDOWS, WINDOWS);
        let window_seconds = WINDOW_SECONDS.max(LATENCIES_PER_WINDOW * latency);
        contest.run(ContestRules { window_seconds, budget_seconds, fewest_rounds, most_rounds }).await;
        match contest.participants.remove(0) {
            Participant { ended: Some(error), .. } => Err(error),
            Participant { windows, .. } => Ok(KernelTiming::of(windows)),
        }
    }

    /// Measures round trips: windows of submissions that each wait for the previous one.
    pub(super) async fn round_trips(&mut self) -> Result<KernelTiming> {
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
        Ok(KernelTiming::of(windows).expect("there are windows"))
    }
}

#[async_trait(?Send)]
impl Repeatable for &mut Bench {
    async fn window(&mut self, repetitions: u32) -> Result<Window> {
        Bench::window(self, repetitions).await
    }
}

impl Observer<Event> for () {
    fn event(&mut self, _event: &Event) {}
}

/// Maximum number of repetitions per submission.
const SLOTS: u32 = 256;

/// Repeatable work as data: buffers, preparatory launches, and the launches of a repetition.
pub(super) struct Work {
    /// Records the launches of a repetition.
    pub(super) builder: Builder,
    /// Number of rows of the batch. All hold samples.
    rows: u32,
    /// Launched once, before anything is timed.
    pub(super) preparation: Recording,
    /// Result of the timed launches.
    pub(super) output: BufferRange,
}

impl Work {
    pub(super) fn new(rows: u32) -> Self {
        let (preparation, output) = (Recording::default(), BufferRange::default());
        Self { builder: Builder::new(SLOTS), rows, preparation, output }
    }
}
