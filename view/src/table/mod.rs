//! Records as tables with typed columns, for spreadsheets and programs: the leaderboard's open data, the output of
//! `native-runner export`, and the files of reports.
//!
//! Each row is a workload of a run, regardless of its outcome. Callers with more data about runs ([`HasRecord`]) can
//! add their own columns to [`record_columns`].

mod cell;
mod column;
pub mod csv;
mod parquet_file;
mod record_columns;

pub use cell::{Sheet, SheetCell};
pub use column::{Column, Values};
pub use parquet::errors::ParquetError;
pub use parquet_file::{ParquetFile, ROWS_IN_GROUP};
pub use record_columns::{LocalRun, local_columns, record_columns};
use results::RunRecord;
use results::api::StoredRun;

/// Run with a record and any other data that columns show.
pub trait HasRecord {
    fn record(&self) -> &RunRecord;
}

impl HasRecord for StoredRun {
    fn record(&self) -> &RunRecord {
        &self.record
    }
}
