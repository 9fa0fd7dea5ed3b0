//! All visible results, or those of a list, as one file, made a portion at a time, for whoever downloads it and for a folder.

mod columns;
mod encoder;
mod listed;
mod runs;

use record_table::{Column, ParquetError};
use results::api::StoredRun;
use results::open_data::{ExportAbout, ExportFormat, LICENCE, LICENCE_ADDRESS};

use crate::storage::{Storage, StorageError, Wanted};
use columns::columns;
pub(crate) use encoder::Encoder;
use listed::ListedRuns;
pub(crate) use runs::VisibleRuns;

/// Why an export broke off.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ExportError {
    #[error(transparent)]
    Storage(#[from] StorageError),
    #[error("a run cannot be written as JSON: {0}")]
    Json(#[from] serde_json::Error),
    #[error("the table cannot be written as Parquet: {0}")]
    Parquet(#[from] ParquetError),
    #[error("the thread that wrote it ended early")]
    Stopped,
}

/// What is exported.
enum Runs {
    All(VisibleRuns),
    Listed(Box<ListedRuns>),
}

/// An export that has come so far.
pub(crate) struct Export {
    runs: Runs,
    /// Absent while a thread has it.
    encoder: Option<Encoder>,
}

impl Export {
    /// Of all visible runs.
    pub(crate) fn new(storage: Storage, format: ExportFormat) -> Result<Self, ExportError> {
        Ok(Self { runs: Runs::All(VisibleRuns::new(storage)), encoder: Some(Encoder::new(format)?) })
    }

    /// Of what is in a list, in its order.
    pub(crate) fn of_list(storage: Storage, wanted: Wanted, format: ExportFormat) -> Result<Self, ExportError> {
        Ok(Self {
            runs: Runs::Listed(Box::new(ListedRuns::new(storage, wanted))),
            encoder: Some(Encoder::new(format)?),
        })
    }

    /// The next bytes, never none of them; nothing after the last ones.
    pub(crate) async fn next(&mut self) -> Result<Option<Vec<u8>>, ExportError> {
        while let Some(runs) = self.runs.next().await? {
            let last = self.runs.ended();
            let mut encoder = self.encoder.take().ok_or(ExportError::Stopped)?;
            let encoded = tokio::task::spawn_blocking(move || {
                let bytes = encoder.encode(&runs, last)?;
                Ok::<_, ExportError>((encoder, bytes))
            });
            let (encoder, bytes) = encoded.await.map_err(|_panicked| ExportError::Stopped)??;
            self.encoder = Some(encoder);
            if !bytes.is_empty() {
                return Ok(Some(bytes));
            }
        }
        Ok(None)
    }

    /// Runs that were read so far.
    pub(crate) fn runs(&self) -> u64 {
        match &self.runs {
            Runs::All(runs) => runs.runs(),
            Runs::Listed(runs) => runs.runs(),
        }
    }

    /// Runs so far that are stored and cannot be read.
    pub(crate) fn left_out(&self) -> u64 {
        match &self.runs {
            Runs::All(runs) => runs.left_out(),
            Runs::Listed(runs) => runs.left_out(),
        }
    }
}

impl Runs {
    async fn next(&mut self) -> Result<Option<Vec<StoredRun>>, StorageError> {
        match self {
            Self::All(runs) => runs.next().await,
            Self::Listed(runs) => runs.next().await,
        }
    }

    fn ended(&self) -> bool {
        match self {
            Self::All(runs) => runs.ended(),
            Self::Listed(runs) => runs.ended(),
        }
    }
}

pub(crate) fn about(runs: u64) -> ExportAbout {
    ExportAbout {
        licence: LICENCE.to_owned(),
        licence_address: LICENCE_ADDRESS.to_owned(),
        runs,
        csv: "UTF-8, a line of names first, commas between cells, double quotes around cells that need them, a line feed \
              after each line. A run has a line for each of its workloads, whatever became of it. An empty cell means \
              that the run does not have the value, never zero. A text that begins with =, +, -, @, an apostrophe, a \
              tab, a line feed or a carriage return has one apostrophe more before it, so that no spreadsheet takes it \
              for a formula: take that one away to have the text as it was."
            .to_owned(),
        csv_columns: columns().iter().map(Column::described).collect(),
        jsonl: "A JSON document in each line, one for each run, in the order in which they were submitted: what \
                /api/v1/runs/{id} answers. /api/v1/schema describes its record."
            .to_owned(),
        parquet: "The rows and columns of the CSV, typed, in groups of at most 10,000 rows, compressed with gzip. Numbers \
                  are DOUBLE or INT64, truth values BOOLEAN, texts UTF-8 as they were, without an apostrophe more. \
                  submitted_unix_seconds is a TIMESTAMP in microseconds, UTC. Null means that the run does not have the \
                  value. The file's key-value metadata have licence, licence_address, schema_version (that of the \
                  records), gradmark_version, and columns, which is csv_columns of this answer as JSON."
            .to_owned(),
        of_a_list: "With the filters and the order of /api/v1/runs beside the format, an export has what that list has, and \
                    nothing else: a run has only those of its workloads that are in the list, in JSON Lines too. A workload \
                    that failed is in no list."
            .to_owned(),
        snapshots: "Where the host keeps them, files of the last seven days lie under /snapshots/, made soon after \
                    midnight UTC, each with its SHA-256 beside it; /api/v1/snapshots lists them. A run that is deleted \
                    or hidden is absent from every export at once, and stays in the snapshots that have it until they \
                    are deleted, on the seventh day after their own."
            .to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_has_as_many_rows_as_is_told() {
        assert!(about(0).parquet.contains("at most 10,000 rows") && record_table::ROWS_IN_GROUP == 10_000);
    }
}
