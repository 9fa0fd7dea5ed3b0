//! Selects what the page shows of `reference/published-results.json`. `app/src/published.rs` reads it.

use std::collections::BTreeMap;

use serde_json::{Value, json};

const RESULTS: &str = include_str!("../../reference/published-results.json");

/// Returns the results of workloads here on at most one device.
pub(crate) fn results() -> Vec<Value> {
    let mut rows: Vec<Value> = serde_json::from_str(RESULTS).expect("the file is checked in");
    rows.retain(|row| row["counterpart"].is_string() && row["gpus"].as_u64().is_none_or(|count| count <= 1));
    rows
}

/// Returns the fastest result for each workload, batch size and device; the fastest first.
pub(crate) fn times(rows: &[Value]) -> Vec<Value> {
    let mut fastest: BTreeMap<_, (f64, Value)> = BTreeMap::new();
    for row in rows {
        let epochs = row["epochs"].as_f64().filter(|epochs| *epochs > 0.0);
        let of_whole = || Some(row["training_time_s"].as_f64()? / epochs?);
        let device = row["device"].as_str().filter(|device| !device.contains("VM"));
        let key = row["batch_size"].as_u64().zip(device);
        let (Some(seconds), Some(key)) = (row["seconds_per_epoch"].as_f64().or_else(of_whole), key) else { continue };
        let seconds = (seconds * 1000.0).round() / 1000.0;
        let line = json!({
            "workload": row["counterpart"], "batch_size": key.0, "seconds_per_epoch": seconds, "device": key.1,
            "framework": row["framework"], "citation": row["citation"],
        });
        let known = fastest.entry((row["counterpart"].as_str(), key)).or_insert_with(|| (seconds, line.clone()));
        if seconds < known.0 {
            *known = (seconds, line);
        }
    }
    let mut fastest: Vec<_> = fastest.into_values().collect();
    fastest.sort_by(|(one, _), (other, _)| one.total_cmp(other));
    fastest.into_iter().map(|(_, line)| line).collect()
}

/// Returns one result per recipe of a workload, in the order of their epochs: one with a curve, or else the one with
/// the best test accuracy.
pub(crate) fn accuracies(rows: &[Value]) -> Vec<Value> {
    let recipe = |line: &Value| ["batch_size", "learning_rate", "epochs"].map(|name| line[name].as_f64());
    let worth = |line: &Value| (line["curve"].is_array(), line["accuracy"].as_f64());
    let mut lines: Vec<Value> = Vec::new();
    for row in rows {
        let line = json!({
            "workload": row["counterpart"], "batch_size": row["batch_size"], "learning_rate": row["learning_rate"],
            "epochs": row["epochs"], "device": row["device"], "framework": row["framework"],
            "citation": row["citation"], "curve": training_curve(row),
            "accuracy": row["accuracy_percent"].as_f64().map(|percent| (percent * 100.0).round() / 10_000.0),
        });
        // Each repetition continued the previous one.
        let is_continued = row["note"].as_str().is_some_and(|note| note.contains("Repeated runs continue"));
        if is_continued || worth(&line) == (false, None) || recipe(&line).contains(&None) {
            continue;
        }
        let is_same = |other: &&mut Value| other["workload"] == line["workload"] && recipe(other) == recipe(&line);
        match lines.iter_mut().find(is_same) {
            Some(other) if worth(other) >= worth(&line) => {}
            Some(other) => *other = line,
            None => lines.push(line),
        }
    }
    lines.sort_by(|one, other| recipe(one)[2].partial_cmp(&recipe(other)[2]).expect("every recipe has epochs"));
    lines
}

/// Returns the training accuracies after each epoch, if all of them are known.
fn training_curve(row: &Value) -> Option<Vec<f64>> {
    let curve = Some(&row["curve"]).filter(|curve| curve["split"] == "train")?;
    let last = row["epochs"].as_f64()? + 0.5;
    let whole = (1..).take_while(|&epoch: &u32| f64::from(epoch) < last).map(|epoch| Some(epoch.into()));
    let percent = curve["accuracy_percent"].as_array()?.iter().filter_map(Value::as_f64);
    let is_whole = whole.eq(curve["epoch"].as_array()?.iter().map(Value::as_u64));
    is_whole.then(|| percent.map(|percent| (percent * 10.0).round() / 1000.0).collect())
}
