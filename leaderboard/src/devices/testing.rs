//! A record with only a device, for the tests of this module.

use results::{Adapter, ClientKind, DeviceKind, PeakSample, Precision, RunRecord, RunSpec, WorkloadRecord};

/// Returns a browser's record of a GPU with this `vendor` and `architecture`.
pub(crate) fn in_browser(vendor: &str, architecture: &str) -> RunRecord {
    let name = format!("{vendor} {architecture}").trim().to_owned();
    let name = if name.is_empty() { results::UNNAMED_ADAPTER.to_owned() } else { name };
    record(ClientKind::Browser, "WebGPU", &name, vendor, architecture)
}

/// Returns a native record of a GPU that Vulkan names.
pub(crate) fn native(name: &str, vendor: &str) -> RunRecord {
    record(ClientKind::Native, "Vulkan", name, vendor, "")
}

/// Returns the same with the owner's name for the device.
pub(crate) fn claimed(mut record: RunRecord, name: &str) -> RunRecord {
    record.device.claimed_name = Some(name.to_owned());
    record
}

pub(crate) fn with_peak(mut record: RunRecord, flops_per_second: f64) -> RunRecord {
    record.workloads[0].peaks = vec![PeakSample { window: 0, flops_per_second, copied_bytes_per_second: None }];
    record
}

/// Returns the same with a training at this number of operations per second.
pub(crate) fn achieving(mut record: RunRecord, flops_per_second: f64, precision: Precision) -> RunRecord {
    record.workloads[0].summary.flops_per_second = Some(flops_per_second);
    record.workloads[0].settings.precision = precision;
    record
}

/// Returns the same trained by another backend, on a device of this kind.
pub(crate) fn trained_by(mut record: RunRecord, backend: &str, kind: DeviceKind, api: &str) -> RunRecord {
    record.device.backend = backend.to_owned();
    record.device.adapter.kind = kind;
    record.device.adapter.api = api.to_owned();
    record
}

/// Returns a stored record without its measurements, on another device.
fn record(kind: ClientKind, api: &str, name: &str, vendor: &str, architecture: &str) -> RunRecord {
    let stored = include_str!("../../../results/tests/all/stored/0.1.0.json");
    let mut record: RunRecord = serde_json::from_str(stored).unwrap();
    (record.run_id, record.warnings) = (None, Vec::new());
    let [suite, backend, adapter] = ["quick", "wgsl", "any"].map(str::to_owned);
    record.requested = RunSpec { suite, backend, adapter, seed: 1, ..RunSpec::default() };
    (record.provenance.client.kind, record.provenance.client.logical_processors) = (kind, Some(8));
    let [name, vendor, architecture, api] = [name, vendor, architecture, api].map(str::to_owned);
    record.device.adapter = Adapter { name, vendor, architecture, api, ..Adapter::default() };
    let WorkloadRecord { workload, settings, .. } = record.workloads.swap_remove(0);
    record.workloads = vec![WorkloadRecord { workload, settings, ..WorkloadRecord::default() }];
    record
}
