//! Records for tests of comparisons.

use results::{Epoch, Evaluation, RunRecord, Settings, Window, WorkloadRecord};

pub(crate) const WORKLOAD: &str = "example";

/// Creates a run of two epochs of `epoch_seconds`, evaluated after each. The first accuracy is half of the final one.
pub(crate) fn run(backend: &str, seed: u32, epoch_seconds: f64, accuracy: f64) -> RunRecord {
    let evaluation = |epoch: u32, accuracy: f64| {
        let (step, training_seconds) = (10 * u64::from(epoch), f64::from(epoch) * epoch_seconds);
        Evaluation { step, training_seconds, seconds: epoch_seconds / 8.0, loss: 0.1, accuracy }
    };
    let epoch = |epoch: u32| Epoch { epoch, seconds: epoch_seconds, loss: 0.1, accuracy: 0.9 };
    let mut workload = WorkloadRecord {
        workload: WORKLOAD.to_owned(),
        settings: Settings {
            batch_size: 100,
            training_samples: 1000,
            test_samples: 10_000,
            parameters: 10,
            device_memory_bytes: 1 << 20,
            variants: vec![format!("compiler of {backend}")],
            ..Settings::default()
        },
        evaluations: vec![evaluation(1, accuracy / 2.0), evaluation(2, accuracy)],
        epochs: vec![epoch(1), epoch(2)],
        // The last window is trained only for measurement.
        windows: vec![Window { steps: 10, samples: 1000, seconds: epoch_seconds }; 3],
        ..WorkloadRecord::default()
    };
    let start = &mut workload.cold_start;
    (start.data_seconds, start.build_seconds) = (Some(100.0), Some(2.0 * epoch_seconds));
    start.first_step_seconds = Some(epoch_seconds);
    workload.resources.resident_memory_maximum_bytes = Some(5 << 20);
    let mut record = RunRecord { workloads: vec![workload], ..RunRecord::default() };
    (record.requested.seed, record.device.backend) = (seed, backend.to_owned());
    record.device.adapter.name = "Some GPU".to_owned();
    record.provenance.commit = "unknown".to_owned();
    (record.suite.name, record.suite.version) = ("quick".to_owned(), 1);
    record
}
