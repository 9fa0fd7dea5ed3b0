//! Exports of all visible results or of a list as one file, written in portions.

use std::collections::VecDeque;
use std::mem;

use results::api::StoredRun;
use results::open_data::{ExportAbout, ExportFormat, LICENCE, LICENCE_ADDRESS};
use view::table::Values::{Moment, Text};
use view::table::{Column, ParquetError, ParquetFile, ROWS_IN_GROUP, csv, record_columns};

use crate::badge::grouped;
use crate::storage::{Database, ListQuery, StorageError, SubmissionPlace};

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
    let submitted = Moment(|run: &StoredRun, _| run.submitted_unix_seconds);
    let tiers = "tier of the run: proven, checked, unverified or flagged";
    let own: [Column<StoredRun>; 3] = [
        Column::of("run_id", "", "id of the run; its page is /runs/RUN_ID", Text(|run, _| &run.run_id)),
        Column::of("submitted_unix_seconds", "s", "time of the upload, since 1970 UTC", submitted),
        Column::of("tier", "", tiers, Text(|run, _| run.tier.name())),
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
    /// Ids of the next runs, with the names of their listed workloads if only those are exported.
    waiting: VecDeque<(String, Option<Vec<String>>)>,
    pub(crate) read: u64,
    pub(crate) left_out: u64,
}

/// The runs that are not waiting yet.
enum RunSource {
    /// All visible runs after a place.
    All(SubmissionPlace),
    /// The runs of a list. In every order the results of a run are adjacent.
    List(Box<ListQuery>),
    End,
}

impl ExportedRuns {
    pub(crate) fn all(storage: Database) -> Self {
        Self::from_source(storage, RunSource::All((f64::MIN, String::new())))
    }

    pub(crate) fn of_list(storage: Database, list: ListQuery) -> Self {
        Self::from_source(storage, RunSource::List(Box::new(list)))
    }

    fn from_source(storage: Database, source: RunSource) -> Self {
        Self { storage, source, waiting: VecDeque::new(), read: 0, left_out: 0 }
    }

    /// Returns the next runs, or `None` at the end.
    pub(crate) async fn next(&mut self) -> Result<Option<Vec<StoredRun>>, StorageError> {
        // Reads one run more than it returns, because the next page may continue the last run.
        while self.waiting.len() <= RUNS_AT_ONCE as usize && self.read_page().await? {}
        let taken = self.waiting.len().min(RUNS_AT_ONCE as usize);
        let named: Vec<_> = self.waiting.drain(..taken).collect();
        if named.is_empty() {
            if self.left_out > 0 {
                tracing::warn!(left_out = self.left_out, "an export omitted unreadable runs");
            }
            return Ok(None);
        }
        let ids: Vec<&str> = named.iter().map(|(run_id, _)| run_id.as_str()).collect();
        let (mut runs, left_out) = self.storage.visible_runs_named(&ids).await?;
        for run in &mut runs {
            if let Some((_, Some(names))) = named.iter().find(|(run_id, _)| *run_id == run.run_id) {
                keep_workloads(run, names);
            }
        }
        self.read += runs.len() as u64;
        self.left_out += left_out;
        Ok(Some(runs))
    }

    /// Adds runs to the waiting ones. Returns false at the end.
    async fn read_page(&mut self) -> Result<bool, StorageError> {
        match mem::replace(&mut self.source, RunSource::End) {
            RunSource::All(place) => {
                let places = self.storage.places_after(&place, RUNS_AT_ONCE).await?;
                self.waiting.extend(places.iter().map(|(_, run_id)| (run_id.clone(), None)));
                self.source = places.into_iter().last().map_or(RunSource::End, RunSource::All);
            }
            RunSource::List(query) => {
                let page = self.storage.list(&query).await?;
                for row in page.rows {
                    match self.waiting.back_mut() {
                        Some((run_id, Some(names))) if *run_id == row.run_id => names.push(row.workload),
                        _ => self.waiting.push_back((row.run_id, Some(vec![row.workload]))),
                    }
                }
                if let Some((after, skip)) = page.next {
                    self.source = RunSource::List(Box::new(ListQuery { after: Some(after), skip, ..*query }));
                }
            }
            RunSource::End => return Ok(false),
        }
        Ok(true)
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
