//! Runs of every kind that a card may have to show.

use results::api::{Note, ScoreRank, StoredRun, Tier};
use results::{CurvePoint, Goal, Outcome, PeakSample, RunRecord, Target, Window, WorkloadRecord, summary};
use view::card::Card;

use super::card_of;
use crate::devices::testing::{claimed, in_browser, native};

pub(crate) fn ranked(run: &StoredRun) -> Card {
    Card { rank: Some(ScoreRank { slower: 156, devices: 214 }), ..card_of(run) }
}

/// Returns a run of the quick suite on a GPU that its platform names.
pub(crate) fn run() -> StoredRun {
    stored(with_workloads(native("NVIDIA GeForce RTX 4090", "NVIDIA"), &["keras-mnist-mlp", "caffe-mnist"]))
}

/// Returns the same on a device of this name.
pub(crate) fn named(name: &str) -> StoredRun {
    let mut run = run();
    run.record.device.adapter.name = name.to_owned();
    run.record.device.adapter.vendor = "example".to_owned();
    run
}

/// Returns the same in a browser that hides its GPU, with a name from the owner.
pub(crate) fn said_to_be(name: &str) -> StoredRun {
    stored(with_workloads(claimed(in_browser("nvidia", "ampere"), name), &["keras-mnist-mlp", "caffe-mnist"]))
}

/// Returns a run of the first networks of the complete suite. One failed if there are at least five.
pub(crate) fn of_networks(number: usize) -> StoredRun {
    let suite = engine::suite("complete").unwrap();
    let mut record = with_workloads(native("Apple M3 Max", "Apple"), &suite.workloads[..number]);
    record.suite.name = suite.name.to_owned();
    if let Some(workload) = record.workloads.get_mut(4) {
        workload.outcome = Outcome::Diverged { step: 12_345 };
    }
    stored(record)
}

/// Returns a run of the language suite, whose targets are losses.
pub(crate) fn of_texts() -> StoredRun {
    let mut record = with_workloads(native("NVIDIA GeForce RTX 4090", "NVIDIA"), &["gpt-nano", "gpt-small"]);
    record.suite.name = "language".to_owned();
    for workload in &mut record.workloads {
        workload.target.as_mut().unwrap().goal = Goal::Loss(1.9);
        workload.summary.test_loss = Some(1.8834);
    }
    stored(record)
}

pub(crate) fn flagged() -> StoredRun {
    let note = "keras-mnist-mlp: recomputed from step 120 to 140, the state differs by 40.0 % of its change.";
    StoredRun { tier: Tier::Flagged, notes: vec![Note::finding(note)], ..run() }
}

pub(crate) fn without_figures() -> StoredRun {
    let mut run = run();
    run.tier = Tier::Checked;
    run.record.workloads[0].outcome = Outcome::Incorrect;
    run.record.workloads[1].outcome = Outcome::Cancelled;
    run
}

/// Returns a run that ended before its first counted window.
pub(crate) fn too_short() -> StoredRun {
    let mut run = run();
    for workload in &mut run.record.workloads {
        workload.windows.clear();
        workload.summary = summary::summarise(workload);
    }
    run
}

fn stored(record: RunRecord) -> StoredRun {
    StoredRun {
        run_id: "0123456789abcdef".to_owned(),
        tier: Tier::Proven,
        notes: Vec::new(),
        submitted_unix_seconds: 1.8e9,
        being_verified: false,
        listed: Vec::new(),
        record,
    }
}

fn with_workloads(mut record: RunRecord, names: &[&str]) -> RunRecord {
    let plain = record.workloads.remove(0);
    let workload = |(place, name): (usize, &&str)| filled(plain.clone(), name, place);
    record.workloads = names.iter().enumerate().map(workload).collect();
    record.provenance.client.name = "native-runner".to_owned();
    record.provenance.client.version = "0.1.0".to_owned();
    record
}

/// Returns a workload that is a little slower than the previous one. Every third one misses its target.
fn filled(mut record: WorkloadRecord, name: &str, place: usize) -> WorkloadRecord {
    record.workload = name.to_owned();
    let slower = 1.7_f64.powi(i32::try_from(place).unwrap());
    let window = |number: i32| Window {
        steps: 1000,
        samples: 128_000,
        seconds: slower * (1.2 + 0.006 * f64::from(number % 5) * (1 + place) as f64),
    };
    record.windows = (0..40).map(window).collect();
    record.settings.training_flops_per_sample = 90_000_000;
    let peak = |window| PeakSample { window, flops_per_second: 2.4e13, copied_bytes_per_second: None };
    record.peaks = (20..40).map(peak).collect();
    let loss = |step: u64| 2.3 * (-(step as f64) / 4000.0).exp() + 0.08 + 0.03 * (step as f64 / 700.0).sin();
    let point = |step: u64| {
        let training_seconds = slower * step as f64 * 0.0012;
        CurvePoint { step, training_seconds, loss: loss(step), accuracy: 0.9 }
    };
    record.curve = (1..200).map(|step| point(step * 100)).collect();
    let reached = place % 3 != 2;
    record.target = Some(Target {
        goal: Goal::Accuracy(if place == 0 { 0.97 } else { 0.98 }),
        reached_seconds: reached.then_some(3.618 * slower),
        reached_step: reached.then_some(3000),
    });
    record.summary = summary::summarise(&record);
    record.summary.accuracy = Some(if reached { 0.9841 } else { 0.7312 });
    record.summary.seconds_to_target = reached.then_some(3.618 * slower);
    record
}
