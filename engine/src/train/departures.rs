//! Departures of a run from its suite.

use results::{Departure, InputMode, Precision, RunRecord, Warning, WorkloadRecord};
use sha2::{Digest, Sha256};

use crate::backends::{KNOWN_BACKENDS, REFERENCE, WGSL};
use crate::workload::SuiteDefinition;

/// Returns every departure of a run from `suite`, by its request and measurements. Ignores those already in the record.
pub fn departures(record: &RunRecord, suite: &SuiteDefinition) -> Vec<Departure> {
    let spec = &record.requested;
    let mut found = Vec::new();
    // Networks of the open class are from files.
    let in_suite = |of: &&WorkloadRecord| match suite.is_open() {
        true => of.network.is_some(),
        false => suite.workloads.contains(&of.workload.as_str()),
    };
    let trained = record.workloads.iter().filter(in_suite).count();
    if trained < suite.workloads.len() {
        found.push(Departure::LeftOut { trained, networks: suite.workloads.len() });
    }
    if trained < record.workloads.len() {
        found.push(Departure::OtherNetworks);
    }
    found.extend(record.workloads.iter().filter_map(|of| {
        // Distinguishes networks of the same name.
        let digest = results::hex(&Sha256::digest(of.network.as_ref()?.to_string())[..4]);
        Some(Departure::NetworkFile { workload: of.workload.clone(), digest })
    }));
    found.extend(spec.batch_size.map(|size| Departure::BatchSize { size }));
    found.extend(record.warnings.iter().filter_map(|warning| match warning {
        Warning::SmallerBatch { workload, asked, used, .. } => {
            Some(Departure::FittedBatch { workload: workload.clone(), size: *used, usual: *asked })
        }
        _ => None,
    }));
    found.extend(spec.learning_rate.map(|rate| Departure::LearningRate { rate }));
    found.extend(spec.length.map(|length| Departure::Length { length }));
    found.extend(spec.target_accuracy.map(|accuracy| Departure::TargetAccuracy { accuracy }));
    // Both precisions have separate rankings.
    let is_ranked = |precision: &Precision| matches!(precision, Precision::F32 | Precision::F16);
    let used = record.workloads.iter().map(|of| of.settings.precision).find(|used| !is_ranked(used));
    found.extend(used.map(|precision| Departure::Precision { precision }));
    let (backend, devices) = (record.device.backend.as_str(), record.devices());
    if backend == REFERENCE {
        found.push(Departure::Reference);
    }
    if KNOWN_BACKENDS.iter().all(|known| known.name != backend) {
        found.push(Departure::External { program: backend.to_owned() });
        found.extend(spec.layout.map(|layout| Departure::Layout { layout }));
    }
    if devices > 1 {
        found.push(Departure::Devices { count: devices, logical: record.device.adapter.software });
        found.extend(spec.overlap.map(|on| Departure::Overlap { on }));
    }
    if backend == WGSL {
        found.extend(spec.without.iter().map(|&feature| Departure::Without { feature }));
    }
    let mode = record.input_mode();
    found.extend((mode != InputMode::Resident).then_some(Departure::Input { mode }));
    found
}
