//! What a column is.

use results::open_data::ExportColumn;

use crate::values::Values;

/// What a column is called, what it means, and what it has for a workload of a run. Names stay as they were published.
pub struct Column<R> {
    pub name: &'static str,
    pub unit: Option<&'static str>,
    pub meaning: &'static str,
    pub values: Values<R>,
}

impl<R> Column<R> {
    /// Words and plain numbers.
    pub const fn of(name: &'static str, meaning: &'static str, values: Values<R>) -> Self {
        Self { name, unit: None, meaning, values }
    }

    /// What has a unit.
    pub const fn in_unit(name: &'static str, unit: &'static str, meaning: &'static str, values: Values<R>) -> Self {
        Self { name, unit: Some(unit), meaning, values }
    }

    /// As a reader of the table is told.
    pub fn described(&self) -> ExportColumn {
        ExportColumn {
            name: self.name.to_owned(),
            unit: self.unit.map(ToOwned::to_owned),
            meaning: self.meaning.to_owned(),
        }
    }
}
