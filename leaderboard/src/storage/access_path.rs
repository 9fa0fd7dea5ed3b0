//! Access paths: finding the results of a page without one index for each combination of filters.
//!
//! A path is an index and the filters that its scan can start from. The number of scanned entries is bounded; other
//! filters are checked on the index entries. A filter that matches few results is its own path: its results are read
//! and sorted. Otherwise the path is the index in the order of the list. If the combination of filters is rare, the
//! last entry of the scan is found first by counting along the index, which is far cheaper than reading entries.

use results::api::RunSort;

use super::values::Statement;

#[derive(Clone, Debug)]
pub(crate) struct Conditions {
    pub(crate) order: RunSort,
    pub(crate) workload: Option<String>,
    pub(crate) device: Option<String>,
    /// Numbers of kinds, separated by commas.
    pub(crate) kinds: Option<String>,
    /// Inclusive, in seconds since 1970.
    pub(crate) since: Option<f64>,
    /// Exclusive, in seconds since 1970.
    pub(crate) before: Option<f64>,
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

/// The scanned part of an access path.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ScanRange<'a> {
    pub(super) after: Option<&'a RowKey>,
    /// The last place that is scanned in the order of the list; `None` scans to the end.
    pub(super) until: Option<&'a RowKey>,
    /// Maximum number of results that are read on the path of a filter.
    pub(super) limit: u64,
}

/// Columns in the index of each filter, among them all columns that lists are sorted by.
const COLUMNS: &str = "run_id, workload, submitted_unix_seconds, kind, device_key, descending_rate, \
     descending_accuracy, seconds_to_target";

impl Conditions {
    /// Returns the paths that start from a filter. The filter that probably matches fewest results comes first.
    pub(super) fn filter_paths(&self) -> Vec<AccessPath> {
        let filters = [Filter::Device, Filter::Dates, Filter::Kinds, Filter::Workload].into_iter();
        // In the orders by a metric, the index of the order starts from the workload.
        let is_path = |filter: &Filter| self.has(*filter) && (*filter != Filter::Workload || is_by_date(self.order));
        filters.filter(is_path).map(Some).collect()
    }

    fn has(&self, filter: Filter) -> bool {
        match filter {
            Filter::Workload => self.workload.is_some(),
            Filter::Device => self.device.is_some(),
            Filter::Kinds => self.kinds.is_some(),
            Filter::Dates => self.since.is_some() || self.before.is_some(),
            Filter::Figure => self.order == RunSort::TimeToAccuracy,
        }
    }

    /// Returns true if a scan of this path can start from the filter.
    fn starts_from(&self, path: AccessPath, filter: Filter) -> bool {
        match path {
            Some(own) => own == filter || (own != Filter::Dates && filter == Filter::Workload),
            None => match filter {
                Filter::Workload | Filter::Figure => !is_by_date(self.order),
                // An index has the results of one device in this order.
                Filter::Device => is_by_date(self.order) || self.order == RunSort::Fastest,
                Filter::Dates => is_by_date(self.order),
                Filter::Kinds => false,
            },
        }
    }

    /// Returns true if the scan starts from all filters, so that each result on the path belongs to the list.
    pub(super) fn covers_all(&self, path: AccessPath) -> bool {
        FILTERS.into_iter().all(|filter| !self.has(filter) || self.starts_from(path, filter))
    }

    fn condition(&self, filter: Filter, checked: bool, statement: &mut Statement) -> Option<String> {
        let mut equals = |name: &str, word: &str| format!("{} = {}", text_column(name, checked), statement.value(word));
        match filter {
            Filter::Workload => self.workload.as_ref().map(|workload| equals("workload", workload)),
            Filter::Device => self.device.as_ref().map(|device| equals("device_key", device)),
            Filter::Kinds => {
                self.kinds.as_ref().map(|kinds| format!("{} IN ({kinds})", number_column("kind", checked)))
            }
            Filter::Dates => {
                let submitted = number_column("submitted_unix_seconds", checked);
                let bounds = [(">=", self.since), ("<", self.before)];
                let bounds = bounds.into_iter().filter_map(|(sign, bound)| Some((sign, bound?)));
                let bounds = bounds.map(|(sign, bound)| format!("{submitted} {sign} {}", statement.value(bound)));
                Some(bounds.collect::<Vec<_>>().join(" AND ")).filter(|bounds| !bounds.is_empty())
            }
            Filter::Figure => self.has(filter).then(|| "seconds_to_target IS NOT NULL".to_owned()),
        }
    }

    /// Returns the conditions that the scan of a path starts from.
    fn on_path(&self, path: AccessPath, range: ScanRange<'_>, statement: &mut Statement) -> String {
        let mut conditions = vec!["shown".to_owned()];
        for filter in FILTERS.into_iter().filter(|filter| self.starts_from(path, *filter)) {
            conditions.extend(self.condition(filter, false, statement));
        }
        for (key, until) in [(range.after, false), (range.until, true)] {
            let key = key.filter(|_| path.is_none());
            conditions.extend(key.map(|key| compare(self.order, key, until, false, statement)));
        }
        conditions.join(" AND ")
    }

    /// Returns the scanned results that match all filters, as SQL to follow `FROM`.
    fn matching(&self, path: AccessPath, range: ScanRange<'_>, statement: &mut Statement) -> String {
        let on_path = self.on_path(path, range, statement);
        let mut checked = Vec::new();
        for filter in FILTERS.into_iter().filter(|filter| !self.starts_from(path, *filter)) {
            checked.extend(self.condition(filter, true, statement));
        }
        let after = range.after.filter(|_| path.is_some());
        checked.extend(after.map(|key| compare(self.order, key, false, true, statement)));
        if path.is_none() {
            checked.insert(0, on_path);
            return format!("results WHERE {}", checked.join(" AND "));
        }
        let rest = if checked.is_empty() { String::new() } else { format!(" WHERE {}", checked.join(" AND ")) };
        format!("(SELECT {COLUMNS} FROM results WHERE {on_path} LIMIT {}) AS looked{rest}", range.limit)
    }

    /// Counts the results on a path up to a limit.
    pub(super) fn path_length(&self, path: AccessPath, limit: u64) -> Statement {
        let mut statement = Statement::default();
        let on_path = self.on_path(path, ScanRange::default(), &mut statement);
        let (columns, order) = match path {
            None => ("1 AS one", format!(" ORDER BY {}", columns(self.order, ""))),
            Some(_) => (COLUMNS, String::new()),
        };
        statement.sql = format!(
            "SELECT COUNT(*) AS results \
             FROM (SELECT {columns} FROM results WHERE {on_path}{order} LIMIT {limit}) AS looked"
        );
        statement
    }

    pub(super) fn count_matching(&self, path: AccessPath, range: ScanRange<'_>) -> Statement {
        let mut statement = Statement::default();
        let matching = self.matching(path, range, &mut statement);
        statement.sql = format!("SELECT COUNT(*) AS results FROM {matching}");
        statement
    }

    /// Selects the rows of a page from the scanned results. `shown` is the `SELECT` of their columns.
    pub(super) fn rows(&self, path: AccessPath, range: ScanRange<'_>, part: (u64, u64), shown: &str) -> Statement {
        let (skip, limit) = part;
        let mut statement = Statement::default();
        let matching = self.matching(path, range, &mut statement);
        statement.sql = format!(
            "{shown} JOIN (SELECT run_id, workload FROM {matching} ORDER BY {} LIMIT {limit} OFFSET {skip}) AS page \
             ON results.run_id = page.run_id AND results.workload = page.workload ORDER BY {}",
            columns(self.order, ""),
            columns(self.order, "results.")
        );
        statement
    }

    /// Selects the last scanned result in the order of the list, or no row if the list ends earlier.
    pub(super) fn last_scanned(&self, after: Option<&RowKey>, limit: u64) -> Statement {
        let mut statement = Statement::default();
        let on_path = self.on_path(None, ScanRange { after, ..ScanRange::default() }, &mut statement);
        let (first, order) = (first_column(self.order), columns(self.order, ""));
        statement.sql = format!(
            "SELECT run_id, workload, submitted_unix_seconds, {first} FROM results WHERE {on_path} ORDER BY {order} \
             LIMIT 1 OFFSET {}",
            limit.saturating_sub(1)
        );
        statement
    }
}

/// A place in an order: the last result of a page, or the last scanned result.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RowKey {
    pub(crate) number: f64,
    pub(crate) submitted_unix_seconds: f64,
    pub(crate) run_id: String,
    pub(crate) workload: String,
}

fn is_by_date(order: RunSort) -> bool {
    !order.needs_workload()
}

pub(super) fn first_column(order: RunSort) -> &'static str {
    match order {
        RunSort::Fastest => "descending_rate",
        RunSort::Accuracy => "descending_accuracy",
        RunSort::TimeToAccuracy => "seconds_to_target",
        RunSort::Newest | RunSort::Oldest => "submitted_unix_seconds",
    }
}

/// Returns the columns of an order, which is total, each with a prefix.
fn columns(order: RunSort, prefix: &str) -> String {
    let first = first_column(order);
    match order {
        RunSort::Newest => format!("{prefix}{first} DESC, {prefix}run_id, {prefix}workload"),
        RunSort::Oldest => format!("{prefix}{first}, {prefix}run_id DESC, {prefix}workload DESC"),
        _ => format!("{prefix}{first}, {prefix}submitted_unix_seconds, {prefix}run_id"),
    }
}

/// Returns the condition that a result comes after a place, or else not after it. An index finds the first column.
fn compare(order: RunSort, key: &RowKey, until: bool, checked: bool, statement: &mut Statement) -> String {
    let (number, run_id) = (statement.value(key.number), statement.value(key.run_id.as_str()));
    let first = number_column(first_column(order), checked);
    let (by_number, by_run) = match (order, until) {
        (RunSort::Newest, false) => ("<", ">"),
        (RunSort::Newest, true) => (">", "<="),
        (RunSort::Oldest, false) => (">", "<"),
        (RunSort::Oldest, true) => ("<", ">="),
        (RunSort::Fastest | RunSort::Accuracy | RunSort::TimeToAccuracy, until) => {
            let submitted = statement.value(key.submitted_unix_seconds);
            let sign = if until { "<=" } else { ">" };
            return format!("({first}, submitted_unix_seconds, run_id) {sign} ({number}, {submitted}, {run_id})");
        }
    };
    let workload = statement.value(key.workload.as_str());
    format!(
        "{first} {by_number}= {number} AND ({first} {by_number} {number} \
         OR (run_id, workload) {by_run} ({run_id}, {workload}))"
    )
}

/// Returns a column that a scan starts from, or one that is `checked` on each scanned result. SQLite and PostgreSQL do
/// not use an index for a column inside an expression, so the expression keeps them on the chosen path.
fn number_column(name: &str, checked: bool) -> String {
    if checked { format!("+{name}") } else { name.to_owned() }
}

/// Does the same for a column of text.
fn text_column(name: &str, checked: bool) -> String {
    if checked { format!("COALESCE({name}, '')") } else { name.to_owned() }
}
