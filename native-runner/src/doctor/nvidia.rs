//! NVIDIA's driver, where there is one.

use std::process::Command;
use std::time::Duration;

use serde::Serialize;
use serde_json::json;

use super::child::Ended;
use super::{Chapter, Circumstances, Examination, Finding, child, files};

const PATIENCE: Duration = Duration::from_secs(20);
const PROGRAM: &str = "nvidia-smi";
const FIELDS: &str = "--query-gpu=name,driver_version,memory.total,memory.used,utilization.gpu";
/// Shares of a GPU that others may have without being seen in figures.
const HARMLESS_PERCENT: f64 = 5.0;

pub(super) const EXAMINATION: Examination =
    Examination { chapter: Chapter::Graphics, title: "NVIDIA's driver", examine };

/// A GPU as `nvidia-smi` describes it.
#[derive(Debug, PartialEq, Serialize)]
struct Gpu {
    name: String,
    driver: String,
    memory_mib: Option<f64>,
    used_mib: Option<f64>,
    busy_percent: Option<f64>,
}

fn examine(circumstances: &mut Circumstances<'_>) -> Vec<Finding> {
    let module = files::text(circumstances.file("proc/driver/nvidia/version"));
    let mut findings = Vec::new();
    findings.extend(module.as_ref().map(|text| {
        let version = text.lines().next().unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ");
        Finding::fine("nvidia_module", format!("NVIDIA's kernel module is loaded: {version}."))
    }));
    let mut command = Command::new(PROGRAM);
    command.args([FIELDS, "--format=csv,noheader,nounits"]);
    match child::run(command, PATIENCE) {
        Ended::NotStarted { .. } if module.is_none() => {}
        Ended::NotStarted { .. } => findings.push(Finding::note("nvidia_smi", format!("{PROGRAM} is not installed."))),
        ended => match ended.output() {
            Ok(output) => {
                findings.extend(output.lines().filter_map(read).map(judge));
                findings.extend(versions());
            }
            Err(reason) => findings.push(
                Finding::problem("nvidia_smi", format!("{PROGRAM} does not work: {reason}."))
                    .with_advice("Module and libraries of NVIDIA's driver may have different versions: start the machine again, or install the driver again."),
            ),
        },
    }
    findings
}

/// Those of the libraries, which newer programs tell.
fn versions() -> Option<Finding> {
    let mut command = Command::new(PROGRAM);
    command.arg("--version");
    let output = child::run(command, PATIENCE).output().ok()?;
    let told = in_one_line(&output)?;
    Some(Finding::fine("nvidia_versions", format!("Versions of its libraries: {told}.")))
}

/// Lines such as `NVML version        : 550.54`.
fn in_one_line(output: &str) -> Option<String> {
    let told = output.lines().filter_map(|line| line.split_once(':'));
    let told = told.map(|(name, version)| (name.trim(), version.trim()));
    let libraries = told.filter(|(name, _)| ["NVML version", "CUDA Version"].contains(name));
    let parts: Vec<String> = libraries.map(|(name, version)| format!("{name} {version}")).collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// A line of fields with commas between.
fn read(line: &str) -> Option<Gpu> {
    let fields: Vec<&str> = line.split(',').map(str::trim).collect();
    let [name, driver, memory, used, busy] = fields[..] else { return None };
    let number = |text: &str| text.parse().ok();
    let (memory_mib, used_mib, busy_percent) = (number(memory), number(used), number(busy));
    Some(Gpu { name: name.to_owned(), driver: driver.to_owned(), memory_mib, used_mib, busy_percent })
}

fn judge(gpu: Gpu) -> Finding {
    let memory = gpu.memory_mib.map_or_else(String::new, |mib| format!(", {mib:.0} MiB"));
    let sentence = format!("{PROGRAM}: {}, driver {}{memory}.", gpu.name, gpu.driver);
    let used_percent = gpu.used_mib.zip(gpu.memory_mib).map(|(used, whole)| 100.0 * used / whole);
    let is_shared = [used_percent, gpu.busy_percent].into_iter().flatten().any(|percent| percent > HARMLESS_PERCENT);
    let finding = if is_shared {
        let (used, busy) = (used_percent.unwrap_or(0.0), gpu.busy_percent.unwrap_or(0.0));
        Finding::warning(
            "nvidia_gpu",
            format!("{sentence} Others use it: {used:.0} % of its memory is taken, and it is busy for {busy:.0} % of its time."),
        )
        .with_advice("`nvidia-smi` lists who; figures suffer while they run.")
    } else {
        Finding::fine("nvidia_gpu", sentence)
    };
    finding.with_details(json!(gpu))
}

#[cfg(test)]
mod tests {
    use super::super::Severity;
    use super::*;

    #[test]
    fn versions_of_libraries_are_read_where_they_are_told() {
        let output = "NVIDIA-SMI version  : 550.54.15\nNVML version        : 550.54\nCUDA Version        : 12.4\n";
        assert_eq!(in_one_line(output).as_deref(), Some("NVML version 550.54, CUDA Version 12.4"));
        assert_eq!(in_one_line("Invalid option: --version"), None);
    }

    #[test]
    fn a_gpu_that_others_use_is_warned_of() {
        let severity = |line: &str| read(line).map(|gpu| judge(gpu).severity);
        assert_eq!(severity("NVIDIA H100 80GB HBM3, 550.54.15, 81559, 12, 0"), Some(Severity::Fine));
        assert_eq!(severity("NVIDIA H100 80GB HBM3, 550.54.15, 81559, 40000, 0"), Some(Severity::Warning));
        assert_eq!(severity("NVIDIA H100 80GB HBM3, 550.54.15, 81559, 12, 97"), Some(Severity::Warning));
        // Of a part of a GPU nothing is told.
        assert_eq!(severity("NVIDIA H100 80GB HBM3, 550.54.15, [N/A], [N/A], [N/A]"), Some(Severity::Fine));
        assert_eq!(severity("No devices were found"), None);
    }
}
