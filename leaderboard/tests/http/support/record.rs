//! A record as an honest runner makes it, to be bent by the tests.

use results::api::StartedRun;
use results::{
    Adapter, Client, ClientKind, ColdStart, Compared, Correctness, CurvePoint, Device, DeviceKind, Disagreement, Epoch,
    Evaluation, Outcome, PeakSample, Precision, Provenance, Resources, RunRecord, SCHEMA_VERSION, Settings, Suite,
    Summary, Target, Warning, WeightSample, Window, WorkloadRecord, summary,
};

pub(crate) const ENGINE_VERSION: &str = "0.1.0";

pub(crate) fn suite() -> Suite {
    Suite { name: "quick".to_owned(), version: 1 }
}

/// An honest record of an announced run.
pub(crate) fn for_run(started: &StartedRun) -> RunRecord {
    RunRecord {
        run_id: Some(started.run_id.clone()),
        nonce: Some(started.nonce.clone()),
        seed: started.seed,
        ..unregistered(started.seed)
    }
}

/// A comparison that found no difference.
fn right(compared: Compared) -> Disagreement {
    Disagreement { compared, largest_difference: 0.0, tolerance: 1e-3 }
}

/// The same of a run that no leaderboard knows.
pub(crate) fn unregistered(seed: u32) -> RunRecord {
    let mut record = RunRecord {
        schema_version: SCHEMA_VERSION,
        run_id: None,
        nonce: None,
        seed,
        suite: suite(),
        non_standard: Vec::new(),
        provenance: Provenance {
            engine_version: ENGINE_VERSION.to_owned(),
            commit: "unknown".to_owned(),
            started_unix_seconds: 1.8e9,
            wall_seconds: 20.0,
            client: Client {
                kind: ClientKind::Native,
                name: "native-runner".to_owned(),
                version: "0.1.0".to_owned(),
                operating_system: "Linux".to_owned(),
                logical_processors: Some(16),
            },
        },
        device: Device {
            requested_adapter: "discrete".to_owned(),
            requested_backend: "wgsl".to_owned(),
            backend: "wgsl".to_owned(),
            adapter: Adapter {
                name: "Example GPU 9000".to_owned(),
                vendor: "example".to_owned(),
                architecture: "nine".to_owned(),
                kind: DeviceKind::Discrete,
                api: "Vulkan".to_owned(),
                driver: "example 1.2.3".to_owned(),
                software: false,
            },
            claimed_name: None,
        },
        workloads: vec![workload("keras-mnist-mlp", 128, 3_209_216), workload("caffe-mnist", 64, 13_182_000)],
        warnings: vec![Warning::NoWakeLock],
    };
    summarise(&mut record);
    record
}

/// Six windows (the first for warm-up), one epoch, two evaluations; 8.1 seconds of work.
fn workload(name: &str, batch_size: u32, training_flops_per_sample: u64) -> WorkloadRecord {
    let window = |seconds| Window { steps: 1000, samples: 1000 * u64::from(batch_size), seconds };
    let peak = |window| PeakSample { window, flops_per_second: 2e12, copied_bytes_per_second: Some(4e11) };
    WorkloadRecord {
        workload: name.to_owned(),
        settings: Settings {
            batch_size,
            learning_rate: 0.001,
            precision: Precision::F32,
            training_samples: 60_000,
            test_samples: 10_000,
            chance_accuracy: Some(0.1135),
            parameters: 669_706,
            training_flops_per_sample,
            device_memory_bytes: 70_000_000,
            variants: vec!["matmul: tile-64x64".to_owned()],
        },
        outcome: Outcome::Completed,
        correctness: Some(Correctness {
            batch_size: 16,
            losses: vec![2.5, 2.25],
            reference_losses: vec![2.5, 2.25],
            tolerance: 1e-3,
            largest_difference: 0.0,
            differences: Compared::OF_FIRST_STEPS.map(right).into(),
            whole_batch: None,
            passed: true,
        }),
        cold_start: ColdStart {
            data_seconds: Some(0.5),
            build_seconds: Some(0.5),
            compiling_seconds: Some(0.25),
            tuning_seconds: Some(0.25),
            first_step_seconds: Some(0.01),
        },
        first_losses: vec![2.5, 2.25, 2.0],
        curve: vec![
            CurvePoint { step: 1000, training_seconds: 1.0, loss: 0.5, accuracy: 0.9 },
            CurvePoint { step: 6000, training_seconds: 6.5, loss: 0.1, accuracy: 0.97 },
        ],
        evaluations: vec![
            Evaluation { step: 2000, training_seconds: 2.1, seconds: 0.3, loss: 0.2, accuracy: 0.94 },
            Evaluation { step: 6000, training_seconds: 6.5, seconds: 0.3, loss: 0.1, accuracy: 0.97 },
        ],
        epochs: vec![Epoch { epoch: 1, seconds: 1.0, loss: 0.4, accuracy: 0.9 }],
        windows: vec![window(1.0), window(1.1), window(1.1), window(1.1), window(1.1), window(1.1)],
        peaks: vec![peak(4), peak(5)],
        target: Some(Target { accuracy: 0.95, reached_seconds: Some(6.5), reached_step: Some(6000) }),
        weight_samples: vec![WeightSample { tensor: 0, index: 7, value: 0.125 }],
        resources: Resources {
            cpu_user_percent: Some(35.0),
            cpu_system_percent: None,
            resident_memory_average_bytes: Some(100_000_000),
            resident_memory_maximum_bytes: Some(120_000_000),
        },
        summary: Summary::default(),
    }
}

/// Makes the summaries those of the raw samples.
pub(crate) fn summarise(record: &mut RunRecord) {
    for workload in &mut record.workloads {
        workload.summary = summary::summarise(workload);
    }
}

/// A shorter run: every second of it becomes `factor` seconds.
pub(crate) fn scale_time(record: &mut RunRecord, factor: f64) {
    record.provenance.wall_seconds *= factor;
    for workload in &mut record.workloads {
        let cold = &mut workload.cold_start;
        cold.build_seconds = cold.build_seconds.map(|s| s * factor);
        cold.compiling_seconds = cold.compiling_seconds.map(|s| s * factor);
        cold.tuning_seconds = cold.tuning_seconds.map(|s| s * factor);
        workload.windows.iter_mut().for_each(|w| w.seconds *= factor);
        workload.epochs.iter_mut().for_each(|e| e.seconds *= factor);
        workload.curve.iter_mut().for_each(|p| p.training_seconds *= factor);
        for evaluation in &mut workload.evaluations {
            evaluation.training_seconds *= factor;
            evaluation.seconds *= factor;
        }
        if let Some(target) = &mut workload.target {
            target.reached_seconds = target.reached_seconds.map(|s| s * factor);
        }
    }
    summarise(record);
}
