//! Runs made in this browser, stored locally: results, deletion links, and the records of runs not uploaded yet.

use std::collections::BTreeMap;

use results::{Outcome, RunRecord, WorkloadRecord};
use serde::{Deserialize, Serialize};

use crate::forecast::Parts;
use crate::words::Said;

const MAX_RUNS: usize = 50;
/// Maximum number of stored records. They are large, and browsers give a page a few megabytes.
const MAX_RECORDS: usize = 5;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OwnRun {
    /// Idempotency key: the leaderboard stores a run once even if it is uploaded twice.
    pub key: String,
    /// Seconds since 1970 UTC.
    pub unix_seconds: f64,
    pub device: Said,
    pub sentence: Said,
    pub uploaded: Option<UploadedRun>,
    pub record: Option<Record>,
    /// Result of [`RunOptions::pace`](crate::options::RunOptions::pace).
    pub pace: String,
    pub took: Vec<Took>,
}

/// Durations of a network's parts, excluding loading its data and the time while the page was hidden.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Took {
    pub workload: String,
    #[serde(default)]
    pub parts: Parts,
}

impl Took {
    pub fn of(record: &RunRecord) -> Vec<Self> {
        let completed = record.workloads.iter().filter(|workload| workload.outcome == Outcome::Completed);
        let took = |workload: &WorkloadRecord| {
            let mut parts = Parts::default();
            workload.timeline.iter().for_each(|stretch| parts.add(stretch.phase, stretch.seconds));
            Self { workload: workload.workload.clone(), parts }
        };
        completed.map(took).collect()
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct UploadedRun {
    pub run_id: String,
    /// Path of the page that deletes it.
    pub deletion_link: String,
}

/// Record that has not been uploaded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    pub run_id: Option<String>,
    pub json: String,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct OwnRuns(pub Vec<OwnRun>);

impl OwnRuns {
    /// Last durations of these networks with the same settings, as far as they are known.
    pub fn durations(&self, networks: &[String], pace: &str) -> BTreeMap<String, Parts> {
        let same = || self.0.iter().filter(|run| run.pace == pace);
        let took = |took: &&Took, name: &String| took.workload == *name && took.parts.total() > 0.0;
        let of = |name: &String| same().flat_map(|run| &run.took).find(|of| took(of, name));
        networks.iter().filter_map(|name| Some((name.clone(), of(name)?.parts))).collect()
    }

    pub fn has_run(&self, run_id: &str) -> bool {
        self.0.iter().any(|run| run.uploaded.as_ref().is_some_and(|uploaded| uploaded.run_id == run_id))
    }

    /// Sum of the last durations of these networks with the same settings, if all are known.
    pub fn seconds(&self, networks: &[String], pace: &str) -> Option<f64> {
        let known = self.durations(networks, pace);
        (known.len() == networks.len()).then(|| known.values().map(Parts::total).sum())
    }

    /// True if a completed run had this data set, which this browser has stored since.
    pub fn has_fetched(&self, data_set: &str) -> bool {
        let mut took = self.0.iter().flat_map(|run| &run.took);
        took.any(|took| engine::workload(&took.workload).is_some_and(|workload| workload.data_set == data_set))
    }

    /// Adds a run, or replaces the one with its key.
    pub fn note(&mut self, run: OwnRun) {
        match self.0.iter_mut().find(|known| known.key == run.key) {
            Some(known) => *known = run,
            None => self.0.insert(0, run),
        }
        self.0.truncate(MAX_RUNS);
        let records = self.0.iter_mut().filter(|run| run.record.is_some());
        records.skip(MAX_RECORDS).for_each(|run| run.record = None);
    }

    /// Stores the location of a run on the leaderboard, and drops its record.
    pub fn uploaded(&mut self, key: &str, uploaded: UploadedRun) {
        if let Some(run) = self.0.iter_mut().find(|run| run.key == key) {
            run.uploaded = Some(uploaded);
            run.record = None;
        }
    }

    pub fn deleted(&mut self, run_id: &str) {
        self.0.retain(|run| run.uploaded.as_ref().is_none_or(|uploaded| uploaded.run_id != run_id));
    }

    /// Drops the oldest record to free space. Returns false if no run has one.
    pub fn lighten(&mut self) -> bool {
        let oldest = self.0.iter_mut().rev().find(|run| run.record.is_some());
        oldest.map(|run| run.record = None).is_some()
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use serde_json::json;

    use super::*;

    fn run(number: usize) -> OwnRun {
        let run = json!({
            "key": format!("key {number}"), "unix_seconds": number, "device": { "en": "Some GPU" },
            "sentence": { "en": "fast" }, "record": { "json": "{}" }, "pace": "backend=wgsl", "took": [],
        });
        serde_json::from_value(run).unwrap()
    }

    /// A standard run of these networks, with seconds for each.
    pub(crate) fn runs_that_took(networks: &[String], seconds: f64) -> OwnRuns {
        let took = networks
            .iter()
            .map(|workload| Took { workload: workload.clone(), parts: Parts { training: seconds, ..Parts::default() } })
            .collect();
        OwnRuns(vec![OwnRun { took, ..run(0) }])
    }

    fn runs(count: usize) -> OwnRuns {
        let mut runs = OwnRuns::default();
        (0..count).for_each(|number| runs.note(run(number)));
        runs
    }

    #[test]
    fn keeps_newest_runs_and_newest_records() {
        let runs = runs(MAX_RUNS + 3);
        assert_eq!(runs.0.len(), MAX_RUNS);
        assert_eq!(runs.0[0].key, format!("key {}", MAX_RUNS + 2));
        let with_record = runs.0.iter().take_while(|run| run.record.is_some()).count();
        assert_eq!(with_record, MAX_RECORDS);
        assert!(runs.0[MAX_RECORDS..].iter().all(|run| run.record.is_none()));
        assert_eq!(serde_json::from_str::<OwnRuns>(&serde_json::to_string(&runs).unwrap()).unwrap(), runs);
        let mut full = runs;
        assert!(full.lighten(), "the storage is full");
        let with_record: Vec<_> = full.0.iter().map(|run| run.record.is_some()).collect();
        assert_eq!(with_record[MAX_RECORDS - 2..=MAX_RECORDS], [true, false, false], "the oldest goes first");
        assert!((1..MAX_RECORDS).all(|_| full.lighten()) && !full.lighten());
    }

    #[test]
    fn uses_durations_and_data_of_earlier_runs() {
        let parts = |training| Parts { training, ..Parts::default() };
        let took = |workload: &str, training| Took { workload: workload.to_owned(), parts: parts(training) };
        let mut runs = OwnRuns::default();
        runs.note(OwnRun { took: vec![took("a", 50.0), took("b", 7.0)], ..run(0) });
        runs.note(OwnRun { took: vec![took("a", 40.0)], ..run(1) });
        runs.note(OwnRun { took: vec![took("a", 1.0)], pace: "backend=wgsl&steps=3".to_owned(), ..run(2) });
        let seconds =
            |names: &[&str], pace| runs.seconds(&names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>(), pace);
        assert_eq!(seconds(&["a", "b"], "backend=wgsl"), Some(47.0));
        assert_eq!(seconds(&["a", "c"], "backend=wgsl"), None);
        assert_eq!(seconds(&["b"], "backend=wgsl&steps=3"), None);
        assert!(!runs.has_fetched("mnist"));
        runs.note(OwnRun { took: vec![took("caffe-mnist", 0.0)], ..run(3) });
        assert!(runs.has_fetched("mnist") && !runs.has_fetched("cifar10"));
    }

    #[test]
    fn storing_replaces_upload_drops_record_and_deletion_drops_run() {
        let mut runs = runs(2);
        runs.note(OwnRun { sentence: Said::new(|| "faster".to_owned()), ..run(0) });
        let sentences: Vec<_> = runs.0.iter().map(|run| run.sentence.text()).collect();
        assert_eq!(sentences, ["fast", "faster"]);
        let uploaded = UploadedRun { run_id: "abc".to_owned(), deletion_link: "/runs/abc/delete#s".to_owned() };
        runs.uploaded("key 1", uploaded.clone());
        assert_eq!((&runs.0[0].uploaded, &runs.0[0].record), (&Some(uploaded), &None));
        assert!(runs.has_run("abc") && !runs.has_run("another"));
        runs.deleted("another");
        assert_eq!(runs.0.len(), 2);
        runs.deleted("abc");
        assert_eq!(runs.0.len(), 1);
    }
}
