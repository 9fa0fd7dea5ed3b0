//! The files of one day, written together from one reading of the data base, so that they hold the same runs.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use flate2::Compression;
use flate2::write::GzEncoder;
use results::api::StoredRun;
use results::open_data::ExportFormat;

use super::name::SnapshotName;
use crate::open_data::{Encoder, ExportError, VisibleRuns};
use crate::storage::Storage;
use crate::whole_file::WholeFile;

/// Why there are no files of a day.
#[derive(Debug, thiserror::Error)]
pub(super) enum SnapshotError {
    #[error(transparent)]
    Export(#[from] ExportError),
    #[error("cannot write into the folder: {0}")]
    Write(#[from] io::Error),
}

/// Writes those files of a day that are missing, and says how many that were. What is there stays as it is. The lock is
/// held until the last of them has its name, or is gone.
pub(super) async fn make(folder: &Path, day: &str, storage: Storage, lock: &Arc<File>) -> Result<usize, SnapshotError> {
    let names = ExportFormat::ALL.map(|format| (SnapshotName::new(day.to_owned(), format), format));
    let mut files = Vec::new();
    for (name, format) in names {
        let to = folder.join(name.to_string());
        if !to.exists() {
            files.push(Output::create(&to, partial(folder, &name), format, Arc::clone(lock))?);
        }
    }
    let made = files.len();
    let mut runs = VisibleRuns::new(storage);
    while made > 0
        && let Some(portion) = runs.next().await.map_err(ExportError::from)?
    {
        let last = runs.ended();
        files = elsewhere(move || {
            files.iter_mut().try_for_each(|file| file.write(&portion, last))?;
            Ok(files)
        })
        .await?;
    }
    elsewhere(move || Ok(files.into_iter().try_for_each(Output::finish)?)).await?;
    Ok(made)
}

/// Hidden, so that it is nobody's to download; and told apart from what somebody else keeps there.
pub(super) fn partial(folder: &Path, name: &SnapshotName) -> PathBuf {
    folder.join(format!(".{name}.partial"))
}

/// Whether a file is what a server left that was killed while it wrote.
pub(super) fn is_partial(name: &str) -> bool {
    let name = name.strip_prefix('.').and_then(|name| name.strip_suffix(".partial"));
    name.and_then(SnapshotName::parse).is_some()
}

/// On a thread that may take its time.
async fn elsewhere<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, SnapshotError> + Send + 'static,
) -> Result<T, SnapshotError> {
    tokio::task::spawn_blocking(work).await.map_err(|_panicked| ExportError::Stopped)?
}

/// A file that is being written.
struct Output {
    encoder: Encoder,
    file: Compressed,
    /// Given up last: who is interrupted is on a thread that goes on for a moment.
    _lock: Arc<File>,
}

enum Compressed {
    AsItIs(WholeFile),
    Gzip(Box<GzEncoder<WholeFile>>),
}

impl Output {
    fn create(to: &Path, partial: PathBuf, format: ExportFormat, lock: Arc<File>) -> Result<Self, SnapshotError> {
        let file = WholeFile::create(to, partial)?;
        let file = match format {
            ExportFormat::Csv | ExportFormat::Jsonl => {
                Compressed::Gzip(Box::new(GzEncoder::new(file, Compression::default())))
            }
            ExportFormat::Parquet => Compressed::AsItIs(file),
        };
        Ok(Self { encoder: Encoder::new(format)?, file, _lock: lock })
    }

    fn write(&mut self, runs: &[StoredRun], last: bool) -> Result<(), SnapshotError> {
        let bytes = self.encoder.encode(runs, last)?;
        match &mut self.file {
            Compressed::AsItIs(file) => file.write_all(&bytes)?,
            Compressed::Gzip(file) => file.write_all(&bytes)?,
        }
        Ok(())
    }

    fn finish(self) -> io::Result<()> {
        match self.file {
            Compressed::AsItIs(file) => file.finish(),
            Compressed::Gzip(file) => file.finish()?.finish(),
        }
    }
}
