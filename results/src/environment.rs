//! Properties of a run's machine and software that may explain different metrics.

use crate::RunRecord;
use crate::api::SideDifference;

/// Property of the machine or software that made a record.
pub struct Fact {
    /// Identifier in serialized output.
    pub id: &'static str,
    value: fn(&RunRecord) -> Option<String>,
}

/// Properties that the leaderboard compares, in display order.
pub const FACTS: &[Fact] = &[
    Fact { id: "suite", value: |record| Some(format!("{} {}", record.suite.name, record.suite.version)) },
    Fact { id: "adapter", value: |record| text(&record.device.adapter.name) },
    Fact { id: "vendor", value: |record| text(&record.device.adapter.vendor) },
    Fact { id: "architecture", value: |record| text(&record.device.adapter.architecture) },
    Fact { id: "claimed_name", value: |record| record.device.claimed_name.clone() },
    Fact { id: "api", value: |record| text(&record.device.adapter.api) },
    Fact { id: "driver", value: |record| text(&record.device.adapter.driver) },
    Fact { id: "backend", value: |record| text(&record.device.backend) },
    Fact { id: "precision", value: precisions },
    Fact {
        id: "client",
        value: |record| Some(format!("{} {}", record.provenance.client.name, record.provenance.client.version)),
    },
    Fact { id: "operating_system", value: |record| text(&record.provenance.client.operating_system) },
    Fact { id: "engine_version", value: |record| text(&record.provenance.engine_version) },
    Fact { id: "departures", value: |record| text(&record.departures_text("; ")) },
];

/// Additional properties for tracking down a regression.
pub const FURTHER_FACTS: &[Fact] = &[
    Fact { id: "commit", value: |record| text(&record.provenance.commit) },
    Fact {
        id: "logical_processors",
        value: |record| record.provenance.client.logical_processors.map(|count| count.to_string()),
    },
];

fn precisions(record: &RunRecord) -> Option<String> {
    let mut names: Vec<&str> = record.workloads.iter().map(|workload| workload.settings.precision.name()).collect();
    names.dedup();
    Some(names.join(", "))
}

fn text(text: &str) -> Option<String> {
    Some(text.to_owned())
}

/// Returns the `facts` that differ between sides, with one value per side. If the records of a side differ, its value
/// lists all of theirs.
pub fn differences<'a>(facts: impl IntoIterator<Item = &'a Fact>, sides: &[Vec<&RunRecord>]) -> Vec<SideDifference> {
    let of_side = |fact: &Fact, side: &Vec<&RunRecord>| {
        let mut values: Vec<String> = side.iter().filter_map(|record| (fact.value)(record)).collect();
        values.retain(|value| !value.is_empty());
        values.sort();
        values.dedup();
        (!values.is_empty()).then(|| values.join(" | "))
    };
    let found = facts
        .into_iter()
        .filter_map(|fact| difference(fact.id, sides.iter().map(|side| of_side(fact, side)).collect()));
    found.collect()
}

/// Returns the values if they differ, or `None` if all are equal. Empty values count as absent.
pub fn difference(what: &str, values: Vec<Option<String>>) -> Option<SideDifference> {
    let values: Vec<Option<String>> = values.into_iter().map(|value| value.filter(|text| !text.is_empty())).collect();
    let differ = values.windows(2).any(|pair| pair[0] != pair[1]);
    differ.then(|| SideDifference { what: what.to_owned(), values })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_values_are_absent() {
        let values = |texts: [&str; 3]| texts.map(|text| Some(text.to_owned())).to_vec();
        assert_eq!(difference("driver", values(["1", "1", "1"])), None);
        let found = difference("driver", values(["1", "", "1"])).unwrap();
        assert_eq!(found.values, [Some("1".to_owned()), None, Some("1".to_owned())]);
    }
}
