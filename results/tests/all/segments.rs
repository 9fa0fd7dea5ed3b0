//! Segments in records of all layouts.

use results::{WorkloadRecord, weights_bytes};
use serde_json::{Value, json};

/// A record of layout 2.
fn record() -> Value {
    json!({
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
    })
}

#[test]
fn weights_are_little_endian() {
    assert_eq!(weights_bytes(&[vec![1.0, -2.0], vec![0.5]]), [0, 0, 128, 63, 0, 0, 0, 192, 0, 0, 0, 63]);
}

#[test]
fn a_record_of_layout_2_is_read_without_what_came_later() {
    let record: WorkloadRecord = serde_json::from_value(record()).unwrap();
    assert!(record.timeline.is_empty() && record.checkpoints.is_empty() && record.segments.is_empty());
    let written = serde_json::to_string(&record).unwrap();
    // Fields of layouts 3 to 6 are not written for a record without them.
    for later in
        ["timeline", "checkpoints", "segments", "machine_io_wait_percent", "energy_source", "\"samples\":[", "joules"]
    {
        assert!(!written.contains(later), "{later}: {written}");
    }
}

#[test]
fn checkpoints_of_older_layouts_are_kept() {
    let mut older = record();
    older["checkpoints"] = json!([{ "step": 0, "weights_sha256": "ab", "measured_sha256": "cd", "next_loss": 2.5 }]);
    let read: WorkloadRecord = serde_json::from_value(older.clone()).unwrap();
    assert_eq!(serde_json::to_value(&read).unwrap()["checkpoints"], older["checkpoints"]);
}

#[test]
fn segments_are_written_as_hex() {
    let mut newer = record();
    newer["segments"] = json!([{ "beacon": "000102030405060708090a0b0c0d0e0f", "state_sha256": "ab" }]);
    let read: WorkloadRecord = serde_json::from_value(newer.clone()).unwrap();
    assert_eq!(serde_json::to_value(&read).unwrap()["segments"], newer["segments"]);
}
