//! Properties of a run's machine and software that may explain different metrics.

use serde::{Deserialize, Serialize};

use crate::RunRecord;

/// A property that differs between sides.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct SideDifference {
    /// Such as `adapter`, `driver`, `backend`, `precision`, `engine_version`.
    pub what: String,
    /// One for each side; absent if not reported.
    pub values: Vec<Option<String>>,
}

/// Property of the machine or software that made a record: its serialized identifier, and its value or an empty text.
pub type Fact = (&'static str, fn(&RunRecord) -> String);

/// Properties that the leaderboard compares, in display order.
pub const FACTS: &[Fact] = &[
    ("suite", |record| format!("{} {}", record.suite.name, record.suite.version)),
    ("adapter", |record| record.device.adapter.name.clone()),
    ("vendor", |record| record.device.adapter.vendor.clone()),
    ("architecture", |record| record.device.adapter.architecture.clone()),
    ("claimed_name", |record| record.device.claimed_name.clone().unwrap_or_default()),
    ("api", |record| record.device.adapter.api.clone()),
    ("driver", |record| record.device.adapter.driver.clone()),
    ("backend", |record| record.device.backend.clone()),
    ("precision", |record| {
        let mut names: Vec<&str> = record.workloads.iter().map(|workload| workload.settings.precision.name()).collect();
        names.dedup();
        names.join(", ")
    }),
    ("client", |record| format!("{} {}", record.provenance.client.name, record.provenance.client.version)),
    ("operating_system", |record| record.provenance.client.operating_system.clone()),
    ("engine_version", |record| record.provenance.engine_version.clone()),
    ("departures", |record| record.departures_text("; ")),
];

/// Additional properties for tracking down a regression.
pub const FURTHER_FACTS: &[Fact] = &[
    ("commit", |record| record.provenance.commit.clone()),
    ("logical_processors", |record| {
        record.provenance.client.logical_processors.map_or_else(String::new, |count| count.to_string())
    }),
];

/// Returns the `facts` that differ between sides, with one value per side, which lists all values of its records.
pub fn differences<'a>(facts: impl IntoIterator<Item = &'a Fact>, sides: &[Vec<&RunRecord>]) -> Vec<SideDifference> {
    let of_side = |value: fn(&RunRecord) -> String, side: &Vec<&RunRecord>| {
        let values = side.iter().map(|record| value(record)).filter(|value| !value.is_empty());
        Some(sort_distinct(values).join(" | "))
    };
    let found = facts
        .into_iter()
        .filter_map(|&(id, value)| difference(id, sides.iter().map(|side| of_side(value, side)).collect()));
    found.collect()
}

/// Returns the items without repetitions, in order of first appearance.
pub fn distinct<T: PartialEq>(items: impl IntoIterator<Item = T>) -> Vec<T> {
    items.into_iter().fold(Vec::new(), |mut found, item| {
        if !found.contains(&item) {
            found.push(item);
        }
        found
    })
}

/// Returns the values without repetitions, sorted.
pub fn sort_distinct(values: impl Iterator<Item = String>) -> Vec<String> {
    let mut values: Vec<String> = values.collect();
    values.sort();
    values.dedup();
    values
}

/// Returns the values if they differ, or `None` if all are equal. Empty values count as absent.
pub fn difference(what: &str, values: Vec<Option<String>>) -> Option<SideDifference> {
    let values: Vec<Option<String>> = values.into_iter().map(|value| value.filter(|text| !text.is_empty())).collect();
    let differ = values.windows(2).any(|pair| pair[0] != pair[1]);
    differ.then(|| SideDifference { what: what.to_owned(), values })
}
