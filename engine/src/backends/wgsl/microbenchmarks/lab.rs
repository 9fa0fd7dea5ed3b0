//! Where things are timed.

use std::collections::VecDeque;
use std::rc::Rc;

use super::super::device::Device;
use super::super::device::buffer::Buffers;
use super::super::device::executor::Executor;
use super::super::pace::Pace;
use super::super::recording::BufferRange;
use super::report::{Timing, Window};
use super::work::{SLOTS, Work};
use crate::clock::Clock;
use crate::error::EngineError;
use crate::measure::Gauge;

/// A window is at least so long, so that reading the clock and the last wait cost little.
const WINDOW_SECONDS: f64 = 0.1;
/// A look at a variant, to find the one that is worth measuring.
const LOOK_SECONDS: f64 = 0.02;
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
        Ok(Setup { lab: self.clone(), buffers, repeated, output, pace: Pace::new(1, u64::from(SLOTS), latency) })
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
        while left > 0 || !under_way.is_empty() {
            while left > 0 && under_way.len() < self.pace.in_flight() {
                let count = u32::try_from(self.pace.work()).unwrap_or(u32::MAX).min(left);
                under_way.push_back((count, device.submit(self.repeated.encode(device, 0..count))));
                left -= count;
            }
            if let Some((count, finished)) = under_way.pop_front() {
                finished.await?;
                let now = clock.now_seconds();
                self.pace.note(u64::from(count), now - last);
                last = now;
            }
        }
        self.value(0).await?;
        Ok(Window::new(repetitions, clock.now_seconds() - start))
    }

    /// One window of about the time of a short look, after a first run that warms up.
    pub(super) async fn look(&mut self) -> Result<Window, EngineError> {
        self.window(1).await?;
        self.calibrated(LOOK_SECONDS).await
    }

    /// Windows, after a first run that warms up. Some of them are left out when the budget is spent.
    pub(super) async fn timing(&mut self, budget_seconds: f64) -> Result<Timing, EngineError> {
        self.timing_beside(budget_seconds, None).await
    }

    /// As [`Self::timing`], with the peak of arithmetic after each window, where there is a gauge.
    pub(super) async fn timing_beside(
        &mut self,
        budget_seconds: f64,
        mut gauge: Option<&mut dyn Gauge>,
    ) -> Result<Timing, EngineError> {
        let start = self.lab.clock.now_seconds();
        self.window(1).await?;
        let mut window = self.calibrated(WINDOW_SECONDS).await?;
        let mut windows = Vec::new();
        loop {
            if let Some(gauge) = &mut gauge {
                window.peak_flops_per_second = Some(gauge.peak_flops_per_second().await?);
            }
            windows.push(window);
            let spent = self.lab.clock.now_seconds() - start;
            if windows.len() == WINDOWS || (windows.len() >= FEWEST_WINDOWS && spent > budget_seconds) {
                return Ok(Timing::of(windows));
            }
            window = self.window(window.repetitions).await?;
        }
    }

    /// The first window that is long enough, of ever more repetitions.
    async fn calibrated(&mut self, seconds: f64) -> Result<Window, EngineError> {
        let mut repetitions = 1;
        loop {
            let window = self.window(repetitions).await?;
            if window.seconds >= seconds {
                return Ok(window);
            }
            repetitions = more(window, seconds);
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
        Ok(Timing::of(windows))
    }
}

/// Repetitions that should fill `seconds` with some to spare; at most four times as many as before.
fn more(window: Window, seconds: f64) -> u32 {
    let wanted = 1.2 * seconds / window.seconds.max(1e-9) * f64::from(window.repetitions);
    let least = f64::from(window.repetitions) + 1.0;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to the range of u32")]
    let next = wanted.clamp(least, 4.0 * least).min(f64::from(u32::MAX)) as u32;
    next
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repetitions_grow_until_they_fill_a_window_and_never_leap() {
        assert_eq!(more(Window::new(1, 1e-6), 0.1), 8);
        assert_eq!(more(Window::new(100, 0.05), 0.1), 240);
        assert_eq!(more(Window::new(100, 0.0999), 0.1), 120);
        assert_eq!(more(Window::new(1, 0.099), 0.1), 2);
    }
}
