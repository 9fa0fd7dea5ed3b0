//! What Linux' drivers of AMD's and Intel's GPUs write into files.

use std::fs;
use std::path::{Path, PathBuf};

use results::ResourceSample;

use super::gpu::Gpu;
use super::sensors::Sensor;

/// The files of one GPU; those that its driver does not have are absent.
pub(super) struct SysfsGpu {
    /// Of the card, which is how the system's part for screens calls a GPU.
    card: PathBuf,
    /// Of its sensors, if it has any.
    sensors: Option<PathBuf>,
    /// What the counter of energy said at first.
    first_microjoules: Option<f64>,
}

impl SysfsGpu {
    /// The only card that can be this GPU.
    pub(super) fn find(root: &Path, gpu: &Gpu) -> Option<Self> {
        let cards: Vec<PathBuf> = cards(root);
        let at_its_place = |card: &&PathBuf| place(card).is_some_and(|place| gpu.is_at(&place));
        let of_its_model = |card: &&PathBuf| {
            let number = |file: &str| hexadecimal(&card.join("device").join(file));
            number("vendor") == Some(gpu.vendor) && number("device") == Some(gpu.device)
        };
        let mut fitting: Vec<&PathBuf> = match gpu.pci_bus_id {
            Some(_) => cards.iter().filter(at_its_place).collect(),
            None => cards.iter().filter(of_its_model).collect(),
        };
        let card = fitting.pop().filter(|_| fitting.is_empty())?.clone();
        let sensors = fs::read_dir(card.join("device/hwmon")).ok();
        let sensors = sensors.and_then(|folders| folders.filter_map(Result::ok).map(|folder| folder.path()).min());
        Some(Self { card, sensors, first_microjoules: None })
    }

    fn device(&self, file: &str) -> Option<f64> {
        number(&self.card.join("device").join(file))
    }

    fn sensor(&self, file: &str) -> Option<f64> {
        number(&self.sensors.as_ref()?.join(file))
    }

    fn hertz(&self) -> Option<f64> {
        let megahertz = || {
            let files = ["gt/gt0/rps_act_freq_mhz", "gt_act_freq_mhz"];
            files.iter().find_map(|file| number(&self.card.join(file))).map(|megahertz| megahertz * 1e6)
        };
        self.sensor("freq1_input").or_else(megahertz)
    }
}

impl Sensor for SysfsGpu {
    fn begin(&mut self) {
        self.first_microjoules = self.sensor("energy1_input");
    }

    fn sample(&mut self, sample: &mut ResourceSample) {
        sample.gpu_busy_percent = self.device("gpu_busy_percent").filter(|percent| (0.0..=100.0).contains(percent));
        sample.gpu_memory_bytes = whole(&self.card.join("device/mem_info_vram_used"));
        let microwatts = self.sensor("power1_average").or_else(|| self.sensor("power1_input"));
        sample.gpu_power_watts = microwatts.map(|microwatts| microwatts / 1e6);
        // One that fell has begun again, and nobody knows where.
        let used = self.sensor("energy1_input").zip(self.first_microjoules).map(|(now, first)| now - first);
        if used.is_some_and(|microjoules| microjoules < 0.0) {
            self.first_microjoules = None;
        }
        sample.gpu_energy_joules = used.filter(|microjoules| *microjoules >= 0.0).map(|microjoules| microjoules / 1e6);
        sample.gpu_clock_hertz = self.hertz();
        sample.gpu_temperature_celsius = self.sensor("temp1_input").map(|thousandths| thousandths / 1e3);
    }
}

/// `card0`, `card1`, and none of their connectors.
fn cards(root: &Path) -> Vec<PathBuf> {
    let listed = fs::read_dir(root.join("sys/class/drm")).into_iter().flatten().filter_map(Result::ok);
    let is_card = |path: &PathBuf| {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        name.strip_prefix("card").is_some_and(|number| number.parse::<u32>().is_ok())
    };
    let mut cards: Vec<PathBuf> = listed.map(|entry| entry.path()).filter(is_card).collect();
    cards.sort();
    cards
}

/// Where a card is on the bus: its device is a link to the folder of that name.
fn place(card: &Path) -> Option<String> {
    let device = fs::canonicalize(card.join("device")).ok()?;
    Some(device.file_name()?.to_string_lossy().into_owned())
}

fn number(path: &Path) -> Option<f64> {
    fs::read_to_string(path).ok()?.trim().parse().ok().filter(|number: &f64| number.is_finite())
}

fn whole(path: &Path) -> Option<u64> {
    fs::read_to_string(path).ok()?.trim().parse().ok()
}

fn hexadecimal(path: &Path) -> Option<u32> {
    let text = fs::read_to_string(path).ok()?;
    u32::from_str_radix(text.trim().trim_start_matches("0x"), 16).ok()
}

#[cfg(all(test, target_os = "linux"))]
pub(super) mod tests {
    use super::*;

    /// A card of AMD's in a tree of files, as its driver makes it.
    pub(in crate::meter) fn card(root: &Path, number: u32, place: &str) -> PathBuf {
        let device = root.join("sys/devices").join(place);
        let sensors = device.join("hwmon/hwmon3");
        fs::create_dir_all(&sensors).unwrap();
        for (file, text) in [
            ("vendor", "0x1002\n"),
            ("device", "0x744c\n"),
            ("gpu_busy_percent", "97\n"),
            ("mem_info_vram_used", "1073741824\n"),
        ] {
            fs::write(device.join(file), text).unwrap();
        }
        for (file, text) in
            [("power1_average", "250000000\n"), ("temp1_input", "65000\n"), ("freq1_input", "2400000000\n")]
        {
            fs::write(sensors.join(file), text).unwrap();
        }
        let card = root.join(format!("sys/class/drm/card{number}"));
        fs::create_dir_all(&card).unwrap();
        std::os::unix::fs::symlink(&device, card.join("device")).unwrap();
        device
    }

    fn radeon(place: Option<&str>) -> Gpu {
        Gpu { vendor: 0x1002, device: 0x744c, pci_bus_id: place.map(str::to_owned) }
    }

    fn sampled(gpu: &mut SysfsGpu) -> ResourceSample {
        let mut sample = ResourceSample::default();
        gpu.sample(&mut sample);
        sample
    }

    #[test]
    fn a_gpu_tells_what_its_driver_writes_in_our_units() {
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

    #[test]
    fn a_counter_of_energy_counts_from_the_beginning_and_not_backwards() {
        let root = tempfile::tempdir().unwrap();
        let counter = card(root.path(), 0, "0000:03:00.0").join("hwmon/hwmon3/energy1_input");
        let mut gpu = SysfsGpu::find(root.path(), &radeon(None)).unwrap();
        let mut joules = |microjoules: &str| {
            fs::write(&counter, microjoules).unwrap();
            sampled(&mut gpu).gpu_energy_joules
        };
        assert_eq!(joules("7000000"), None, "nobody began to count");
        gpu.begin();
        let mut joules = |microjoules: &str| {
            fs::write(&counter, microjoules).unwrap();
            sampled(&mut gpu).gpu_energy_joules
        };
        assert_eq!((joules("7500000"), joules("100"), joules("9000000")), (Some(0.5), None, None));
    }

    #[test]
    fn of_two_equal_gpus_only_the_place_tells_which_it_is() {
        let root = tempfile::tempdir().unwrap();
        card(root.path(), 0, "0000:03:00.0");
        fs::write(card(root.path(), 1, "0000:04:00.0").join("gpu_busy_percent"), "5").unwrap();
        assert!(SysfsGpu::find(root.path(), &radeon(None)).is_none());
        assert!(SysfsGpu::find(root.path(), &radeon(Some("0000:05:00.0"))).is_none());
        let mut second = SysfsGpu::find(root.path(), &radeon(Some("0000:04:00.0"))).unwrap();
        assert_eq!(sampled(&mut second).gpu_busy_percent, Some(5.0));
    }

    #[test]
    fn a_gpu_that_vanishes_tells_nothing_more_and_harms_nobody() {
        let root = tempfile::tempdir().unwrap();
        let device = card(root.path(), 0, "0000:03:00.0");
        let mut gpu = SysfsGpu::find(root.path(), &radeon(None)).unwrap();
        gpu.begin();
        assert!(sampled(&mut gpu).gpu_power_watts.is_some());
        fs::remove_dir_all(device).unwrap();
        assert_eq!(sampled(&mut gpu), ResourceSample::default());
        fs::remove_dir_all(root.path().join("sys")).unwrap();
        assert!(SysfsGpu::find(root.path(), &radeon(None)).is_none());
    }
}
