//! What was told at a step can be found out again from the finished record, and from no other.

use results::{CurvePoint, Evaluation, Window, WorkloadRecord, measured_sha256, weights_bytes, weights_sha256};

/// Two windows of ten steps, each followed by a look at the test set.
fn record() -> WorkloadRecord {
    let json = serde_json::json!({
        "workload": "some-network",
        "settings": {
            "batch_size": 10, "learning_rate": 0.1, "precision": "f32", "training_samples": 100, "test_samples": 10,
            "chance_accuracy": null, "parameters": 3, "training_flops_per_sample": 5, "device_memory_bytes": 7,
            "variants": []
        },
        "outcome": {"kind": "completed"}, "correctness": null, "cold_start": {
            "data_seconds": null, "build_seconds": null, "compiling_seconds": null, "tuning_seconds": null,
            "first_step_seconds": null
        },
        "first_losses": [2.0, 1.5], "curve": [], "evaluations": [], "epochs": [], "windows": [], "target": null,
        "weight_samples": [], "resources": {
            "cpu_user_percent": null, "cpu_system_percent": null, "resident_memory_average_bytes": null,
            "resident_memory_maximum_bytes": null
        },
        "summary": results::Summary::default(),
    });
    let mut record: WorkloadRecord = serde_json::from_value(json).unwrap();
    for (step, seconds, training_seconds) in [(10, 1.0, 1.0), (20, 1.5, 2.5)] {
        record.windows.push(Window { steps: 10, samples: 100, seconds });
        record.curve.push(CurvePoint { step, training_seconds, loss: 0.5, accuracy: 0.8 });
        record.evaluations.push(Evaluation { step, training_seconds, seconds: 0.1, loss: 0.6, accuracy: 0.7 });
    }
    record
}

#[test]
fn what_comes_later_changes_nothing_of_what_was_told() {
    let whole = record();
    let mut half = whole.clone();
    half.windows.pop();
    half.curve.pop();
    half.evaluations.pop();
    assert_eq!(measured_sha256(&half, 10), measured_sha256(&whole, 10));
    assert_ne!(measured_sha256(&half, 20), measured_sha256(&whole, 20));
    assert_ne!(measured_sha256(&whole, 10), measured_sha256(&whole, 20));
    let nothing = WorkloadRecord { windows: vec![], curve: vec![], evaluations: vec![], ..whole.clone() };
    assert_eq!(measured_sha256(&nothing, 0), measured_sha256(&whole, 0));
}

#[test]
fn whatever_is_changed_afterwards_shows() {
    type Change = fn(&mut WorkloadRecord);
    let changes: [(&str, Change); 9] = [
        ("the seconds of a window", |r| r.windows[0].seconds /= 10.0),
        ("its steps", |r| r.windows[0].steps -= 1),
        ("its samples", |r| r.windows[0].samples += 1),
        ("a loss of the curve", |r| r.curve[0].loss = 0.4),
        ("a loss of a first step", |r| r.first_losses[1] = 1.4),
        ("an accuracy", |r| r.evaluations[0].accuracy = 0.99),
        ("the seconds of a test", |r| r.evaluations[0].seconds = 0.0),
        ("a window that is left out", |r| {
            r.windows.remove(0);
        }),
        ("the network", |r| r.workload = "another-network".to_owned()),
    ];
    for (what, change) in changes {
        let mut changed = record();
        change(&mut changed);
        assert_ne!(measured_sha256(&changed, 10), measured_sha256(&record(), 10), "{what}");
    }
}

#[test]
fn weights_are_little_endian_and_hashed_as_published() {
    assert_eq!(weights_bytes(&[vec![1.0, -2.0], vec![0.5]]), [0, 0, 128, 63, 0, 0, 0, 192, 0, 0, 0, 63]);
    // FIPS 180-2, appendix B.1.
    assert_eq!(weights_sha256(b"abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

#[test]
fn a_record_of_layout_2_is_read_without_what_came_later() {
    let record = record();
    assert!(record.timeline.is_empty() && record.checkpoints.is_empty());
    let written = serde_json::to_string(&record).unwrap();
    assert!(!written.contains("timeline") && !written.contains("checkpoints"));
    // Nor does what came with layout 5 stand in a record that does not have it.
    for later in ["machine_io_wait_percent", "energy_source", "\"samples\":[", "joules"] {
        assert!(!written.contains(later), "{later}: {written}");
    }
}
