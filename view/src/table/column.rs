//! Table columns and cells.

use results::WorkloadRecord;
use results::open_data::ExportColumn;

use crate::table::SheetCell;

/// Table column. Published names never change.
pub struct Column<R> {
    pub name: &'static str,
    /// Empty if it has none.
    pub unit: &'static str,
    pub meaning: &'static str,
    pub values: Values<R>,
}

impl<R> Column<R> {
    pub const fn of(name: &'static str, unit: &'static str, meaning: &'static str, values: Values<R>) -> Self {
        Self { name, unit, meaning, values }
    }

    /// Returns the column's description for readers of the table.
    pub fn described(&self) -> ExportColumn {
        let unit = Some(self.unit.to_owned()).filter(|unit| !unit.is_empty());
        ExportColumn { name: self.name.to_owned(), unit, meaning: self.meaning.to_owned() }
    }
}

type Required<R, T> = fn(&R, &WorkloadRecord) -> T;
type Optional<R, T> = fn(&R, &WorkloadRecord) -> Option<T>;

/// Function that returns a column's cell for a workload of a run.
///
/// The variant determines the column type, so that files can declare types before they have rows.
pub enum Values<R> {
    Text(for<'a> fn(&'a R, &'a WorkloadRecord) -> &'a str),
    OptionalText(Optional<R, String>),
    Whole(Required<R, u64>),
    OptionalWhole(Optional<R, u64>),
    Number(Required<R, f64>),
    OptionalNumber(Optional<R, f64>),
    Flag(Required<R, bool>),
    OptionalFlag(Optional<R, bool>),
    /// Seconds since 1970 UTC.
    Moment(Required<R, f64>),
}

impl<R> Values<R> {
    /// Returns true if some runs may lack the value.
    pub(crate) fn may_be_absent(&self) -> bool {
        matches!(self, Self::OptionalText(_) | Self::OptionalWhole(_) | Self::OptionalNumber(_) | Self::OptionalFlag(_))
    }

    pub(crate) fn cell(&self, run: &R, workload: &WorkloadRecord) -> SheetCell {
        match self {
            Self::Text(find) => find(run, workload).into(),
            Self::OptionalText(find) => find(run, workload).into(),
            Self::Whole(find) => find(run, workload).into(),
            Self::OptionalWhole(find) => find(run, workload).into(),
            Self::Number(find) => find(run, workload).into(),
            Self::OptionalNumber(find) => find(run, workload).into(),
            Self::Flag(find) => find(run, workload).into(),
            Self::OptionalFlag(find) => find(run, workload).into(),
            Self::Moment(find) => SheetCell::Moment(find(run, workload)),
        }
    }
}
