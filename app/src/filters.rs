//! Tab, filters and columns of the leaderboard. They are kept in the page's URL, so that a link shows what its sender saw.

use std::borrow::Cow;

use engine::KNOWN_BACKENDS;
use results::api::{ListRuns, RankedClass, RunRow, RunSort, Tier};
use results::{BROWSERS, ClientKind, Date, METRICS, Metric, Precision, SYSTEMS, UNKNOWN, Unit, VENDORS};

use crate::text::{self, tier};
use crate::words::{Plain, messages};
use crate::{standing, t};

/// The tab that is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Shown {
    /// Places by score.
    #[default]
    Score,
    /// Places in one network.
    Network(&'static str),
    /// Single runs.
    Runs,
}

impl Shown {
    const fn name(self) -> Option<&'static str> {
        match self {
            Self::Score => None,
            Self::Network(name) => Some(name),
            Self::Runs => Some("runs"),
        }
    }

    fn named(name: &str) -> Self {
        if name == "runs" { Self::Runs } else { network(name).map_or(Self::Score, Self::Network) }
    }
}

pub const PRECISIONS: [Precision; 2] = [Precision::F32, Precision::F16];

/// Selected tab and filters: four filters for places, then those for runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Filters {
    pub shown: Shown,
    pub suite: &'static str,
    pub class: RankedClass,
    pub client: Option<ClientKind>,
    pub precision: Precision,
    /// `None` for all networks.
    pub network: Option<&'static str>,
    /// `None` for all backends.
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
    /// Parameter names in the URL.
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

    /// Parses decoded pairs of name and value. Unknown ones are ignored: a link may come from another version of the
    /// page.
    pub fn from_pairs<'a>(pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let mut filters = Self::default();
        for (name, value) in pairs {
            match name {
                "leaderboard" => filters.shown = Shown::named(value),
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

    /// Names and values of the filters that differ from the default.
    pub fn pairs(&self) -> Vec<(&'static str, String)> {
        let usual = Self::default();
        let values = [
            self.shown.name(),
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

    /// The chosen tab, or the score if it is a network that the suite lacks.
    pub fn tab(&self) -> Shown {
        match self.shown {
            Shown::Network(name) if !suite_networks(self.suite).contains(&name) => Shown::Score,
            shown => shown,
        }
    }

    /// True if a filter of places is not at its default.
    pub fn any_of_places(&self) -> bool {
        let Self { suite, class, client, precision, .. } = Self::default();
        (self.suite, self.class, self.client, self.precision) != (suite, class, client, precision)
    }
}

/// The networks of a suite, in its order.
pub fn suite_networks(suite: &str) -> &'static [&'static str] {
    engine::suite(suite).map_or(&[], |suite| suite.workloads)
}

pub fn networks() -> impl Iterator<Item = &'static str> {
    engine::WORKLOADS.iter().map(|make| make().name)
}

pub fn network(name: &str) -> Option<&'static str> {
    networks().find(|known| *known == name)
}

pub fn backend(name: &str) -> Option<&'static str> {
    KNOWN_BACKENDS.iter().map(|known| known.name).find(|known| *known == name)
}

fn precision(name: &str) -> Option<Precision> {
    PRECISIONS.into_iter().find(|precision| precision.name() == name)
}

/// Filters with a list of values.
pub const LISTS: [List; 8] = [
    list("leaderboard-run-sort", messages::filters_order, messages::filters_order_usual, || {
        RunSort::ALL.into_iter().map(|sort| (sort.name(), order(sort).into())).collect()
    }),
    list("leaderboard-run-suite", messages::common_suite, messages::filters_all, || {
        engine::SUITES.iter().map(|suite| (suite.name, text::suite_inside(suite.name).into())).collect()
    }),
    list("leaderboard-run-precision", messages::common_precision, messages::filters_all, || {
        named(Precision::ALL.map(Precision::name), None)
    }),
    list("leaderboard-run-client", messages::filters_run_in, messages::filters_all, || {
        let (native, browser) = (ClientKind::Native.name(), ClientKind::Browser.name());
        vec![(native, t!(common_program).into()), (browser, t!(common_browser).into())]
    }),
    list("leaderboard-run-browser", messages::common_browser, messages::filters_all, || {
        named(BROWSERS, Some(t!(filters_other)))
    }),
    list("leaderboard-run-system", messages::filters_system, messages::filters_all, || {
        named(SYSTEMS, Some(t!(filters_other)))
    }),
    list("leaderboard-run-vendor", messages::filters_vendor, messages::filters_all, || named(VENDORS, None)),
    list("leaderboard-run-tier", messages::filters_tier, messages::filters_all, || {
        [Tier::Proven, Tier::Checked, Tier::Unverified, Tier::Flagged].map(|of| (of.name(), tier(of).into())).to_vec()
    }),
];

const fn list(name: &'static str, title: Plain, all: Plain, values: fn() -> Vec<Word>) -> List {
    List { name, title, all, values }
}

/// Values that are their own titles, and optionally one for unknown values.
fn named(names: impl IntoIterator<Item = &'static str>, unknown: Option<&'static str>) -> Vec<Word> {
    let names = names.into_iter().map(|name| (name, name.into()));
    names.chain(unknown.map(|title| (UNKNOWN, title.into()))).collect()
}

/// Parameter names of the other filters in the URL.
pub const SINCE: &str = "leaderboard-run-since";
pub const UNTIL: &str = "leaderboard-run-until";
pub const DEVICE: &str = "leaderboard-run-device";

/// Filter with a list of values.
#[derive(Clone, Copy)]
pub struct List {
    pub name: &'static str,
    pub title: Plain,
    pub all: Plain,
    values: fn() -> Vec<Word>,
}

/// Value in the API, and its title.
pub type Word = (&'static str, Cow<'static, str>);

impl List {
    pub fn values(&self) -> Vec<Word> {
        (self.values)()
    }

    fn value(&self, word: &str) -> Option<&'static str> {
        self.values().into_iter().map(|(value, _)| value).find(|value| *value == word)
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunFilters {
    /// In the order of [`LISTS`].
    pub chosen: [Option<&'static str>; LISTS.len()],
    pub since: Option<Date>,
    pub until: Option<Date>,
    /// Key of the device to which the runs are limited.
    pub device: Option<String>,
}

impl RunFilters {
    /// Sets a filter from a name and value in the URL; unknown ones are ignored.
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

    pub(super) fn pairs(&self) -> Vec<(&'static str, String)> {
        let lists = LISTS.iter().zip(self.chosen).map(|(list, value)| (list.name, value.map(str::to_owned)));
        let others =
            [(SINCE, self.since.map(Date::iso)), (UNTIL, self.until.map(Date::iso)), (DEVICE, self.device.clone())];
        lists.chain(others).filter_map(|(name, value)| Some((name, value?))).collect()
    }

    pub fn any(&self) -> bool {
        *self != Self::default()
    }

    /// Returns the query for one network or all. Sorting by a metric needs a network.
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
            tier: tier.and_then(Tier::named),
            since: self.since.map(Date::iso),
            until: self.until.map(Date::iso),
            sort,
            ..ListRuns::default()
        }
    }
}

/// True for letters and digits of any script, and hyphens.
fn is_key(key: &str) -> bool {
    !key.is_empty() && key.chars().all(|letter| letter.is_alphanumeric() || letter == '-')
}

pub fn order(sort: RunSort) -> &'static str {
    match sort {
        RunSort::Fastest => t!(filters_fastest),
        RunSort::Newest => t!(filters_newest),
        RunSort::Oldest => t!(filters_oldest),
        RunSort::Accuracy => t!(filters_most_accurate),
        RunSort::TimeToAccuracy => t!(filters_soonest),
    }
}

pub const COLUMNS: &str = "leaderboard-columns";

/// Value in the URL if no column is selected.
const NONE: &str = "none";

#[derive(Clone, Copy, Debug)]
pub enum TableColumn {
    Figure(&'static Metric),
    BatchSize,
    Precision,
    Program,
    Tier,
    Day,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnHead {
    pub title: String,
    /// Description, shown on hover.
    pub about: Option<&'static str>,
    pub is_number: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableCell {
    pub class: &'static str,
    pub text: String,
    /// Second line.
    pub below: Option<String>,
    /// Tier, shown with its meaning.
    pub tier: Option<Tier>,
}

/// Columns that follow the metrics.
const AFTER_FIGURES: [TableColumn; 5] =
    [TableColumn::BatchSize, TableColumn::Precision, TableColumn::Program, TableColumn::Tier, TableColumn::Day];

impl TableColumn {
    pub fn all() -> impl Iterator<Item = Self> {
        METRICS.iter().map(Self::Figure).chain(AFTER_FIGURES)
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Figure(metric) => metric.id,
            Self::BatchSize => "batch_size",
            Self::Precision => "precision",
            Self::Program => "program",
            Self::Tier => "tier",
            Self::Day => "day",
        }
    }

    pub fn head(self) -> ColumnHead {
        let (about, is_number) = match self {
            Self::Figure(metric) => (Some(text::metric_description(metric)), true),
            Self::BatchSize => (None, true),
            Self::Precision | Self::Program | Self::Tier | Self::Day => (None, false),
        };
        let unit = match self {
            Self::Figure(metric) if metric.unit == Unit::SamplesPerSecond => text::rate_unit(),
            _ => String::new(),
        };
        ColumnHead { title: format!("{}{unit}", self.title()), about, is_number }
    }

    pub fn cell(self, row: &RunRow) -> TableCell {
        let plain = |class, text: String| TableCell { class, text, below: None, tier: None };
        match self {
            // The column heading shows the unit.
            Self::Figure(metric) => plain(
                "number",
                text::metric_or_dash(metric, &row.summary).trim_end_matches(&text::rate_unit()).to_owned(),
            ),
            Self::BatchSize => plain("number", text::count(row.batch_size.into())),
            Self::Precision => plain("", row.precision.name().to_owned()),
            Self::Program => {
                let below = Some(format!("{}, {}", row.operating_system, row.backend));
                TableCell { below, ..plain("program", row.client.clone()) }
            }
            Self::Tier => {
                let below = standing::ranking(row).map(str::to_owned);
                TableCell { tier: Some(row.tier), below, ..plain("", String::new()) }
            }
            Self::Day => plain("day", text::day(row.submitted_unix_seconds)),
        }
    }

    pub fn title(self) -> &'static str {
        match self {
            Self::Figure(metric) => text::metric_title(metric),
            Self::BatchSize => t!(common_batch_size),
            Self::Precision => t!(common_precision),
            Self::Program => t!(common_program),
            Self::Tier => t!(filters_tier),
            Self::Day => t!(leaderboard_day),
        }
    }

    /// True for columns shown by default.
    fn is_usual(self) -> bool {
        match self {
            Self::Figure(metric) => ["samples_per_second", "accuracy", "seconds_to_target"].contains(&metric.id),
            Self::Program | Self::Tier | Self::Day => true,
            Self::BatchSize | Self::Precision => false,
        }
    }
}

/// Selected columns, as a bit set of indices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Columns(u32);

impl Default for Columns {
    fn default() -> Self {
        Self::of(TableColumn::is_usual)
    }
}

impl Columns {
    fn of(chosen: impl Fn(TableColumn) -> bool) -> Self {
        Self(TableColumn::all().enumerate().filter(|(_, column)| chosen(*column)).map(|(place, _)| 1 << place).sum())
    }

    /// Selected columns, in table order.
    pub fn chosen(self) -> impl Iterator<Item = TableColumn> {
        TableColumn::all().enumerate().filter(move |(place, _)| self.has(*place)).map(|(_, column)| column)
    }

    /// True if the column with this index is selected.
    pub fn has(self, place: usize) -> bool {
        self.0 & (1 << place) != 0
    }

    /// Adds or removes the column with this index.
    pub fn toggle(&mut self, place: usize) {
        self.0 ^= 1 << place;
    }

    /// Parses the value in the URL. Unknown names are ignored; without a known name, the default columns are selected.
    pub(super) fn parse(value: &str) -> Self {
        let names: Vec<&str> = value.split(',').collect();
        let chosen = Self::of(|column| names.contains(&column.name()));
        if chosen.0 == 0 && value != NONE { Self::default() } else { chosen }
    }

    pub(super) fn written(self) -> String {
        let names: Vec<&str> = self.chosen().map(TableColumn::name).collect();
        if names.is_empty() { NONE.to_owned() } else { names.join(",") }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::options::RunOptions;
    use crate::plots::tests::row;

    /// Filters with the last value of every list.
    fn all() -> Filters {
        Filters {
            shown: Shown::Runs,
            suite: "complete",
            class: RankedClass::Processor,
            client: Some(ClientKind::Browser),
            precision: Precision::F16,
            network: Some("keras-mnist-mlp"),
            backend: Some("burn-wgpu"),
            runs: RunFilters {
                chosen: LISTS.map(|list| list.values().last().map(|(value, _)| *value)),
                since: Date::from_iso("2026-11-01"),
                until: Date::from_iso("2026-11-23"),
                device: Some("reported-example-gpu-9000".to_owned()),
            },
            columns: Columns::parse("day,accuracy"),
        }
    }

    #[test]
    fn a_tab_shows_a_network_of_the_suite() {
        let of = |pairs: &[(&'static str, &str)]| Filters::from_pairs(pairs.iter().copied()).tab();
        assert_eq!(of(&[("leaderboard", "caffe-mnist")]), Shown::Network("caffe-mnist"));
        assert_eq!(of(&[("leaderboard", "airbench94")]), Shown::Score);
        assert_eq!(
            of(&[("leaderboard", "airbench94"), ("leaderboard-suite", "complete")]),
            Shown::Network("airbench94")
        );
    }

    #[test]
    fn filters_survive_round_trip_through_url() {
        let pairs = all().pairs();
        assert_eq!(pairs.iter().map(|(name, _)| *name).collect::<Vec<_>>(), Filters::names().collect::<Vec<_>>());
        assert_eq!(Filters::from_pairs(pairs.iter().map(|(name, value)| (*name, value.as_str()))), all());
        assert_eq!(Filters::default().pairs(), []);
        assert_eq!(Filters::from_pairs([]), Filters::default());
        let one = Filters { client: Some(ClientKind::Native), ..Filters::default() };
        assert_eq!(one.pairs(), [("leaderboard-client", "native".to_owned())]);
    }

    #[test]
    fn unknown_values_fall_back_to_defaults() {
        // Any word can be the key of a device.
        let wrong = Filters::names().filter(|name| *name != DEVICE).map(|name| (name, "unheard-of"));
        assert_eq!(Filters::from_pairs(wrong), Filters::default());
        for pair in [
            ("leaderboard-precision", "f64"),
            (SINCE, "yesterday"),
            (UNTIL, "2026-02-30"),
            (DEVICE, "a/b"),
            (DEVICE, ""),
        ] {
            assert_eq!(Filters::from_pairs([pair]), Filters::default(), "{pair:?}");
        }
    }

    #[test]
    fn filter_names_do_not_clash_with_run_options() {
        assert!(Filters::names().all(|name| !RunOptions::NAMES.contains(&name)));
    }

    #[test]
    fn query_contains_every_filter() {
        let query = serde_json::to_value(all().runs.query(Some("caffe-mnist"), Some("wgsl"))).unwrap();
        let is_absent = |value: &serde_json::Value| value.is_null() || *value == serde_json::json!(false);
        let absent = query.as_object().unwrap().iter().filter(|(_, value)| is_absent(value));
        let absent: Vec<&str> = absent.map(|(name, _)| name.as_str()).collect();
        assert_eq!(absent, ["class", "cursor", "limit", "offset", "ranked"]);
        for list in LISTS {
            for (value, _) in list.values() {
                assert_eq!(list.value(value), Some(value), "{}", list.name);
            }
        }
    }

    #[test]
    fn metrics_of_different_networks_are_not_sorted() {
        let mut filters = RunFilters::default();
        filters.set("leaderboard-run-sort", "accuracy");
        assert_eq!(filters.query(Some("caffe-mnist"), None).sort, Some(RunSort::Accuracy));
        assert_eq!(filters.query(None, None).sort, None);
        filters.set("leaderboard-run-sort", "oldest");
        assert_eq!(filters.query(None, None).sort, Some(RunSort::Oldest));
    }

    #[test]
    fn unit_is_in_heading_and_not_in_rows() {
        let row = row("a", "Example GPU", Some(900.0), None);
        let of = |name: &str| {
            let column = TableColumn::all().find(|column| column.name() == name).unwrap();
            (column.head().title, column.cell(&row).text)
        };
        assert_eq!(of("samples_per_second"), ("Training throughput samples/s".to_owned(), "900.0".to_owned()));
        assert_eq!(of("seconds_to_target").1, "–");
        assert_eq!(of("batch_size").1, "64");
        assert_eq!(TableColumn::Program.cell(&row).below.unwrap(), "Linux, wgsl");
        assert_eq!(TableColumn::Tier.cell(&row).tier, Some(Tier::Proven));
        let unusual = TableColumn::Tier.cell(&RunRow { ranked: false, standard: false, ..row });
        assert_eq!(unusual.below.unwrap(), "Not ranked: non-standard settings");
    }

    #[test]
    fn columns_survive_round_trip_through_url() {
        let names: BTreeSet<&str> = TableColumn::all().map(TableColumn::name).collect();
        assert_eq!(names.len(), TableColumn::all().count(), "each has its own name");
        assert!(names.len() <= u32::BITS as usize && !names.contains(NONE));
        let mut columns = Columns::default();
        assert_eq!(columns.written(), "samples_per_second,accuracy,seconds_to_target,program,tier,day");
        for place in 0..TableColumn::all().count() {
            columns.toggle(place);
            assert_eq!(Columns::parse(&columns.written()), columns);
        }
        assert_eq!(Columns::parse("day,step_seconds_p50,price").written(), "step_seconds_p50,day");
        assert_eq!(Columns::parse("none").chosen().count(), 0);
        assert_eq!(Columns::parse("price"), Columns::default());
    }
}
