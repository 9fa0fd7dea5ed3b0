//! Records as tables with typed columns, for spreadsheets and for programs that analyse them: the leaderboard's open data,
//! and what `native-runner export` makes of records that nobody uploaded. No files, no clock.
//!
//! A row is a workload of a run, whatever became of it. Whoever has runs says what more it knows of each ([`Run`]) and puts
//! columns of its own beside [`record_columns`].

#![cfg_attr(
    not(test),
    warn(clippy::disallowed_methods, clippy::disallowed_types, clippy::print_stderr, clippy::print_stdout)
)]

mod column;
pub mod csv;
mod parquet_file;
mod record_columns;
mod values;

pub use column::Column;
pub use parquet::errors::ParquetError;
pub use parquet_file::{ParquetFile, ROWS_IN_GROUP};
pub use record_columns::record_columns;
use results::RunRecord;
use results::api::StoredRun;
pub use values::Values;

/// A run with its record, and with whatever else its columns show.
pub trait Run {
    fn record(&self) -> &RunRecord;
}

impl Run for StoredRun {
    fn record(&self) -> &RunRecord {
        &self.record
    }
}
