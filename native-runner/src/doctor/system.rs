use std::collections::BTreeSet;
use std::time::Duration;
use std::{fs, thread};

use engine::backends::KNOWN_BACKENDS;
use engine::{BACKENDS, BackendDefinition};
use serde_json::json;
use sysinfo::System;

use crate::doctor::circumstances::Severity::{Fine, Note, Warning};
use crate::doctor::circumstances::{Circumstances, Diagnosis};
use crate::figures::mebibytes;
use crate::machine::{Battery, operating_system};
use crate::meter::{HostMemory, processor_packages};
use crate::{machine, system_files};

pub(crate) fn examine_program(_: &mut Circumstances<'_>) -> Vec<Diagnosis> {
    let missing: Vec<&BackendDefinition> =
        KNOWN_BACKENDS.iter().filter(|known| BACKENDS.iter().all(|built| built.name != known.name)).collect();
    let names: Vec<&str> = BACKENDS.iter().map(|backend| backend.name).collect();
    let built = Diagnosis::new(Fine, "backends", format!("Backends: {}.", names.join(", ")));
    let mut findings = vec![judge_build(cfg!(debug_assertions)), built.with_details(json!({ "built": names }))];
    findings.extend(list_missing_backends(&missing));
    if BACKENDS.iter().any(|built| built.name == "burn-wgpu") && !cfg!(feature = "burn-tuned") {
        let sentence = "burn-wgpu is built without fusion and autotune, which Burn enables by default.";
        findings.push(Diagnosis::new(Note, "burn_untuned", sentence).with_advice(
            "For a hardware GPU, build with `--features burn-wgpu,burn-tuned`, which refuses software adapters.",
        ));
    }
    findings
}

fn judge_build(unoptimised: bool) -> Diagnosis {
    let (version, commit) = (env!("CARGO_PKG_VERSION"), env!("GRADMARK_COMMIT"));
    let (system, architecture) = (operating_system(), std::env::consts::ARCH);
    let details = json!({
        "version": version, "commit": commit, "operating_system": system, "architecture": architecture,
        "optimised": !unoptimised,
    });
    let sentence = format!("native-runner {version}, commit {commit}, for {system} on {architecture}.");
    let slow = "It was built without optimization, so all work on the processor is slow.";
    Diagnosis::new(Fine, "version", sentence)
        .raised_if(unoptimised, Warning, slow, "Build with `cargo build --release`.")
        .with_details(details)
}

fn list_missing_backends(missing: &[&BackendDefinition]) -> Option<Diagnosis> {
    let names: Vec<&str> = missing.iter().map(|backend| backend.name).collect();
    let features: Vec<&str> = missing.iter().filter_map(|backend| backend.feature()).collect();
    let example = features.first()?;
    let advice = format!(
        "Each is a cargo feature of the same name: `cargo run --release -p native-runner --features {example} -- …` in \
         a checkout. `native-runner backends` describes them."
    );
    let finding = Diagnosis::new(Note, "backends_not_built", format!("Not in this program: {}.", names.join(", ")));
    Some(finding.with_advice(advice).with_details(json!({ "not_built": names, "cargo_features": features })))
}

pub(crate) fn examine_system(circumstances: &mut Circumstances<'_>) -> Vec<Diagnosis> {
    let name = System::long_os_version().unwrap_or_else(|_| operating_system().to_owned());
    let kernel = System::kernel_version().ok();
    let container = container(circumstances);
    let parts = [
        Some(name.clone()),
        kernel.as_ref().map(|kernel| format!("kernel {kernel}")),
        container.map(|container| format!("in {container}")),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    let details = json!({ "name": name, "kernel": kernel, "container": container });
    vec![Diagnosis::new(Fine, "operating_system", format!("{}.", parts.join(", "))).with_details(details)]
}

/// Returns the container that this process runs in. Containers need drivers to be passed through.
pub(crate) fn container(circumstances: &Circumstances<'_>) -> Option<&'static str> {
    let release = system_files::read_text(circumstances.file("proc/sys/kernel/osrelease"));
    let containers = [
        ("a Docker container", circumstances.file(".dockerenv").exists()),
        ("a Podman container", circumstances.file("run/.containerenv").exists()),
        ("a Kubernetes pod", circumstances.variable("KUBERNETES_SERVICE_HOST").is_some()),
        ("the Windows Subsystem for Linux", release.is_some_and(|text| text.contains("WSL"))),
    ];
    containers.into_iter().find(|(_, is_this)| *is_this).map(|(name, _)| name)
}

pub(crate) fn examine_processor(circumstances: &mut Circumstances<'_>) -> Vec<Diagnosis> {
    let name = machine::name();
    let usable = thread::available_parallelism().ok().map(std::num::NonZero::get);
    let cores = System::physical_core_count().ok();
    let shown = name.clone().unwrap_or_else(|| format!("An unnamed {} processor", std::env::consts::ARCH));
    let cores_shown = cores.map(|cores| format!(", {cores} cores"));
    let usable_shown = usable.map(|threads| format!(", {threads} threads for this program"));
    let sentence = format!("{shown}{}{}.", cores_shown.unwrap_or_default(), usable_shown.unwrap_or_default());
    let details = json!({ "name": name, "physical_cores": cores, "usable_threads": usable });
    let folders = system_files::list_folder(circumstances.file("sys/devices/system/cpu"));
    let read = |file: &str| -> BTreeSet<String> {
        folders.iter().filter_map(|core| system_files::read_text(core.join("cpufreq").join(file))).collect()
    };
    let governor = judge_governor(&read("scaling_governor"), &read("scaling_driver"));
    [Diagnosis::new(Fine, "processor", sentence).with_details(details)].into_iter().chain(governor).collect()
}

/// Judges the frequency governor; `None` if the system does not report it, as in most virtual machines.
fn judge_governor(governors: &BTreeSet<String>, drivers: &BTreeSet<String>) -> Option<Diagnosis> {
    let list = |names: &BTreeSet<String>| names.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
    // Under these drivers `powersave` is the usual mode, with full clocks under load.
    let active = drivers.iter().any(|driver| driver == "intel_pstate" || driver == "amd-pstate-epp");
    let is = |wanted: &str| governors.iter().all(|governor| governor == wanted);
    let by = if drivers.is_empty() { String::new() } else { format!(" ({})", list(drivers)) };
    let judge = |severity, effect: &str| {
        let sentence = format!("The processor's governor is {}{by}{effect}.", list(governors));
        Diagnosis::new(severity, "processor_governor", sentence)
    };
    let finding = if governors.is_empty() {
        return None;
    } else if is("performance") {
        judge(Fine, "")
    } else if governors.contains("powersave") && !active {
        judge(Warning, ", which lowers clocks and slows down the processor and software adapters")
            .with_advice("Run `sudo cpupower frequency-set -g performance`, which lasts until the next restart.")
    } else {
        judge(Note, "; clocks follow the load")
            .with_advice("For steadier results on the processor, run `sudo cpupower frequency-set -g performance`.")
    };
    Some(finding.with_details(json!({ "governors": governors, "drivers": drivers })))
}

/// Host memory that the largest workloads take.
const MIN_FREE_BYTES: u64 = 2 << 30;

pub(crate) fn examine_memory(_: &mut Circumstances<'_>) -> Vec<Diagnosis> {
    HostMemory::read().map(judge_memory).into_iter().collect()
}

fn judge_memory(memory: HostMemory) -> Diagnosis {
    let whose = if memory.limited { " that this container may use" } else { "" };
    let [total, free] = [memory.total_bytes, memory.free_bytes].map(|bytes| mebibytes(bytes as f64));
    let advice = "Close other programs, or set a smaller --batch-size.";
    Diagnosis::new(Fine, "memory", format!("{total} of memory{whose}, {free} of it free."))
        .raised_if(memory.free_bytes < MIN_FREE_BYTES, Warning, "The larger networks may not fit.", advice)
        .with_details(json!(memory))
}

/// Sampling time, long enough to average out short peaks.
const SAMPLING_TIME: Duration = Duration::from_millis(600);
/// Largest load by other programs, in percent of all cores, that does not affect results.
const MAX_HARMLESS_PERCENT: f64 = 10.0;

pub(crate) fn examine_load(_: &mut Circumstances<'_>) -> Vec<Diagnosis> {
    let Ok(mut system) = System::new() else { return Vec::new() };
    system.refresh_cpu_usage();
    thread::sleep(SAMPLING_TIME);
    system.refresh_cpu_usage();
    if system.cpus().is_empty() {
        return Vec::new();
    }
    let average = System::load_average().ok().map(|load| [load.one, load.five, load.fifteen]);
    vec![judge_load(f64::from(system.global_cpu_usage()), average)]
}

fn judge_load(percent: f64, average: Option<[f64; 3]>) -> Diagnosis {
    let sentence = format!("Other programs use {percent:.0} % of the processor.");
    let advice = "End other programs, because they reduce the measured speed.";
    Diagnosis::new(Fine, "load", sentence)
        .raised_if(percent > MAX_HARMLESS_PERCENT, Warning, "", advice)
        .with_details(json!({ "busy_percent": percent, "load_average": average }))
}

pub(crate) fn judge_power(batteries: &[Battery]) -> Diagnosis {
    let charges: Vec<String> = batteries.iter().map(|battery| format!("{:.0} %", battery.charge_percent)).collect();
    let details = json!({ "batteries": batteries });
    let finding = match batteries {
        [] => Diagnosis::new(Fine, "power", "No battery: this machine runs on external power."),
        _ if batteries.iter().any(|battery| battery.is_discharging) => {
            let sentence = format!("This machine runs on its battery ({}), which lowers clocks.", charges.join(", "));
            Diagnosis::new(Warning, "power", sentence)
                .with_advice("Plug it in; records of runs on battery contain a warning.")
        }
        _ => Diagnosis::new(Fine, "power", format!("Plugged in, with a battery of {}.", charges.join(" and "))),
    };
    finding.with_details(details)
}

pub(crate) fn examine_energy(circumstances: &mut Circumstances<'_>) -> Vec<Diagnosis> {
    let packages = processor_packages(&circumstances.root).into_iter();
    let are_readable: Vec<bool> = packages.map(|folder| fs::read(folder.join("energy_uj")).is_ok()).collect();
    judge_energy(&are_readable).into_iter().collect()
}

fn judge_energy(are_readable: &[bool]) -> Option<Diagnosis> {
    let readable = are_readable.iter().all(|readable| *readable);
    let finding = if are_readable.is_empty() {
        return None;
    } else if readable {
        Diagnosis::new(Fine, "processor_energy", "The processor reports its energy (RAPL), and runs record it.")
    } else {
        let advice = "`sudo chmod a+r /sys/class/powercap/intel-rapl:*/energy_uj` lets every user read it until the \
                      next restart. It is protected because frequent readings can reveal what other users compute.";
        let sentence = "This user has no permission to read the processor's energy counter (RAPL), so records lack it.";
        Diagnosis::new(Note, "processor_energy", sentence).with_advice(advice)
    };
    Some(finding.with_details(json!({ "packages": are_readable.len(), "readable": readable })))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_back_ends_come_with_their_cargo_feature() {
        let missing: Vec<_> = KNOWN_BACKENDS.iter().filter(|known| known.name.starts_with("burn-c")).collect();
        let found = list_missing_backends(&missing).unwrap();
        assert_eq!(found.severity, Note);
        assert!(found.advice.is_some_and(|advice| advice.contains("--features burn-cuda ")));
        assert_eq!(list_missing_backends(&[]), None);
    }

    #[test]
    fn only_what_slows_runs_down_is_a_warning() {
        assert_eq!([true, false].map(|unoptimised| judge_build(unoptimised).severity), [Warning, Fine]);
        for (governors, drivers, severity) in [
            (&["performance"][..], &["acpi-cpufreq"][..], Some(Fine)),
            (&["powersave"], &["acpi-cpufreq"], Some(Warning)),
            (&["performance", "powersave"], &[], Some(Warning)),
            (&["powersave"], &["intel_pstate"], Some(Note)),
            (&["schedutil"], &["acpi-cpufreq"], Some(Note)),
            (&[], &[], None),
        ] {
            let [names, by] = [governors, drivers].map(|names| names.iter().map(|&name| name.to_owned()).collect());
            assert_eq!(judge_governor(&names, &by).map(|found| found.severity), severity, "{governors:?} {drivers:?}");
        }
        assert_eq!([3.0, 60.0].map(|percent| judge_load(percent, None).severity), [Fine, Warning]);
        let battery = |is_discharging| Battery { is_discharging, charge_percent: 43.2 };
        assert_eq!([judge_power(&[]).severity, judge_power(&[battery(false)]).severity], [Fine, Fine]);
        let found = judge_power(&[battery(false), battery(true)]);
        assert!(found.severity == Warning && found.sentence.contains("43 %"), "{found:?}");
    }

    #[test]
    fn little_memory_is_warned_of_whoever_limits_it() {
        const GIB: u64 = 1 << 30;
        for (machine, container, severity) in [
            ((16 * GIB, 8 * GIB), None, Some(Fine)),
            ((16 * GIB, GIB), None, Some(Warning)),
            ((16 * GIB, 8 * GIB), Some((GIB, GIB)), Some(Warning)),
            ((16 * GIB, 8 * GIB), Some((u64::MAX, u64::MAX)), Some(Fine)),
            ((0, 0), None, None),
        ] {
            let found = HostMemory::of(machine, container).map(|memory| judge_memory(memory).severity);
            assert_eq!(found, severity, "{machine:?} {container:?}");
        }
        let found = judge_memory(HostMemory::of((16 * GIB, 8 * GIB), Some((4 * GIB, 3 * GIB))).unwrap());
        assert!(found.sentence.contains("this container may use") && found.sentence.contains("4096.0 MiB"));
    }

    #[test]
    fn unreadable_energy_counter_is_a_note() {
        for (readable, severity) in [(&[][..], None), (&[true], Some(Fine)), (&[true, false], Some(Note))] {
            assert_eq!(judge_energy(readable).map(|finding| finding.severity), severity);
        }
    }
}
