//! What can be asked of this machine, all together.

use std::path::Path;

use results::{Adapter, DeviceKind, EnergySource, ResourceSample};

use super::gpu::Gpu;
use super::nvml::NvmlGpu;
use super::rapl::Rapl;
use super::sysfs_gpu::SysfsGpu;

/// Something of the machine that tells of itself. What it cannot tell it leaves absent.
pub(super) trait Sensor: Send {
    /// Counts from now on.
    fn begin(&mut self);

    fn sample(&mut self, sample: &mut ResourceSample);
}

#[derive(Default)]
pub(super) struct Sensors {
    all: Vec<Box<dyn Sensor>>,
    /// Whether the processor is the device that trains.
    trains_on_processor: bool,
}

impl Sensors {
    /// Of a run on this adapter.
    pub(super) fn of(adapter: &Adapter, root: &Path) -> Self {
        let gpu = Gpu::of(adapter);
        let trains_on_processor = adapter.software || adapter.kind == DeviceKind::Cpu;
        Self { trains_on_processor, ..Self::on(gpu.as_ref(), root) }
    }

    #[cfg(test)]
    pub(super) fn of_the_processor(root: &Path) -> Self {
        Self { trains_on_processor: true, ..Self::on(None, root) }
    }

    fn on(gpu: Option<&Gpu>, root: &Path) -> Self {
        let mut all: Vec<Box<dyn Sensor>> = Vec::new();
        if let Some(gpu) = gpu {
            match NvmlGpu::find(gpu) {
                Some(sensor) => all.push(Box::new(sensor)),
                None => all.extend(SysfsGpu::find(root, gpu).map(|sensor| Box::new(sensor) as Box<dyn Sensor>)),
            }
        }
        all.extend(Rapl::find(root).map(|sensor| Box::new(sensor) as Box<dyn Sensor>));
        Self { all, trains_on_processor: false }
    }

    pub(super) fn begin(&mut self) {
        self.all.iter_mut().for_each(|sensor| sensor.begin());
    }

    /// What the machine tells now.
    pub(super) fn sample(&mut self, seconds: f64) -> ResourceSample {
        let mut sample = ResourceSample { seconds, ..ResourceSample::default() };
        self.all.iter_mut().for_each(|sensor| sensor.sample(&mut sample));
        sample
    }

    /// Which energy of these samples is that of the device that trains: only what was told all the time.
    pub(super) fn energy_source(&self, samples: &[ResourceSample]) -> Option<EnergySource> {
        let always = |is_told: fn(&ResourceSample) -> bool| !samples.is_empty() && samples.iter().all(is_told);
        if self.trains_on_processor {
            let told = always(|sample| sample.processor_energy_joules.is_some());
            return told.then_some(EnergySource::ProcessorCounter);
        }
        if always(|sample| sample.gpu_energy_joules.is_some()) {
            Some(EnergySource::GpuCounter)
        } else {
            always(|sample| sample.gpu_power_watts.is_some()).then_some(EnergySource::GpuPower)
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::super::{rapl, sysfs_gpu};
    use super::*;

    #[test]
    fn the_energy_is_that_of_the_device_that_trains_and_only_if_it_was_told_all_the_time() {
        let root = tempfile::tempdir().unwrap();
        rapl::tests::package(root.path(), 0, "package-0", 1);
        let device = sysfs_gpu::tests::card(root.path(), 0, "0000:03:00.0");
        let gpu = Gpu { vendor: 0x1002, device: 0x744c, pci_bus_id: None };
        let mut sensors = Sensors::on(Some(&gpu), root.path());
        sensors.begin();
        let mut samples = vec![sensors.sample(0.0), sensors.sample(0.25)];
        assert_eq!(sensors.energy_source(&samples), Some(EnergySource::GpuPower));
        assert!(samples.iter().all(|sample| sample.processor_energy_joules == Some(0.0)));
        std::fs::remove_dir_all(device).unwrap();
        samples.push(sensors.sample(0.5));
        // That of the processor is told all the time, but is not that of the GPU.
        assert_eq!(sensors.energy_source(&samples), None);

        let mut processor = Sensors::of_the_processor(root.path());
        processor.begin();
        let samples = [processor.sample(0.0)];
        assert_eq!(processor.energy_source(&samples), Some(EnergySource::ProcessorCounter));
        assert_eq!(processor.energy_source(&[]), None);
    }
}
