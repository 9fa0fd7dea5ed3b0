//! What kind of thing computed: only GPUs rank among GPUs.

use engine::KNOWN_BACKENDS;
use engine::backends::{BURN_REMOTE, Devices};
use results::software::{perhaps_software, program_of};
use results::{DeviceKind, RunRecord};

/// What computed a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DeviceClass {
    Gpu,
    /// A back end that computes on the processor and says so.
    Processor,
    /// A program on the processor that acts as a GPU. Shown, never ranked.
    Software,
}

impl DeviceClass {
    /// As it is kept and asked for.
    pub fn name(self) -> &'static str {
        match self {
            Self::Gpu => "gpu",
            Self::Processor => "processor",
            Self::Software => "software",
        }
    }
}

/// What computed the run of this record, whatever the record itself says of its adapter.
pub fn class_of(record: &RunRecord) -> DeviceClass {
    match () {
        () if computes_on_processor(record) => DeviceClass::Processor,
        () if is_software(record).is_some() => DeviceClass::Software,
        () => DeviceClass::Gpu,
    }
}

/// Why the adapter is a program that acts as a GPU, as a sentence; nothing where it is a GPU or plainly the processor.
pub fn is_software(record: &RunRecord) -> Option<String> {
    if computes_on_processor(record) {
        return None;
    }
    let adapter = &record.device.adapter;
    if adapter.software {
        return Some("The adapter is a program, as the client says itself.".to_owned());
    }
    if let Some(program) = program_of(adapter) {
        return Some(format!("The adapter is said to be hardware, but its name has `{program}`, which is a program."));
    }
    if adapter.kind == DeviceKind::Cpu {
        return Some("The adapter is said to be hardware, but its kind is `cpu`.".to_owned());
    }
    perhaps_software(record).map(|warning| warning.to_string())
}

/// Whether the back end is one of those that have no device but the processor; one on a device that is served elsewhere
/// says what that is.
fn computes_on_processor(record: &RunRecord) -> bool {
    let device = &record.device;
    if device.backend == BURN_REMOTE {
        return device.adapter.kind == DeviceKind::Cpu && device.adapter.api == "CPU";
    }
    KNOWN_BACKENDS.iter().any(|known| known.name == device.backend && known.devices() == Devices::Given)
}

#[cfg(test)]
mod tests {
    use results::DeviceKind;

    use super::super::testing::{in_browser, native, trained_by, with_peak};
    use super::*;

    #[test]
    fn a_gpu_is_a_gpu_whether_or_not_its_name_is_known() {
        assert_eq!(class_of(&native("NVIDIA GeForce RTX 4090", "NVIDIA")), DeviceClass::Gpu);
        assert_eq!(class_of(&native("Example GPU 9000", "example")), DeviceClass::Gpu);
        assert_eq!(class_of(&in_browser("nvidia", "ampere")), DeviceClass::Gpu);
    }

    #[test]
    fn back_ends_of_the_processor_are_processors_and_no_software_gpus() {
        for backend in ["burn-flex", "reference"] {
            let record = trained_by(native("AMD Ryzen 9 (Burn, all cores)", ""), backend, DeviceKind::Cpu, "CPU");
            assert_eq!(class_of(&record), DeviceClass::Processor, "{backend}");
            assert_eq!(is_software(&record), None);
        }
    }

    #[test]
    fn a_served_device_is_what_it_says() {
        let served = |kind, api| class_of(&trained_by(native("a device", ""), "burn-remote", kind, api));
        assert_eq!(served(DeviceKind::Cpu, "CPU"), DeviceClass::Processor);
        assert_eq!(served(DeviceKind::Discrete, "CUDA"), DeviceClass::Gpu);
        assert_eq!(served(DeviceKind::Cpu, "Vulkan"), DeviceClass::Software);
    }

    #[test]
    fn programs_are_software_however_they_call_themselves() {
        for record in [
            native("llvmpipe (LLVM 19.1.7, 256 bits)", "Mesa"),
            native("Microsoft Basic Render Driver", "Microsoft"),
            in_browser("google", "swiftshader"),
            in_browser("microsoft", "warp"),
            in_browser("mesa", "software"),
            trained_by(native("My processor", ""), "wgsl", DeviceKind::Cpu, "Vulkan"),
        ] {
            assert_eq!(class_of(&record), DeviceClass::Software, "{:?}", record.device.adapter);
        }
    }

    #[test]
    fn a_masked_adapter_as_slow_as_eight_processors_is_software_and_a_faster_one_is_not() {
        let masked = |peak| class_of(&with_peak(in_browser("", ""), peak));
        assert_eq!(masked(8.0 * 15e9), DeviceClass::Software);
        assert_eq!(masked(8.0 * 17e9), DeviceClass::Gpu);
        // Nothing was measured, so nothing can be said.
        assert_eq!(class_of(&in_browser("", "")), DeviceClass::Gpu);
        // A slow GPU that its browser names is a slow GPU.
        assert_eq!(class_of(&with_peak(in_browser("arm", "bifrost"), 5e10)), DeviceClass::Gpu);
    }
}
