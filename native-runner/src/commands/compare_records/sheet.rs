//! Every figure of a comparison, for programs.

use results::estimate::Estimate;
use results::regression::{Line, QUANTITIES, Side};
use serde_json::{Value, json};

use super::{Compared, details};
use crate::export::Sheet;

/// A row for each line of each candidate.
pub(super) fn sheet(compared: &[Compared<'_>]) -> Sheet {
    let rows: Vec<Vec<(String, Value)>> =
        compared.iter().flat_map(|of| of.regressions.lines.iter().map(|line| row(of, line))).collect();
    let columns = rows.first().map_or_else(Vec::new, |row| row.iter().map(|(name, _)| name.clone()).collect());
    let rows = rows.into_iter().map(|row| row.into_iter().map(|(_, value)| value).collect());
    Sheet { columns, rows: rows.collect() }
}

/// The names of the columns with the values of one row; the names are the same in all.
fn row(of: &Compared<'_>, line: &Line) -> Vec<(String, Value)> {
    let mut row: Vec<(String, Value)> = Vec::new();
    let mut add = |name: &str, value: Value| row.push((name.to_owned(), value));
    add("baseline", json!(of.baseline.name));
    add("candidate", json!(of.candidate.name));
    add("workload", json!(line.key.workload));
    add("backend", json!(line.key.backend));
    add("precision", json!(line.key.precision.name()));
    add("batch_size", json!(line.key.batch_size));
    add("verdict", json!(line.verdict.words()));
    add("fails", json!(line.verdict.fails(&of.regressions.rules)));
    add("reason", json!(details::reason(line)));
    for (name, side) in [("baseline", &line.baseline), ("candidate", &line.candidate)] {
        let count = |count: fn(&Side) -> usize| json!(side.as_ref().map(count));
        add(&format!("{name}_runs"), count(|side| side.runs));
        add(&format!("{name}_completed"), count(|side| side.completed));
        add(&format!("{name}_unsteady"), count(|side| side.unsteady));
        add(&format!("{name}_reached_target"), count(|side| side.reached_target));
    }
    let throughput = line.throughput.as_ref();
    add("baseline_samples_per_second", json!(throughput.map(|of| of.baseline)));
    add("candidate_samples_per_second", json!(throughput.map(|of| of.candidate)));
    add_ratio(&mut row, "samples_per_second", throughput.map(|of| of.ratio));
    let accuracy = line.accuracy.as_ref();
    let mut add = |name: &str, value: Value| row.push((name.to_owned(), value));
    add("baseline_accuracy", json!(accuracy.map(|of| of.baseline)));
    add("candidate_accuracy", json!(accuracy.map(|of| of.candidate)));
    add("accuracy_difference", json!(accuracy.map(|of| of.difference)));
    add("accuracy_difference_explained", json!(accuracy.and_then(|of| of.allowance).map(|of| of.difference)));
    add("accuracy_verdict", json!(accuracy.map(|of| of.verdict)));
    for (index, quantity) in QUANTITIES.iter().enumerate() {
        let change = line.changes.get(index);
        row.push((format!("baseline_{}", quantity.id), json!(change.and_then(|of| of.baseline))));
        row.push((format!("candidate_{}", quantity.id), json!(change.and_then(|of| of.candidate))));
        add_ratio(&mut row, quantity.id, change.and_then(|of| of.ratio));
    }
    row
}

fn add_ratio(row: &mut Vec<(String, Value)>, id: &str, ratio: Option<Estimate>) {
    let interval = ratio.and_then(|ratio| ratio.interval);
    row.push((format!("{id}_ratio"), json!(ratio.map(|ratio| ratio.value))));
    row.push((format!("{id}_ratio_low"), json!(interval.map(|of| of.low))));
    row.push((format!("{id}_ratio_high"), json!(interval.map(|of| of.high))));
}
