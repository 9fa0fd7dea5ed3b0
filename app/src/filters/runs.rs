//! Which single runs are shown, and in which order.

use std::borrow::Cow;

use results::api::{ListRuns, RunSort, Tier};
use results::{BROWSERS, ClientKind, Date, Precision, SYSTEMS, UNKNOWN, VENDORS};

use crate::t;
use crate::text::tier;
use crate::words::{Plain, messages, network};

/// The filters that choose one of a list, each with its name in the address, what it is called, and what stands for all.
pub const LISTS: [List; 8] = [
    List {
        name: "leaderboard-run-sort",
        title: messages::filters_order,
        all: messages::filters_order_usual,
        values: sorts,
    },
    List {
        name: "leaderboard-run-suite",
        title: messages::filters_suite,
        all: messages::filters_all_suites,
        values: suites,
    },
    List {
        name: "leaderboard-run-precision",
        title: messages::filters_precision,
        all: messages::filters_all_precisions,
        values: precisions,
    },
    List {
        name: "leaderboard-run-client",
        title: messages::filters_run_in,
        all: messages::filters_programs_and_browsers,
        values: clients,
    },
    List {
        name: "leaderboard-run-browser",
        title: messages::filters_browser,
        all: messages::filters_all_browsers,
        values: browsers,
    },
    List {
        name: "leaderboard-run-system",
        title: messages::filters_system,
        all: messages::filters_all_systems,
        values: systems,
    },
    List {
        name: "leaderboard-run-vendor",
        title: messages::filters_vendor,
        all: messages::filters_all_vendors,
        values: vendors,
    },
    List {
        name: "leaderboard-run-tier",
        title: messages::filters_tier,
        all: messages::filters_all_tiers,
        values: tiers,
    },
];

/// The others, by their names in the address.
pub const SINCE: &str = "leaderboard-run-since";
pub const UNTIL: &str = "leaderboard-run-until";
pub const DEVICE: &str = "leaderboard-run-device";

/// A filter that is one of a list of words, or nothing.
#[derive(Clone, Copy)]
pub struct List {
    pub name: &'static str,
    pub title: Plain,
    /// What is shown where nothing is chosen.
    pub all: Plain,
    values: fn() -> Vec<Word>,
}

/// A word of the API, and what people read for it.
pub type Word = (&'static str, Cow<'static, str>);

impl List {
    pub fn values(&self) -> Vec<Word> {
        (self.values)()
    }

    fn value(&self, word: &str) -> Option<&'static str> {
        self.values().into_iter().map(|(value, _)| value).find(|value| *value == word)
    }
}

/// What is chosen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunFilters {
    /// In the order of [`LISTS`].
    pub chosen: [Option<&'static str>; LISTS.len()],
    pub since: Option<Date>,
    pub until: Option<Date>,
    /// The key of the only device.
    pub device: Option<String>,
}

impl RunFilters {
    /// Sets what a name and a value of the address say, as far as they mean something.
    pub(super) fn set(&mut self, name: &str, value: &str) {
        match name {
            SINCE => self.since = Date::from_iso(value),
            UNTIL => self.until = Date::from_iso(value),
            DEVICE => self.device = Some(value.to_owned()).filter(|key| is_key(key)),
            _ => {
                if let Some(place) = LISTS.iter().position(|list| list.name == name) {
                    self.chosen[place] = LISTS[place].value(value);
                }
            }
        }
    }

    /// Names and values of what is chosen.
    pub(super) fn pairs(&self) -> Vec<(&'static str, String)> {
        let lists = LISTS.iter().zip(self.chosen).map(|(list, value)| (list.name, value.map(str::to_owned)));
        let others =
            [(SINCE, self.since.map(Date::iso)), (UNTIL, self.until.map(Date::iso)), (DEVICE, self.device.clone())];
        lists.chain(others).filter_map(|(name, value)| Some((name, value?))).collect()
    }

    /// Whether anything is chosen.
    pub fn any(&self) -> bool {
        *self != Self::default()
    }

    /// What is asked of the leaderboard, of one network or of all. Orders that compare figures need one: without it they
    /// mean nothing.
    pub fn query(&self, network: Option<&str>, backend: Option<&str>) -> ListRuns {
        let [sort, suite, precision, client, browser, system, vendor, tier] = self.chosen;
        let sort = sort.and_then(RunSort::named).filter(|sort| network.is_some() || !sort.needs_workload());
        let text = |word: Option<&str>| word.map(str::to_owned);
        ListRuns {
            workload: text(network),
            backend: text(backend),
            precision: precision.and_then(Precision::named),
            suite: text(suite),
            device: self.device.clone(),
            vendor: text(vendor),
            browser: text(browser),
            system: text(system),
            client: client.and_then(ClientKind::named),
            tier: tier.and_then(Tier::from_name),
            since: self.since.map(Date::iso),
            until: self.until.map(Date::iso),
            sort,
            ..ListRuns::default()
        }
    }
}

/// Letters and digits of any script, and hyphens.
fn is_key(key: &str) -> bool {
    !key.is_empty() && key.chars().all(|letter| letter.is_alphanumeric() || letter == '-')
}

fn sorts() -> Vec<Word> {
    RunSort::ALL.into_iter().map(|sort| (sort.name(), order(sort).into())).collect()
}

/// An order, as it is chosen.
pub fn order(sort: RunSort) -> &'static str {
    match sort {
        RunSort::Fastest => t!(filters_fastest),
        RunSort::Newest => t!(filters_newest),
        RunSort::Oldest => t!(filters_oldest),
        RunSort::Accuracy => t!(filters_most_accurate),
        RunSort::TimeToAccuracy => t!(filters_soonest),
    }
}

/// An order, inside a sentence.
pub fn order_inside(sort: RunSort) -> &'static str {
    match sort {
        RunSort::Fastest => t!(filters_by_fastest),
        RunSort::Newest => t!(filters_by_newest),
        RunSort::Oldest => t!(filters_by_oldest),
        RunSort::Accuracy => t!(filters_by_most_accurate),
        RunSort::TimeToAccuracy => t!(filters_by_soonest),
    }
}

fn suites() -> Vec<Word> {
    engine::SUITES.iter().map(|suite| (suite.name, network::suite_inside(suite.name).into())).collect()
}

fn precisions() -> Vec<Word> {
    Precision::ALL.into_iter().map(|precision| (precision.name(), precision.name().into())).collect()
}

fn clients() -> Vec<Word> {
    vec![
        (ClientKind::Native.name(), t!(filters_programs).into()),
        (ClientKind::Browser.name(), t!(filters_browsers).into()),
    ]
}

fn browsers() -> Vec<Word> {
    BROWSERS
        .into_iter()
        .map(|name| (name, name.into()))
        .chain([(UNKNOWN, t!(filters_another_browser).into())])
        .collect()
}

fn systems() -> Vec<Word> {
    SYSTEMS.into_iter().map(|name| (name, name.into())).chain([(UNKNOWN, t!(filters_another_system).into())]).collect()
}

fn vendors() -> Vec<Word> {
    VENDORS.into_iter().map(|name| (name, name.into())).collect()
}

fn tiers() -> Vec<Word> {
    [Tier::Proven, Tier::Checked, Tier::Unverified, Tier::Flagged].map(|of| (of.name(), tier(of).into())).to_vec()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// The last choice of every list.
    pub(in crate::filters) fn all() -> RunFilters {
        RunFilters {
            chosen: LISTS.map(|list| list.values().last().map(|(value, _)| *value)),
            since: Date::from_iso("2026-11-01"),
            until: Date::from_iso("2026-11-23"),
            device: Some("reported-example-gpu-9000".to_owned()),
        }
    }

    #[test]
    fn every_choice_is_asked_for() {
        let query = all().query(Some("caffe-mnist"), Some("wgsl"));
        let asked = serde_json::to_value(&query).unwrap();
        let not_asked: Vec<&str> = asked
            .as_object()
            .unwrap()
            .iter()
            .filter(|(_, value)| value.is_null() || **value == serde_json::json!(false))
            .map(|(name, _)| name.as_str())
            .collect();
        assert_eq!(not_asked, ["class", "cursor", "limit", "offset", "ranked"]);
        for list in LISTS {
            for (place, (value, _)) in list.values().into_iter().enumerate() {
                assert_eq!(list.value(value), Some(value), "{} {place}", list.name);
            }
        }
    }

    #[test]
    fn figures_of_different_networks_are_not_sorted() {
        let mut filters = RunFilters::default();
        filters.set("leaderboard-run-sort", "accuracy");
        assert_eq!(filters.query(Some("caffe-mnist"), None).sort, Some(RunSort::Accuracy));
        assert_eq!(filters.query(None, None).sort, None);
        filters.set("leaderboard-run-sort", "oldest");
        assert_eq!(filters.query(None, None).sort, Some(RunSort::Oldest));
    }

    #[test]
    fn what_means_nothing_is_not_asked_for() {
        let mut filters = RunFilters::default();
        for (name, value) in [(SINCE, "yesterday"), (UNTIL, "2026-02-30"), (DEVICE, "a/b"), (DEVICE, "")] {
            filters.set(name, value);
        }
        assert!(!filters.any());
    }
}
