//! Resources that a run uses during training.

mod sensors;

use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use engine::backends::BURN_REMOTE;
use engine::{Backend, Clock, KNOWN_BACKENDS, ResourceMeter};
use results::{ResourceSample, Resources};
use serde::Serialize;
use sysinfo::{Pid, ProcessRefreshKind, ProcessesToUpdate, System};

pub(crate) use crate::meter::sensors::processor_packages;
use crate::meter::sensors::{MachineTime, Sensors};

/// Sampling interval, short enough to sample inside long windows. A sample reads a few small files and queries NVML,
/// which is too little to affect a measurement.
const SAMPLING_INTERVAL: Duration = Duration::from_millis(250);

/// Processor time and resident memory of this process, and what sensors report of the training device.
pub(crate) struct MachineMeter {
    root: PathBuf,
    sensors: Sensors,
    /// True if this process trains, so that its time and memory count as the training's.
    trains_itself: bool,
    is_here: bool,
    /// The thread ends when the sender is dropped.
    running: Option<(Sender<()>, MeasuringThread)>,
}

type MeasuringThread = JoinHandle<(Resources, Sensors)>;

impl MachineMeter {
    /// Prepares the sensors of a backend before anything is timed. A remote device has none here, and an external
    /// program has its own time and memory.
    pub(crate) fn of(backend: &dyn Backend) -> Self {
        let root = PathBuf::from("/");
        let is_here = backend.name() != BURN_REMOTE;
        // The sensors of one device say nothing about several.
        let sensors =
            if is_here && backend.devices() == 1 { Sensors::of(backend.adapter(), &root) } else { Sensors::default() };
        let trains_itself = KNOWN_BACKENDS.iter().any(|known| known.name == backend.name());
        Self { root, sensors, trains_itself, is_here, running: None }
    }
}

impl ResourceMeter for MachineMeter {
    fn start(&mut self) {
        // A workload that ended early has left its thread running, with the sensors.
        drop(self.finish());
        let (stop, stopped) = mpsc::channel();
        let sensors = std::mem::take(&mut self.sensors);
        let (root, trains_itself) = (self.root.clone(), self.trains_itself);
        let thread = thread::spawn(move || measure(sensors, &root, trains_itself, &stopped));
        self.running = Some((stop, thread));
    }

    fn sample(&mut self) {}

    fn finish(&mut self) -> Resources {
        let Some((stop, thread)) = self.running.take() else { return Resources::default() };
        drop(stop);
        // A thread that panicked loses its sensors and its measurements.
        let Ok((resources, sensors)) = thread.join() else { return Resources::default() };
        self.sensors = sensors;
        resources
    }

    fn free_memory_bytes(&self) -> Option<u64> {
        if self.is_here { free_memory_bytes() } else { None }
    }
}

/// Measures until the sender of `stopped` is dropped.
fn measure(mut sensors: Sensors, root: &Path, trains_itself: bool, stopped: &Receiver<()>) -> (Resources, Sensors) {
    let (start, processor, machine) = (Instant::now(), processor_seconds(), MachineTime::now(root));
    let mut system = System::new().ok().filter(|_| trains_itself);
    let (mut memory, mut samples) = (Vec::new(), Vec::new());
    let mut take = |samples: &mut Vec<ResourceSample>, sensors: &mut Sensors| {
        memory.extend(system.as_mut().and_then(resident_bytes));
        samples.push(sensors.sample(start.elapsed().as_secs_f64()));
    };
    sensors.begin();
    take(&mut samples, &mut sensors);
    while stopped.recv_timeout(SAMPLING_INTERVAL) == Err(RecvTimeoutError::Timeout) {
        take(&mut samples, &mut sensors);
        if samples.len() >= 64 * Resources::MAX_SAMPLES {
            // Long runs need little memory.
            samples = samples.into_iter().step_by(2).collect();
        }
    }
    let wall_seconds = start.elapsed().as_secs_f64();
    let used = processor.zip(processor_seconds()).filter(|_| trains_itself);
    let waited = machine.zip(MachineTime::now(root));
    take(&mut samples, &mut sensors);
    let samples = thin(samples, Resources::MAX_SAMPLES);
    let percent = |part: usize| used.map(|(before, after)| 100.0 * (after[part] - before[part]) / wall_seconds);
    let resources = Resources {
        cpu_user_percent: percent(0),
        cpu_system_percent: percent(1),
        machine_io_wait_percent: waited.and_then(|(before, after)| after.waited_percent_since(&before)),
        resident_memory_average_bytes: memory.iter().sum::<u64>().checked_div(memory.len() as u64),
        resident_memory_maximum_bytes: memory.iter().copied().max(),
        energy_source: sensors.energy_source(&samples),
        samples: samples
            .into_iter()
            .filter(|sample| *sample != ResourceSample { seconds: sample.seconds, ..ResourceSample::default() })
            .collect(),
    };
    (resources, sensors)
}

/// Memory of the machine, or of the container if its limit is lower.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct HostMemory {
    pub(crate) total_bytes: u64,
    pub(crate) free_bytes: u64,
    /// True in a container with a limit.
    pub(crate) limited: bool,
}

impl HostMemory {
    pub(crate) fn read() -> Option<Self> {
        let mut system = System::new().ok()?;
        system.refresh_memory();
        let of_container = system.cgroup_limits().map(|limits| (limits.total_memory, limits.free_memory));
        Self::of((system.total_memory(), system.available_memory()), of_container)
    }

    /// Takes total and free bytes of the machine and of the container.
    pub(crate) fn of(machine: (u64, u64), container: Option<(u64, u64)>) -> Option<Self> {
        // A limit above the machine's memory is no limit.
        let container = container.filter(|(total, _)| (1..machine.0).contains(total));
        let (total_bytes, free) = container.unwrap_or(machine);
        let memory = Self { total_bytes, free_bytes: free.min(machine.1), limited: container.is_some() };
        (machine.0 > 0).then_some(memory)
    }
}

/// Returns the free memory of the machine or container.
pub(crate) fn free_memory_bytes() -> Option<u64> {
    HostMemory::read().map(|memory| memory.free_bytes).filter(|&bytes| bytes > 0)
}

fn resident_bytes(system: &mut System) -> Option<u64> {
    let pid = Pid::from_u32(std::process::id());
    let wanted = ProcessRefreshKind::nothing().with_memory();
    system.refresh_processes_specifics(ProcessesToUpdate::Some(&[pid]), false, wanted);
    system.process(pid).map(sysinfo::Process::memory).filter(|&bytes| bytes > 0)
}

/// Returns the user and system seconds of this process so far, over all threads.
#[cfg(unix)]
fn processor_seconds() -> Option<[f64; 2]> {
    use nix::sys::resource::{UsageWho, getrusage};
    use nix::sys::time::TimeValLike;

    let usage = getrusage(UsageWho::RUSAGE_SELF).ok()?;
    Some([usage.user_time(), usage.system_time()].map(|time| time.num_microseconds() as f64 / 1e6))
}

#[cfg(not(unix))]
fn processor_seconds() -> Option<[f64; 2]> {
    None
}

/// Returns at most `most` samples: the first, the last, and evenly spaced ones between them.
fn thin(mut samples: Vec<ResourceSample>, most: usize) -> Vec<ResourceSample> {
    let Some(last) = samples.pop() else { return samples };
    let every = samples.len().div_ceil(most - 1).max(1);
    samples.into_iter().step_by(every).chain([last]).collect()
}

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

/// Processor time of this process over all threads, unaffected by other programs.
pub(crate) struct ProcessorClock(());

impl ProcessorClock {
    pub(crate) fn new() -> Option<Self> {
        processor_seconds().map(|_| Self(()))
    }
}

impl Clock for ProcessorClock {
    fn now_seconds(&self) -> f64 {
        processor_seconds().map_or(0.0, |seconds| seconds.iter().sum())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn without_sensors() -> MachineMeter {
        let sensors = Sensors::default();
        MachineMeter { root: PathBuf::from("/"), sensors, trains_itself: true, is_here: true, running: None }
    }

    #[test]
    fn busy_core_is_about_100_percent_and_memory_is_counted() {
        let mut meter = without_sensors();
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
            // Another program may use the core part of the time.
            let percent = found.cpu_user_percent.unwrap() + found.cpu_system_percent.unwrap();
            assert!((5.0..3200.0).contains(&percent), "{percent}");
        }
        assert_eq!((found.energy_source, found.samples), (None, Vec::new()));
    }

    #[test]
    fn external_program_is_not_charged_with_this_process() {
        let mut meter = MachineMeter { trains_itself: false, ..without_sensors() };
        assert_eq!(meter.finish(), Resources::default(), "it was not started");
        meter.start();
        let found = meter.finish();
        assert_eq!((found.cpu_user_percent, found.cpu_system_percent), (None, None));
        assert_eq!((found.resident_memory_average_bytes, found.resident_memory_maximum_bytes), (None, None));
    }

    #[test]
    fn free_memory_is_known_only_of_this_machine() {
        let free = without_sensors().free_memory_bytes().expect("memory is offered on every tested platform");
        assert!(free > 64 << 20, "{free}");
        assert_eq!(MachineMeter { is_here: false, ..without_sensors() }.free_memory_bytes(), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn sensors_serve_one_workload_after_the_other_from_zero() {
        let root = tempfile::tempdir().unwrap();
        sensors::tests::package(root.path(), 0, "package-0", 5_000_000);
        let sensors = Sensors::of_the_processor(root.path());
        let mut meter = MachineMeter { root: root.path().to_owned(), sensors, ..without_sensors() };
        // The first workload ends early, and its resources are not read.
        meter.start();
        for _ in 0..2 {
            meter.start();
            thread::sleep(Duration::from_millis(50));
            let found = meter.finish();
            assert_eq!(found.samples.first().and_then(|sample| sample.processor_energy_joules), Some(0.0));
            assert!(found.samples.windows(2).all(|pair| pair[0].seconds < pair[1].seconds), "{found:?}");
            assert_eq!(found.energy_source, Some(results::EnergySource::ProcessorCounter));
            assert_eq!(found.machine_io_wait_percent, None, "this tree has no /proc/stat");
        }
    }

    #[test]
    fn many_samples_are_thinned_evenly_between_first_and_last() {
        let sample = |number| ResourceSample { seconds: f64::from(number), ..ResourceSample::default() };
        let thinned = |count: u32| -> Vec<f64> {
            thin((0..count).map(sample).collect(), 8).iter().map(|sample| sample.seconds).collect()
        };
        assert_eq!(thinned(8), [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]);
        assert_eq!(thinned(2), [0.0, 1.0]);
        for count in [9, 15, 100, 1000, 12_345] {
            let kept = thinned(count);
            assert!((4..=8).contains(&kept.len()), "{count}: {kept:?}");
            assert_eq!((kept[0], kept.last().copied()), (0.0, Some(f64::from(count - 1))));
            let (gap, evenly) = (kept[1] - kept[0], &kept[..kept.len() - 1]);
            assert!(evenly.windows(2).all(|pair| pair[1] - pair[0] == gap), "{count}: {kept:?}");
        }
    }
}
