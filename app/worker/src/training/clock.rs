use engine::Clock;
use web_sys::Performance;

use super::port;

/// The browser's monotonic clock, as this worker sees it.
pub(super) struct WorkerClock {
    performance: Performance,
}

impl WorkerClock {
    pub(super) fn new() -> Self {
        Self { performance: port::scope().performance().expect("every worker has a performance clock") }
    }

    /// The smallest step seen in a short look at the clock, seconds. Browsers coarsen their clocks on purpose.
    pub(super) fn resolution_seconds(&self) -> f64 {
        const LOOK_SECONDS: f64 = 0.05;
        const STEPS: u32 = 20;
        let start = self.now_seconds();
        let (mut smallest, mut last, mut steps) = (f64::INFINITY, start, 0);
        while steps < STEPS && last - start < LOOK_SECONDS {
            let now = self.now_seconds();
            if now > last {
                smallest = smallest.min(now - last);
                last = now;
                steps += 1;
            }
        }
        smallest
    }
}

impl Clock for WorkerClock {
    fn now_seconds(&self) -> f64 {
        self.performance.now() / 1e3
    }
}
