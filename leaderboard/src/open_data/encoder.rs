//! Runs as bytes of a format.

use record_table::{Column, ParquetFile, csv};
use results::api::StoredRun;
use results::open_data::{ExportFormat, LICENCE, LICENCE_ADDRESS};

use super::ExportError;
use super::columns::columns;

/// What is being written in one of the formats. It works on the processor alone, and long enough to hold up others.
pub(crate) enum Encoder {
    Csv {
        columns: Vec<Column<StoredRun>>,
        /// What is yet to be taken: at first the names of the columns.
        waiting: String,
    },
    Jsonl,
    Parquet(Box<ParquetFile<StoredRun>>),
}

impl Encoder {
    pub(crate) fn new(format: ExportFormat) -> Result<Self, ExportError> {
        Ok(match format {
            ExportFormat::Csv => {
                let (columns, mut waiting) = (columns(), String::new());
                csv::write_header(&mut waiting, &columns);
                Self::Csv { columns, waiting }
            }
            ExportFormat::Jsonl => Self::Jsonl,
            ExportFormat::Parquet => {
                let about = [("licence", LICENCE), ("licence_address", LICENCE_ADDRESS)];
                Self::Parquet(Box::new(ParquetFile::new(columns(), &about)?))
            }
        })
    }

    /// The next bytes, of which there may be none yet. After the `last` runs they are the file's end.
    pub(crate) fn encode(&mut self, runs: &[StoredRun], last: bool) -> Result<Vec<u8>, ExportError> {
        match self {
            Self::Csv { columns, waiting } => {
                let mut text = std::mem::take(waiting);
                runs.iter().for_each(|run| csv::write_run(&mut text, columns, &run.as_listed()));
                Ok(text.into_bytes())
            }
            Self::Jsonl => {
                let mut text = Vec::new();
                for run in runs {
                    serde_json::to_writer(&mut text, run)?;
                    text.push(b'\n');
                }
                Ok(text)
            }
            Self::Parquet(file) => {
                for run in runs {
                    file.write_run(&run.as_listed())?;
                }
                if last {
                    file.end()?;
                }
                Ok(file.take()?)
            }
        }
    }
}
