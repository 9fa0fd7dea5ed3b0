use std::time::Instant;

use engine::Clock;

#[cfg(feature = "wgsl")]
use crate::meter::ProcessorTime;

/// The operating system's monotonic clock.
pub(crate) struct MonotonicClock(Instant);

impl MonotonicClock {
    pub(crate) fn start() -> Self {
        Self(Instant::now())
    }
}

impl Clock for MonotonicClock {
    fn now_seconds(&self) -> f64 {
        self.0.elapsed().as_secs_f64()
    }
}

/// Processor time of this program, all threads together: other programs do not make it run.
#[cfg(feature = "wgsl")]
pub(crate) struct ProcessorClock(());

#[cfg(feature = "wgsl")]
impl ProcessorClock {
    /// `None` where the platform does not tell.
    pub(crate) fn new() -> Option<Self> {
        ProcessorTime::now().map(|_| Self(()))
    }
}

#[cfg(feature = "wgsl")]
impl Clock for ProcessorClock {
    fn now_seconds(&self) -> f64 {
        ProcessorTime::now().map_or(0.0, |time| time.user_seconds + time.system_seconds)
    }
}
