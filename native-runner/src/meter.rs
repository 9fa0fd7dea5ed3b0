//! What this process takes from the machine while it trains.

use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use engine::ResourceMeter;
use results::Resources;
use sysinfo::{Pid, ProcessRefreshKind, ProcessesToUpdate, System};

/// Memory is looked at so often, on a thread of its own, so that long windows are sampled inside too. One look reads
/// one small file: too little to show in a figure.
const SAMPLING_INTERVAL: Duration = Duration::from_millis(250);

/// Processor time and resident memory of this process.
#[derive(Default)]
pub(crate) struct ProcessMeter {
    running: Option<Running>,
}

struct Running {
    start: Instant,
    processor: Option<ProcessorTime>,
    /// Dropped to end the thread.
    stop: Sender<()>,
    thread: JoinHandle<Vec<u64>>,
}

impl ResourceMeter for ProcessMeter {
    fn start(&mut self) {
        let (stop, stopped) = mpsc::channel();
        let thread = thread::spawn(move || {
            let mut system = System::new().ok();
            let mut samples = Vec::new();
            loop {
                samples.extend(system.as_mut().and_then(resident_bytes));
                if stopped.recv_timeout(SAMPLING_INTERVAL) != Err(RecvTimeoutError::Timeout) {
                    samples.extend(system.as_mut().and_then(resident_bytes));
                    return samples;
                }
            }
        });
        self.running = Some(Running { start: Instant::now(), processor: ProcessorTime::now(), stop, thread });
    }

    /// The thread samples by itself.
    fn sample(&mut self) {}

    fn finish(&mut self) -> Resources {
        let Some(Running { start, processor, stop, thread }) = self.running.take() else { return Resources::default() };
        let wall_seconds = start.elapsed().as_secs_f64();
        let used = processor.zip(ProcessorTime::now());
        drop(stop);
        let memory = thread.join().unwrap_or_default();
        let percent = |part: fn(&ProcessorTime) -> f64| {
            used.as_ref().map(|(before, after)| 100.0 * (part(after) - part(before)) / wall_seconds)
        };
        Resources {
            cpu_user_percent: percent(|time| time.user_seconds),
            cpu_system_percent: percent(|time| time.system_seconds),
            resident_memory_average_bytes: memory.iter().sum::<u64>().checked_div(memory.len() as u64),
            resident_memory_maximum_bytes: memory.iter().copied().max(),
        }
    }
}

/// Resident memory of this process; absent where the platform does not tell.
fn resident_bytes(system: &mut System) -> Option<u64> {
    let pid = Pid::from_u32(std::process::id());
    let wanted = ProcessRefreshKind::nothing().with_memory();
    system.refresh_processes_specifics(ProcessesToUpdate::Some(&[pid]), false, wanted);
    system.process(pid).map(sysinfo::Process::memory).filter(|&bytes| bytes > 0)
}

/// Processor time that this process has used so far, all threads together.
pub(crate) struct ProcessorTime {
    pub(crate) user_seconds: f64,
    pub(crate) system_seconds: f64,
}

impl ProcessorTime {
    #[cfg(unix)]
    pub(crate) fn now() -> Option<Self> {
        use nix::sys::resource::{UsageWho, getrusage};
        use nix::sys::time::{TimeVal, TimeValLike};

        let usage = getrusage(UsageWho::RUSAGE_SELF).ok()?;
        let seconds = |time: TimeVal| time.num_microseconds() as f64 / 1e6;
        Some(Self { user_seconds: seconds(usage.user_time()), system_seconds: seconds(usage.system_time()) })
    }

    #[cfg(not(unix))]
    pub(crate) fn now() -> Option<Self> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_busy_core_shows_as_about_a_hundred_percent_and_memory_in_use_shows() {
        let mut meter = ProcessMeter::default();
        meter.start();
        let held = vec![1_u8; 64 << 20];
        let start = Instant::now();
        let mut sum = 0_u64;
        while start.elapsed() < Duration::from_millis(600) {
            sum = sum.wrapping_add(held.iter().step_by(4096).map(|&byte| u64::from(byte)).sum());
        }
        let found = meter.finish();
        assert!(sum > 0);
        let maximum = found.resident_memory_maximum_bytes.expect("memory is offered on every tested platform");
        assert!(maximum > 64 << 20, "{maximum}");
        assert!(found.resident_memory_average_bytes.is_some_and(|average| average <= maximum));
        if cfg!(unix) {
            // Another program may hold the core for a part of the time.
            let percent = found.cpu_user_percent.unwrap() + found.cpu_system_percent.unwrap();
            assert!((5.0..3200.0).contains(&percent), "{percent}");
        }
    }

    #[test]
    fn a_meter_that_was_not_started_has_nothing_to_say() {
        assert_eq!(ProcessMeter::default().finish(), Resources::default());
    }
}
