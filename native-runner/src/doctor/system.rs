use serde_json::json;
use sysinfo::System;

use super::{Chapter, Circumstances, Examination, Finding, files};
use crate::provenance::operating_system;

pub(super) const EXAMINATION: Examination =
    Examination { chapter: Chapter::System, title: "the operating system", examine };

fn examine(circumstances: &mut Circumstances<'_>) -> Vec<Finding> {
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
    vec![Finding::fine("operating_system", format!("{}.", parts.join(", "))).with_details(details)]
}

/// What this process is shut into, as far as it shows: then drivers have to be let in from outside.
pub(super) fn container(circumstances: &Circumstances<'_>) -> Option<&'static str> {
    let is_wsl =
        || files::text(circumstances.file("proc/sys/kernel/osrelease")).is_some_and(|text| text.contains("WSL"));
    if circumstances.file(".dockerenv").exists() {
        Some("a Docker container")
    } else if circumstances.file("run/.containerenv").exists() {
        Some("a Podman container")
    } else if circumstances.variable("KUBERNETES_SERVICE_HOST").is_some() {
        Some("a Kubernetes pod")
    } else if is_wsl() {
        Some("the Windows Subsystem for Linux")
    } else {
        None
    }
}
