//! Example records.

use results::{
    Adapter, ColdStart, Device, DeviceKind, Epoch, Evaluation, Provenance, Resources, RunRecord, RunSpec,
    SCHEMA_VERSION, Settings, Suite, Window, WorkloadRecord,
};

pub(crate) const WORKLOAD: &str = "example";

pub(crate) fn settings() -> Settings {
    Settings {
        batch_size: 100,
        learning_rate: 0.1,
        training_samples: 1000,
        test_samples: 10_000,
        chance_accuracy: Some(0.1135),
        parameters: 10,
        training_flops_per_sample: 1000,
        ..Settings::default()
    }
}

/// Creates a run of two epochs of `epoch_seconds`, evaluated after each.
///
/// The first evaluation has half of the final accuracy.
pub(crate) fn run(backend: &str, seed: u32, epoch_seconds: f64, accuracy: f64) -> RunRecord {
    let evaluation = |epoch: u32, accuracy: f64| Evaluation {
        step: 10 * u64::from(epoch),
        training_seconds: f64::from(epoch) * epoch_seconds,
        seconds: epoch_seconds / 8.0,
        loss: 0.1,
        accuracy,
    };
    let epoch = |epoch: u32| Epoch { epoch, seconds: epoch_seconds, loss: 0.1, accuracy: 0.9 };
    let workload = WorkloadRecord {
        workload: WORKLOAD.to_owned(),
        settings: Settings {
            device_memory_bytes: 1 << 20,
            variants: vec![format!("compiler of {backend}")],
            ..settings()
        },
        cold_start: ColdStart {
            data_seconds: Some(100.0),
            build_seconds: Some(2.0 * epoch_seconds),
            first_step_seconds: Some(epoch_seconds),
            ..ColdStart::default()
        },
        evaluations: vec![evaluation(1, accuracy / 2.0), evaluation(2, accuracy)],
        epochs: vec![epoch(1), epoch(2)],
        // The last window is trained only for measurement.
        windows: vec![Window { steps: 10, samples: 1000, seconds: epoch_seconds }; 3],
        resources: Resources { resident_memory_maximum_bytes: Some(5 << 20), ..Resources::default() },
        ..WorkloadRecord::default()
    };
    let adapter = Adapter { name: "Some GPU".to_owned(), kind: DeviceKind::Discrete, ..Adapter::default() };
    RunRecord {
        schema_version: SCHEMA_VERSION,
        requested: RunSpec { seed, ..RunSpec::default() },
        suite: Suite { name: "quick".to_owned(), version: 1 },
        provenance: Provenance { commit: "unknown".to_owned(), ..Provenance::default() },
        device: Device { backend: backend.to_owned(), adapter, ..Device::default() },
        workloads: vec![workload],
        ..RunRecord::default()
    }
}
