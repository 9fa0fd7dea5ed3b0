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

    /// As `ORDER BY` has it, of the columns of this table.
    pub(super) fn of(self, table: &str) -> String {
        let columns: &[&str] = match self.0 {
            RunSort::Newest => &["submitted_unix_seconds DESC", "run_id", "workload"],
            RunSort::Oldest => &["submitted_unix_seconds", "run_id DESC", "workload DESC"],
            _ => &[self.number(), "submitted_unix_seconds", "run_id"],
        };
        let columns: Vec<String> = columns.iter().map(|column| format!("{table}.{column}")).collect();
        columns.join(", ")
    }

    /// The condition that a result comes after a place. What it begins with can be looked up in an index; of results handed
    /// in at the same moment there are few.
    pub(super) fn after(self, key: &Key, statement: &mut Statement) -> String {
        let number = statement.value(Value::Number(key.number));
        let run_id = statement.value(Value::Text(key.run_id.clone()));
        let (sooner, later) = match self.0 {
            RunSort::Newest => ("<", ">"),
            RunSort::Oldest => (">", "<"),
            _ => {
                let submitted = statement.value(Value::Number(key.submitted_unix_seconds));
                return format!(
                    "({}, submitted_unix_seconds, run_id) > ({number}, {submitted}, {run_id})",
                    self.number()
                );
            }
        };
        let workload = statement.value(Value::Text(key.workload.clone()));
        format!(
            "submitted_unix_seconds {sooner}= {number} AND (submitted_unix_seconds {sooner} {number} \
             OR (run_id, workload) {later} ({run_id}, {workload}))"
        )
    }
}
