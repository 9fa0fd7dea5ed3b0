//! A record with only a device, for the tests of this module.

use results::{
    Adapter, Client, ClientKind, ColdStart, Device, DeviceKind, Outcome, PeakSample, Precision, Provenance, Resources,
    RunRecord, RunSpec, SCHEMA_VERSION, Settings, Suite, Summary, WorkloadRecord,
};

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

/// Returns the same with a measured peak, in operations per second.
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

fn record(kind: ClientKind, api: &str, name: &str, vendor: &str, architecture: &str) -> RunRecord {
    RunRecord {
        schema_version: SCHEMA_VERSION,
        run_id: None,
        nonce: None,
        requested: RunSpec {
            suite: "quick".to_owned(),
            backend: "wgsl".to_owned(),
            adapter: "any".to_owned(),
            seed: 1,
            ..RunSpec::default()
        },
        suite: Suite { name: "quick".to_owned(), version: 1 },
        departures: Vec::new(),
        provenance: Provenance {
            engine_version: "0.1.0".to_owned(),
            commit: "unknown".to_owned(),
            started_unix_seconds: 1.8e9,
            wall_seconds: 20.0,
            client: Client {
                kind,
                name: "client".to_owned(),
                version: "1".to_owned(),
                operating_system: "Linux".to_owned(),
                logical_processors: Some(8),
            },
        },
        device: Device {
            backend: "wgsl".to_owned(),
            adapter: Adapter {
                name: name.to_owned(),
                vendor: vendor.to_owned(),
                architecture: architecture.to_owned(),
                kind: DeviceKind::Unknown,
                api: api.to_owned(),
                driver: String::new(),
                software: false,
                compatibility: false,
            },
            claimed_name: None,
        },
        workloads: vec![workload()],
        warnings: Vec::new(),
    }
}

fn workload() -> WorkloadRecord {
    WorkloadRecord {
        workload: "keras-mnist-mlp".to_owned(),
        network: None,
        settings: Settings {
            batch_size: 128,
            learning_rate: 0.001,
            precision: Precision::F32,
            training_samples: 60_000,
            test_samples: 10_000,
            chance_accuracy: Some(0.1),
            parameters: 1,
            training_flops_per_sample: 1,
            device_memory_bytes: 1,
            threads: None,
            layout: None,
            variants: Vec::new(),
        },
        outcome: Outcome::Completed,
        correctness: None,
        cold_start: ColdStart::default(),
        first_losses: Vec::new(),
        curve: Vec::new(),
        segments: Vec::new(),
        timeline: Vec::new(),
        evaluations: Vec::new(),
        epochs: Vec::new(),
        windows: Vec::new(),
        peaks: Vec::new(),
        target: None,
        weight_samples: Vec::new(),
        communication: None,
        input: None,
        resources: Resources::default(),
        summary: Summary::default(),
    }
}
