//! Records to compare.

use results::{
    Adapter, Client, ClientKind, ColdStart, Device, DeviceKind, Epoch, Evaluation, Outcome, Precision, Provenance,
    Resources, RunRecord, SCHEMA_VERSION, Settings, Suite, Summary, Window, WorkloadRecord,
};

pub(crate) const WORKLOAD: &str = "example";

/// A run of two epochs of `epoch_seconds`, tested after each; half of the final accuracy after the first.
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
        network: None,
        settings: Settings {
            batch_size: 100,
            learning_rate: 0.1,
            precision: Precision::F32,
            training_samples: 1000,
            test_samples: 10_000,
            chance_accuracy: Some(0.1135),
            parameters: 10,
            training_flops_per_sample: 1000,
            device_memory_bytes: 1 << 20,
            variants: vec![format!("compiler of {backend}")],
        },
        outcome: Outcome::Completed,
        correctness: None,
        cold_start: ColdStart {
            data_seconds: Some(100.0),
            build_seconds: Some(2.0 * epoch_seconds),
            compiling_seconds: None,
            tuning_seconds: None,
            first_step_seconds: Some(epoch_seconds),
        },
        first_losses: Vec::new(),
        curve: Vec::new(),
        evaluations: vec![evaluation(1, accuracy / 2.0), evaluation(2, accuracy)],
        epochs: vec![epoch(1), epoch(2)],
        // The last window is trained only to be measured.
        windows: vec![Window { steps: 10, samples: 1000, seconds: epoch_seconds }; 3],
        peaks: Vec::new(),
        timeline: Vec::new(),
        segments: Vec::new(),
        target: None,
        weight_samples: Vec::new(),
        communication: None,
        input: None,
        resources: Resources { resident_memory_maximum_bytes: Some(5 << 20), ..Resources::default() },
        summary: Summary::default(),
    };
    record(backend, seed, workload)
}

fn record(backend: &str, seed: u32, workload: WorkloadRecord) -> RunRecord {
    let text = str::to_owned;
    RunRecord {
        schema_version: SCHEMA_VERSION,
        run_id: None,
        nonce: None,
        seed,
        suite: Suite { name: text("quick"), version: 1 },
        non_standard: Vec::new(),
        provenance: Provenance {
            engine_version: text("0.1.0"),
            commit: text("unknown"),
            started_unix_seconds: 0.0,
            wall_seconds: 1.0,
            client: Client {
                kind: ClientKind::Native,
                name: text("native-runner"),
                version: text("0.1.0"),
                operating_system: text("Linux"),
                logical_processors: None,
            },
        },
        device: Device {
            requested_adapter: text("any"),
            requested_backend: text(backend),
            backend: text(backend),
            adapter: Adapter {
                name: text("Some GPU"),
                vendor: String::new(),
                architecture: String::new(),
                kind: DeviceKind::Discrete,
                api: text("Vulkan"),
                driver: String::new(),
                software: false,
            },
            claimed_name: None,
        },
        workloads: vec![workload],
        warnings: Vec::new(),
    }
}
