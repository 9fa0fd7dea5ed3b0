//! The class of the device that computed a run. Only GPUs rank among GPUs.

use engine::KNOWN_BACKENDS;
use engine::backends::{BURN_REMOTE, Devices};
use results::software::{may_be_a_program, program_of};
use results::{DeviceKind, RunRecord};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DeviceClass {
    Gpu,
    /// A backend that declares that it computes on the processor.
    Processor,
    /// A program on the processor that acts as a GPU. Shown, but never ranked.
    Software,
    /// A hidden GPU or such a program, no faster than a program. Shown, but never ranked.
    Masked,
}

results::names!(DeviceClass {
    Gpu = "gpu",
    Processor = "processor",
    Software = "software",
    Masked = "masked"
});

/// Returns the class of the device that computed a run, regardless of the adapter in its record.
pub fn class_of(record: &RunRecord) -> DeviceClass {
    match () {
        () if computes_on_processor(record) => DeviceClass::Processor,
        () if is_software(record).is_some() => DeviceClass::Software,
        () if may_be_a_program(record) => DeviceClass::Masked,
        () => DeviceClass::Gpu,
    }
}

/// Returns a sentence if the adapter is a program that acts as a GPU, or `None` if it is not or is unknown.
pub fn is_software(record: &RunRecord) -> Option<String> {
    if computes_on_processor(record) {
        return None;
    }
    let adapter = &record.device.adapter;
    if adapter.software {
        return Some("The client reports a software adapter.".to_owned());
    }
    if let Some(program) = program_of(adapter) {
        return Some(format!(
            "The adapter is reported as hardware, but its name contains `{program}`, which is a program."
        ));
    }
    (adapter.kind == DeviceKind::Cpu).then(|| "The adapter is reported as hardware, but its kind is `cpu`.".to_owned())
}

fn computes_on_processor(record: &RunRecord) -> bool {
    let device = &record.device;
    if device.backend == BURN_REMOTE {
        return device.adapter.kind == DeviceKind::Cpu && device.adapter.api == "CPU";
    }
    KNOWN_BACKENDS.iter().any(|known| known.name == device.backend && known.devices() == Devices::Given)
}

#[cfg(test)]
mod tests {
    use results::{DeviceKind, Precision};

    use super::super::testing::{achieving, in_browser, native, trained_by, with_peak};
    use super::*;

    #[test]
    fn reported_devices_have_the_class_that_computes() {
        let served = |kind, api| trained_by(native("a device", ""), "burn-remote", kind, api);
        let on_processor =
            |backend| trained_by(native("AMD Ryzen 9 (Burn, all cores)", ""), backend, DeviceKind::Cpu, "CPU");
        for (record, class) in [
            (native("NVIDIA GeForce RTX 4090", "NVIDIA"), DeviceClass::Gpu),
            (native("Example GPU 9000", "example"), DeviceClass::Gpu),
            (with_peak(native("Example GPU 9000", "example"), 1e10), DeviceClass::Gpu),
            (in_browser("nvidia", "ampere"), DeviceClass::Gpu),
            (on_processor("burn-flex"), DeviceClass::Processor),
            (on_processor("reference"), DeviceClass::Processor),
            (served(DeviceKind::Cpu, "CPU"), DeviceClass::Processor),
            (served(DeviceKind::Discrete, "CUDA"), DeviceClass::Gpu),
            (served(DeviceKind::Cpu, "Vulkan"), DeviceClass::Software),
            (native("llvmpipe (LLVM 19.1.7, 256 bits)", "Mesa"), DeviceClass::Software),
            (native("Microsoft Basic Render Driver", "Microsoft"), DeviceClass::Software),
            (in_browser("google", "swiftshader"), DeviceClass::Software),
            (in_browser("microsoft", "warp"), DeviceClass::Software),
            (in_browser("mesa", "software"), DeviceClass::Software),
            (trained_by(native("My processor", ""), "wgsl", DeviceKind::Cpu, "Vulkan"), DeviceClass::Software),
        ] {
            assert_eq!(class_of(&record), class, "{:?}", record.device.adapter);
            assert_eq!(is_software(&record).is_some(), class == DeviceClass::Software);
        }
    }

    /// Returns a browser's record on this system, with a number of processors and a measured peak.
    fn on(system: &str, processors: u32, (vendor, architecture): (&str, &str), peak: f64) -> RunRecord {
        let mut record = with_peak(in_browser(vendor, architecture), peak);
        record.provenance.client.operating_system = system.to_owned();
        record.provenance.client.logical_processors = Some(processors);
        record
    }

    #[test]
    fn slow_device_is_masked_unless_it_must_be_a_gpu() {
        for (what, record, class) in [
            ("Adreno 610, Chrome", on("Android", 8, ("qualcomm", "adreno-6xx"), 1.0e11), DeviceClass::Gpu),
            ("Mali-G52, Chrome", on("Android", 8, ("arm", "bifrost"), 5.0e10), DeviceClass::Gpu),
            ("PowerVR GE8320, Chrome", on("Android", 8, ("img-tec", "rogue"), 3.0e10), DeviceClass::Gpu),
            ("Intel HD 4000, Chrome", on("Windows", 8, ("intel", "gen-7"), 2.5e11), DeviceClass::Gpu),
            ("Intel HD 520, Edge", on("Windows", 4, ("intel", "gen-9"), 3.0e11), DeviceClass::Gpu),
            ("an iPhone, Safari", on("iOS", 6, ("apple", ""), 4.0e11), DeviceClass::Gpu),
            ("VideoCore VI on a Raspberry Pi", on("Linux", 4, ("broadcom", "v3d"), 2.0e10), DeviceClass::Gpu),
            // No browser on these systems has a software adapter.
            ("Android", on("Android", 8, ("", ""), 5.0e10), DeviceClass::Gpu),
            ("iOS", on("iOS", 8, ("", ""), 5.0e10), DeviceClass::Gpu),
            ("macOS", on("macOS", 8, ("", ""), 5.0e10), DeviceClass::Gpu),
            ("SwiftShader", on("Linux", 8, ("", ""), 8.0e10), DeviceClass::Masked),
            // Measured on two logical processors of one core.
            ("llvmpipe", on("Linux", 2, ("", ""), 1.234e11), DeviceClass::Masked),
            ("WARP", on("Windows", 16, ("", ""), 4.0e11), DeviceClass::Masked),
            ("an unknown maker", on("Linux", 8, ("example", "nine"), 8.0e10), DeviceClass::Masked),
            ("a GPU without measurements", in_browser("", ""), DeviceClass::Masked),
        ] {
            assert_eq!(class_of(&record), class, "{what}");
            assert_eq!(is_software(&record), None, "{what}");
        }
    }

    #[test]
    fn what_is_hidden_and_faster_than_any_program_is_a_gpu() {
        assert_eq!(class_of(&on("Windows", 8, ("", ""), 8.0 * 130e9)), DeviceClass::Gpu);
        assert_eq!(class_of(&on("Windows", 8, ("", ""), 8.0 * 126e9)), DeviceClass::Masked);
        // The training speed counts for a backend that measures no peak.
        let trained = |flops| class_of(&achieving(in_browser("", ""), flops, Precision::F32));
        assert_eq!((trained(2e12), trained(1e11)), (DeviceClass::Gpu, DeviceClass::Masked));
        // The number of processors is hidden, so there may be many.
        let mut record = on("Linux", 1, ("", ""), 1.5e12);
        record.provenance.client.logical_processors = None;
        assert_eq!(class_of(&record), DeviceClass::Masked);
    }
}
