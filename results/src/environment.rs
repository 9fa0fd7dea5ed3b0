//! What is around a run, and may be why its figures are not another's.

use crate::RunRecord;
use crate::api::SideDifference;

/// Something that a record says about the machine and the programs that made it.
pub struct Fact {
    /// As it is written in documents.
    pub id: &'static str,
    value: fn(&RunRecord) -> Option<String>,
}

/// What the leaderboard tells of runs that stand side by side, in its order.
pub const FACTS: &[Fact] = &[
    Fact { id: "suite", value: |record| Some(format!("{} {}", record.suite.name, record.suite.version)) },
    Fact { id: "adapter", value: |record| text(&record.device.adapter.name) },
    Fact { id: "vendor", value: |record| text(&record.device.adapter.vendor) },
    Fact { id: "architecture", value: |record| text(&record.device.adapter.architecture) },
    Fact { id: "claimed_name", value: |record| record.device.claimed_name.clone() },
    Fact { id: "api", value: |record| text(&record.device.adapter.api) },
    Fact { id: "driver", value: |record| text(&record.device.adapter.driver) },
    Fact { id: "backend", value: |record| text(&record.device.backend) },
    Fact { id: "precision", value: |record| Some(precisions(record)) },
    Fact { id: "client", value: client },
    Fact { id: "operating_system", value: |record| text(&record.provenance.client.operating_system) },
    Fact { id: "engine_version", value: |record| text(&record.provenance.engine_version) },
    Fact { id: "non_standard", value: |record| text(&record.non_standard.join("; ")) },
];

/// What a person who looks for a regression wants to know as well.
pub const FURTHER_FACTS: &[Fact] = &[
    Fact { id: "commit", value: |record| text(&record.provenance.commit) },
    Fact {
        id: "logical_processors",
        value: |record| record.provenance.client.logical_processors.map(|count| count.to_string()),
    },
];

fn text(text: &str) -> Option<String> {
    Some(text.to_owned())
}

fn precisions(record: &RunRecord) -> String {
    let mut names: Vec<&str> = record.workloads.iter().map(|workload| workload.settings.precision.name()).collect();
    names.dedup();
    names.join(", ")
}

fn client(record: &RunRecord) -> Option<String> {
    let client = &record.provenance.client;
    Some(format!("{} {}", client.name, client.version))
}

/// Those of `facts` that not all sides have alike, each with a value for every side. Where the records of one side do not
/// agree among themselves, all that they say is its value.
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

/// Nothing where all are alike. What is empty was not said.
pub fn difference(what: &str, values: Vec<Option<String>>) -> Option<SideDifference> {
    let values: Vec<Option<String>> = values.into_iter().map(|value| value.filter(|text| !text.is_empty())).collect();
    let differ = values.windows(2).any(|pair| pair[0] != pair[1]);
    differ.then(|| SideDifference { what: what.to_owned(), values })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_differs_is_told_and_what_is_empty_was_not_said() {
        let values = |texts: [&str; 3]| texts.map(|text| Some(text.to_owned())).to_vec();
        assert_eq!(difference("driver", values(["1", "1", "1"])), None);
        let found = difference("driver", values(["1", "", "1"])).unwrap();
        assert_eq!(found.values, [Some("1".to_owned()), None, Some("1".to_owned())]);
    }
}
