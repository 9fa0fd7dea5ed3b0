//! What the leaderboard shows, as the page's address says it, so that a link shows what its sender saw.
//!
//! The names in the address begin with `leaderboard`, because `suite`, `precision` and others say what is trained
//! ([`crate::options`]).

pub mod columns;
pub mod runs;

use engine::KNOWN_BACKENDS;
use results::api::RankedClass;
use results::{ClientKind, Precision};

use columns::{COLUMNS, Columns};
use runs::{DEVICE, LISTS, RunFilters, SINCE, UNTIL};

/// Which of the two tables is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Shown {
    #[default]
    Devices,
    Runs,
}

impl Shown {
    /// As it is written in addresses.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Devices => "devices",
            Self::Runs => "runs",
        }
    }

    fn named(name: &str) -> Option<Self> {
        [Self::Devices, Self::Runs].into_iter().find(|shown| shown.name() == name)
    }
}

/// The precisions that have places.
pub const PRECISIONS: [Precision; 2] = [Precision::F32, Precision::F16];

/// What is chosen; after the kind of table, the next four belong to the devices, the others to the runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Filters {
    pub shown: Shown,
    pub suite: &'static str,
    pub class: RankedClass,
    pub client: Option<ClientKind>,
    pub precision: Precision,
    /// None for all networks.
    pub network: Option<&'static str>,
    /// None for all back ends.
    pub backend: Option<&'static str>,
    pub runs: RunFilters,
    pub columns: Columns,
}

impl Default for Filters {
    fn default() -> Self {
        Self {
            shown: Shown::default(),
            suite: engine::SUITES[0].name,
            class: RankedClass::default(),
            client: None,
            precision: Precision::F32,
            network: None,
            backend: None,
            runs: RunFilters::default(),
            columns: Columns::default(),
        }
    }
}

impl Filters {
    /// Names that mean something in the address.
    pub fn names() -> impl Iterator<Item = &'static str> {
        Self::NAMES.into_iter().chain(LISTS.map(|list| list.name)).chain([SINCE, UNTIL, DEVICE, COLUMNS])
    }

    const NAMES: [&str; 7] = [
        "leaderboard",
        "leaderboard-suite",
        "leaderboard-class",
        "leaderboard-client",
        "leaderboard-precision",
        "leaderboard-network",
        "leaderboard-backend",
    ];

    /// Reads decoded pairs of name and value. A link may come from another version of the page, so that what is unknown
    /// here is left at its default.
    pub fn from_pairs<'a>(pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let mut filters = Self::default();
        for (name, value) in pairs {
            match name {
                "leaderboard" => filters.shown = Shown::named(value).unwrap_or_default(),
                "leaderboard-suite" => filters.suite = engine::suite(value).map_or(filters.suite, |suite| suite.name),
                "leaderboard-class" => filters.class = RankedClass::named(value).unwrap_or_default(),
                "leaderboard-client" => filters.client = ClientKind::named(value),
                "leaderboard-precision" => filters.precision = precision(value).unwrap_or(filters.precision),
                "leaderboard-network" => filters.network = network(value),
                "leaderboard-backend" => filters.backend = backend(value),
                COLUMNS => filters.columns = Columns::parse(value),
                _ => filters.runs.set(name, value),
            }
        }
        filters
    }

    /// What the address has to say: names and values of what is not at its default.
    pub fn pairs(&self) -> Vec<(&'static str, String)> {
        let usual = Self::default();
        let values = [
            (self.shown != usual.shown).then(|| self.shown.name()),
            (self.suite != usual.suite).then_some(self.suite),
            (self.class != usual.class).then(|| self.class.name()),
            self.client.map(ClientKind::name),
            (self.precision != usual.precision).then(|| self.precision.name()),
            self.network,
            self.backend,
        ];
        let usual = Self::NAMES.into_iter().zip(values).filter_map(|(name, value)| Some((name, value?.to_owned())));
        let columns = (self.columns != Columns::default()).then(|| (COLUMNS, self.columns.written()));
        usual.chain(self.runs.pairs()).chain(columns).collect()
    }
}

/// The names of all networks.
pub fn networks() -> impl Iterator<Item = &'static str> {
    engine::WORKLOADS.iter().map(|make| make().name)
}

/// The network of this name.
pub fn network(name: &str) -> Option<&'static str> {
    networks().find(|known| *known == name)
}

/// The back end of this name.
pub fn backend(name: &str) -> Option<&'static str> {
    KNOWN_BACKENDS.iter().map(|known| known.name).find(|known| *known == name)
}

fn precision(name: &str) -> Option<Precision> {
    PRECISIONS.into_iter().find(|precision| precision.name() == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::RunOptions;

    #[test]
    fn what_an_address_says_is_what_is_shown_again() {
        let chosen = Filters {
            shown: Shown::Runs,
            suite: "complete",
            class: RankedClass::Processor,
            client: Some(ClientKind::Browser),
            precision: Precision::F16,
            network: Some("keras-mnist-mlp"),
            backend: Some("burn-wgpu"),
            runs: runs::tests::all(),
            columns: Columns::parse("day,accuracy"),
        };
        let pairs = chosen.pairs();
        assert_eq!(pairs.iter().map(|(name, _)| *name).collect::<Vec<_>>(), Filters::names().collect::<Vec<_>>());
        assert_eq!(Filters::from_pairs(pairs.iter().map(|(name, value)| (*name, value.as_str()))), chosen);
    }

    #[test]
    fn what_is_usual_leaves_the_address_as_it_is() {
        assert_eq!(Filters::default().pairs(), []);
        assert_eq!(Filters::from_pairs([]), Filters::default());
        let one = Filters { client: Some(ClientKind::Native), ..Filters::default() };
        assert_eq!(one.pairs(), [("leaderboard-client", "native".to_owned())]);
    }

    #[test]
    fn what_is_unknown_is_shown_as_usual() {
        // Any word may be the key of a device.
        let wrong = Filters::names().filter(|name| *name != DEVICE).map(|name| (name, "unheard-of"));
        assert_eq!(Filters::from_pairs(wrong), Filters::default());
        assert_eq!(Filters::from_pairs([("leaderboard-precision", "f64")]), Filters::default());
    }

    #[test]
    fn no_filter_changes_what_is_trained() {
        assert!(Filters::names().all(|name| !RunOptions::NAMES.contains(&name)));
    }
}
