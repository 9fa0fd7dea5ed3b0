//! Exports of all visible results or of a list as one file, written in portions.

use std::collections::VecDeque;
use std::mem;

use results::api::StoredRun;
use results::open_data::{ExportAbout, ExportFormat, LICENCE, LICENCE_ADDRESS};
use view::table::Values::{Moment, Text};
use view::table::{Column, ParquetError, ParquetFile, ROWS_IN_GROUP, csv, record_columns};

use crate::badge::grouped;
use crate::storage::{Database, ListQuery, Place, StorageError};

#[derive(Debug, thiserror::Error)]
pub(crate) enum ExportError {
    #[error(transparent)]
    Storage(#[from] StorageError),
    #[error("cannot write a run as JSON: {0}")]
    Json(#[from] serde_json::Error),
    #[error("cannot write the table as Parquet: {0}")]
    Parquet(#[from] ParquetError),
    #[error("cannot write to the folder: {0}")]
    Write(#[from] std::io::Error),
    #[error("the client read too slowly")]
    TooSlow,
    #[error("the exporting thread ended early")]
    Stopped,
}

pub(crate) struct Export {
    pub(crate) runs: ExportedRuns,
    /// `None` while a thread has the encoder, and at the end.
    encoder: Option<Encoder>,
}

impl Export {
    pub(crate) fn new(runs: ExportedRuns, format: ExportFormat) -> Result<Self, ExportError> {
        Ok(Self { runs, encoder: Some(Encoder::new(format)?) })
    }

    /// Returns the next bytes, at least one, or `None` at the end.
    pub(crate) async fn next(&mut self) -> Result<Option<Vec<u8>>, ExportError> {
        while let Some(mut encoder) = self.encoder.take() {
            let runs = self.runs.next().await?;
            let encoded = tokio::task::spawn_blocking(move || {
                let Some(runs) = runs else { return Ok((None, encoder.finish()?)) };
                let bytes = encoder.encode(&runs)?;
                Ok::<_, ExportError>((Some(encoder), bytes))
            });
            let (encoder, bytes) = encoded.await.map_err(|_panicked| ExportError::Stopped)??;
            self.encoder = encoder;
            if !bytes.is_empty() {
                return Ok(Some(bytes));
            }
        }
        Ok(None)
    }
}

pub(crate) fn about(runs: u64) -> ExportAbout {
    ExportAbout {
        licence: LICENCE.to_owned(),
        licence_address: LICENCE_ADDRESS.to_owned(),
        runs,
        csv: "UTF-8, with a header line, commas between cells, double quotes where needed, and a line feed after each \
              line. A run has one line for each of its workloads, with any outcome. An empty cell means that the run \
              does not have the value; it never means zero. A text that starts with =, +, -, @, an apostrophe, a tab, \
              a line feed or a carriage return is prefixed with an apostrophe, so that spreadsheets do not read it as \
              a formula: remove that apostrophe to restore the text."
            .to_owned(),
        csv_columns: columns().iter().map(Column::described).collect(),
        jsonl: "One JSON document per line and run, in the order of submission, as /api/v1/runs/{id} returns it. \
                /api/v1/schema describes its record."
            .to_owned(),
        parquet: format!(
            "The rows and columns of the CSV with types, in groups of at most {} rows, compressed with gzip. \
             Numbers are DOUBLE or INT64, truth values are BOOLEAN, and texts are UTF-8 without the additional \
             apostrophe. submitted_unix_seconds is a TIMESTAMP in microseconds, UTC. Null means that the run does \
             not have the value. The key-value metadata of the file contains licence, licence_address, \
             schema_version (of the records), gradmark_version, and columns, which is the csv_columns of this \
             response as JSON.",
            grouped(ROWS_IN_GROUP as f64)
        ),
        of_a_list: "With the filters and the order of /api/v1/runs in addition to the format, an export contains \
                    exactly that list: a run has only its workloads in the list, also in JSON Lines. A failed workload \
                    is in no list."
            .to_owned(),
        snapshots: "If the host enabled them, /snapshots/ has the files of the last seven days, written soon after \
                    midnight UTC, each with a file of its SHA-256; /api/v1/snapshots lists them. A deleted or hidden \
                    run is removed from all exports at once, and remains in existing snapshots until they are deleted, \
                    seven days after their date."
            .to_owned(),
    }
}

pub(super) fn columns() -> Vec<Column<StoredRun>> {
    let own: [Column<StoredRun>; 3] = [
        Column::of("run_id", "", "id of the run; its page is /runs/RUN_ID", Text(|run, _| &run.run_id)),
        Column::of(
            "submitted_unix_seconds",
            "s",
            "time of the upload, since 1970 UTC",
            Moment(|run, _| run.submitted_unix_seconds),
        ),
        Column::of(
            "tier",
            "",
            "tier of the run: proven, checked, unverified or flagged",
            Text(|run, _| run.tier.name()),
        ),
    ];
    own.into_iter().chain(record_columns()).collect()
}

/// An encoder of one of the formats. It may compute for so long that it needs a blocking thread.
pub(crate) enum Encoder {
    Csv {
        columns: Vec<Column<StoredRun>>,
        /// The column names, until they are written.
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

    /// Returns the next bytes, possibly none.
    pub(crate) fn encode(&mut self, runs: &[StoredRun]) -> Result<Vec<u8>, ExportError> {
        match self {
            Self::Csv { columns, waiting } => {
                let mut text = mem::take(waiting);
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
                runs.iter().try_for_each(|run| file.write_run(&run.as_listed()))?;
                Ok(file.take()?)
            }
        }
    }

    /// Returns the last bytes, possibly none.
    pub(crate) fn finish(self) -> Result<Vec<u8>, ExportError> {
        match self {
            Self::Csv { waiting, .. } => Ok(waiting.into_bytes()),
            Self::Jsonl => Ok(Vec::new()),
            Self::Parquet(mut file) => {
                file.end()?;
                Ok(file.take()?)
            }
        }
    }
}

/// Number of runs in memory at once. Each has at most the size of an upload, and usually a hundredth of that.
pub(super) const RUNS_AT_ONCE: u32 = 16;

/// The runs of an export, read in portions, so that it does not block others. A run that is deleted meanwhile is absent
/// from later portions, and new runs come at the end.
pub(crate) struct ExportedRuns {
    storage: Database,
    source: RunSource,
    pub(crate) read: u64,
    pub(crate) left_out: u64,
}

enum RunSource {
    /// All visible runs after a place in the order of submission; `None` after the last portion.
    All(Option<Place>),
    List(ListPages),
}

/// The runs of a list, each with only its listed workloads. In every order the results of a run are adjacent.
struct ListPages {
    next_page: Option<Box<ListQuery>>,
    /// Runs of pages that were read, with the names of their workloads.
    waiting: VecDeque<(String, Vec<String>)>,
}

impl ExportedRuns {
    pub(crate) fn all(storage: Database) -> Self {
        Self { storage, source: RunSource::All(Some(Place::BEGINNING)), read: 0, left_out: 0 }
    }

    pub(crate) fn of_list(storage: Database, list: ListQuery) -> Self {
        let pages = ListPages { next_page: Some(Box::new(list)), waiting: VecDeque::new() };
        Self { storage, source: RunSource::List(pages), read: 0, left_out: 0 }
    }

    /// Returns the next runs, or `None` at the end.
    pub(crate) async fn next(&mut self) -> Result<Option<Vec<StoredRun>>, StorageError> {
        let portion = match &mut self.source {
            RunSource::All(None) => None,
            RunSource::All(Some(place)) => {
                let portion = self.storage.visible_runs_after(place, RUNS_AT_ONCE).await?;
                self.source = RunSource::All(portion.next);
                Some((portion.runs, portion.left_out))
            }
            RunSource::List(pages) => pages.next(&self.storage).await?,
        };
        if let Some((runs, left_out)) = portion {
            self.read += runs.len() as u64;
            self.left_out += left_out;
            return Ok(Some(runs));
        }
        if self.left_out > 0 {
            tracing::warn!(left_out = self.left_out, "an export omitted unreadable runs");
        }
        Ok(None)
    }
}

impl ListPages {
    /// Returns the next runs, and the number of further unreadable ones; `None` at the end.
    async fn next(&mut self, storage: &Database) -> Result<Option<(Vec<StoredRun>, u64)>, StorageError> {
        // Reads one run more than it returns, because the next page may continue the last run.
        while self.waiting.len() <= RUNS_AT_ONCE as usize
            && let Some(page) = self.next_page.take()
        {
            self.read_page(storage, *page).await?;
        }
        let taken = self.waiting.len().min(RUNS_AT_ONCE as usize);
        let named: Vec<_> = self.waiting.drain(..taken).collect();
        if named.is_empty() {
            return Ok(None);
        }
        let ids: Vec<&str> = named.iter().map(|(run_id, _)| run_id.as_str()).collect();
        let (mut found, left_out) = storage.visible_runs_named(&ids).await?;
        for run in &mut found {
            let shown = named.iter().find(|(run_id, _)| *run_id == run.run_id);
            keep_workloads(run, shown.map_or(&[], |(_, names)| names));
        }
        Ok(Some((found, left_out)))
    }

    async fn read_page(&mut self, storage: &Database, query: ListQuery) -> Result<(), StorageError> {
        let page = storage.list(&query).await?;
        self.next_page = page.next.map(|(after, skip)| Box::new(ListQuery { after: Some(after), skip, ..query }));
        for row in page.rows {
            match self.waiting.back_mut() {
                Some((run_id, names)) if *run_id == row.run_id => names.push(row.workload),
                _ => self.waiting.push_back((row.run_id, vec![row.workload])),
            }
        }
        Ok(())
    }
}

fn keep_workloads(run: &mut StoredRun, names: &[String]) {
    let mut all = mem::take(&mut run.record.workloads);
    let mut listed = mem::take(&mut run.listed);
    for name in names {
        if let Some(place) = all.iter().position(|of| of.workload == *name) {
            run.record.workloads.push(all.swap_remove(place));
            if place < listed.len() {
                run.listed.push(listed.swap_remove(place));
            }
        }
    }
}
