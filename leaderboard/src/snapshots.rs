//! Daily files of the open data, one for each format, kept for a week. They save the database from full exports. A
//! deleted run remains in existing files, so they are not kept longer.

use std::fs::{File, TryLockError};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use std::{fs, io};

use anyhow::anyhow;
use axum::extract::{Request, State};
use axum::http::HeaderValue;
use axum::response::Response;
use flate2::Compression;
use flate2::write::GzEncoder;
use results::Date;
use results::api::StoredRun;
use results::open_data::{ExportFormat, Snapshot, SnapshotList};
use tower_http::services::ServeDir;

use crate::ServerClock;
use crate::open_data::{Encoder, ExportError, ExportedRuns};
use crate::static_files::{from_folder, not_found};
use crate::storage::Database;
use crate::whole_file::{WholeFile, is_partial, with_ending};

const SECONDS_PER_DAY: f64 = 86_400.0;
/// Number of days to keep files, including today.
const DAYS: f64 = 7.0;

/// The folder of the files, if this server offers any. Clones share it.
#[derive(Clone)]
pub(crate) struct Snapshots {
    folder: Option<Arc<Path>>,
    clock: ServerClock,
}

impl Snapshots {
    /// Creates the folder if necessary, so that a failure is an error at startup.
    pub(crate) fn open(folder: Option<PathBuf>, clock: ServerClock) -> anyhow::Result<Self> {
        if let Some(folder) = &folder {
            fs::create_dir_all(folder).map_err(|cause| {
                let folder = folder.display();
                anyhow!(
                    "cannot create the snapshot folder {folder} ({cause}). Choose another one with --snapshots, or \
                     omit the option."
                )
            })?;
        }
        Ok(Self { folder: folder.map(Arc::from), clock })
    }

    /// Returns the publicly available files, newest first.
    pub(crate) async fn list(&self) -> io::Result<SnapshotList> {
        let Some(folder) = self.folder.clone() else { return Ok(SnapshotList::default()) };
        let now = self.clock.unix_seconds();
        tokio::task::spawn_blocking(move || list(&folder, now)).await?
    }

    /// Keeps the files of the folder up to date. Never returns if there is a folder. Failures do not stop the server.
    pub(crate) async fn keep(self, storage: Database) {
        let Some(folder) = self.folder else { return };
        loop {
            let now = self.clock.unix_seconds();
            if let Err(cause) = look_after(&folder, now, &storage).await {
                tracing::warn!(
                    cause = &cause as &dyn std::error::Error,
                    "cannot write today's snapshot; retrying in an hour"
                );
            }
            tokio::time::sleep(until_next_look(self.clock.unix_seconds())).await;
        }
    }
}

/// Returns true if files of this day are kept. A future day is from a server with a clock that is or was ahead.
fn is_kept(day: &str, now: f64) -> bool {
    let [oldest, newest] = [1.0 - DAYS, 1.0].map(|days| Date::of(now + days * SECONDS_PER_DAY).iso());
    (oldest.as_str()..=newest.as_str()).contains(&day)
}

fn list(folder: &Path, now: f64) -> io::Result<SnapshotList> {
    let mut list = SnapshotList::default();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        let Some(name) = name.to_str() else { continue };
        let Some((day, false)) = parse_name(name).filter(|(day, _)| is_kept(day, now)) else { continue };
        // Another process may have deleted it.
        let Ok(sum) = fs::read_to_string(with_ending(&entry.path(), "sha256")) else { continue };
        let sha256 = sum.split_whitespace().next().unwrap_or_default().to_owned();
        let bytes = entry.metadata()?.len();
        list.snapshots.push(Snapshot { name: name.to_owned(), day: day.to_owned(), bytes, sha256 });
    }
    list.snapshots.sort_by(|one, other| other.day.cmp(&one.day).then_with(|| one.name.cmp(&other.name)));
    Ok(list)
}

const FILE_PREFIX: &str = "gradmark-";

fn ending(format: ExportFormat) -> &'static str {
    match format {
        ExportFormat::Csv => ".csv.gz",
        ExportFormat::Jsonl => ".jsonl.gz",
        ExportFormat::Parquet => ".parquet",
    }
}

/// Returns the name of a file, such as `gradmark-2026-11-23.csv.gz`.
fn file_name(day: &str, format: ExportFormat) -> String {
    format!("{FILE_PREFIX}{day}{}", ending(format))
}

/// Returns the day in the name of a file, and true if it is the file of a checksum.
fn parse_name(name: &str) -> Option<(&str, bool)> {
    let (day, rest) = name.strip_prefix(FILE_PREFIX)?.split_at_checked("2026-11-23".len())?;
    let (rest, is_sum) = rest.strip_suffix(".sha256").map_or((rest, false), |rest| (rest, true));
    let is_ours = Date::from_iso(day).is_some() && ExportFormat::ALL.into_iter().any(|format| ending(format) == rest);
    is_ours.then_some((day, is_sum))
}

/// Writes the missing files of a day, and returns their number. Keeps the lock until the last file is finished.
async fn make(folder: &Path, day: &str, storage: Database, lock: &Arc<File>) -> Result<usize, ExportError> {
    let mut files = Vec::new();
    for format in ExportFormat::ALL {
        let to = folder.join(file_name(day, format));
        if !to.exists() {
            files.push(Output::create(&to, format, Arc::clone(lock))?);
        }
    }
    let made = files.len();
    let mut runs = ExportedRuns::all(storage);
    while made > 0
        && let Some(portion) = runs.next().await?
    {
        files = elsewhere(move || {
            files.iter_mut().try_for_each(|file| file.write(&portion))?;
            Ok(files)
        })
        .await?;
    }
    elsewhere(move || files.into_iter().try_for_each(Output::finish)).await?;
    Ok(made)
}

async fn elsewhere<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ExportError> + Send + 'static,
) -> Result<T, ExportError> {
    tokio::task::spawn_blocking(work).await.map_err(|_panicked| ExportError::Stopped)?
}

struct Output {
    encoder: Encoder,
    /// Compresses text; a Parquet file stays unchanged.
    gzip: Option<GzEncoder<Vec<u8>>>,
    file: WholeFile,
    /// Dropped last, because an interrupted task continues for a moment on its thread.
    _lock: Arc<File>,
}

impl Output {
    fn create(to: &Path, format: ExportFormat, lock: Arc<File>) -> Result<Self, ExportError> {
        let gzip = (format != ExportFormat::Parquet).then(|| GzEncoder::new(Vec::new(), Compression::default()));
        Ok(Self { encoder: Encoder::new(format)?, gzip, file: WholeFile::create(to)?, _lock: lock })
    }

    fn write(&mut self, runs: &[StoredRun]) -> Result<(), ExportError> {
        let bytes = self.encoder.encode(runs)?;
        let Some(gzip) = &mut self.gzip else { return Ok(self.file.write_all(&bytes)?) };
        gzip.write_all(&bytes)?;
        Ok(self.file.write_all(&std::mem::take(gzip.get_mut()))?)
    }

    fn finish(self) -> Result<(), ExportError> {
        let Self { _lock, encoder, gzip, mut file } = self;
        let mut bytes = encoder.finish()?;
        if let Some(mut gzip) = gzip {
            gzip.write_all(&bytes)?;
            bytes = gzip.finish()?;
        }
        file.write_all(&bytes)?;
        Ok(file.finish()?)
    }
}

/// Longest wait. Failures are retried, clocks are set, and machines sleep.
const MAX_WAIT_SECONDS: f64 = 3600.0;
/// Seconds after midnight, so that no server wakes before it.
const MARGIN: f64 = 1.0;
/// Name of the empty file that a server locks while it changes the folder.
const LOCK: &str = ".gradmark-snapshots.lock";

/// Deletes old files and writes missing ones, unless another server is doing so.
async fn look_after(folder: &Path, now: f64, storage: &Database) -> Result<(), ExportError> {
    let lock = File::create(folder.join(LOCK))?;
    match lock.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Ok(()),
        Err(TryLockError::Error(cause)) => return Err(cause.into()),
    }
    if let Err(cause) = delete_old_files(folder, now) {
        tracing::warn!(cause = &cause as &dyn std::error::Error, "cannot read the snapshot folder");
    }
    let day = Date::of(now).iso();
    let made = make(folder, &day, storage.clone(), &Arc::new(lock)).await?;
    if made > 0 {
        tracing::info!(day, files = made, "wrote today's snapshot");
    }
    Ok(())
}

/// Deletes old files and those that a killed server left unfinished. The lock shows that no other server is writing.
fn delete_old_files(folder: &Path, now: f64) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        let Some(name) = name.to_str() else { continue };
        if is_partial(name) || parse_name(name).is_some_and(|(day, _)| !is_kept(day, now)) {
            match fs::remove_file(entry.path()) {
                Ok(()) => tracing::info!(name, "deleted an expired snapshot"),
                Err(cause) => tracing::warn!(name, %cause, "cannot delete an expired snapshot"),
            }
        }
    }
    Ok(())
}

fn until_next_look(now: f64) -> Duration {
    let rest_of_day = SECONDS_PER_DAY - now.rem_euclid(SECONDS_PER_DAY) + MARGIN;
    Duration::from_secs_f64(rest_of_day.min(MAX_WAIT_SECONDS))
}

/// A file never changes under its name. It may be cached only for a day, because a deleted run may be in it.
const FOR_A_DAY: HeaderValue = HeaderValue::from_static("public, max-age=86400, immutable");

/// Serves only valid snapshot names, and no other files in the folder.
pub(crate) async fn serve(State(snapshots): State<Snapshots>, request: Request) -> Response {
    let name = request.uri().path().trim_start_matches('/');
    let is_offered = parse_name(name).is_some_and(|(day, _)| is_kept(day, snapshots.clock.unix_seconds()));
    let Some(folder) = snapshots.folder.filter(|_| is_offered) else { return not_found() };
    from_folder(ServeDir::new(folder), request, FOR_A_DAY).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn snapshots_are_kept_for_a_week() {
        let now = 1_800_000_000.0;
        assert_eq!(Date::of(now).iso(), "2027-01-15");
        let days = ["2026-12-31", "2027-01-08", "2027-01-09", "2027-01-15", "2027-01-16", "2027-01-17"];
        assert_eq!(Vec::from_iter(days.into_iter().filter(|day| is_kept(day, now))), days[2..5]);
    }

    #[test]
    fn only_names_that_are_written_are_read() {
        for format in ExportFormat::ALL {
            let name = file_name("2026-11-23", format);
            assert_eq!(parse_name(&name), Some(("2026-11-23", false)));
            assert_eq!(parse_name(&format!("{name}.sha256")), Some(("2026-11-23", true)));
        }
        let others = "gradmark.sqlite gradmark.sqlite.secret gradmark-2026-11-23.csv gradmark-2026-11-2.parquet \
                      gradmark-2026-11-23.parquet.sha256.sha256 gradmark-2026-11-23 gradmark-20261-1-3.parquet \
                      gradmark-2026-11-2é.parquet gradmark-../../etc.parquet ../gradmark-2026-11-23.parquet \
                      .gradmark-2026-11-23.parquet.partial";
        for name in others.split(' ').chain([""]) {
            assert_eq!(parse_name(name), None, "{name}");
        }
    }

    #[test]
    fn next_check_is_within_an_hour_and_after_midnight() {
        let day = 20_000.0 * SECONDS_PER_DAY;
        assert_eq!([0.0, day - 10.0, day - 3600.0].map(until_next_look), [3600, 11, 3600].map(Duration::from_secs));
    }
}
