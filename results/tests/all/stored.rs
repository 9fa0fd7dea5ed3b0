//! A record of version 0.1.0, as a leaderboard stored it.

use results::{RunRecord, summary};

const RECORD: &str = include_str!("stored/0.1.0.json");

/// Leaderboards recognize a record by the hash of its JSON, so a record must be written again exactly as it was.
#[test]
fn a_record_of_0_1_0_is_read_and_written_unchanged() {
    let record: RunRecord = serde_json::from_str(RECORD).unwrap();
    assert_eq!(serde_json::to_string(&record).unwrap(), RECORD.trim_end());
    for workload in &record.workloads {
        assert_eq!(summary::summarise(workload), workload.summary, "{}", workload.workload);
    }
}
