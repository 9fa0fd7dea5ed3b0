//! The orders of lists, each that of an index, and the place in one from which a page goes on.

use results::api::RunSort;

use crate::storage::values::{Statement, Value};

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
