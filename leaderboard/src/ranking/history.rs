//! Figures of one device in one category, apart by what may have changed them: a version, a driver, time itself.

use std::collections::BTreeMap;

use super::{Figure, ProvenRun};

/// A run with what it is grouped by.
#[derive(Clone, Debug, PartialEq)]
pub struct PastRun {
    pub label: String,
    pub submitted_unix_seconds: f64,
    pub run: ProvenRun,
}

/// What the runs of one label come to.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    pub label: String,
    pub figure: Figure,
    /// Of the first and of the last of them.
    pub first_unix_seconds: f64,
    pub last_unix_seconds: f64,
}

/// A group for each label, in the order in which labels were first seen.
pub fn history(runs: impl IntoIterator<Item = PastRun>) -> Vec<Group> {
    let mut labels: BTreeMap<String, (f64, f64, Vec<ProvenRun>)> = BTreeMap::new();
    for PastRun { label, submitted_unix_seconds: at, run } in runs {
        let (first, last, runs) = labels.entry(label).or_insert((f64::INFINITY, f64::NEG_INFINITY, Vec::new()));
        (*first, *last) = (first.min(at), last.max(at));
        runs.push(run);
    }
    let group = |(label, (first_unix_seconds, last_unix_seconds, runs)): (String, (f64, f64, Vec<ProvenRun>))| {
        Some(Group { label, figure: Figure::of(&runs)?, first_unix_seconds, last_unix_seconds })
    };
    let mut groups: Vec<Group> = labels.into_iter().filter_map(group).collect();
    groups.sort_by(|a, b| a.first_unix_seconds.total_cmp(&b.first_unix_seconds));
    groups
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::voices::tests::run;
    use super::*;

    fn past(label: &str, submitted_unix_seconds: f64, who: &str, rate: f64) -> PastRun {
        PastRun { label: label.to_owned(), submitted_unix_seconds, run: run(Some(who), 1, rate) }
    }

    #[test]
    fn a_version_has_the_figure_of_its_people_and_versions_come_as_they_were_first_seen() {
        let runs = [
            past("0.2.0", 30.0, "ann", 40.0),
            past("0.10.0", 40.0, "ann", 50.0),
            past("0.1.0", 10.0, "ann", 10.0),
            past("0.1.0", 20.0, "ann", 20.0),
            past("0.1.0", 50.0, "bob", 35.0),
        ];
        let groups = history(runs);
        let labels: Vec<&str> = groups.iter().map(|group| group.label.as_str()).collect();
        assert_eq!(labels, ["0.1.0", "0.2.0", "0.10.0"]);
        let first = &groups[0];
        assert_eq!((first.first_unix_seconds, first.last_unix_seconds), (10.0, 50.0));
        assert_eq!((first.figure.median, first.figure.runs, first.figure.submitters), (25.0, 3, 2));
        assert!(history([]).is_empty());
    }

    proptest! {
        #[test]
        fn every_run_is_in_one_group_and_no_order_matters(
            mut runs in prop::collection::vec((0_u8..4, 0_u32..1000, 0_u8..3, 1.0_f64..1e6), 0..30)
        ) {
            let made = |runs: &[(u8, u32, u8, f64)]| {
                history(runs.iter().map(|(label, at, who, rate)| {
                    past(&label.to_string(), f64::from(*at), &who.to_string(), *rate)
                }))
            };
            let mut groups = made(&runs);
            prop_assert_eq!(groups.iter().map(|group| group.figure.runs).sum::<usize>(), runs.len());
            prop_assert!(groups.is_sorted_by(|a, b| a.first_unix_seconds <= b.first_unix_seconds));
            runs.reverse();
            let mut others = made(&runs);
            groups.sort_by(|a, b| a.label.cmp(&b.label));
            others.sort_by(|a, b| a.label.cmp(&b.label));
            prop_assert_eq!(groups, others);
        }
    }
}
