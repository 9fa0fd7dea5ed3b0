//! GPUs that are in the machine, whether or not a driver offers them.

use std::fs;
use std::path::Path;

use serde::Serialize;
use serde_json::json;

use super::{Chapter, Circumstances, Examination, Finding, files, system};

pub(super) const EXAMINATION: Examination =
    Examination { chapter: Chapter::Graphics, title: "GPUs on the bus", examine };

/// The class of devices that show something, or compute for those that do, in PCI's numbers.
const DISPLAY_CLASS: u32 = 0x03;
const NVIDIA: u32 = 0x10de;
const AMD: u32 = 0x1002;
const INTEL: u32 = 0x8086;

/// A GPU as PCI lists it.
#[derive(Debug, PartialEq, Eq, Serialize)]
struct Gpu {
    pci_bus_id: String,
    vendor: u32,
    device: u32,
    /// The part of the kernel that drives it.
    kernel_driver: Option<String>,
}

fn examine(circumstances: &mut Circumstances<'_>) -> Vec<Finding> {
    let container = system::container(circumstances);
    let gpus = gpus(&circumstances.file("sys/bus/pci/devices"));
    gpus.iter().map(|gpu| judge(gpu, circumstances.listing.adapters.iter().any(|of| is(gpu, of)), container)).collect()
}

fn is(gpu: &Gpu, details: &engine::backends::wgsl::Details) -> bool {
    let identity = &details.identity;
    (identity.vendor, identity.device) == (gpu.vendor, gpu.device)
        && identity.pci_bus_id.as_ref().is_none_or(|id| id.eq_ignore_ascii_case(&gpu.pci_bus_id))
}

fn gpus(devices: &Path) -> Vec<Gpu> {
    let gpu = |folder: &Path| {
        let number = |file: &str| files::hexadecimal(&files::text(folder.join(file))?);
        if number("class")? >> 16 != DISPLAY_CLASS {
            return None;
        }
        let kernel_driver = fs::read_link(folder.join("driver")).ok().map(|path| files::name(&path));
        let (vendor, device) = (number("vendor")?, number("device")?);
        Some(Gpu { pci_bus_id: files::name(folder), vendor, device, kernel_driver })
    };
    files::entries(devices).iter().filter_map(|folder| gpu(folder)).collect()
}

fn judge(gpu: &Gpu, offered: bool, container: Option<&str>) -> Finding {
    let vendor = match gpu.vendor {
        NVIDIA => "NVIDIA",
        AMD => "AMD",
        INTEL => "Intel",
        _ => "another maker",
    };
    let driver = gpu.kernel_driver.as_deref();
    let driven = driver.map_or_else(|| "no kernel driver".to_owned(), |name| format!("kernel driver {name}"));
    let numbers = format!("{:04x}:{:04x}", gpu.vendor, gpu.device);
    let what = format!("A GPU of {vendor} ({numbers}, {driven}) is at {}", gpu.pci_bus_id);
    let finding = if offered {
        Finding::fine("gpu", format!("{what}, and a driver offers it."))
    } else if let Some(advice) = advice(gpu.vendor, driver, container) {
        Finding::problem("gpu", format!("{what}, and no driver offers it to this program.")).with_advice(advice)
    } else {
        Finding::note("gpu", format!("{what}; it is not one that this program could compute on."))
    };
    finding.with_details(json!({ "gpu": gpu, "offered": offered }))
}

/// What makes a GPU show itself; nothing for screens of servers and of virtual machines, which have no such driver.
fn advice(vendor: u32, driver: Option<&str>, container: Option<&str>) -> Option<String> {
    let of_container = match (vendor, container) {
        (NVIDIA, Some(_)) => {
            " In a container, NVIDIA_DRIVER_CAPABILITIES must name `graphics` (or `all`) beside `compute` and `utility`."
        }
        (_, Some(_)) => " In a container, /dev/dri must be let in (`--device /dev/dri`), and Mesa installed inside.",
        (_, None) => "",
    };
    let text = match (vendor, driver) {
        (_, Some("vfio-pci")) => "It is kept for a virtual machine (vfio-pci): only that can use it.",
        (NVIDIA, Some("nvidia")) => {
            "NVIDIA's driver is loaded, and its Vulkan part is not found: install it (Debian: `nvidia-vulkan-icd`; Ubuntu: \
             `libnvidia-gl-…` of the same version; elsewhere nvidia_icd.json and libGLX_nvidia.so.0)."
        }
        (NVIDIA, _) => {
            "Install NVIDIA's driver (Debian: `nvidia-driver`; Ubuntu: `sudo ubuntu-drivers install`) and start the machine \
             again; nouveau offers Vulkan only with Mesa's NVK."
        }
        (AMD, _) => {
            "Install Mesa's Vulkan driver (Debian, Ubuntu: `mesa-vulkan-drivers`; Fedora: `mesa-vulkan-drivers`; Arch: `vulkan-radeon`)."
        }
        (INTEL, _) => {
            "Install Mesa's Vulkan driver (Debian, Ubuntu: `mesa-vulkan-drivers`; Fedora: `mesa-vulkan-drivers`; Arch: `vulkan-intel`)."
        }
        _ => return None,
    };
    Some(format!("{text}{of_container}"))
}

#[cfg(test)]
mod tests {
    use super::super::Severity;
    use super::*;

    #[test]
    fn only_what_computes_or_shows_is_read_from_the_bus() {
        let tree = tempfile::tempdir().unwrap();
        for (place, class, vendor) in [
            ("0000:00:02.0", "0x030000", "0x8086"),
            ("0000:01:00.0", "0x030200", "0x10de"),
            ("0000:02:00.0", "0x020000", "0x8086"),
        ] {
            let folder = tree.path().join(place);
            fs::create_dir(&folder).unwrap();
            for (file, text) in [("class", class), ("vendor", vendor), ("device", "0x2330\n")] {
                fs::write(folder.join(file), text).unwrap();
            }
        }
        let found = gpus(tree.path());
        let places: Vec<(&str, u32)> = found.iter().map(|gpu| (gpu.pci_bus_id.as_str(), gpu.vendor)).collect();
        assert_eq!(places, [("0000:00:02.0", INTEL), ("0000:01:00.0", NVIDIA)]);
        assert_eq!(gpus(&tree.path().join("nowhere")), []);
    }

    #[test]
    fn a_gpu_that_no_driver_offers_is_a_problem_with_what_to_install() {
        let gpu = |vendor, driver: Option<&str>| Gpu {
            pci_bus_id: "0000:01:00.0".to_owned(),
            vendor,
            device: 1,
            kernel_driver: driver.map(str::to_owned),
        };
        assert_eq!(judge(&gpu(NVIDIA, None), true, None).severity, Severity::Fine);
        let found = judge(&gpu(NVIDIA, Some("nvidia")), false, Some("a Docker container"));
        assert_eq!(found.severity, Severity::Problem);
        assert!(found.advice.is_some_and(|advice| advice.contains("NVIDIA_DRIVER_CAPABILITIES")));
        assert!(
            judge(&gpu(AMD, None), false, None).advice.is_some_and(|advice| advice.contains("mesa-vulkan-drivers"))
        );
        // The screen of a server's management.
        assert_eq!(judge(&gpu(0x1a03, Some("ast")), false, None).severity, Severity::Note);
    }
}
