use std::fs::OpenOptions;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use std::{fs, io};

use engine::BACKENDS;
use engine::backends::wgsl::{Details, Limits};
use serde::Serialize;
use serde_json::{Value, json};

use crate::child::Child;
use crate::device::describe;
use crate::doctor::circumstances::Severity::{Fine, Note, Problem, Warning};
use crate::doctor::circumstances::{Circumstances, Diagnosis, Listing};
use crate::doctor::system;
use crate::figures::mebibytes;
use crate::{machine, system_files};

fn run(command: Command, limit: Duration) -> Result<String, String> {
    Child::start(command).map_err(|error| format!("it could not be started: {error}"))?.output_within(limit)
}

/// Lists adapters in a child process, because drivers crash.
pub(crate) fn list_in_child(limit: Duration) -> Result<Vec<Details>, String> {
    let mut command = machine::this_program().map_err(|error| error.to_string())?;
    command.args(["doctor", "--list-adapters"]);
    serde_json::from_str(&run(command, limit)?).map_err(|error| error.to_string())
}

pub(crate) fn examine_adapters(circumstances: &mut Circumstances<'_>) -> Vec<Diagnosis> {
    let listing = &circumstances.listing;
    let default = listing.used_by_default();
    let all = listing.adapters.iter().enumerate();
    let mut findings: Vec<Diagnosis> =
        all.map(|(index, details)| judge_adapter(index, details, default == Some(index))).collect();
    findings.extend(judge_listing(listing));
    findings.extend(listing.chosen(circumstances.arguments.adapter.as_deref()).err().map(|error| {
        Diagnosis::new(Problem, "adapter_asked_for", format!("{error}.")).with_advice(
            "`--adapter` accepts an index or part of a name from the list above, `discrete`, `integrated` or `cpu`.",
        )
    }));
    findings
}

fn judge_listing(listing: &Listing) -> Option<Diagnosis> {
    let (severity, sentence, advice) = match &listing.trouble {
        Some(trouble) => (
            Problem,
            format!("The drivers failed to list their adapters: {trouble}."),
            "One of the drivers is broken. Set VK_DRIVER_FILES to load and test each driver separately. A newer driver \
             may help.",
        ),
        None if listing.adapters.is_empty() => (
            Problem,
            "No driver provides an adapter.".to_owned(),
            "Install the GPU's driver with Vulkan, Metal or DX12. Without a GPU, Mesa's llvmpipe (Debian, Ubuntu: \
             `mesa-vulkan-drivers`) is a slow replacement: `--adapter cpu`.",
        ),
        None if listing.adapters.iter().all(|details| details.adapter.software) => (
            Warning,
            "All adapters are software adapters, which use the processor.".to_owned(),
            "If this machine has a GPU, its Vulkan driver is missing or this user lacks permission to use it; see the \
             findings below. To run on the software adapter, use `--adapter cpu`.",
        ),
        None => return None,
    };
    Some(Diagnosis::new(severity, "adapter_list", sentence).with_advice(advice))
}

fn judge_adapter(index: usize, details: &Details, default: bool) -> Diagnosis {
    let Details { adapter, features, limits, .. } = details;
    let has = |is_there: bool, what: &str| format!("{}{what}", if is_there { "" } else { "no " });
    let mut facts = vec![format!("{index}: {}", describe(adapter)), has(features.f16, "f16")];
    facts.push(match features.subgroup_lanes {
        0 => "no subgroups".to_owned(),
        lanes => format!("subgroups of {lanes} lanes or more"),
    });
    facts.push(has(features.timestamps, "timestamp queries"));
    facts.push(match features.matrix_side {
        0 => "no cooperative matrices".to_owned(),
        side => format!("cooperative matrices of {side} × {side}"),
    });
    let [buffer, binding] = [limits.buffer_bytes, limits.binding_bytes].map(|bytes| mebibytes(bytes as f64));
    facts.push(format!("buffers of {buffer}, bindings of {binding}"));
    facts.extend(default.then(|| "used by default".to_owned()));
    let sentence = format!("{}.", facts.join(" · "));
    let needed = Limits::needed();
    let limits = [
        ("storage buffers", limits.storage_buffers, needed.storage_buffers),
        ("invocations in a workgroup", limits.workgroup_invocations, needed.workgroup_invocations),
        ("bytes of workgroup memory", limits.workgroup_memory_bytes, needed.workgroup_memory_bytes),
    ];
    let lacking = limits.into_iter().filter(|(_, has, needs)| has < needs);
    let too_small: Vec<String> = lacking.map(|(what, has, needs)| format!("{has} {what} of {needs}")).collect();
    let finding = if !too_small.is_empty() {
        let below = format!(
            "{sentence} It is below the minimum limits of WebGPU, even in compatibility mode: {}.",
            too_small.join(", ")
        );
        Diagnosis::new(Problem, "adapter", below)
            .with_advice("This program cannot open it; a newer driver may have higher limits.")
    } else if adapter.software {
        let software = "Software adapter: used only with `--adapter cpu`, never ranked.";
        Diagnosis::new(Note, "adapter", format!("{sentence} {software}"))
    } else {
        Diagnosis::new(Fine, "adapter", sentence)
    };
    finding.with_details(json!({ "index": index, "default": default, "adapter": details }))
}

const DISPLAY_CLASS: u32 = 0x03;
const NVIDIA: u32 = 0x10de;
const AMD: u32 = 0x1002;
const INTEL: u32 = 0x8086;

#[derive(Debug, PartialEq, Eq, Serialize)]
struct PciGpu {
    pci_bus_id: String,
    vendor: u32,
    device: u32,
    kernel_driver: Option<String>,
}

pub(crate) fn examine_gpus(circumstances: &mut Circumstances<'_>) -> Vec<Diagnosis> {
    let container = system::container(circumstances);
    let is_offered = |gpu: &PciGpu| {
        circumstances.listing.adapters.iter().any(|Details { identity, .. }| {
            (identity.vendor, identity.device) == (gpu.vendor, gpu.device)
                && identity.pci_bus_id.as_ref().is_none_or(|id| id.eq_ignore_ascii_case(&gpu.pci_bus_id))
        })
    };
    let gpus = read_pci_gpus(&circumstances.file("sys/bus/pci/devices"));
    gpus.iter().map(|gpu| judge_gpu(gpu, is_offered(gpu), container)).collect()
}

fn read_pci_gpus(devices: &Path) -> Vec<PciGpu> {
    let gpu = |folder: &Path| {
        let number = |file: &str| system_files::parse_hexadecimal(&system_files::read_text(folder.join(file))?);
        if number("class")? >> 16 != DISPLAY_CLASS {
            return None;
        }
        let kernel_driver = fs::read_link(folder.join("driver")).ok().map(|path| system_files::file_name(&path));
        let (vendor, device) = (number("vendor")?, number("device")?);
        Some(PciGpu { pci_bus_id: system_files::file_name(folder), vendor, device, kernel_driver })
    };
    system_files::list_folder(devices).iter().filter_map(|folder| gpu(folder)).collect()
}

fn judge_gpu(gpu: &PciGpu, offered: bool, container: Option<&str>) -> Diagnosis {
    let vendor = match gpu.vendor {
        NVIDIA => "NVIDIA",
        AMD => "AMD",
        INTEL => "Intel",
        _ => "another vendor",
    };
    let driver = gpu.kernel_driver.as_deref();
    let driven = driver.map_or_else(|| "no kernel driver".to_owned(), |name| format!("kernel driver {name}"));
    let numbers = format!("{:04x}:{:04x}", gpu.vendor, gpu.device);
    let what = format!("A GPU of {vendor} ({numbers}, {driven}) is at {}", gpu.pci_bus_id);
    let finding = if offered {
        Diagnosis::new(Fine, "gpu", format!("{what}, and a driver provides it."))
    } else if let Some(advice) = driver_advice(gpu.vendor, driver, container) {
        Diagnosis::new(Problem, "gpu", format!("{what}, but no driver provides it.")).with_advice(advice)
    } else {
        Diagnosis::new(Note, "gpu", format!("{what}; this program does not support it."))
    };
    finding.with_details(json!({ "gpu": gpu, "offered": offered }))
}

/// Returns advice to make a GPU available; `None` for displays of server management and virtual machines.
fn driver_advice(vendor: u32, driver: Option<&str>, container: Option<&str>) -> Option<String> {
    let of_container = match (vendor, container) {
        (NVIDIA, Some(_)) => {
            " In a container, NVIDIA_DRIVER_CAPABILITIES must include `graphics` (or `all`) in addition to `compute` \
             and `utility`."
        }
        (_, Some(_)) => " In a container, pass /dev/dri through (`--device /dev/dri`) and install Mesa inside.",
        (_, None) => "",
    };
    let text = match (vendor, driver) {
        (_, Some("vfio-pci")) => "It is reserved for a virtual machine (vfio-pci).",
        (NVIDIA, Some("nvidia")) => {
            "NVIDIA's driver is loaded, but its Vulkan driver was not found; install it (Debian: `nvidia-vulkan-icd`; \
             Ubuntu: `libnvidia-gl-…` of the same version; elsewhere nvidia_icd.json and libGLX_nvidia.so.0)."
        }
        (NVIDIA, _) => {
            "Install NVIDIA's driver (Debian: `nvidia-driver`; Ubuntu: `sudo ubuntu-drivers install`) and restart the \
             machine; nouveau supports Vulkan only with Mesa's NVK."
        }
        (AMD | INTEL, _) => {
            "Install Mesa's Vulkan driver (Debian, Ubuntu, Fedora: `mesa-vulkan-drivers`; Arch: `vulkan-radeon` or \
             `vulkan-intel`)."
        }
        _ => return None,
    };
    Some(format!("{text}{of_container}"))
}

const LOADER: &str = "libvulkan.so.1";
/// Variables that select drivers; the second is the older name of the first.
const DRIVER_VARIABLES: [&str; 2] = ["VK_DRIVER_FILES", "VK_ICD_FILENAMES"];
/// Other variables that affect the available devices.
const OTHER_VARIABLES: [&str; 8] = [
    "VK_ADD_DRIVER_FILES",
    "VK_LOADER_DRIVERS_SELECT",
    "VK_LOADER_DRIVERS_DISABLE",
    "MESA_VK_DEVICE_SELECT",
    "LIBGL_ALWAYS_SOFTWARE",
    "CUDA_VISIBLE_DEVICES",
    "HIP_VISIBLE_DEVICES",
    "NVIDIA_DRIVER_CAPABILITIES",
];
const FOLDERS: [&str; 4] =
    ["etc/vulkan/icd.d", "usr/local/etc/vulkan/icd.d", "usr/local/share/vulkan/icd.d", "usr/share/vulkan/icd.d"];

pub(crate) fn examine_vulkan(circumstances: &mut Circumstances<'_>) -> Vec<Diagnosis> {
    if !cfg!(target_os = "linux") {
        return Vec::new();
    }
    let variables = examine_variables(circumstances);
    [vec![examine_loader(circumstances)], variables, vec![examine_drivers(circumstances)]].concat()
}

fn examine_loader(circumstances: &Circumstances<'_>) -> Diagnosis {
    match circumstances.find_library(LOADER) {
        Some(path) => Diagnosis::new(Fine, "vulkan_loader", format!("The Vulkan loader is {}.", path.display()))
            .with_details(json!({ "path": path })),
        // Other systems use other folders, and a listed adapter proves that a loader was found.
        None if circumstances.listing.adapters.is_empty() => {
            let advice =
                "Install it (Debian, Ubuntu: `libvulkan1`; Fedora: `vulkan-loader`; Arch: `vulkan-icd-loader`).";
            let sentence = format!("The Vulkan loader, {LOADER}, is not in the usual folders.");
            Diagnosis::new(Problem, "vulkan_loader", sentence).with_advice(advice)
        }
        None => Diagnosis::new(Note, "vulkan_loader", format!("{LOADER} is in an unknown folder.")),
    }
}

fn examine_variables(circumstances: &Circumstances<'_>) -> Vec<Diagnosis> {
    let set = |name: &&'static str| circumstances.variable(name).map(|value| (*name, value));
    let mut findings = Vec::new();
    if let Some((name, value)) = DRIVER_VARIABLES.iter().find_map(set) {
        let missing: Vec<&str> = value.split(':').filter(|path| !Path::new(path).exists()).collect();
        let details = json!({ "variable": name, "value": value, "missing": missing });
        let finding = if missing.is_empty() {
            Diagnosis::new(Note, "vulkan_driver_files", format!("{name} restricts Vulkan to {value}."))
                .with_advice(format!("Run `env -u {name} native-runner doctor` to check without it."))
        } else {
            let sentence = format!("{name} names missing drivers: {}.", missing.join(", "));
            Diagnosis::new(Problem, "vulkan_driver_files", sentence)
                .with_advice(format!("Correct {name}, or `unset {name}`."))
        };
        findings.push(finding.with_details(details));
    }
    let others: Vec<String> =
        OTHER_VARIABLES.iter().filter_map(set).map(|(name, value)| format!("{name}={value}")).collect();
    if !others.is_empty() {
        let sentence = format!("Environment variables that affect the available devices: {}.", others.join(", "));
        findings.push(Diagnosis::new(Note, "variables", sentence).with_details(json!({ "variables": others })));
    }
    findings
}

fn examine_drivers(circumstances: &Circumstances<'_>) -> Diagnosis {
    let own = [
        circumstances.variable("XDG_DATA_HOME").map(PathBuf::from),
        circumstances.variable("HOME").map(|home| Path::new(&home).join(".local/share")),
    ];
    let own = own.into_iter().flatten().map(|folder| folder.join("vulkan/icd.d"));
    let folders = FOLDERS.iter().map(|folder| circumstances.file(folder)).chain(own);
    let manifests =
        folders.flat_map(system_files::list_folder).filter(|path| path.extension().is_some_and(|end| end == "json"));
    let mut found = Vec::new();
    let mut broken = Vec::new();
    for path in manifests {
        match driver_trouble(circumstances, &path) {
            None => found.push(path.display().to_string()),
            Some(trouble) => broken.push(format!("{} ({trouble})", path.display())),
        }
    }
    let details = json!({ "files": found, "broken": broken });
    let finding = if !broken.is_empty() {
        let sentence = format!("Vulkan drivers that cannot be loaded: {}.", broken.join(", "));
        Diagnosis::new(Warning, "vulkan_drivers", sentence)
            .with_advice("Reinstall the driver, or remove its remaining files.")
    } else if found.is_empty() {
        Diagnosis::new(Problem, "vulkan_drivers", "No Vulkan driver is installed in the usual folders.")
            .with_advice("Install the GPU's driver, or Mesa's (Debian, Ubuntu: `mesa-vulkan-drivers`).")
    } else {
        Diagnosis::new(Fine, "vulkan_drivers", format!("Vulkan drivers: {}.", found.join(", ")))
    };
    finding.with_details(details)
}

/// Returns the reason why a driver cannot be loaded. Only a library with a path is checked; the system finds others.
fn driver_trouble(circumstances: &Circumstances<'_>, manifest: &Path) -> Option<String> {
    let Some(text) = system_files::read_text(manifest) else { return Some("it cannot be read".to_owned()) };
    let manifest_json: Value = serde_json::from_str(&text).unwrap_or_default();
    let Some(library) = manifest_json["ICD"]["library_path"].as_str().map(PathBuf::from) else {
        return Some("it is not a driver file".to_owned());
    };
    if library.components().count() == 1 {
        return None;
    }
    // A path without a leading slash is relative to the file.
    let path = match library.strip_prefix("/") {
        Ok(inside) => circumstances.file(inside),
        Err(_) => manifest.parent()?.join(&library),
    };
    (!path.exists()).then(|| format!("{} is missing", library.display()))
}

pub(crate) fn examine_render_nodes(circumstances: &mut Circumstances<'_>) -> Vec<Diagnosis> {
    if !cfg!(target_os = "linux") {
        return Vec::new();
    }
    let nodes = find_render_nodes(circumstances);
    if nodes.is_empty() {
        // Without a GPU nothing is missing; `gpus` reports GPUs without a driver.
        let advice = "This is normal without a GPU. In a container, pass it through with `--device /dev/dri`.";
        return vec![Diagnosis::new(Note, "render_nodes", "/dev/dri has no render node.").with_advice(advice)];
    }
    let judge = |node: &PathBuf| {
        let path = format!("/{}", node.strip_prefix(&circumstances.root).unwrap_or(node).display());
        let opened = OpenOptions::new().read(true).write(true).open(node).map(drop);
        judge_render_node(&path, opened, owning_group(circumstances, node))
    };
    nodes.iter().map(judge).collect()
}

fn find_render_nodes(circumstances: &Circumstances<'_>) -> Vec<PathBuf> {
    let render = system_files::list_folder(circumstances.file("dev/dri"))
        .into_iter()
        .filter(|path| system_files::file_name(path).starts_with("renderD"));
    let is_nvidia = |path: &PathBuf| {
        system_files::file_name(path)
            .strip_prefix("nvidia")
            .is_some_and(|rest| rest == "ctl" || rest.parse::<u32>().is_ok())
    };
    render.chain(system_files::list_folder(circumstances.file("dev")).into_iter().filter(is_nvidia)).collect()
}

fn owning_group(circumstances: &Circumstances<'_>, node: &Path) -> Option<String> {
    #[cfg(unix)]
    {
        let id = std::os::unix::fs::MetadataExt::gid(&fs::metadata(node).ok()?).to_string();
        let groups = system_files::read_text(circumstances.file("etc/group"))?;
        let mut groups = groups.lines().map(|line| line.split(':').collect::<Vec<_>>());
        let group = groups.find(|fields| fields.get(2) == Some(&id.as_str()));
        Some(group.map_or(id, |fields| fields[0].to_owned()))
    }
    #[cfg(not(unix))]
    {
        let _ = (circumstances, fs::metadata(node));
        None
    }
}

fn judge_render_node(node: &str, opened: io::Result<()>, group: Option<String>) -> Diagnosis {
    let details = json!({ "path": node, "opens": opened.is_ok(), "group": group });
    let finding = match opened {
        Ok(()) => Diagnosis::new(Fine, "render_node", format!("{node} can be opened.")),
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            let group = group.unwrap_or_else(|| "render".to_owned());
            let sentence = format!("{node} can only be opened by the group {group}, which this user is not in.");
            Diagnosis::new(Problem, "render_node", sentence)
                .with_advice(format!("Run `sudo usermod -aG {group} \"$USER\"`, then log out and in again."))
        }
        Err(error) => Diagnosis::new(Problem, "render_node", format!("{node} cannot be opened: {error}."))
            .with_advice("The kernel's driver may have failed; see `sudo dmesg`."),
    };
    finding.with_details(details)
}

const NVIDIA_SMI_TIMEOUT: Duration = Duration::from_secs(20);
const NVIDIA_SMI: &str = "nvidia-smi";
const FIELDS: &str = "--query-gpu=name,driver_version,memory.total,memory.used,utilization.gpu";
/// Largest use of a GPU by other programs, in percent, that does not affect results.
const MAX_HARMLESS_PERCENT: f64 = 5.0;

pub(crate) fn examine_nvidia(circumstances: &mut Circumstances<'_>) -> Vec<Diagnosis> {
    let module = system_files::read_text(circumstances.file("proc/driver/nvidia/version"));
    let mut findings = Vec::new();
    findings.extend(module.as_ref().map(|text| {
        let version = text.lines().next().unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ");
        Diagnosis::new(Fine, "nvidia_module", format!("NVIDIA's kernel module is loaded: {version}."))
    }));
    let mut command = Command::new(NVIDIA_SMI);
    command.args([FIELDS, "--format=csv,noheader,nounits"]);
    match Child::start(command) {
        Err(_) if module.is_none() => {}
        Err(_) => findings.push(Diagnosis::new(Note, "nvidia_smi", format!("{NVIDIA_SMI} is not installed."))),
        Ok(child) => match child.output_within(NVIDIA_SMI_TIMEOUT) {
            Ok(output) => {
                findings.extend(output.lines().filter_map(judge_nvidia_gpu));
                let mut command = Command::new(NVIDIA_SMI);
                command.arg("--version");
                let versions = run(command, NVIDIA_SMI_TIMEOUT).ok().and_then(|output| join_lines(&output));
                let sentence = versions.map(|versions| format!("Versions of its libraries: {versions}."));
                findings.extend(sentence.map(|sentence| Diagnosis::new(Fine, "nvidia_versions", sentence)));
            }
            Err(reason) => {
                let advice = "Module and libraries of NVIDIA's driver may have different versions; restart the \
                              machine, or reinstall the driver.";
                let sentence = format!("{NVIDIA_SMI} does not work: {reason}.");
                findings.push(Diagnosis::new(Problem, "nvidia_smi", sentence).with_advice(advice));
            }
        },
    }
    findings
}

/// Parses lines such as `NVML version        : 550.54`.
fn join_lines(output: &str) -> Option<String> {
    let versions = output.lines().filter_map(|line| line.split_once(':'));
    let versions = versions.map(|(name, version)| (name.trim(), version.trim()));
    let libraries = versions.filter(|(name, _)| ["NVML version", "CUDA Version"].contains(name));
    let parts: Vec<String> = libraries.map(|(name, version)| format!("{name} {version}")).collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

fn judge_nvidia_gpu(line: &str) -> Option<Diagnosis> {
    let fields: Vec<&str> = line.split(',').map(str::trim).collect();
    let [name, driver, memory, used, busy] = fields[..] else { return None };
    let [memory_mib, used_mib, busy_percent] = [memory, used, busy].map(|text| text.parse::<f64>().ok());
    let memory = memory_mib.map_or_else(String::new, |mib| format!(", {mib:.0} MiB"));
    let sentence = format!("{NVIDIA_SMI}: {name}, driver {driver}{memory}.");
    let used_percent = used_mib.zip(memory_mib).map(|(used, whole)| 100.0 * used / whole);
    let is_shared = [used_percent, busy_percent].into_iter().flatten().any(|percent| percent > MAX_HARMLESS_PERCENT);
    let shared = format!(
        "Other programs use it: {:.0} % of its memory is used, and it is busy {:.0} % of the time.",
        used_percent.unwrap_or(0.0),
        busy_percent.unwrap_or(0.0)
    );
    let advice = "`nvidia-smi` lists these programs; end them, because they reduce the measured speed.";
    let finding = Diagnosis::new(Fine, "nvidia_gpu", sentence).raised_if(is_shared, Warning, &shared, advice);
    Some(finding.with_details(json!({
        "name": name, "driver": driver, "memory_mib": memory_mib, "used_mib": used_mib, "busy_percent": busy_percent,
    })))
}

/// Libraries that a backend loads, each under any of its names.
struct Platform {
    backend: &'static str,
    name: &'static str,
    finding: &'static str,
    libraries: [&'static [&'static str]; 2],
    advice: &'static str,
}

const PLATFORMS: [Platform; 2] = [
    Platform {
        backend: "burn-cuda",
        name: "CUDA",
        finding: "cuda_libraries",
        libraries: [
            &["libcuda.so.1", "libcuda.so"],
            &["libnvrtc.so", "libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2"],
        ],
        advice: "libcuda comes with NVIDIA's driver, libnvrtc with the CUDA toolkit; LD_LIBRARY_PATH may name its folder, \
                 such as /usr/local/cuda/lib64.",
    },
    Platform {
        backend: "burn-rocm",
        name: "ROCm",
        finding: "rocm_libraries",
        libraries: [
            &["libamdhip64.so", "libamdhip64.so.7", "libamdhip64.so.6"],
            &["libhiprtc.so", "libhiprtc.so.7", "libhiprtc.so.6"],
        ],
        advice: "They come with AMD's ROCm; LD_LIBRARY_PATH may name their folder, such as /opt/rocm/lib.",
    },
];

pub(crate) fn examine_platforms(circumstances: &mut Circumstances<'_>) -> Vec<Diagnosis> {
    if !cfg!(target_os = "linux") {
        return Vec::new();
    }
    let is_built = |platform: &&Platform| BACKENDS.iter().any(|backend| backend.name == platform.backend);
    PLATFORMS.iter().filter(is_built).map(|platform| judge_platform(platform, circumstances)).collect()
}

fn judge_platform(platform: &Platform, circumstances: &Circumstances<'_>) -> Diagnosis {
    let Platform { name, finding, libraries, advice, .. } = *platform;
    let (mut found, mut missing) = (Vec::new(), Vec::new());
    for names in libraries {
        match names.iter().find_map(|name| circumstances.find_library(name)) {
            Some(path) => found.push(path.display().to_string()),
            None => missing.push(names[0]),
        }
    }
    let details = json!({ "found": found, "missing": missing });
    let finding = if missing.is_empty() {
        Diagnosis::new(Fine, finding, format!("Libraries of {name}: {}.", found.join(", ")))
    } else {
        // The loader may search other folders; the trace of the backend shows whether it does.
        let sentence = format!("{} of {name} is not in the usual folders.", missing.join(", "));
        Diagnosis::new(Warning, finding, sentence).with_advice(advice)
    };
    finding.with_details(details)
}

#[cfg(test)]
mod tests {
    use engine::backends::wgsl::{Features, Identity};
    use results::{Adapter, DeviceKind};

    use super::*;
    use crate::doctor::circumstances::{DoctorArgs, Severity};

    fn listing(adapters: &[(&str, bool)]) -> Listing {
        Listing { adapters: adapters.iter().map(|&(name, software)| details(name, software)).collect(), trouble: None }
    }

    fn details(name: &str, software: bool) -> Details {
        let kind = if software { DeviceKind::Cpu } else { DeviceKind::Discrete };
        Details {
            adapter: Adapter { name: name.to_owned(), kind, software, ..Adapter::default() },
            identity: Identity { vendor: 0x10de, device: 0x2330, pci_bus_id: None },
            features: Features { f16: true, subgroup_lanes: 32, timestamps: true, matrix_side: 0 },
            limits: Limits::needed(),
        }
    }

    fn severities(findings: &[Diagnosis]) -> Vec<(&'static str, Severity)> {
        findings.iter().map(|finding| (finding.name, finding.severity)).collect()
    }

    fn write(root: &Path, files: &[(&str, &str)]) {
        for (path, text) in files {
            let path = root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
    }

    #[test]
    fn listing_without_a_gpu_names_what_is_missing() {
        let trouble = Some("it crashed".to_owned());
        for (listing, expected) in [
            (listing(&[("H100", false), ("llvmpipe", true)]), None),
            (listing(&[("llvmpipe", true)]), Some((Warning, "use the processor."))),
            (Listing::default(), Some((Problem, "No driver provides an adapter."))),
            (Listing { trouble, ..Listing::default() }, Some((Problem, "their adapters: it crashed."))),
        ] {
            let found = judge_listing(&listing);
            assert_eq!(found.as_ref().map(|found| found.severity), expected.map(|(severity, _)| severity));
            let sentence = found.map(|found| found.sentence).unwrap_or_default();
            assert!(sentence.ends_with(expected.map_or("", |(_, part)| part)), "{sentence}");
        }
    }

    #[test]
    fn adapter_below_the_limits_names_the_limit() {
        let mut small = details("Tiny", false);
        assert_eq!(judge_adapter(0, &small, true).severity, Fine);
        small.limits.storage_buffers = 4;
        let found = judge_adapter(0, &small, true);
        assert!(found.severity == Problem && found.sentence.contains("4 storage buffers of 8"), "{found:?}");
        assert_eq!(judge_adapter(1, &details("llvmpipe", true), false).severity, Note);
    }

    #[test]
    fn checks_all_adapters_unless_one_is_requested() {
        let listing = listing(&[("llvmpipe", true), ("H100", false)]);
        for (asked, chosen) in [(None, &[0, 1][..]), (Some("h1"), &[1]), (Some("cpu"), &[0])] {
            assert_eq!(listing.chosen(asked).unwrap(), chosen, "{asked:?}");
        }
        assert!(listing.chosen(Some("radeon")).is_err());
        assert_eq!(listing.used_by_default(), Some(1));
    }

    #[test]
    fn reads_only_gpus_from_the_bus() {
        let tree = tempfile::tempdir().unwrap();
        for (place, class, vendor) in [
            ("0000:00:02.0", "0x030000", "0x8086"),
            ("0000:01:00.0", "0x030200", "0x10de"),
            ("0000:02:00.0", "0x020000", "0x8086"),
        ] {
            let files = [("class", class), ("vendor", vendor), ("device", "0x2330\n")];
            write(&tree.path().join(place), &files);
        }
        let found = read_pci_gpus(tree.path());
        let places: Vec<(&str, u32)> = found.iter().map(|gpu| (gpu.pci_bus_id.as_str(), gpu.vendor)).collect();
        assert_eq!(places, [("0000:00:02.0", INTEL), ("0000:01:00.0", NVIDIA)]);
        assert_eq!(read_pci_gpus(&tree.path().join("nowhere")), []);
    }

    #[test]
    fn gpu_without_a_driver_is_a_problem_with_advice() {
        for (vendor, driver, offered, container, severity, advice) in [
            (NVIDIA, None, true, None, Fine, ""),
            (NVIDIA, Some("nvidia"), false, Some("a Docker container"), Problem, "NVIDIA_DRIVER_CAPABILITIES"),
            (AMD, None, false, None, Problem, "mesa-vulkan-drivers"),
            // Display of a server's management controller.
            (0x1a03, Some("ast"), false, None, Note, ""),
        ] {
            let (pci_bus_id, kernel_driver) = ("0000:01:00.0".to_owned(), driver.map(str::to_owned));
            let found = judge_gpu(&PciGpu { pci_bus_id, vendor, device: 1, kernel_driver }, offered, container);
            assert_eq!(found.severity, severity, "{found:?}");
            assert!(found.advice.as_deref().unwrap_or_default().contains(advice), "{found:?}");
        }
    }

    #[test]
    fn forbidden_render_node_names_the_group_to_join() {
        let denied = Err(io::ErrorKind::PermissionDenied.into());
        let denied = judge_render_node("/dev/dri/renderD128", denied, Some("video".to_owned()));
        assert_eq!(denied.severity, Problem);
        assert!(denied.advice.is_some_and(|advice| advice.starts_with("Run `sudo usermod -aG video ")));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn render_nodes_are_found_and_other_files_are_not() {
        let root = tempfile::tempdir().unwrap();
        let arguments = DoctorArgs::default();
        let found = || examine_render_nodes(&mut Circumstances::of_a_test(&arguments, root.path()));
        assert_eq!(severities(&found()), [("render_nodes", Note)]);
        write(
            root.path(),
            &["dev/dri/renderD128", "dev/dri/card0", "dev/nvidia0", "dev/nvidia-uvm"].map(|at| (at, "")),
        );
        let sentences: Vec<String> = found().into_iter().map(|finding| finding.sentence).collect();
        assert_eq!(sentences, ["/dev/dri/renderD128 can be opened.", "/dev/nvidia0 can be opened."]);
    }

    #[test]
    fn reads_library_versions_of_nvidia_smi() {
        let output = "NVIDIA-SMI version  : 550.54.15\nNVML version        : 550.54\nCUDA Version        : 12.4\n";
        assert_eq!(join_lines(output).as_deref(), Some("NVML version 550.54, CUDA Version 12.4"));
        assert_eq!(join_lines("Invalid option: --version"), None);
    }

    #[test]
    fn gpu_that_others_use_is_a_warning() {
        for (used, severity) in [
            ("81559, 12, 0", Fine),
            ("81559, 40000, 0", Warning),
            ("81559, 12, 97", Warning),
            // A partition of a GPU reports nothing.
            ("[N/A], [N/A], [N/A]", Fine),
        ] {
            let found = judge_nvidia_gpu(&format!("NVIDIA H100 80GB HBM3, 550.54.15, {used}")).unwrap();
            assert_eq!(found.severity, severity, "{used}");
        }
        assert_eq!(judge_nvidia_gpu("No devices were found"), None);
    }

    #[test]
    fn libraries_are_found_under_any_of_their_names() {
        let root = tempfile::tempdir().unwrap();
        let arguments = DoctorArgs::default();
        let circumstances = Circumstances::of_a_test(&arguments, root.path());
        let found = judge_platform(&PLATFORMS[0], &circumstances);
        assert_eq!(found.severity, Warning);
        assert!(found.sentence.starts_with("libcuda.so.1, libnvrtc.so of CUDA"), "{}", found.sentence);
        write(root.path(), &["usr/lib64/libcuda.so", "usr/lib64/libnvrtc.so.12"].map(|path| (path, "")));
        assert_eq!(judge_platform(&PLATFORMS[0], &circumstances).severity, Fine);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn vulkan_needs_a_loader_and_drivers_with_their_libraries() {
        let root = tempfile::tempdir().unwrap();
        let driver = |name: &str, library: &str| {
            let text = json!({ "file_format_version": "1.0.0", "ICD": { "library_path": library } });
            write(root.path(), &[(format!("usr/share/vulkan/icd.d/{name}").as_str(), text.to_string().as_str())]);
        };
        let arguments = DoctorArgs::default();
        let found = || examine_vulkan(&mut Circumstances::of_a_test(&arguments, root.path()));
        let all = |severity| [("vulkan_loader", severity), ("vulkan_drivers", severity)];
        assert_eq!(severities(&found()), all(Problem));
        write(root.path(), &[("usr/lib/libvulkan.so.1", "")]);
        driver("lvp.json", "libvulkan_lvp.so");
        assert_eq!(severities(&found()), all(Fine));
        driver("gone.json", "/opt/gone/libgone.so");
        let drivers = &found()[1];
        assert_eq!(drivers.severity, Warning);
        assert!(drivers.sentence.contains("gone.json (/opt/gone/libgone.so is missing)"), "{drivers:?}");
        write(root.path(), &[("opt/gone/libgone.so", "")]);
        assert_eq!(severities(&found()), all(Fine));
    }
}
