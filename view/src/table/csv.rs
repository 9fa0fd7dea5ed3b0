//! Table lines as in RFC 4180, except that they end with a line feed.

use crate::table::cell::write_line;
use crate::table::{Column, HasRecord, SheetCell};

/// Writes the header line with the column names.
pub fn write_header<R>(text: &mut String, columns: &[Column<R>]) {
    write_line(text, columns.iter().map(|column| SheetCell::from(column.name)));
}

pub fn write_run<R: HasRecord>(text: &mut String, columns: &[Column<R>], run: &R) {
    for workload in &run.record().workloads {
        write_line(text, columns.iter().map(|column| column.values.cell(run, workload)));
    }
}
