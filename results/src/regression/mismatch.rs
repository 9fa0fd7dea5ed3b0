//! What makes figures of two sides hardly worth comparing.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Run;
use crate::software::program_of;
use crate::{DeviceKind, InputMode, RunRecord};

/// Something that should be the same on both sides, or in all runs of one, and is not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Mismatch {
    pub kind: MismatchKind,
    /// Several with ` | ` between them.
    pub baseline: String,
    pub candidate: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MismatchKind {
    /// The sides were measured on different devices.
    Devices,
    /// The runs of a side were measured on different devices.
    MixedDevices,
    /// The recipes of a suite may change with its version.
    SuiteVersions,
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { baseline, candidate, .. } = self;
        match self.kind {
            MismatchKind::Devices => {
                write!(f, "the devices differ: {candidate}, and {baseline} in the baseline")
            }
            MismatchKind::MixedDevices => {
                write!(f, "runs of several devices stand on one side: {candidate}, and {baseline} in the baseline")
            }
            MismatchKind::SuiteVersions => {
                write!(f, "the suites differ: {candidate}, and {baseline} in the baseline")
            }
        }
    }
}

/// The device of a record: what a person or the platform calls it, without what drivers add, so that another driver's
/// figures are another driver's and not another device's. Several that shared each batch are another one: `2 × NAME`; so is
/// one that waits for its batches: `NAME, input streamed with prefetch`.
pub fn device(record: &RunRecord) -> String {
    let name = match record.devices() {
        1 => one_device(record),
        several => format!("{several} × {}", one_device(record)),
    };
    match record.input_mode() {
        InputMode::Resident => name,
        streamed => format!("{name}, input {}", streamed.text()),
    }
}

fn one_device(record: &RunRecord) -> String {
    let adapter = &record.device.adapter;
    if let Some(name) = &record.device.claimed_name {
        return name.clone();
    }
    if let Some(program) = program_of(adapter) {
        return program.to_owned();
    }
    let name: &str = match adapter.name.split_once(" (") {
        // What stands there of a processor is how many of its cores compute.
        Some((name, _)) if adapter.kind != DeviceKind::Cpu => name,
        _ => &adapter.name,
    };
    if name.is_empty() {
        format!("{} {}", adapter.vendor, adapter.architecture).trim().to_owned()
    } else {
        name.to_owned()
    }
}

/// What does not fit in the runs of one workload on one back end.
pub(super) fn find(baseline: &[&Run<'_>], candidate: &[&Run<'_>]) -> Vec<Mismatch> {
    if baseline.is_empty() || candidate.is_empty() {
        return Vec::new();
    }
    let devices = [baseline, candidate].map(|side| distinct(side.iter().map(|run| device(run.record))));
    // A workload may stand in several suites; only versions of the same one are held against each other.
    let of_shared = |own: &[&Run<'_>], other: &[&Run<'_>]| {
        let shared = own
            .iter()
            .map(|run| &run.record.suite)
            .filter(|suite| other.iter().any(|run| run.record.suite.name == suite.name));
        distinct(shared.map(|suite| format!("{} {}", suite.name, suite.version)))
    };
    let suites = [of_shared(baseline, candidate), of_shared(candidate, baseline)];
    let mismatch = |kind, [baseline, candidate]: [Vec<String>; 2]| Mismatch {
        kind,
        baseline: baseline.join(" | "),
        candidate: candidate.join(" | "),
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

fn distinct(values: impl Iterator<Item = String>) -> Vec<String> {
    let mut values: Vec<String> = values.collect();
    values.sort();
    values.dedup();
    values
}
