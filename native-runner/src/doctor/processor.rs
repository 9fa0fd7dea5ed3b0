use std::collections::BTreeSet;
use std::thread;

use serde_json::json;
use sysinfo::System;

use super::{Chapter, Circumstances, Examination, Finding, files};
use crate::processor;

pub(super) const EXAMINATION: Examination = Examination { chapter: Chapter::System, title: "the processor", examine };

fn examine(circumstances: &mut Circumstances<'_>) -> Vec<Finding> {
    let mut findings = vec![model()];
    findings.extend(governor(circumstances));
    findings
}

fn model() -> Finding {
    let name = processor::name();
    let usable = thread::available_parallelism().ok().map(std::num::NonZero::get);
    let cores = System::physical_core_count().ok();
    let shown = name.clone().unwrap_or_else(|| format!("A processor of the kind {}", std::env::consts::ARCH));
    let cores_shown = cores.map(|cores| format!(", {cores} cores"));
    let usable_shown = usable.map(|threads| format!(", {threads} threads for this program"));
    let sentence = format!("{shown}{}{}.", cores_shown.unwrap_or_default(), usable_shown.unwrap_or_default());
    let details = json!({ "name": name, "physical_cores": cores, "usable_threads": usable });
    Finding::fine("processor", sentence).with_details(details)
}

/// What decides how fast the cores are clocked; nothing where the system does not tell, as in most virtual machines.
fn governor(circumstances: &Circumstances<'_>) -> Option<Finding> {
    let cores = files::entries(circumstances.file("sys/devices/system/cpu"));
    let read = |file: &str| -> BTreeSet<String> {
        cores.iter().filter_map(|core| files::text(core.join("cpufreq").join(file))).collect()
    };
    judge(&read("scaling_governor"), &read("scaling_driver"))
}

fn judge(governors: &BTreeSet<String>, drivers: &BTreeSet<String>) -> Option<Finding> {
    let list = |names: &BTreeSet<String>| names.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
    // Under these drivers `powersave` is the usual mode, which clocks up under load.
    let active = drivers.iter().any(|driver| driver == "intel_pstate" || driver == "amd-pstate-epp");
    let is = |wanted: &str| governors.iter().all(|governor| governor == wanted);
    let shown = match drivers.is_empty() {
        true => list(governors),
        false => format!("{} ({})", list(governors), list(drivers)),
    };
    let finding = if governors.is_empty() {
        return None;
    } else if is("performance") {
        Finding::fine("processor_governor", format!("The processor's governor is {shown}."))
    } else if governors.contains("powersave") && !active {
        Finding::warning(
            "processor_governor",
            format!("The processor's governor is {shown}, which keeps clocks low: figures of the processor and of software adapters suffer."),
        )
        .with_advice("`sudo cpupower frequency-set -g performance` until the next start.")
    } else {
        Finding::note("processor_governor", format!("The processor's governor is {shown}: clocks follow the load."))
            .with_advice("Figures of the processor are steadier with `sudo cpupower frequency-set -g performance`.")
    };
    Some(finding.with_details(json!({ "governors": governors, "drivers": drivers })))
}

#[cfg(test)]
mod tests {
    use super::super::Severity;
    use super::*;

    fn severity(governors: &[&str], drivers: &[&str]) -> Option<Severity> {
        let set = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        judge(&set(governors), &set(drivers)).map(|finding| finding.severity)
    }

    #[test]
    fn a_governor_that_keeps_clocks_low_is_a_warning_where_it_really_does() {
        assert_eq!(severity(&["performance"], &["acpi-cpufreq"]), Some(Severity::Fine));
        assert_eq!(severity(&["powersave"], &["acpi-cpufreq"]), Some(Severity::Warning));
        assert_eq!(severity(&["performance", "powersave"], &[]), Some(Severity::Warning));
        assert_eq!(severity(&["powersave"], &["intel_pstate"]), Some(Severity::Note));
        assert_eq!(severity(&["schedutil"], &["acpi-cpufreq"]), Some(Severity::Note));
        assert_eq!(severity(&[], &[]), None);
    }
}
