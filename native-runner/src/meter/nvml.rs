//! NVIDIA's own library, NVML, where its driver has brought it. No test reaches this file: it is as thin as it can be.

use nvml_wrapper::enum_wrappers::device::{Clock, TemperatureSensor};
use nvml_wrapper::{Device, Nvml};
use results::ResourceSample;

use super::gpu::Gpu;
use super::sensors::Sensor;

const NVIDIA: u32 = 0x10de;

/// One GPU as NVML knows it.
pub(super) struct NvmlGpu {
    nvml: Nvml,
    index: u32,
    /// What the counter of energy said at first.
    first_millijoules: Option<u64>,
}

impl NvmlGpu {
    /// The only one that can be this GPU; `None` where there is no such library.
    pub(super) fn find(gpu: &Gpu) -> Option<Self> {
        if gpu.vendor != NVIDIA {
            return None;
        }
        let nvml = Nvml::init().ok()?;
        let is_it = |index: &u32| {
            let found = nvml.device_by_index(*index).and_then(|device| device.pci_info());
            found.is_ok_and(|pci| match gpu.pci_bus_id {
                Some(_) => gpu.is_at(&pci.bus_id),
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
