//! Access paths: finding the results of a page without one index for each combination of filters.
//!
//! A path is an index and the filters that its scan can start from. The number of scanned entries is bounded; other
//! filters are checked on the index entries. A filter that matches few results is its own path: its results are read
//! and sorted. Otherwise the path is the index in the order of the list. If the combination of filters is rare, the
//! last entry of the scan is found first by counting along the index, which is far cheaper than reading entries.

use results::api::RunSort;

use super::kinds::Kinds;
use super::values::{Statement, Value};

pub(super) struct Conditions<'a> {
    pub(super) order: Order,
    pub(super) workload: Option<&'a str>,
    pub(super) device: Option<&'a str>,
    pub(super) kinds: Option<Kinds>,
    /// Inclusive, in seconds since 1970.
    pub(super) since: Option<f64>,
    /// Exclusive, in seconds since 1970.
    pub(super) before: Option<f64>,
}

/// The filter that a scan starts from; `None` is the index in the order of the list, from the end of the last page.
pub(super) type AccessPath = Option<Filter>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Filter {
    Workload,
    Device,
    Kinds,
    Dates,
    /// The metric of the order is known.
    Figure,
}

const FILTERS: [Filter; 5] = [Filter::Workload, Filter::Device, Filter::Kinds, Filter::Dates, Filter::Figure];

/// The filter of an access path that is scanned.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ScanRange<'a> {
    pub(super) after: Option<&'a Key>,
    /// The last place that is scanned in the order of the list; `None` scans to the end.
    pub(super) until: Option<&'a Key>,
    /// Maximum number of results that are read on the path of a filter.
    pub(super) limit: u64,
}

/// The columns in the index of each filter.
const KEY: &str = "run_id, workload, submitted_unix_seconds, kind, device_key";
const FIGURES: &str = "descending_rate, descending_accuracy, seconds_to_target";

impl Conditions<'_> {
    /// Returns the paths that start from a filter. The filter that probably matches fewest results comes first.
    pub(super) fn filter_paths(&self) -> Vec<AccessPath> {
        let mut filters = vec![Filter::Device, Filter::Dates, Filter::Kinds];
        // In the other orders, the index of the order starts from the workload.
        if self.order.is_by_date() {
            filters.push(Filter::Workload);
        }
        filters.into_iter().filter(|filter| self.has(*filter)).map(Some).collect()
    }

    fn has(&self, filter: Filter) -> bool {
        match filter {
            Filter::Workload => self.workload.is_some(),
            Filter::Device => self.device.is_some(),
            Filter::Kinds => self.kinds.is_some(),
            Filter::Dates => self.since.is_some() || self.before.is_some(),
            Filter::Figure => self.order.first_column() == "seconds_to_target",
        }
    }

    /// Returns true if a scan of this path can start from the filter.
    fn starts_from(&self, path: AccessPath, filter: Filter) -> bool {
        let by_date = self.order.is_by_date();
        match path {
            Some(own) => own == filter || (own != Filter::Dates && filter == Filter::Workload),
            None => match filter {
                Filter::Workload | Filter::Figure => !by_date,
                // An index has the results of one device in this order.
                Filter::Device => by_date || self.order.first_column() == "descending_rate",
                Filter::Dates => by_date,
                Filter::Kinds => false,
            },
        }
    }

    /// Returns true if the scan starts from all filters, so that each result on the path belongs to the list.
    pub(super) fn covers_all(&self, path: AccessPath) -> bool {
        FILTERS.into_iter().all(|filter| !self.has(filter) || self.starts_from(path, filter))
    }

    fn condition(&self, filter: Filter, column: ColumnUse, statement: &mut Statement) -> Option<String> {
        let mut equals = |name: &str, word: &str| {
            let value = statement.value(Value::Text(word.to_owned()));
            format!("{} = {value}", column.of_text(name))
        };
        match filter {
            Filter::Workload => self.workload.map(|workload| equals("workload", workload)),
            Filter::Device => self.device.map(|device| equals("device_key", device)),
            Filter::Kinds => self.kinds.as_ref().map(|kinds| kinds.include(&column.of_number("kind"))),
            Filter::Dates => {
                let bounds = [(">=", self.since), ("<", self.before)];
                let submitted = column.of_number("submitted_unix_seconds");
                let bounds: Vec<String> = bounds
                    .into_iter()
                    .filter_map(|(sign, bound)| Some((sign, statement.value(Value::Number(bound?)))))
                    .map(|(sign, value)| format!("{submitted} {sign} {value}"))
                    .collect();
                (!bounds.is_empty()).then(|| bounds.join(" AND "))
            }
            Filter::Figure => self.has(filter).then(|| "seconds_to_target IS NOT NULL".to_owned()),
        }
    }

    fn path_condition(&self, path: AccessPath, range: ScanRange<'_>, statement: &mut Statement) -> String {
        let mut conditions = vec!["shown".to_owned()];
        for filter in FILTERS.into_iter().filter(|filter| self.starts_from(path, *filter)) {
            conditions.extend(self.condition(filter, ColumnUse::IndexStart, statement));
        }
        if path.is_none() {
            conditions.extend(range.after.map(|key| self.order.after(key, ColumnUse::IndexStart, statement)));
            conditions.extend(range.until.map(|key| self.order.until(key, statement)));
        }
        conditions.join(" AND ")
    }

    /// Returns the scanned results that match all filters, as SQL to follow `FROM`.
    fn matching(&self, path: AccessPath, range: ScanRange<'_>, statement: &mut Statement) -> String {
        let on = self.path_condition(path, range, statement);
        let mut conditions = Vec::new();
        for filter in FILTERS.into_iter().filter(|filter| !self.starts_from(path, *filter)) {
            conditions.extend(self.condition(filter, ColumnUse::Checked, statement));
        }
        let after = range.after.filter(|_| path.is_some());
        conditions.extend(after.map(|key| self.order.after(key, ColumnUse::Checked, statement)));
        if path.is_none() {
            conditions.insert(0, on);
            return format!("results WHERE {}", conditions.join(" AND "));
        }
        // The index of a filter has all columns that lists are sorted by.
        let rest = if conditions.is_empty() { String::new() } else { format!(" WHERE {}", conditions.join(" AND ")) };
        format!("({} LIMIT {}) AS looked{rest}", rows_of_filter(&on), range.limit)
    }

    /// Counts the results on a path up to a limit.
    pub(super) fn path_length(&self, path: AccessPath, limit: u64) -> Statement {
        let mut statement = Statement::default();
        let on = self.path_condition(path, ScanRange::default(), &mut statement);
        let looked = if path.is_none() {
            format!("SELECT 1 AS one FROM results WHERE {on} ORDER BY {}", self.order.column_list())
        } else {
            rows_of_filter(&on)
        };
        statement.sql = format!("SELECT COUNT(*) AS results FROM ({looked} LIMIT {limit}) AS looked");
        statement
    }

    pub(super) fn count_matching(&self, path: AccessPath, range: ScanRange<'_>) -> Statement {
        let mut statement = Statement::default();
        let matching = self.matching(path, range, &mut statement);
        statement.sql = format!("SELECT COUNT(*) AS results FROM {matching}");
        statement
    }

    /// Selects the rows of a page from the scanned results. `shown` is the `SELECT` of their columns.
    pub(super) fn rows(
        &self,
        path: AccessPath,
        range: ScanRange<'_>,
        (skip, limit): (u64, u64),
        shown: &str,
    ) -> Statement {
        let mut statement = Statement::default();
        let matching = self.matching(path, range, &mut statement);
        let (limit, skip) = (i64::try_from(limit).unwrap_or(i64::MAX), i64::try_from(skip).unwrap_or(i64::MAX));
        let (limit, skip) = (statement.value(Value::Whole(limit)), statement.value(Value::Whole(skip)));
        statement.sql = format!(
            "{shown} JOIN (SELECT run_id, workload FROM {matching} ORDER BY {} LIMIT {limit} OFFSET {skip}) AS page \
             ON results.run_id = page.run_id AND results.workload = page.workload ORDER BY {}",
            self.order.column_list(),
            self.order.column_list_of("results")
        );
        statement
    }

    /// Selects the last scanned result in the order of the list, or no row if the list ends earlier.
    pub(super) fn last_scanned(&self, after: Option<&Key>, limit: u64) -> Statement {
        let mut statement = Statement::default();
        let on = self.path_condition(None, ScanRange { after, ..ScanRange::default() }, &mut statement);
        let number = self.order.first_column();
        let number = if self.order.is_by_date() { String::new() } else { format!(", {number}") };
        statement.sql = format!(
            "SELECT run_id, workload, submitted_unix_seconds{number} FROM results WHERE {on} ORDER BY {} LIMIT 1 OFFSET {}",
            self.order.column_list(),
            limit.saturating_sub(1)
        );
        statement
    }
}

fn rows_of_filter(on: &str) -> String {
    format!("SELECT {KEY}, {FIGURES} FROM results WHERE {on}")
}

/// A total order of results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Order(pub(crate) RunSort);

/// A place in an order: the last result of a page, or the last scanned result.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Key {
    pub(crate) number: f64,
    pub(crate) submitted_unix_seconds: f64,
    pub(crate) run_id: String,
    pub(crate) workload: String,
}

impl Order {
    pub(super) fn is_by_date(self) -> bool {
        !self.0.needs_workload()
    }

    pub(super) fn first_column(self) -> &'static str {
        match self.0 {
            RunSort::Fastest => "descending_rate",
            RunSort::Accuracy => "descending_accuracy",
            RunSort::TimeToAccuracy => "seconds_to_target",
            RunSort::Newest | RunSort::Oldest => "submitted_unix_seconds",
        }
    }

    fn columns(self) -> &'static [&'static str] {
        match self.0 {
            RunSort::Newest => &["submitted_unix_seconds DESC", "run_id", "workload"],
            RunSort::Oldest => &["submitted_unix_seconds", "run_id DESC", "workload DESC"],
            RunSort::Fastest => &["descending_rate", "submitted_unix_seconds", "run_id"],
            RunSort::Accuracy => &["descending_accuracy", "submitted_unix_seconds", "run_id"],
            RunSort::TimeToAccuracy => &["seconds_to_target", "submitted_unix_seconds", "run_id"],
        }
    }

    pub(super) fn column_list_of(self, table: &str) -> String {
        let columns: Vec<String> = self.columns().iter().map(|column| format!("{table}.{column}")).collect();
        columns.join(", ")
    }

    pub(super) fn column_list(self) -> String {
        self.columns().join(", ")
    }

    /// Returns the condition that a result comes after a place. An index finds the first column.
    pub(super) fn after(self, key: &Key, column: ColumnUse, statement: &mut Statement) -> String {
        self.compared_with(key, column, Side::After, statement)
    }

    pub(super) fn until(self, key: &Key, statement: &mut Statement) -> String {
        self.compared_with(key, ColumnUse::IndexStart, Side::Until, statement)
    }

    fn compared_with(self, key: &Key, column: ColumnUse, side: Side, statement: &mut Statement) -> String {
        let number = statement.value(Value::Number(key.number));
        let run_id = statement.value(Value::Text(key.run_id.clone()));
        let begin = column.of_number(self.first_column());
        let (by_number, by_run) = match (self.0, side) {
            (RunSort::Newest, Side::After) => ("<", ">"),
            (RunSort::Newest, Side::Until) => (">", "<="),
            (RunSort::Oldest, Side::After) => (">", "<"),
            (RunSort::Oldest, Side::Until) => ("<", ">="),
            (RunSort::Fastest | RunSort::Accuracy | RunSort::TimeToAccuracy, side) => {
                let submitted = statement.value(Value::Number(key.submitted_unix_seconds));
                let sign = if side == Side::After { ">" } else { "<=" };
                return format!("({begin}, submitted_unix_seconds, run_id) {sign} ({number}, {submitted}, {run_id})");
            }
        };
        let workload = statement.value(Value::Text(key.workload.clone()));
        format!(
            "{begin} {by_number}= {number} AND ({begin} {by_number} {number} \
             OR (run_id, workload) {by_run} ({run_id}, {workload}))"
        )
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    After,
    Until,
}

/// Use of a column in a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ColumnUse {
    /// The scan of an index starts from it.
    IndexStart,
    /// It is checked on each scanned result. SQLite and PostgreSQL do not use an index for a column inside an expression,
    /// so the expression keeps them on the chosen path.
    Checked,
}

impl ColumnUse {
    pub(super) fn of_number(self, name: &str) -> String {
        match self {
            Self::IndexStart => name.to_owned(),
            Self::Checked => format!("+{name}"),
        }
    }

    pub(super) fn of_text(self, name: &str) -> String {
        match self {
            Self::IndexStart => name.to_owned(),
            Self::Checked => format!("COALESCE({name}, '')"),
        }
    }
}
