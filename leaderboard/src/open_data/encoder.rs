//! Runs as bytes of a format.

use results::api::StoredRun;
use results::open_data::ExportFormat;

use super::parquet_file::ParquetFile;
use super::{ExportError, csv};

/// What is being written in one of the formats. It works on the processor alone, and long enough to hold up others.
pub(crate) enum Encoder {
    /// What waits to be taken: at first the names of the columns.
    Csv(String),
    Jsonl,
    Parquet(Box<ParquetFile>),
}

impl Encoder {
    pub(crate) fn new(format: ExportFormat) -> Result<Self, ExportError> {
        Ok(match format {
            ExportFormat::Csv => {
                let mut text = String::new();
                csv::write_header(&mut text);
                Self::Csv(text)
            }
            ExportFormat::Jsonl => Self::Jsonl,
            ExportFormat::Parquet => Self::Parquet(Box::new(ParquetFile::new()?)),
        })
    }

    /// The next bytes, of which there may be none yet. After the `last` runs they are the file's end.
    pub(crate) fn encode(&mut self, runs: &[StoredRun], last: bool) -> Result<Vec<u8>, ExportError> {
        match self {
            Self::Csv(waiting) => {
                let mut text = std::mem::take(waiting);
                runs.iter().for_each(|run| csv::write_run(&mut text, run));
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
                    file.write_run(run)?;
                }
                if last {
                    file.end()?;
                }
                Ok(file.take()?)
            }
        }
    }
}
