//! How the results of a page are found, without an index for each combination of filters.
//!
//! A *way* is an index, with those conditions that it can begin with. What is on the way is looked at, and nothing else:
//! that is bounded, and the rest of the conditions is held to it inside the index. A filter that leaves few results is a
//! way of its own: they are all looked at, and sorted. Where every filter leaves many, the way is the order of the list;
//! what is looked for is then met soon, unless filters fit together only rarely or at the far end of the order: so the last
//! place that is looked at is found first, by counting along the index, which costs a fraction of reading what is there.

use results::api::RunSort;

use crate::storage::kinds::Kinds;
use crate::storage::values::{Statement, Value};

/// What all results of a list fit.
pub(in crate::storage) struct Conditions<'a> {
    pub(in crate::storage) order: Order,
    pub(in crate::storage) workload: Option<&'a str>,
    pub(in crate::storage) device: Option<&'a str>,
    /// All where it is absent.
    pub(in crate::storage) kinds: Option<Kinds>,
    /// From this moment on.
    pub(in crate::storage) since: Option<f64>,
    /// Before this one.
    pub(in crate::storage) before: Option<f64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::storage) enum Way {
    /// That of the list, from where the last page ended.
    Order,
    Device,
    Dates,
    Kinds,
    Workload,
}

/// A condition of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Workload,
    Device,
    Kinds,
    Dates,
    /// That there is a figure to sort by.
    Figure,
}

const PARTS: [Part; 5] = [Part::Workload, Part::Device, Part::Kinds, Part::Dates, Part::Figure];

/// The part of a way that is looked at.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::storage) struct Reach<'a> {
    /// The place where the last page ended.
    pub(in crate::storage) after: Option<&'a Key>,
    /// The last place in the order of the list that is looked at; without one, all that follows is.
    pub(in crate::storage) until: Option<&'a Key>,
    /// The most that a filter leaves, where that is the way.
    pub(in crate::storage) most: u64,
}

/// The columns that the index of each filter has.
const KEY: &str = "run_id, workload, submitted_unix_seconds, kind, device_key";
const FIGURES: &str = "descending_rate, descending_accuracy, seconds_to_target";

impl Conditions<'_> {
    /// Ways that leave few results, perhaps, the likeliest first.
    pub(super) fn ways(&self) -> Vec<Way> {
        let all = [Way::Device, Way::Dates, Way::Kinds, Way::Workload];
        let leads = |way: &Way| match way {
            Way::Device => self.has(Part::Device),
            Way::Dates => self.has(Part::Dates),
            Way::Kinds => self.has(Part::Kinds),
            // The orders by figures are of one workload anyway.
            Way::Workload => self.has(Part::Workload) && self.order.is_by_date(),
            Way::Order => false,
        };
        all.into_iter().filter(leads).collect()
    }

    fn has(&self, part: Part) -> bool {
        match part {
            Part::Workload => self.workload.is_some(),
            Part::Device => self.device.is_some(),
            Part::Kinds => self.kinds.is_some(),
            Part::Dates => self.since.is_some() || self.before.is_some(),
            Part::Figure => self.order.number() == "seconds_to_target",
        }
    }

    /// Whether an index leads by this condition.
    fn is_on(&self, way: Way, part: Part) -> bool {
        match (way, part) {
            (Way::Order, Part::Workload | Part::Figure) => !self.order.is_by_date(),
            (Way::Order, Part::Device) => self.device_has_order(),
            (Way::Order, Part::Dates) => self.order.is_by_date(),
            (Way::Device | Way::Kinds | Way::Workload, Part::Workload) => true,
            (Way::Device, Part::Device) | (Way::Kinds, Part::Kinds) | (Way::Dates, Part::Dates) => true,
            _ => false,
        }
    }

    /// Whether there is an index of a device's results in this order.
    fn device_has_order(&self) -> bool {
        self.order.is_by_date() || self.order.number() == "descending_rate"
    }

    /// Whether every condition leads, so that all that is on the way belongs to the list.
    pub(super) fn leads_all(&self, way: Way) -> bool {
        PARTS.into_iter().all(|part| !self.has(part) || self.is_on(way, part))
    }

    /// The condition, of a column that leads or is read.
    fn condition(&self, part: Part, column: Column, statement: &mut Statement) -> Option<String> {
        let mut equals = |name: &str, word: &str| {
            let value = statement.value(Value::Text(word.to_owned()));
            format!("{} = {value}", column.of_text(name))
        };
        match part {
            Part::Workload => self.workload.map(|workload| equals("workload", workload)),
            Part::Device => self.device.map(|device| equals("device_key", device)),
            Part::Kinds => self.kinds.as_ref().map(|kinds| kinds.include(&column.of_number("kind"))),
            Part::Dates => {
                let bounds = [(">=", self.since), ("<", self.before)];
                let submitted = column.of_number("submitted_unix_seconds");
                let bounds: Vec<String> = bounds
                    .into_iter()
                    .filter_map(|(sign, bound)| Some((sign, statement.value(Value::Number(bound?)))))
                    .map(|(sign, value)| format!("{submitted} {sign} {value}"))
                    .collect();
                (!bounds.is_empty()).then(|| bounds.join(" AND "))
            }
            Part::Figure => self.has(part).then(|| "seconds_to_target IS NOT NULL".to_owned()),
        }
    }

    /// The results that are looked at on a way: every condition that leads.
    fn on(&self, way: Way, reach: Reach<'_>, statement: &mut Statement) -> String {
        let mut conditions = vec!["shown".to_owned()];
        for part in PARTS.into_iter().filter(|part| self.is_on(way, *part)) {
            conditions.extend(self.condition(part, Column::Leads, statement));
        }
        if way == Way::Order {
            conditions.extend(reach.after.map(|key| self.order.after(key, Column::Leads, statement)));
            conditions.extend(reach.until.map(|key| self.order.until(key, statement)));
        }
        conditions.join(" AND ")
    }

    /// Those of them that belong to the list, as what follows `FROM`.
    fn that_fit(&self, way: Way, reach: Reach<'_>, statement: &mut Statement) -> String {
        let on = self.on(way, reach, statement);
        let mut conditions = Vec::new();
        for part in PARTS.into_iter().filter(|part| !self.is_on(way, *part)) {
            conditions.extend(self.condition(part, Column::IsRead, statement));
        }
        let after = reach.after.filter(|_| way != Way::Order);
        conditions.extend(after.map(|key| self.order.after(key, Column::IsRead, statement)));
        if way == Way::Order {
            conditions.insert(0, on);
            return format!("results WHERE {}", conditions.join(" AND "));
        }
        // What a filter leaves lies in its index with all that it is sorted by.
        let rest = if conditions.is_empty() { String::new() } else { format!(" WHERE {}", conditions.join(" AND ")) };
        format!("({} LIMIT {}) AS looked{rest}", left_by_filter(&on), reach.most)
    }

    /// How many results are on a way, up to a number.
    pub(super) fn length(&self, way: Way, most: u64) -> Statement {
        let mut statement = Statement::default();
        let on = self.on(way, Reach::default(), &mut statement);
        let looked = if way == Way::Order {
            format!("SELECT 1 AS one FROM results WHERE {on} ORDER BY {}", self.order.by_columns())
        } else {
            left_by_filter(&on)
        };
        statement.sql = format!("SELECT COUNT(*) AS results FROM ({looked} LIMIT {most}) AS looked");
        statement
    }

    /// How many of the results that are looked at belong to the list.
    pub(super) fn count(&self, way: Way, reach: Reach<'_>) -> Statement {
        let mut statement = Statement::default();
        let that_fit = self.that_fit(way, reach, &mut statement);
        statement.sql = format!("SELECT COUNT(*) AS results FROM {that_fit}");
        statement
    }

    /// The rows of a page among the results that are looked at, with what `shown` selects of them.
    pub(in crate::storage) fn rows(
        &self,
        way: Way,
        reach: Reach<'_>,
        (skip, limit): (u64, u64),
        shown: &str,
    ) -> Statement {
        let mut statement = Statement::default();
        let that_fit = self.that_fit(way, reach, &mut statement);
        let (limit, skip) = (i64::try_from(limit).unwrap_or(i64::MAX), i64::try_from(skip).unwrap_or(i64::MAX));
        let (limit, skip) = (statement.value(Value::Whole(limit)), statement.value(Value::Whole(skip)));
        statement.sql = format!(
            "{shown} JOIN (SELECT run_id, workload FROM {that_fit} ORDER BY {} LIMIT {limit} OFFSET {skip}) AS page \
             ON results.run_id = page.run_id AND results.workload = page.workload ORDER BY {}",
            self.order.by_columns(),
            self.order.of("results")
        );
        statement
    }

    /// The last of the results that are looked at in the order of the list; none where the order ends before.
    pub(in crate::storage) fn last(&self, after: Option<&Key>, most: u64) -> Statement {
        let mut statement = Statement::default();
        let on = self.on(Way::Order, Reach { after, ..Reach::default() }, &mut statement);
        let number = self.order.number();
        let number = if self.order.is_by_date() { String::new() } else { format!(", {number}") };
        statement.sql = format!(
            "SELECT run_id, workload, submitted_unix_seconds{number} FROM results WHERE {on} ORDER BY {} LIMIT 1 OFFSET {}",
            self.order.by_columns(),
            most.saturating_sub(1)
        );
        statement
    }
}

fn left_by_filter(on: &str) -> String {
    format!("SELECT {KEY}, {FIGURES} FROM results WHERE {on}")
}

/// An order of results, from the first to the last without two that are equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Order(pub(crate) RunSort);

/// A place in an order: that of the last result of a page, or of the last that was looked at.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Key {
    /// What the order begins with, of that result.
    pub(crate) number: f64,
    pub(crate) submitted_unix_seconds: f64,
    pub(crate) run_id: String,
    pub(crate) workload: String,
}

impl Order {
    /// Whether it is one by time, in which results of all workloads stand.
    pub(super) fn is_by_date(self) -> bool {
        !self.0.needs_workload()
    }

    /// The column that it begins with.
    pub(super) fn number(self) -> &'static str {
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

    /// As `ORDER BY` has it, of the columns of this table.
    pub(super) fn of(self, table: &str) -> String {
        let columns: Vec<String> = self.columns().iter().map(|column| format!("{table}.{column}")).collect();
        columns.join(", ")
    }

    /// The same of whatever is read.
    pub(super) fn by_columns(self) -> String {
        self.columns().join(", ")
    }

    /// The condition that a result comes after a place. What it begins with can be looked up in an index; of results handed
    /// in at the same moment there are few.
    pub(super) fn after(self, key: &Key, column: Column, statement: &mut Statement) -> String {
        self.beside(key, column, Side::After, statement)
    }

    /// The condition that a result does not come after a place.
    pub(super) fn until(self, key: &Key, statement: &mut Statement) -> String {
        self.beside(key, Column::Leads, Side::Until, statement)
    }

    fn beside(self, key: &Key, column: Column, side: Side, statement: &mut Statement) -> String {
        let number = statement.value(Value::Number(key.number));
        let run_id = statement.value(Value::Text(key.run_id.clone()));
        let begin = column.of_number(self.number());
        // Signs for what comes on this side, by the number and by the run.
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

/// Which side of a place.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    After,
    Until,
}

/// What a condition does with its column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Column {
    /// An index is entered by it.
    Leads,
    /// It is read of each result that is looked at. Both data bases take a column that something is done with for one that
    /// no index helps with, so that the way is the one that was chosen.
    IsRead,
}

impl Column {
    pub(super) fn of_number(self, name: &str) -> String {
        match self {
            Self::Leads => name.to_owned(),
            Self::IsRead => format!("+{name}"),
        }
    }

    pub(super) fn of_text(self, name: &str) -> String {
        match self {
            Self::Leads => name.to_owned(),
            Self::IsRead => format!("COALESCE({name}, '')"),
        }
    }
}
