//! All visible results, or those of a list, as one file, made a portion at a time, for whoever downloads it and for a folder.

use std::collections::VecDeque;
use std::mem;

use record_table::Values::{Moment, Text};
use record_table::{Column, ParquetError, ParquetFile, csv, record_columns};
use results::api::StoredRun;
use results::open_data::{ExportAbout, ExportFormat, LICENCE, LICENCE_ADDRESS};

use crate::storage::{ListQuery, Place, Storage, StorageError};

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
    pub(crate) fn of_list(storage: Storage, wanted: ListQuery, format: ExportFormat) -> Result<Self, ExportError> {
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

pub(super) fn columns() -> Vec<Column<StoredRun>> {
    let own: [Column<StoredRun>; 3] = [
        Column::of("run_id", "the run, whose page is /runs/RUN_ID", Text(|run, _| &run.run_id)),
        Column::in_unit(
            "submitted_unix_seconds",
            "s",
            "when it was handed in, since 1970 UTC",
            Moment(|run, _| run.submitted_unix_seconds),
        ),
        Column::of(
            "tier",
            "how far it was checked: proven, checked, unverified or flagged",
            Text(|run, _| run.tier.name()),
        ),
    ];
    own.into_iter().chain(record_columns()).collect()
}

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

/// Runs that are in memory at once. Each has at most the size of an upload, and mostly a hundredth of that.
pub(super) const RUNS_AT_ONCE: u32 = 16;

/// All visible runs from the first to the last that came.
///
/// Each portion is a query of its own, so that an export that takes minutes holds up nobody. A run that is deleted
/// meanwhile is absent from what follows, and one that comes meanwhile is at the end.
pub(crate) struct VisibleRuns {
    storage: Storage,
    /// Behind what the next portion begins; absent when there is none.
    place: Option<Place>,
    runs: u64,
    left_out: u64,
}

impl VisibleRuns {
    pub(crate) fn new(storage: Storage) -> Self {
        Self { storage, place: Some(Place::BEGINNING), runs: 0, left_out: 0 }
    }

    /// The next runs, of which the last portion may have none; nothing behind that.
    pub(crate) async fn next(&mut self) -> Result<Option<Vec<StoredRun>>, StorageError> {
        let Some(place) = &self.place else { return Ok(None) };
        let portion = self.storage.visible_runs_after(place, RUNS_AT_ONCE).await?;
        self.place = portion.next;
        self.runs += portion.runs.len() as u64;
        self.left_out += portion.left_out;
        if self.ended() && self.left_out > 0 {
            tracing::warn!(left_out = self.left_out, "an export left out runs that cannot be read");
        }
        Ok(Some(portion.runs))
    }

    /// Whether the last portion was read.
    pub(crate) fn ended(&self) -> bool {
        self.place.is_none()
    }

    /// Runs that were read so far.
    pub(crate) fn runs(&self) -> u64 {
        self.runs
    }

    /// Runs so far that are stored and cannot be read.
    pub(crate) fn left_out(&self) -> u64 {
        self.left_out
    }
}

/// Leaves the workloads of these names, in their order.
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

/// The runs of a list, each with those of its workloads that the list has.
///
/// Each portion is a query of its own, as it is for all runs. In every order the results of a run follow each other: orders
/// by figures have one workload.
pub(crate) struct ListedRuns {
    storage: Storage,
    /// The next page of the list; absent behind the last one.
    wanted: Option<ListQuery>,
    /// Runs of pages that were read, with the names of their workloads.
    waiting: VecDeque<(String, Vec<String>)>,
    ended: bool,
    runs: u64,
    left_out: u64,
}

impl ListedRuns {
    pub(crate) fn new(storage: Storage, wanted: ListQuery) -> Self {
        Self { storage, wanted: Some(wanted), waiting: VecDeque::new(), ended: false, runs: 0, left_out: 0 }
    }

    /// The next runs, of which a portion may have none; nothing behind the last one.
    pub(crate) async fn next(&mut self) -> Result<Option<Vec<StoredRun>>, StorageError> {
        if self.ended {
            return Ok(None);
        }
        // One more than are taken: the next page may go on with the last run.
        while self.waiting.len() <= RUNS_AT_ONCE as usize
            && let Some(wanted) = self.wanted.take()
        {
            self.read_page(wanted).await?;
        }
        let taken = self.waiting.len().min(RUNS_AT_ONCE as usize);
        let named: Vec<_> = self.waiting.drain(..taken).collect();
        self.ended = self.wanted.is_none() && self.waiting.is_empty();
        let ids: Vec<&str> = named.iter().map(|(run_id, _)| run_id.as_str()).collect();
        let (mut found, left_out) = self.storage.visible_runs_named(&ids).await?;
        for run in &mut found {
            let shown = named.iter().find(|(run_id, _)| *run_id == run.run_id);
            keep_workloads(run, shown.map_or(&[], |(_, names)| names));
        }
        self.runs += found.len() as u64;
        self.left_out += left_out;
        Ok(Some(found))
    }

    async fn read_page(&mut self, wanted: ListQuery) -> Result<(), StorageError> {
        let mut found = self.storage.list(&wanted).await?;
        self.wanted = found.next.map(|(after, skip)| ListQuery { after: Some(after), skip, ..wanted });
        for row in &mut found.rows {
            let workload = mem::take(&mut row.workload);
            match self.waiting.back_mut() {
                Some((run_id, names)) if *run_id == row.run_id => names.push(workload),
                _ => self.waiting.push_back((mem::take(&mut row.run_id), vec![workload])),
            }
        }
        Ok(())
    }

    pub(crate) fn ended(&self) -> bool {
        self.ended
    }

    pub(crate) fn runs(&self) -> u64 {
        self.runs
    }

    pub(crate) fn left_out(&self) -> u64 {
        self.left_out
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn a_group_has_as_many_rows_as_is_told() {
        assert!(about(0).parquet.contains("at most 10,000 rows") && record_table::ROWS_IN_GROUP == 10_000);
    }

    #[test]
    fn every_column_has_a_name_of_its_own() {
        let columns = columns();
        let names: BTreeSet<_> = columns.iter().map(|column| column.name).collect();
        assert_eq!(names.len(), columns.len());
    }
}
