//! Differences between two sides that make a comparison doubtful.

use results::environment::sort_distinct;
use results::software::program_of;
use results::summary::MeasuredWorkload;
use results::{DeviceKind, IN_COMPATIBILITY_MODE, InputMode, RunRecord, Suite};
use serde::Serialize;

/// Difference between the sides, or between the runs of one side.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Serialize)]
#[error("{kind}: {candidate}, and {baseline} in the baseline")]
pub struct Mismatch {
    pub kind: MismatchKind,
    /// Distinct values, separated by ` | `.
    pub baseline: String,
    pub candidate: String,
}

/// Property that differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum MismatchKind {
    /// The sides were measured on different devices.
    #[error("the devices differ")]
    Devices,
    #[error("runs of several devices stand on one side")]
    MixedDevices,
    /// The sides used different versions of a suite, whose recipes may differ.
    #[error("the suites differ")]
    SuiteVersions,
}

/// Returns the device name that the user or the platform gave, without driver details.
///
/// Several devices that share each batch count as a different device, `2 × NAME`. So does a device with streamed input,
/// `NAME, input streamed with prefetch`, and one in WebGPU's compatibility mode, `NAME, compatibility mode`.
pub fn device(record: &RunRecord) -> String {
    let adapter = &record.device.adapter;
    let name: &str = match adapter.name.split_once(" (") {
        // For a processor, the parentheses contain the number of cores.
        Some((name, _)) if adapter.kind != DeviceKind::Cpu => name,
        _ => &adapter.name,
    };
    let mut device = match (&record.device.claimed_name, program_of(adapter)) {
        (Some(claimed), _) => claimed.clone(),
        (None, Some(program)) => program.to_owned(),
        (None, None) if name.is_empty() => format!("{} {}", adapter.vendor, adapter.architecture).trim().to_owned(),
        (None, None) => name.to_owned(),
    };
    if adapter.compatibility {
        device.push_str(IN_COMPATIBILITY_MODE);
    }
    if record.devices() != 1 {
        device = format!("{} × {device}", record.devices());
    }
    match record.input_mode() {
        InputMode::Resident => device,
        streamed => format!("{device}, input {}", streamed.text()),
    }
}

/// Finds the mismatches between the runs of one workload on one backend.
pub(super) fn find(baseline: &[&MeasuredWorkload<'_>], candidate: &[&MeasuredWorkload<'_>]) -> Vec<Mismatch> {
    if baseline.is_empty() || candidate.is_empty() {
        return Vec::new();
    }
    let devices = [baseline, candidate].map(|side| sort_distinct(side.iter().map(|run| device(run.record))));
    // A workload may be in several suites, so only versions of the same suite are compared.
    let of_shared = |own: &[&MeasuredWorkload<'_>], other: &[&MeasuredWorkload<'_>]| {
        let is_shared = |suite: &&Suite| other.iter().any(|run| run.record.suite.name == suite.name);
        let shared = own.iter().map(|run| &run.record.suite).filter(is_shared);
        sort_distinct(shared.map(|suite| format!("{} {}", suite.name, suite.version)))
    };
    let suites = [of_shared(baseline, candidate), of_shared(candidate, baseline)];
    let mismatch = |kind, sides: [Vec<String>; 2]| {
        let [baseline, candidate] = sides.map(|values| values.join(" | "));
        Mismatch { kind, baseline, candidate }
    };
    let mut found = Vec::new();
    if devices.iter().any(|of| of.len() > 1) {
        found.push(mismatch(MismatchKind::MixedDevices, devices));
    } else if devices[0] != devices[1] {
        found.push(mismatch(MismatchKind::Devices, devices));
    }
    if suites[0] != suites[1] {
        found.push(mismatch(MismatchKind::SuiteVersions, suites));
    }
    found
}
