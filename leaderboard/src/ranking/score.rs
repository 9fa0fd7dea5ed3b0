//! Scores: the speed of a run relative to a frozen reference run.
//!
//! A score is the geometric mean of rate / reference rate over the suite's workloads, computed in log space. Ratios of
//! such scores do not depend on the reference: Fleming and Wallace, "How not to lie with statistics" (1986).
//! `reference/score.json` has one [`ReferenceScore`] for each version of a suite; without one there are no scores.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use results::{Outcome, RunRecord, Suite, WorkloadRecord, obstacle};
use serde::{Deserialize, Serialize};

use crate::proof::is_provable;

/// The rates of the run that is 1.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReferenceScore {
    pub suite: Suite,
    /// Device, backend and date of the measurement.
    pub description: String,
    /// Samples per second, more than zero, of each workload of the suite that can be proven.
    pub samples_per_second: BTreeMap<String, f64>,
}

static REFERENCES: LazyLock<Vec<ReferenceScore>> = LazyLock::new(|| {
    serde_json::from_str(include_str!("../../../reference/score.json")).expect("the file is checked in")
});

/// The frozen reference of this version of a suite.
pub fn reference_of(suite: &Suite) -> Option<&'static ReferenceScore> {
    REFERENCES.iter().find(|reference| reference.suite == *suite)
}

impl ReferenceScore {
    /// Returns the reference scores of a record, or `None` unless it is a complete standard run of a known suite.
    pub fn of(record: &RunRecord) -> Option<Self> {
        let suite = engine::suite(&record.suite.name).filter(|suite| suite.version == record.suite.version)?;
        if !record.is_standard() {
            return None;
        }
        let rate = |name: &&'static str| {
            let workload = record.workloads.iter().find(|workload| workload.workload == **name)?;
            Some(((*name).to_owned(), figure(record, workload)?))
        };
        let provable = suite.workloads.iter().filter(|name| is_provable(name));
        let samples_per_second = provable.map(rate).collect::<Option<_>>()?;
        let (device, client) = (&record.device.adapter.name, &record.provenance.client);
        let processors = client.logical_processors.map_or_else(String::new, |number| format!(", {number} processors"));
        let backend = &record.device.backend;
        let description = format!("{device}{processors}, {backend}, {} {}", client.name, client.version);
        Some(Self { suite: record.suite.clone(), description, samples_per_second })
    }

    /// Returns the score of a run with these rates, or `None` if a workload of the suite is missing. Others do not
    /// matter.
    pub fn score(&self, samples_per_second: &BTreeMap<String, f64>) -> Option<f64> {
        let logarithm = |(name, reference): (&String, &f64)| {
            let rate = samples_per_second.get(name).filter(|rate| rate.is_finite() && **rate > 0.0)?;
            Some((rate / reference).ln())
        };
        let logarithms: Vec<f64> = self.samples_per_second.iter().map(logarithm).collect::<Option<_>>()?;
        results::statistics::mean(&logarithms).map(f64::exp)
    }
}

/// Returns the rankable rate of a workload.
fn figure(record: &RunRecord, workload: &WorkloadRecord) -> Option<f64> {
    let counts = workload.outcome == Outcome::Completed && obstacle(record, workload).is_none();
    workload.summary.samples_per_second.filter(|rate| counts && *rate > 0.0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use results::{Departure, Evaluation};

    use super::*;
    use crate::devices::testing::native;

    fn rates(of: &[(&str, f64)]) -> BTreeMap<String, f64> {
        of.iter().map(|(name, rate)| ((*name).to_owned(), *rate)).collect()
    }

    fn reference(of: &[(&str, f64)]) -> ReferenceScore {
        let suite = Suite { name: "quick".to_owned(), version: 1 };
        ReferenceScore { suite, description: "an example".to_owned(), samples_per_second: rates(of) }
    }

    /// Returns a record with a rate for every workload of the suite.
    fn complete_record() -> RunRecord {
        let mut record = native("NVIDIA GeForce RTX 4090", "NVIDIA");
        let suite = engine::suite(&record.suite.name).unwrap();
        record.suite.version = suite.version;
        let mut workload = record.workloads.remove(0);
        workload.summary.samples_per_second = Some(1000.0);
        workload.summary.stable = true;
        workload.evaluations =
            vec![Evaluation { step: 1, training_seconds: 1.0, seconds: 1.0, loss: 0.1, accuracy: 0.98 }];
        let named = |name: &&str| WorkloadRecord { workload: (*name).to_owned(), ..workload.clone() };
        record.workloads = suite.workloads.iter().map(named).collect();
        record
    }

    #[test]
    fn scores_are_geometric_means() {
        let reference = reference(&[("a", 100.0), ("b", 5.0)]);
        let score = |a, b| reference.score(&rates(&[("a", a), ("b", b)])).unwrap();
        assert!((score(100.0, 5.0) - 1.0).abs() < 1e-12);
        assert!((score(200.0, 2.5) - 1.0).abs() < 1e-12);
        assert!((score(200.0, 10.0) - 2.0).abs() < 1e-12);
    }

    #[test]
    fn an_incomplete_suite_has_no_score() {
        let reference = reference(&[("a", 100.0), ("b", 5.0)]);
        assert_eq!(reference.score(&rates(&[("a", 100.0)])), None);
        assert_eq!(reference.score(&rates(&[("a", 100.0), ("b", 0.0)])), None);
        assert_eq!(reference.score(&rates(&[("a", 100.0), ("b", f64::NAN)])), None);
    }

    #[test]
    fn complete_record_scores_one_against_its_own_reference() {
        let made = ReferenceScore::of(&complete_record()).unwrap();
        assert!((made.score(&made.samples_per_second).unwrap() - 1.0).abs() < 1e-12);
    }

    #[test]
    fn a_record_that_may_not_rank_makes_no_reference() {
        let spoilt: [fn(&mut RunRecord); 5] = [
            |record| record.departures.push(Departure::OtherNetworks),
            |record| drop(record.workloads.pop()),
            |record| record.workloads[0].summary.stable = false,
            |record| record.workloads[0].outcome = Outcome::Cancelled,
            |record| record.suite.version += 1,
        ];
        for spoil in spoilt {
            let mut record = complete_record();
            spoil(&mut record);
            assert_eq!(ReferenceScore::of(&record), None);
        }
    }

    #[test]
    fn every_suite_version_has_a_complete_frozen_reference() {
        for (i, frozen) in REFERENCES.iter().enumerate() {
            let again = REFERENCES[..i].iter().any(|before| before.suite == frozen.suite);
            assert!(!again && frozen.samples_per_second.values().all(|rate| *rate > 0.0), "{:?}", frozen.suite);
            // Older versions are kept; the current one must name what the suite has.
            if let Some(suite) = engine::suite(&frozen.suite.name).filter(|suite| suite.version == frozen.suite.version)
            {
                let mut provable = suite.workloads.iter().filter(|name| is_provable(name));
                assert!(provable.all(|name| frozen.samples_per_second.contains_key(*name)));
            }
        }
    }

    proptest! {
        #[test]
        fn score_ratios_do_not_depend_on_the_reference(values in prop::collection::vec(prop::array::uniform4(1.0_f64..1e6), 1..20)) {
            let column = |column: usize| -> BTreeMap<String, f64> {
                values.iter().enumerate().map(|(i, row)| (format!("{i}"), row[column])).collect()
            };
            let ratio = |reference| {
                let suite = Suite { name: "quick".to_owned(), version: 1 };
                let description = "an example".to_owned();
                let reference = ReferenceScore { suite, description, samples_per_second: reference };
                reference.score(&column(0)).unwrap() / reference.score(&column(1)).unwrap()
            };
            let (a, b) = (ratio(column(2)), ratio(column(3)));
            prop_assert!((a - b).abs() <= 1e-9 * a.abs());
        }
    }
}
