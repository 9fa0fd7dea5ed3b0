//! Sensors of this machine.

use std::fs;
use std::path::{Path, PathBuf};

use engine::backends::wgsl::Identity;
use nvml_wrapper::Nvml;
use nvml_wrapper::enum_wrappers::device::{Clock, TemperatureSensor};
use results::{Adapter, DeviceKind, EnergySource, ResourceSample};

use crate::system_files::{file_name, list_folder, parse_hexadecimal, read_text};

/// Sensors of a GPU and of the processor. Values that they cannot measure stay absent.
#[derive(Default)]
pub(crate) struct Sensors {
    gpu: Option<GpuSensors>,
    gpu_energy: EnergyCounter,
    /// File and counter of each processor package.
    packages: Vec<(PathBuf, EnergyCounter)>,
    trains_on_processor: bool,
}

impl Sensors {
    pub(crate) fn of(adapter: &Adapter, root: &Path) -> Self {
        let trains_on_processor = adapter.software || adapter.kind == DeviceKind::Cpu;
        Self { trains_on_processor, ..Self::on(gpu_of(adapter).as_ref(), root) }
    }

    #[cfg(test)]
    pub(crate) fn of_the_processor(root: &Path) -> Self {
        Self { trains_on_processor: true, ..Self::on(None, root) }
    }

    fn on(gpu: Option<&Identity>, root: &Path) -> Self {
        let gpu = gpu.and_then(|gpu| GpuSensors::in_nvml(gpu).or_else(|| GpuSensors::in_sysfs(root, gpu)));
        Self { gpu, packages: energy_counters(root).unwrap_or_default(), ..Self::default() }
    }

    pub(crate) fn begin(&mut self) {
        self.gpu_energy.begin(self.gpu.as_ref().and_then(GpuSensors::energy_microjoules));
        self.packages.iter_mut().for_each(|(file, counter)| counter.begin(read_whole(file)));
    }

    pub(crate) fn sample(&mut self, seconds: f64) -> ResourceSample {
        let joules = |microjoules: u64| microjoules as f64 / 1e6;
        let mut sample = ResourceSample { seconds, ..ResourceSample::default() };
        if let Some(gpu) = &self.gpu {
            gpu.sample(&mut sample);
            sample.gpu_energy_joules = self.gpu_energy.count(gpu.energy_microjoules()).map(joules);
        }
        if !self.packages.is_empty() {
            let used = self.packages.iter_mut().map(|(file, counter)| counter.count(read_whole(file)));
            sample.processor_energy_joules = used.sum::<Option<u64>>().map(joules);
        }
        sample
    }

    /// Returns the energy source that covers the training device in all samples.
    pub(crate) fn energy_source(&self, samples: &[ResourceSample]) -> Option<EnergySource> {
        let always = |value: fn(&ResourceSample) -> Option<f64>| {
            !samples.is_empty() && samples.iter().all(|sample| value(sample).is_some())
        };
        if self.trains_on_processor {
            return always(|of| of.processor_energy_joules).then_some(EnergySource::ProcessorCounter);
        }
        let counted = always(|of| of.gpu_energy_joules).then_some(EnergySource::GpuCounter);
        counted.or_else(|| always(|of| of.gpu_power_watts).then_some(EnergySource::GpuPower))
    }
}

/// Returns the GPU of this adapter, if it is unambiguous.
fn gpu_of(adapter: &Adapter) -> Option<Identity> {
    if adapter.software || adapter.api == "CPU" {
        return None;
    }
    let listed = pollster::block_on(engine::backends::wgsl::details());
    let of_name = listed.into_iter().filter(|of| of.adapter.name == adapter.name && !of.adapter.software);
    find_only(of_name.map(|of| of.identity))
}

/// Merges entries of one GPU from several interfaces. Two GPUs of the same model have the same name.
fn find_only(mut listed: impl Iterator<Item = Identity>) -> Option<Identity> {
    let mut only = listed.next()?;
    for gpu in listed {
        let is_same = (only.vendor, only.device) == (gpu.vendor, gpu.device)
            && (gpu.pci_bus_id.is_none() || only.pci_bus_id.as_deref().is_none_or(|place| is_at(&gpu, place)));
        if !is_same {
            return None;
        }
        only.pci_bus_id = only.pci_bus_id.or(gpu.pci_bus_id);
    }
    Some(only)
}

/// Compares bus addresses, regardless of case and of zeros in the domain.
fn is_at(gpu: &Identity, place: &str) -> bool {
    let short = |place: &str| place.trim_start_matches('0').to_ascii_lowercase();
    gpu.pci_bus_id.as_deref().is_some_and(|own| short(own) == short(place))
}

/// Ticks of all cores since boot, as counted by the kernel.
pub(crate) struct MachineTime {
    cores: u32,
    all: u64,
    waiting: u64,
}

impl MachineTime {
    pub(crate) fn now(root: &Path) -> Option<Self> {
        Self::read(&fs::read_to_string(root.join("proc/stat")).ok()?)
    }

    /// Parses the sum of all cores. The fifth number is I/O wait; those after the eighth are included in the first.
    fn read(text: &str) -> Option<Self> {
        let numbers: Vec<u64> =
            text.lines().next()?.strip_prefix("cpu ")?.split_whitespace().map_while(|word| word.parse().ok()).collect();
        let cores = text.lines().skip(1).take_while(|line| line.starts_with("cpu")).count();
        Some(Self {
            cores: u32::try_from(cores).ok().filter(|cores| *cores > 0)?,
            all: numbers.iter().take(8).sum(),
            waiting: *numbers.get(4)?,
        })
    }

    /// Returns the I/O wait in percent of one core; `None` if the counter decreased, as the kernel allows.
    pub(crate) fn waited_percent_since(&self, before: &Self) -> Option<f64> {
        let waiting = self.waiting.checked_sub(before.waiting)?;
        let all = self.all.checked_sub(before.all).filter(|ticks| *ticks > 0)?;
        Some(100.0 * f64::from(self.cores) * waiting as f64 / all as f64)
    }
}

const NVIDIA: u32 = 0x10de;

/// Energy since the start, in microjoules.
#[derive(Default)]
struct EnergyCounter {
    /// Value after which the counter wraps, if known.
    range: Option<u64>,
    /// Absent before the start. A failed reading, or a wrap at an unknown value, ends the count.
    last: Option<u64>,
    used: u64,
}

impl EnergyCounter {
    fn begin(&mut self, now: Option<u64>) {
        (self.last, self.used) = (now, 0);
    }

    fn count(&mut self, now: Option<u64>) -> Option<u64> {
        let (last, now) = (self.last.take()?, now?);
        self.used += match now.checked_sub(last) {
            Some(used) => used,
            None => self.range?.checked_sub(last)? + now,
        };
        self.last = Some(now);
        Some(self.used)
    }
}

/// Lists the processors that count their energy. Parts of a package have other names, and `psys` is the whole board.
pub(crate) fn processor_packages(root: &Path) -> Vec<PathBuf> {
    let mut folders = list_folder(root.join("sys/class/powercap"));
    folders.retain(|folder| read_text(folder.join("name")).is_some_and(|name| name.starts_with("package-")));
    folders
}

/// Returns `None` if this user may not read one of the packages.
fn energy_counters(root: &Path) -> Option<Vec<(PathBuf, EnergyCounter)>> {
    let counter = |folder: PathBuf| {
        let (file, range) = (folder.join("energy_uj"), read_whole(&folder.join("max_energy_range_uj")));
        read_whole(&file)?;
        Some((file, EnergyCounter { range, ..EnergyCounter::default() }))
    };
    processor_packages(root).into_iter().map(counter).collect()
}

fn read_whole(path: &Path) -> Option<u64> {
    read_text(path)?.parse().ok()
}

enum GpuSensors {
    Nvml { nvml: Box<Nvml>, index: u32 },
    Sysfs { card: PathBuf, sensors: Option<PathBuf> },
}

impl GpuSensors {
    fn in_nvml(gpu: &Identity) -> Option<Self> {
        if gpu.vendor != NVIDIA {
            return None;
        }
        let nvml = Nvml::init().ok()?;
        let is_it = |index: &u32| {
            let found = nvml.device_by_index(*index).and_then(|device| device.pci_info());
            found.is_ok_and(|pci| match gpu.pci_bus_id {
                Some(_) => is_at(gpu, &pci.bus_id),
                None => pci.pci_device_id == (gpu.device << 16) | gpu.vendor,
            })
        };
        let mut fitting: Vec<u32> = (0..nvml.device_count().ok()?).filter(is_it).collect();
        let index = fitting.pop().filter(|_| fitting.is_empty())?;
        Some(Self::Nvml { nvml: Box::new(nvml), index })
    }

    fn in_sysfs(root: &Path, gpu: &Identity) -> Option<Self> {
        let is_it = |card: &PathBuf| {
            let device = card.join("device");
            if gpu.pci_bus_id.is_some() {
                // The link points to a folder named after the bus address.
                return fs::canonicalize(device).is_ok_and(|device| is_at(gpu, &file_name(&device)));
            }
            let number = |file: &str| parse_hexadecimal(&read_text(device.join(file))?);
            number("vendor") == Some(gpu.vendor) && number("device") == Some(gpu.device)
        };
        // `card0`, `card1` and so on, without their connectors.
        let is_card =
            |path: &PathBuf| file_name(path).strip_prefix("card").is_some_and(|number| number.parse::<u32>().is_ok());
        let mut fitting = list_folder(root.join("sys/class/drm"));
        fitting.retain(|path| is_card(path) && is_it(path));
        let card = fitting.pop().filter(|_| fitting.is_empty())?;
        let sensors = list_folder(card.join("device/hwmon")).into_iter().next();
        Some(Self::Sysfs { card, sensors })
    }

    fn energy_microjoules(&self) -> Option<u64> {
        match self {
            Self::Nvml { nvml, index } => {
                let millijoules = nvml.device_by_index(*index).ok()?.total_energy_consumption().ok()?;
                millijoules.checked_mul(1000)
            }
            Self::Sysfs { sensors, .. } => read_whole(&sensors.as_ref()?.join("energy1_input")),
        }
    }

    /// Sets everything but the energy.
    fn sample(&self, sample: &mut ResourceSample) {
        match self {
            Self::Nvml { nvml, index } => {
                let Ok(device) = nvml.device_by_index(*index) else { return };
                sample.gpu_busy_percent = device.utilization_rates().ok().map(|rates| f64::from(rates.gpu));
                sample.gpu_memory_bytes = device.memory_info().ok().map(|memory| memory.used);
                sample.gpu_power_watts = device.power_usage().ok().map(|milliwatts| f64::from(milliwatts) / 1e3);
                sample.gpu_clock_hertz = device.clock_info(Clock::SM).ok().map(|megahertz| f64::from(megahertz) * 1e6);
                sample.gpu_temperature_celsius = device.temperature(TemperatureSensor::Gpu).ok().map(f64::from);
            }
            Self::Sysfs { card, sensors } => {
                let sensor = |file: &str| read_number(&sensors.as_ref()?.join(file));
                let busy_percent = read_number(&card.join("device/gpu_busy_percent"));
                sample.gpu_busy_percent = busy_percent.filter(|percent| (0.0..=100.0).contains(percent));
                sample.gpu_memory_bytes = read_whole(&card.join("device/mem_info_vram_used"));
                let microwatts = sensor("power1_average").or_else(|| sensor("power1_input"));
                sample.gpu_power_watts = microwatts.map(|microwatts| microwatts / 1e6);
                let megahertz = || {
                    let files = ["gt/gt0/rps_act_freq_mhz", "gt_act_freq_mhz"];
                    Some(1e6 * files.iter().find_map(|file| read_number(&card.join(file)))?)
                };
                sample.gpu_clock_hertz = sensor("freq1_input").or_else(megahertz);
                sample.gpu_temperature_celsius = sensor("temp1_input").map(|thousandths| thousandths / 1e3);
            }
        }
    }
}

fn read_number(path: &Path) -> Option<f64> {
    read_text(path)?.parse().ok().filter(|number: &f64| number.is_finite())
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    fn gpu(device: u32, place: Option<&str>) -> Identity {
        Identity { vendor: 0x10de, device, pci_bus_id: place.map(str::to_owned) }
    }

    #[test]
    fn a_gpu_is_certain_where_only_one_has_its_name() {
        let place = Some("0000:01:00.0");
        assert_eq!(find_only([gpu(1, place)].into_iter()), Some(gpu(1, place)));
        assert_eq!(find_only([gpu(1, None), gpu(1, place)].into_iter()), Some(gpu(1, place)));
        assert_eq!(find_only([gpu(1, place), gpu(1, Some("0000:02:00.0"))].into_iter()), None);
        assert_eq!(find_only([gpu(1, place), gpu(2, None)].into_iter()), None);
        assert_eq!(find_only([].into_iter()), None);
    }

    #[test]
    fn a_place_is_the_same_however_it_is_written() {
        let at = gpu(1, Some("0000:0a:00.0"));
        assert!(is_at(&at, "00000000:0A:00.0") && is_at(&at, "0000:0a:00.0"));
        assert!(!is_at(&at, "0000:0b:00.0") && !is_at(&gpu(1, None), "0000:0a:00.0"));
    }

    #[test]
    fn waiting_is_a_share_of_one_core() {
        let before = "cpu  100 0 50 800 50 0 0 0 7 0\ncpu0 50 0 25 400 25 0 0 0 7 0\ncpu1 50 0 25 400 25 0 0 0\nintr 1";
        let before = MachineTime::read(before).unwrap();
        let after = MachineTime::read("cpu  200 0 100 1600 100 0 0 0 9 0\ncpu0 1\ncpu1 1\nintr 1").unwrap();
        // Fifty of a thousand ticks of two cores.
        assert_eq!(after.waited_percent_since(&before), Some(10.0));
        assert_eq!(before.waited_percent_since(&after), None);
        assert_eq!(before.waited_percent_since(&before), None);
        for text in ["", "cpu  1 2 3", "cpu  1 2 3 4 5 6 7 8", "memory 1 2 3 4 5"] {
            assert!(MachineTime::read(text).is_none(), "{text}");
        }
    }

    pub(crate) fn package(root: &Path, place: u32, name: &str, microjoules: u64) -> PathBuf {
        let folder = root.join(format!("sys/class/powercap/intel-rapl:{place}"));
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("name"), format!("{name}\n")).unwrap();
        fs::write(folder.join("max_energy_range_uj"), "10000000\n").unwrap();
        fs::write(folder.join("energy_uj"), format!("{microjoules}\n")).unwrap();
        folder
    }

    #[test]
    fn packages_are_summed_and_every_one_counts() {
        let root = tempfile::tempdir().unwrap();
        assert!(energy_counters(root.path()).unwrap().is_empty());
        let first = package(root.path(), 0, "package-0", 9_000_000);
        let second = package(root.path(), 1, "package-1", 1_000_000);
        package(root.path(), 2, "psys", 500);
        let mut sensors = Sensors::of_the_processor(root.path());
        sensors.begin();
        assert_eq!(sensors.sample(0.0).processor_energy_joules, Some(0.0));
        // The first counter went from 9 J past its end at 10 J to half a joule.
        fs::write(first.join("energy_uj"), "500000").unwrap();
        fs::write(second.join("energy_uj"), "2000000").unwrap();
        assert_eq!(sensors.sample(0.0).processor_energy_joules, Some(2.5));
        fs::remove_file(second.join("energy_uj")).unwrap();
        assert_eq!(sensors.sample(0.0).processor_energy_joules, None);
        assert!(energy_counters(root.path()).is_none());
    }

    #[test]
    fn a_count_ends_where_a_value_is_missing() {
        for (range, values, expected) in [
            (Some(100), [Some(90), Some(5), Some(6)], [Some(0), Some(15), Some(16)]),
            (None, [Some(95), Some(5), Some(96)], [Some(5), None, None]),
            (Some(100), [Some(91), None, Some(92)], [Some(1), None, None]),
            (Some(80), [Some(90), Some(5), Some(6)], [Some(0), None, None]),
        ] {
            let mut counter = EnergyCounter { range, ..EnergyCounter::default() };
            assert_eq!(counter.count(Some(1)), None, "counting has not begun");
            for _ in 0..2 {
                counter.begin(Some(90));
                assert_eq!(values.map(|value| counter.count(value)), expected, "{range:?} {values:?}");
            }
        }
    }

    /// Creates a card's folder, and returns its device's folder.
    #[cfg(target_os = "linux")]
    fn card(root: &Path, number: u32, place: &str) -> PathBuf {
        let device = root.join("sys/devices").join(place);
        fs::create_dir_all(device.join("hwmon/hwmon3")).unwrap();
        for (file, text) in [
            ("vendor", "0x1002\n"),
            ("device", "0x744c\n"),
            ("gpu_busy_percent", "97\n"),
            ("mem_info_vram_used", "1073741824\n"),
            ("hwmon/hwmon3/power1_average", "250000000\n"),
            ("hwmon/hwmon3/temp1_input", "65000\n"),
            ("hwmon/hwmon3/freq1_input", "2400000000\n"),
        ] {
            fs::write(device.join(file), text).unwrap();
        }
        let card = root.join(format!("sys/class/drm/card{number}"));
        fs::create_dir_all(&card).unwrap();
        std::os::unix::fs::symlink(&device, card.join("device")).unwrap();
        device
    }

    #[cfg(target_os = "linux")]
    fn radeon(place: Option<&str>) -> Identity {
        Identity { vendor: 0x1002, ..gpu(0x744c, place) }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn values_of_a_driver_are_converted_to_our_units() {
        let root = tempfile::tempdir().unwrap();
        let device = card(root.path(), 0, "0000:03:00.0");
        fs::create_dir_all(root.path().join("sys/class/drm/card0-DP-1")).unwrap();
        let energy = |microjoules: &str| fs::write(device.join("hwmon/hwmon3/energy1_input"), microjoules).unwrap();
        let mut sensors = Sensors::on(Some(&radeon(Some("0000:03:00.0"))), root.path());
        energy("7000000\n");
        sensors.begin();
        energy("7500000\n");
        let expected = ResourceSample {
            seconds: 0.25,
            gpu_busy_percent: Some(97.0),
            gpu_memory_bytes: Some(1 << 30),
            gpu_power_watts: Some(250.0),
            gpu_energy_joules: Some(0.5),
            gpu_clock_hertz: Some(2.4e9),
            gpu_temperature_celsius: Some(65.0),
            ..ResourceSample::default()
        };
        assert_eq!(sensors.sample(0.25), expected);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn equal_gpus_are_told_apart_by_bus_address() {
        let root = tempfile::tempdir().unwrap();
        card(root.path(), 0, "0000:03:00.0");
        fs::write(card(root.path(), 1, "0000:04:00.0").join("gpu_busy_percent"), "5").unwrap();
        let busy_percent = |place| Sensors::on(Some(&radeon(place)), root.path()).sample(0.0).gpu_busy_percent;
        assert_eq!([None, Some("0000:05:00.0"), Some("0000:04:00.0")].map(busy_percent), [None, None, Some(5.0)]);
    }

    /// A GPU that vanishes stops reporting without errors.
    #[cfg(target_os = "linux")]
    #[test]
    fn energy_needs_every_sample_of_the_training_device() {
        let root = tempfile::tempdir().unwrap();
        package(root.path(), 0, "package-0", 1);
        let device = card(root.path(), 0, "0000:03:00.0");
        let mut sensors = Sensors::on(Some(&radeon(None)), root.path());
        sensors.begin();
        let mut samples = vec![sensors.sample(0.0), sensors.sample(0.25)];
        assert_eq!(sensors.energy_source(&samples), Some(EnergySource::GpuPower));
        assert!(samples.iter().all(|sample| sample.processor_energy_joules == Some(0.0)));
        fs::remove_dir_all(device).unwrap();
        let gone = sensors.sample(0.5);
        let expected = ResourceSample { seconds: 0.5, processor_energy_joules: Some(0.0), ..ResourceSample::default() };
        assert_eq!(gone, expected);
        samples.push(gone);
        // The processor's energy is complete, but not the GPU's.
        assert_eq!(sensors.energy_source(&samples), None);

        let mut processor = Sensors::of_the_processor(root.path());
        processor.begin();
        let samples = [processor.sample(0.0)];
        assert_eq!(processor.energy_source(&samples), Some(EnergySource::ProcessorCounter));
        assert_eq!(processor.energy_source(&[]), None);
        fs::remove_dir_all(root.path().join("sys")).unwrap();
        assert!(GpuSensors::in_sysfs(root.path(), &radeon(None)).is_none());
    }
}
