//! Tab, filters and columns of the leaderboard. They are kept in the page's URL, so that a link shows what its sender saw.

use std::borrow::Cow;
use std::collections::BTreeMap;

use engine::KNOWN_BACKENDS;
use results::api::{ListRuns, RankedClass, RunRow, RunSort, StandingsQuery, Tier};
use results::{BROWSERS, ClientKind, Date, METRICS, Metric, Precision, SYSTEMS, UNKNOWN, Unit, VENDORS};

use crate::text::{self, tier, workload_title};
use crate::words::{PlainText, messages};
use crate::{standing, t};

/// Selected tab, filters and columns, by their names in the URL. Values at their defaults are absent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filters(BTreeMap<&'static str, String>);

/// Names in the URL of what is not a [`List`].
pub const TAB: &str = "leaderboard";
pub const SINCE: &str = "leaderboard-run-since";
pub const UNTIL: &str = "leaderboard-run-until";
pub const DEVICE: &str = "leaderboard-run-device";

/// Tab of single runs.
pub const RUNS: &str = "runs";

impl Filters {
    pub fn names() -> impl Iterator<Item = &'static str> {
        let lists = LISTS_OF_PLACES.iter().chain(&LISTS_OF_RUNS).map(|list| list.name);
        [TAB].into_iter().chain(lists).chain([SINCE, UNTIL, DEVICE, COLUMNS])
    }

    /// Parses decoded pairs of name and value. Unknown ones are ignored: a link may be from another version.
    pub fn from_pairs<'a>(pairs: impl IntoIterator<Item = (&'a str, impl AsRef<str>)>) -> Self {
        let mut filters = Self::default();
        pairs.into_iter().for_each(|(name, value)| filters.set(name, value.as_ref()));
        filters
    }

    /// Sets a filter from a name and value in the URL. An unknown value resets it.
    pub fn set(&mut self, name: &str, value: &str) {
        let Some(name) = Self::names().find(|known| *known == name) else { return };
        let is_set = match name {
            TAB => value == RUNS || network(value).is_some(),
            SINCE | UNTIL => Date::from_iso(value).is_some(),
            DEVICE => is_key(value),
            COLUMNS => parse_columns(value) != RunColumn::usual(),
            _ => List::named(name).is_some_and(|list| (list.values)().iter().skip(1).any(|(known, _)| *known == value)),
        };
        self.0.remove(name);
        if is_set {
            self.0.insert(name, value.to_owned());
        }
    }

    /// Value of a filter that is not at its default.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    pub fn pairs(&self) -> Vec<(&'static str, String)> {
        Self::names().filter_map(|name| Some((name, self.get(name)?.to_owned()))).collect()
    }

    /// The chosen tab: [`RUNS`], a network of the suite, or empty for places by score.
    pub fn tab(&self) -> &'static str {
        let chosen = self.get(TAB).unwrap_or_default();
        let tabs = [RUNS].iter().chain(suite_networks(self.suite()));
        tabs.copied().find(|tab| *tab == chosen).unwrap_or_default()
    }

    pub fn suite(&self) -> &'static str {
        SUITE.chosen(self)
    }

    pub fn standings_query(&self) -> StandingsQuery {
        StandingsQuery {
            suite: self.suite().to_owned(),
            precision: Precision::named(PRECISION.chosen(self)),
            client: ClientKind::named(CLIENT.chosen(self)),
            class: RankedClass::named(CLASS.chosen(self)),
            ..StandingsQuery::default()
        }
    }

    pub fn columns(&self) -> Vec<RunColumn> {
        parse_columns(self.get(COLUMNS).unwrap_or_default())
    }

    pub fn toggle(&mut self, column: RunColumn) {
        let before = self.columns();
        let after: Vec<_> = RunColumn::all().filter(|of| before.contains(of) != (*of == column)).collect();
        self.set(COLUMNS, &columns_text(&after));
    }

    /// True if a filter of places is not at its default.
    pub fn any_of_places(&self) -> bool {
        LISTS_OF_PLACES.iter().any(|list| self.get(list.name).is_some())
    }

    /// True if a filter of runs below the network and the backend is not at its default.
    pub fn any_of_runs(&self) -> bool {
        let lists = LISTS_OF_RUNS.iter().skip(2).map(|list| list.name);
        lists.chain([SINCE, UNTIL, DEVICE]).any(|name| self.get(name).is_some())
    }

    /// Returns the query for single runs. Sorting by a metric needs a network.
    pub fn run_query(&self) -> ListRuns {
        let text = |name: &str| self.get(name).map(str::to_owned);
        let [workload, backend, sort, suite, precision, client, browser, system, vendor, tier] =
            LISTS_OF_RUNS.map(|list| text(list.name));
        let sort = sort.as_deref().and_then(RunSort::named);
        ListRuns {
            sort: sort.filter(|sort| workload.is_some() || !sort.needs_workload()),
            workload,
            backend,
            precision: precision.as_deref().and_then(Precision::named),
            suite,
            device: text(DEVICE),
            vendor,
            browser,
            system,
            client: client.as_deref().and_then(ClientKind::named),
            tier: tier.as_deref().and_then(Tier::named),
            since: text(SINCE),
            until: text(UNTIL),
            ..ListRuns::default()
        }
    }
}

pub fn suite_networks(suite: &str) -> &'static [&'static str] {
    engine::suite(suite).map_or(&[], |suite| suite.workloads)
}

pub fn networks() -> impl Iterator<Item = &'static str> {
    engine::WORKLOADS.iter().map(|make| make().name)
}

pub fn network(name: &str) -> Option<&'static str> {
    networks().find(|known| *known == name)
}

pub const SUITE: List = list("leaderboard-suite", messages::common_suite, || {
    engine::SUITES.iter().map(|suite| (suite.name, text::suite_title(suite.name).into())).collect()
});
pub const CLASS: List = list("leaderboard-class", messages::filters_compute_on, || {
    vec![(RankedClass::Gpu.name(), "GPUs".into()), (RankedClass::Processor.name(), t!(filters_processors).into())]
});
pub const CLIENT: List = list("leaderboard-client", messages::filters_run_in, clients);
pub const PRECISION: List = list("leaderboard-precision", messages::common_precision, || {
    named([Precision::F32, Precision::F16].map(Precision::name))
});

/// Filters of places. The first value is the default.
pub const LISTS_OF_PLACES: [List; 4] = [SUITE, CLASS, CLIENT, PRECISION];

/// Filters of single runs, which include all by default: first the two shown above the others.
pub const LISTS_OF_RUNS: [List; 10] = [
    list("leaderboard-network", messages::common_network, || all(networks().map(|of| (of, workload_title(of).into())))),
    list("leaderboard-backend", messages::common_backend, || all(named(KNOWN_BACKENDS.iter().map(|of| of.name)))),
    list("leaderboard-run-sort", messages::filters_order, || {
        let orders = RunSort::ALL.into_iter().map(|sort| (sort.name(), order(sort).into()));
        std::iter::once(("", t!(filters_order_usual).into())).chain(orders).collect()
    }),
    list("leaderboard-run-suite", messages::common_suite, || {
        all(engine::SUITES.iter().map(|suite| (suite.name, text::suite_inside(suite.name).into())))
    }),
    list("leaderboard-run-precision", messages::common_precision, || all(named(Precision::ALL.map(Precision::name)))),
    list("leaderboard-run-client", messages::filters_run_in, clients),
    list("leaderboard-run-browser", messages::common_browser, || all(named(BROWSERS).into_iter().chain(other()))),
    list("leaderboard-run-system", messages::filters_system, || all(named(SYSTEMS).into_iter().chain(other()))),
    list("leaderboard-run-vendor", messages::filters_vendor, || all(named(VENDORS))),
    list("leaderboard-run-tier", messages::filters_tier, || {
        let tiers = [Tier::Proven, Tier::Checked, Tier::Unverified, Tier::Flagged];
        all(tiers.map(|of| (of.name(), tier(of).into())))
    }),
];

const fn list(name: &'static str, title: PlainText, values: fn() -> Vec<ListValue>) -> List {
    List { name, title, values }
}

/// Values that are their own titles.
fn named(names: impl IntoIterator<Item = &'static str>) -> Vec<ListValue> {
    names.into_iter().map(|name| (name, name.into())).collect()
}

fn all(values: impl IntoIterator<Item = ListValue>) -> Vec<ListValue> {
    std::iter::once(("", t!(filters_all).into())).chain(values).collect()
}

fn other() -> Option<ListValue> {
    Some((UNKNOWN, t!(filters_other).into()))
}

fn clients() -> Vec<ListValue> {
    let (native, browser) = (ClientKind::Native.name(), ClientKind::Browser.name());
    all([(native, t!(common_program).into()), (browser, t!(common_browser).into())])
}

/// Filter with a list of values, the default first.
#[derive(Clone, Copy)]
pub struct List {
    pub name: &'static str,
    pub title: PlainText,
    pub values: fn() -> Vec<ListValue>,
}

/// Value in the API and in the URL, and its title. It is empty for all.
pub type ListValue = (&'static str, Cow<'static, str>);

impl List {
    fn named(name: &str) -> Option<&'static Self> {
        LISTS_OF_PLACES.iter().chain(&LISTS_OF_RUNS).find(|list| list.name == name)
    }

    pub fn chosen(&self, filters: &Filters) -> &'static str {
        let values = (self.values)();
        let chosen = filters.get(self.name).and_then(|word| values.iter().find(|(value, _)| *value == word));
        chosen.or(values.first()).map_or("", |(value, _)| *value)
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
pub enum RunColumn {
    Figure(&'static Metric),
    BatchSize,
    Precision,
    Program,
    Tier,
    Day,
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

impl PartialEq for RunColumn {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl RunColumn {
    /// Returns the metrics and the columns that follow them.
    pub fn all() -> impl Iterator<Item = Self> {
        let others = [Self::BatchSize, Self::Precision, Self::Program, Self::Tier, Self::Day];
        METRICS.iter().map(Self::Figure).chain(others)
    }

    pub fn usual() -> Vec<Self> {
        Self::all().filter(|column| column.about().2).collect()
    }

    /// Returns the name, the title, and true for columns shown by default.
    fn about(self) -> (&'static str, &'static str, bool) {
        match self {
            Self::Figure(metric) => {
                let is_usual = ["samples_per_second", "accuracy", "seconds_to_target"].contains(&metric.id);
                (metric.id, text::metric_title(metric), is_usual)
            }
            Self::BatchSize => ("batch_size", t!(common_batch_size), false),
            Self::Precision => ("precision", t!(common_precision), false),
            Self::Program => ("program", t!(common_program), true),
            Self::Tier => ("tier", t!(filters_tier), true),
            Self::Day => ("day", t!(leaderboard_day), true),
        }
    }

    pub fn name(self) -> &'static str {
        self.about().0
    }

    /// Title with a unit, and a description.
    pub fn head(self) -> (String, Option<&'static str>) {
        match self {
            Self::Figure(metric) => {
                let unit = if metric.unit == Unit::SamplesPerSecond { text::rate_unit() } else { String::new() };
                (format!("{}{unit}", self.title()), Some(text::metric_description(metric)))
            }
            _ => (self.title().to_owned(), None),
        }
    }

    pub fn is_number(self) -> bool {
        matches!(self, Self::Figure(_) | Self::BatchSize)
    }

    pub fn cell(self, row: &RunRow) -> TableCell {
        let plain = |class, text: String| TableCell { class, text, below: None, tier: None };
        match self {
            Self::Figure(metric) if metric.id == "accuracy" && text::aims_at_loss(&row.workload) => {
                let loss = row.summary.test_loss.map(|loss| t!(common_loss, loss = text::number(loss, 3)));
                plain("number", loss.unwrap_or_else(|| "–".to_owned()))
            }
            // The column heading shows the unit.
            Self::Figure(metric) => plain(
                "number",
                text::metric_or_dash(metric, &row.summary).trim_end_matches(&text::rate_unit()).to_owned(),
            ),
            Self::BatchSize => plain("number", text::count(row.batch_size)),
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
        self.about().1
    }
}

/// Parses the value in the URL. Unknown names are ignored; without a known name, the default columns are selected.
fn parse_columns(value: &str) -> Vec<RunColumn> {
    let names: Vec<&str> = value.split(',').collect();
    let known: Vec<_> = RunColumn::all().filter(|column| names.contains(&column.name())).collect();
    if known.is_empty() && value != NONE { RunColumn::usual() } else { known }
}

fn columns_text(columns: &[RunColumn]) -> String {
    let names: Vec<&str> = columns.iter().map(|column| column.name()).collect();
    if names.is_empty() { NONE.to_owned() } else { names.join(",") }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::charts::tests::row;
    use crate::options::RunOptions;

    /// Filters with the last value of every list.
    fn all() -> Filters {
        let lists = LISTS_OF_PLACES.iter().chain(&LISTS_OF_RUNS);
        let mut all = Filters::from_pairs(lists.map(|list| (list.name, (list.values)().last().unwrap().0)));
        all.set(TAB, RUNS);
        let days = [(SINCE, "2026-11-01"), (UNTIL, "2026-11-23")];
        for (name, value) in days.into_iter().chain([(DEVICE, "reported-example"), (COLUMNS, "accuracy,day")]) {
            all.set(name, value);
        }
        all
    }

    #[test]
    fn a_tab_shows_a_network_of_the_suite() {
        let of = |pairs: &[(&'static str, &str)]| Filters::from_pairs(pairs.iter().copied()).tab();
        assert_eq!(of(&[("leaderboard", "caffe-mnist")]), "caffe-mnist");
        assert_eq!(of(&[("leaderboard", "airbench94")]), "");
        let complete = ("leaderboard-suite", "complete");
        assert_eq!(of(&[("leaderboard", "airbench94"), complete]), "airbench94");
    }

    #[test]
    fn filters_survive_round_trip_through_url() {
        let pairs = all().pairs();
        assert_eq!(pairs.iter().map(|(name, _)| *name).collect::<Vec<_>>(), Filters::names().collect::<Vec<_>>());
        assert_eq!(Filters::from_pairs(pairs), all());
        let (usual, all) = (Filters::default(), all());
        assert_eq!((usual.pairs(), Filters::from_pairs([("", ""); 0])), (Vec::new(), usual.clone()));
        let chosen = |of: &Filters| {
            let StandingsQuery { suite, class, client, precision, .. } = of.standings_query();
            (suite, class.unwrap(), client, precision.unwrap())
        };
        assert_eq!(chosen(&usual), ("quick".to_owned(), RankedClass::Gpu, None, Precision::F32));
        let browser = Some(ClientKind::Browser);
        assert_eq!(chosen(&all), ("speedrun".to_owned(), RankedClass::Processor, browser, Precision::F16));
        let set = |of: &Filters| [of.any_of_places(), of.any_of_runs()];
        assert_eq!((set(&usual), set(&all)), ([false; 2], [true; 2]));
        let one = Filters::from_pairs([("leaderboard-client", "native"), ("leaderboard-class", "gpu")]);
        assert_eq!(one.pairs(), [("leaderboard-client", "native".to_owned())]);
    }

    #[test]
    fn unknown_values_fall_back_to_defaults() {
        // Any word can be the key of a device.
        let wrong = Filters::names().filter(|name| *name != DEVICE).map(|name| (name, "unheard-of"));
        assert_eq!(Filters::from_pairs(wrong), Filters::default());
        let precision = ("leaderboard-precision", "f64");
        for pair in [precision, (SINCE, "yesterday"), (UNTIL, "2026-02-30"), (DEVICE, "a/b"), (DEVICE, "")] {
            assert_eq!(Filters::from_pairs([pair]), Filters::default(), "{pair:?}");
        }
    }

    #[test]
    fn filter_names_do_not_clash_with_run_options() {
        assert!(Filters::names().all(|name| !RunOptions::NAMES.contains(&name)));
    }

    #[test]
    fn query_contains_every_filter() {
        let query = serde_json::to_value(all().run_query()).unwrap();
        let is_absent = |value: &serde_json::Value| value.is_null() || *value == serde_json::json!(false);
        let absent = query.as_object().unwrap().iter().filter(|(_, value)| is_absent(value));
        let absent: Vec<&str> = absent.map(|(name, _)| name.as_str()).collect();
        assert_eq!(absent, ["class", "cursor", "limit", "offset", "ranked"]);
        for list in LISTS_OF_PLACES.iter().chain(&LISTS_OF_RUNS) {
            for (value, _) in (list.values)() {
                assert_eq!(list.chosen(&Filters::from_pairs([(list.name, value)])), value, "{}", list.name);
            }
        }
    }

    #[test]
    fn metrics_of_different_networks_are_not_sorted() {
        let sort = |pairs: &[(&'static str, &str)]| Filters::from_pairs(pairs.iter().copied()).run_query().sort;
        let by_accuracy = ("leaderboard-run-sort", "accuracy");
        assert_eq!(sort(&[by_accuracy, ("leaderboard-network", "caffe-mnist")]), Some(RunSort::Accuracy));
        assert_eq!(sort(&[by_accuracy]), None);
        assert_eq!(sort(&[("leaderboard-run-sort", "oldest")]), Some(RunSort::Oldest));
    }

    #[test]
    fn unit_is_in_heading_and_not_in_rows() {
        let row = row("a", "Example GPU", Some(900.0), None);
        let of = |name: &str| {
            let column = RunColumn::all().find(|column| column.name() == name).unwrap();
            (column.head().0, column.cell(&row).text)
        };
        assert_eq!(of("samples_per_second"), ("Training throughput samples/s".to_owned(), "900.0".to_owned()));
        assert_eq!(of("seconds_to_target").1, "–");
        assert_eq!(of("batch_size").1, "64");
        assert_eq!(RunColumn::Program.cell(&row).below.unwrap(), "Linux, wgsl");
        assert_eq!(RunColumn::Tier.cell(&row).tier, Some(Tier::Proven));
        let unusual = RunColumn::Tier.cell(&RunRow { ranked: false, standard: false, ..row });
        assert_eq!(unusual.below.unwrap(), "Not ranked: non-standard settings");
    }

    #[test]
    fn columns_survive_round_trip_through_url() {
        let names: BTreeSet<&str> = RunColumn::all().map(RunColumn::name).collect();
        assert_eq!(names.len(), RunColumn::all().count(), "each has its own name");
        assert!(!names.contains(NONE));
        let usual = columns_text(&RunColumn::usual());
        assert_eq!(usual, "samples_per_second,accuracy,seconds_to_target,program,tier,day");
        let mut filters = Filters::default();
        for column in RunColumn::all() {
            let before = filters.columns().contains(&column);
            filters.toggle(column);
            assert_eq!(filters.columns().contains(&column), !before, "{column:?}");
            assert_eq!(Filters::from_pairs(filters.pairs()), filters);
        }
        let mut none = Filters::default();
        RunColumn::usual().into_iter().for_each(|column| none.toggle(column));
        assert_eq!((none.columns().len(), none.get(COLUMNS)), (0, Some(NONE)));
        let parsed = |value| columns_text(&parse_columns(value));
        assert_eq!(parsed("day,step_seconds_p50,price"), "step_seconds_p50,day");
        assert_eq!(parsed("price"), usual);
    }
}
