//! Sensors of this machine.

use std::fs;
use std::path::{Path, PathBuf};

use engine::backends::wgsl::Identity;
use nvml_wrapper::enum_wrappers::device::{Clock, TemperatureSensor};
use nvml_wrapper::{Device, Nvml};
use results::{Adapter, DeviceKind, EnergySource, ResourceSample};

use crate::system_files::{file_name, list_folder, parse_hexadecimal, read_text};

/// Source of samples. Values that it cannot measure stay absent.
trait Sensor: Send {
    fn begin(&mut self);

    fn sample(&mut self, sample: &mut ResourceSample);
}

#[derive(Default)]
pub(crate) struct Sensors {
    all: Vec<Box<dyn Sensor>>,
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
        fn boxed(sensor: impl Sensor + 'static) -> Box<dyn Sensor> {
            Box::new(sensor)
        }

        let of_gpu = gpu.and_then(|gpu| NvmlGpu::find(gpu).map(boxed).or_else(|| SysfsGpu::find(root, gpu).map(boxed)));
        Self { all: of_gpu.into_iter().chain(Rapl::find(root).map(boxed)).collect(), trains_on_processor: false }
    }

    pub(crate) fn begin(&mut self) {
        self.all.iter_mut().for_each(|sensor| sensor.begin());
    }

    pub(crate) fn sample(&mut self, seconds: f64) -> ResourceSample {
        let mut sample = ResourceSample { seconds, ..ResourceSample::default() };
        self.all.iter_mut().for_each(|sensor| sensor.sample(&mut sample));
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
fn find_only(listed: impl Iterator<Item = Identity>) -> Option<Identity> {
    let mut found: Vec<Identity> = Vec::new();
    for gpu in listed {
        let is_same = |other: &&mut Identity| {
            (other.vendor, other.device) == (gpu.vendor, gpu.device)
                && (gpu.pci_bus_id.is_none() || other.pci_bus_id.as_deref().is_none_or(|place| is_at(&gpu, place)))
        };
        match found.iter_mut().find(is_same) {
            Some(other) => other.pci_bus_id = other.pci_bus_id.take().or(gpu.pci_bus_id),
            None => found.push(gpu),
        }
    }
    let gpu = found.pop()?;
    found.is_empty().then_some(gpu)
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

struct NvmlGpu {
    nvml: Nvml,
    index: u32,
    /// Energy counter at the start.
    first_millijoules: Option<u64>,
}

impl NvmlGpu {
    fn find(gpu: &Identity) -> Option<Self> {
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
        Some(Self { nvml, index, first_millijoules: None })
    }

    fn device(&self) -> Option<Device<'_>> {
        self.nvml.device_by_index(self.index).ok()
    }
}

impl Sensor for NvmlGpu {
    fn begin(&mut self) {
        self.first_millijoules = self.device().and_then(|device| device.total_energy_consumption().ok());
    }

    fn sample(&mut self, sample: &mut ResourceSample) {
        let Some(device) = self.device() else { return };
        sample.gpu_busy_percent = device.utilization_rates().ok().map(|rates| f64::from(rates.gpu));
        sample.gpu_memory_bytes = device.memory_info().ok().map(|memory| memory.used);
        sample.gpu_power_watts = device.power_usage().ok().map(|milliwatts| f64::from(milliwatts) / 1e3);
        let used = device.total_energy_consumption().ok().zip(self.first_millijoules);
        sample.gpu_energy_joules = used.and_then(|(now, first)| Some(now.checked_sub(first)? as f64 / 1e3));
        sample.gpu_clock_hertz = device.clock_info(Clock::SM).ok().map(|megahertz| f64::from(megahertz) * 1e6);
        sample.gpu_temperature_celsius = device.temperature(TemperatureSensor::Gpu).ok().map(f64::from);
    }
}

/// All packages of the machine. If one of them fails, the sum is unknown.
struct Rapl {
    packages: Vec<ProcessorPackage>,
    broken: bool,
}

struct ProcessorPackage {
    folder: PathBuf,
    /// Value after which the counter wraps, if known.
    range_microjoules: Option<u64>,
    last_microjoules: u64,
    used_microjoules: u64,
}

/// Lists the processors that count their energy. Parts of a package have other names, and `psys` is the whole board.
pub(crate) fn processor_packages(root: &Path) -> Vec<PathBuf> {
    let mut folders = list_folder(root.join("sys/class/powercap"));
    folders.retain(|folder| read_text(folder.join("name")).is_some_and(|name| name.starts_with("package-")));
    folders
}

impl Rapl {
    /// Returns `None` without packages that this user may read.
    fn find(root: &Path) -> Option<Self> {
        let mut packages = Vec::new();
        for folder in processor_packages(root) {
            let range_microjoules = read_whole(&folder.join("max_energy_range_uj"));
            let last_microjoules = read_whole(&folder.join("energy_uj"))?;
            packages.push(ProcessorPackage { folder, range_microjoules, last_microjoules, used_microjoules: 0 });
        }
        (!packages.is_empty()).then_some(Self { packages, broken: false })
    }
}

impl Sensor for Rapl {
    fn begin(&mut self) {
        self.broken = false;
        for package in &mut self.packages {
            package.used_microjoules = 0;
            match read_whole(&package.folder.join("energy_uj")) {
                Some(microjoules) => package.last_microjoules = microjoules,
                None => self.broken = true,
            }
        }
    }

    fn sample(&mut self, sample: &mut ResourceSample) {
        self.broken |= self.packages.iter_mut().any(|package| package.count().is_none());
        if !self.broken {
            let used: u64 = self.packages.iter().map(|package| package.used_microjoules).sum();
            sample.processor_energy_joules = Some(used as f64 / 1e6);
        }
    }
}

impl ProcessorPackage {
    /// Returns `None` if reading fails, or if the counter wraps at an unknown value.
    fn count(&mut self) -> Option<()> {
        let now = read_whole(&self.folder.join("energy_uj"))?;
        self.used_microjoules += match now.checked_sub(self.last_microjoules) {
            Some(used) => used,
            None => self.range_microjoules?.checked_sub(self.last_microjoules)? + now,
        };
        self.last_microjoules = now;
        Some(())
    }
}

fn read_whole(path: &Path) -> Option<u64> {
    read_text(path)?.parse().ok()
}

struct SysfsGpu {
    card: PathBuf,
    sensors: Option<PathBuf>,
    /// Energy counter at the start.
    first_microjoules: Option<f64>,
}

impl SysfsGpu {
    fn find(root: &Path, gpu: &Identity) -> Option<Self> {
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
        Some(Self { card, sensors, first_microjoules: None })
    }

    fn sensor(&self, file: &str) -> Option<f64> {
        read_number(&self.sensors.as_ref()?.join(file))
    }
}

impl Sensor for SysfsGpu {
    fn begin(&mut self) {
        self.first_microjoules = self.sensor("energy1_input");
    }

    fn sample(&mut self, sample: &mut ResourceSample) {
        let busy_percent = read_number(&self.card.join("device/gpu_busy_percent"));
        sample.gpu_busy_percent = busy_percent.filter(|percent| (0.0..=100.0).contains(percent));
        sample.gpu_memory_bytes = read_whole(&self.card.join("device/mem_info_vram_used"));
        let microwatts = self.sensor("power1_average").or_else(|| self.sensor("power1_input"));
        sample.gpu_power_watts = microwatts.map(|microwatts| microwatts / 1e6);
        // A counter that decreased has wrapped at an unknown value.
        let used = self.sensor("energy1_input").zip(self.first_microjoules).map(|(now, first)| now - first);
        if used.is_some_and(|microjoules| microjoules < 0.0) {
            self.first_microjoules = None;
        }
        sample.gpu_energy_joules = used.filter(|microjoules| *microjoules >= 0.0).map(|microjoules| microjoules / 1e6);
        let megahertz = || {
            let files = ["gt/gt0/rps_act_freq_mhz", "gt_act_freq_mhz"];
            Some(1e6 * files.iter().find_map(|file| read_number(&self.card.join(file)))?)
        };
        sample.gpu_clock_hertz = self.sensor("freq1_input").or_else(megahertz);
        sample.gpu_temperature_celsius = self.sensor("temp1_input").map(|thousandths| thousandths / 1e3);
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

    fn sampled(sensor: &mut impl Sensor) -> ResourceSample {
        let mut sample = ResourceSample::default();
        sensor.sample(&mut sample);
        sample
    }

    /// Returns the joules since the start while the counters have these values.
    fn joules(rapl: &mut Rapl, counters: &[(&Path, &str)]) -> Option<f64> {
        for (folder, microjoules) in counters {
            fs::write(folder.join("energy_uj"), microjoules).unwrap();
        }
        sampled(rapl).processor_energy_joules
    }

    #[test]
    fn packages_are_summed_and_counters_that_begin_again_go_on() {
        let root = tempfile::tempdir().unwrap();
        let first = package(root.path(), 0, "package-0", 9_000_000);
        let second = package(root.path(), 1, "package-1", 1_000_000);
        package(root.path(), 2, "psys", 500);
        let mut rapl = Rapl::find(root.path()).unwrap();
        rapl.begin();
        assert_eq!(joules(&mut rapl, &[]), Some(0.0));
        // The first counter went from 9 J past its end at 10 J to half a joule.
        assert_eq!(joules(&mut rapl, &[(&first, "500000"), (&second, "2000000")]), Some(2.5));
        rapl.begin();
        assert_eq!(joules(&mut rapl, &[]), Some(0.0));
    }

    #[test]
    fn counter_that_wraps_at_an_unknown_value_stays_absent() {
        let root = tempfile::tempdir().unwrap();
        let folder = package(root.path(), 0, "package-0", 9_000_000);
        fs::remove_file(folder.join("max_energy_range_uj")).unwrap();
        let mut rapl = Rapl::find(root.path()).unwrap();
        rapl.begin();
        let found = ["9500000", "100", "200"].map(|microjoules| joules(&mut rapl, &[(&folder, microjoules)]));
        assert_eq!(found, [Some(0.5), None, None]);
    }

    #[test]
    fn unreadable_packages_give_no_sensor() {
        let root = tempfile::tempdir().unwrap();
        assert!(Rapl::find(root.path()).is_none());
        package(root.path(), 0, "psys", 1);
        assert!(Rapl::find(root.path()).is_none());
        let folder = package(root.path(), 1, "package-0", 1);
        fs::remove_file(folder.join("energy_uj")).unwrap();
        assert!(Rapl::find(root.path()).is_none());
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
        card(root.path(), 0, "0000:03:00.0");
        fs::create_dir_all(root.path().join("sys/class/drm/card0-DP-1")).unwrap();
        let mut gpu = SysfsGpu::find(root.path(), &radeon(Some("0000:03:00.0"))).unwrap();
        gpu.begin();
        let expected = ResourceSample {
            gpu_busy_percent: Some(97.0),
            gpu_memory_bytes: Some(1 << 30),
            gpu_power_watts: Some(250.0),
            gpu_clock_hertz: Some(2.4e9),
            gpu_temperature_celsius: Some(65.0),
            ..ResourceSample::default()
        };
        assert_eq!(sampled(&mut gpu), expected);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn energy_counter_starts_at_zero_and_never_decreases() {
        let root = tempfile::tempdir().unwrap();
        let counter = card(root.path(), 0, "0000:03:00.0").join("hwmon/hwmon3/energy1_input");
        let mut gpu = SysfsGpu::find(root.path(), &radeon(None)).unwrap();
        let joules = |gpu: &mut SysfsGpu, microjoules: &str| {
            fs::write(&counter, microjoules).unwrap();
            sampled(gpu).gpu_energy_joules
        };
        assert_eq!(joules(&mut gpu, "7000000"), None, "counting has not begun");
        gpu.begin();
        let found = ["7500000", "100", "9000000"].map(|microjoules| joules(&mut gpu, microjoules));
        assert_eq!(found, [Some(0.5), None, None]);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn equal_gpus_are_told_apart_by_bus_address() {
        let root = tempfile::tempdir().unwrap();
        card(root.path(), 0, "0000:03:00.0");
        fs::write(card(root.path(), 1, "0000:04:00.0").join("gpu_busy_percent"), "5").unwrap();
        assert!(SysfsGpu::find(root.path(), &radeon(None)).is_none());
        assert!(SysfsGpu::find(root.path(), &radeon(Some("0000:05:00.0"))).is_none());
        let mut second = SysfsGpu::find(root.path(), &radeon(Some("0000:04:00.0"))).unwrap();
        assert_eq!(sampled(&mut second).gpu_busy_percent, Some(5.0));
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
        assert!(SysfsGpu::find(root.path(), &radeon(None)).is_none());
    }
}
