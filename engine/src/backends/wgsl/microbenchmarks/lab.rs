//! Timing of repeated work.

use std::collections::VecDeque;
use std::rc::Rc;

use async_trait::async_trait;
use bytemuck::Pod;
use results::kernels::Timing;
use shaders::params::Step;

use super::super::builder::Builder;
use super::super::device::Device;
use super::super::device::buffer::Buffers;
use super::super::device::executor::Executor;
use super::super::pace::Pace;
use super::super::plan::weight_gradient::sum_of_parts;
use super::super::products::Product;
use super::super::recording::{BufferRange, Recording, step_rows};
use super::operand::Operand;
use crate::clock::Clock;
use crate::error::EngineError;
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

/// Open device with a clock.
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

    /// Compiles the kernels of `work`, allocates and uploads its data, and launches its preparation.
    pub(super) async fn set_up(&self, work: Work) -> Result<Bench, EngineError> {
        let Work { mut builder, steps, preparation, output } = work;
        let repeated = builder.take_recording();
        let (plans, params) = builder.finish();
        let latency = self.device.latency_seconds(self.clock()).await?;
        let buffers = Buffers::new(&self.device, &plans, READ_BYTES).await?;
        let preparation = Executor::new(&self.device, &buffers, &preparation, params, steps).await?;
        let repeated = Executor::new(&self.device, &buffers, &repeated, params, steps).await?;
        self.device.submit(preparation.encode(&self.device, 0..1)).await?;
        let output = output.expect("every work has an output");
        let pace = Pace::new(1, u64::from(SLOTS), latency);
        Ok(Bench { lab: self.clone(), buffers, repeated, output, pace, latency })
    }
}

/// Size of the value that is read back.
const READ_BYTES: u64 = 4;

/// Work ready for repetition.
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
    pub(super) async fn value(&self, at: u64) -> Result<f32, EngineError> {
        let offset = self.output.offset_bytes + READ_BYTES * at;
        let bytes = self.buffers.read_at(&self.lab.device, self.output.buffer, offset, READ_BYTES).await?;
        Ok(bytemuck::pod_read_unaligned(&bytes))
    }

    /// Repeats the work and measures the time until a value has been read back.
    ///
    /// Keeps several submissions in flight, each with as many repetitions as the pace allows.
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
                // Requesting the value after the last submission has finished would cost another latency.
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

    /// Measures one short window after a warm-up run.
    pub(super) async fn trial(&mut self) -> Result<Window, EngineError> {
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

    /// Measures windows after warming up.
    pub(super) async fn timing(&mut self) -> Result<Timing, EngineError> {
        let timing = self.timing_with_gauge(f64::INFINITY, &mut None, &mut Unobserved).await?;
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
    ) -> Result<Option<Timing>, EngineError> {
        let (lab, latency) = (self.lab.clone(), self.latency);
        let participants = vec![Participant::new(super::super::NAME, Some(self))];
        let mut contest = Contest { participants, gauge, clock: lab.clock(), observer };
        let (fewest_rounds, most_rounds) = (MIN_WINDOWS, WINDOWS);
        let window_seconds = WINDOW_SECONDS.max(LATENCIES_PER_WINDOW * latency);
        contest.run(ContestRules { window_seconds, budget_seconds, fewest_rounds, most_rounds }).await;
        match contest.participants.remove(0) {
            Participant { ended: Some(error), .. } => Err(error),
            Participant { windows, .. } => Ok(Timing::of(windows)),
        }
    }

    /// Measures round trips: windows of submissions that each wait for the previous one.
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
impl Repeatable for &mut Bench {
    async fn window(&mut self, repetitions: u32) -> Result<Window, EngineError> {
        Bench::window(self, repetitions).await
    }
}

/// Observer that does nothing.
struct Unobserved;

impl Observer<Event> for Unobserved {
    fn event(&mut self, _event: &Event) {}
}

const SLOTS: u32 = 256;

/// Repeatable work as data: buffers, preparatory launches, and the launches of a repetition.
pub(super) struct Work {
    /// Records the launches of a repetition.
    pub(super) builder: Builder,
    /// Buffer index of the step table.
    steps: usize,
    /// Launched once, before anything is timed.
    preparation: Recording,
    /// Result of the timed launches.
    pub(super) output: Option<BufferRange>,
}

impl Work {
    /// Creates work without launches. All `rows` rows of the batch hold samples.
    pub(super) fn new(rows: u32) -> Self {
        let step = Step { count: rows, training: 1, ..Step::default() };
        let mut builder = Builder::default();
        let steps = builder.filled("steps", true, step_rows([step; SLOTS as usize])).buffer;
        Self { builder, steps, preparation: Recording::default(), output: None }
    }

    /// Adds a storage buffer with the numbers of `operand`.
    pub(super) fn operand(&mut self, operand: &Operand) -> BufferRange {
        if operand.limit == 0.0 {
            return self.builder.floats("zeros", operand.elements());
        }
        self.builder.filled("operand", false, bytemuck::cast_slice(&operand.numbers()).to_vec())
    }

    /// Adds up partial gradients in every repetition, if there are several. Returns the buffer of the sum.
    pub(super) fn sum(&mut self, partial: BufferRange, product: &Product, emulated: bool) -> BufferRange {
        let Some(params) = product.sum_of_parts() else { return partial };
        let sum = self.builder.floats("gradient", u64::from(params.elements));
        let (kernel, invocations) = sum_of_parts(&params, emulated);
        self.builder.dispatch(kernel, &params, &[partial, sum], invocations);
        sum
    }

    /// Launches `kernel` once, before all repetitions.
    pub(super) fn prepare<P: Pod>(&mut self, kernel: &str, params: &P, bindings: &[BufferRange], invocations: u64) {
        self.builder.dispatch(kernel, params, bindings, invocations);
        self.preparation = self.builder.take_recording();
    }
}
