//! Turns to write. SQLite lets one connection write at a time, and whoever finds it taken sleeps a while and looks again: of
//! many at once most would sleep, and no connection would be left for those who read. So they queue here, before they
//! take a connection. PostgreSQL needs no turns; as many may write as there are connections.

use std::fs::{File, OpenOptions};
use std::io::ErrorKind;
use std::ops::{Deref, DerefMut};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError};

use sqlx::any::{AnyArguments, AnyQueryResult};
use sqlx::query::Query;
use sqlx::{Any, AnyConnection, Transaction};
use tokio::sync::{Mutex, OwnedSemaphorePermit, Semaphore};

use super::connect::WRITER_PATIENCE;
use super::{Storage, StorageError};

/// Whose turn it is; the next one's when dropped.
pub(super) type Turn = OwnedSemaphorePermit;

/// A transaction that writes, in its turn.
pub(super) struct Writing {
    transaction: Transaction<'static, Any>,
    turn: Turn,
    log_sync: Option<LogSync>,
}

impl Storage {
    /// Waits for a turn, for as long as a writer waits for another.
    pub(super) async fn turn(&self) -> Result<Turn, StorageError> {
        let turn = tokio::time::timeout(WRITER_PATIENCE, Arc::clone(&self.turns).acquire_owned()).await;
        // As when no connection becomes free: the semaphore is never closed.
        turn.ok().and_then(Result::ok).ok_or(StorageError::Database(sqlx::Error::PoolTimedOut))
    }

    /// Begins a transaction that writes.
    pub(super) async fn writing(&self) -> Result<Writing, StorageError> {
        let turn = self.turn().await?;
        Ok(Writing { transaction: self.writer.begin().await?, turn, log_sync: self.log_sync.clone() })
    }

    /// Writes by a single statement, in its turn. Like what is committed, what it wrote is on the disk then.
    pub(super) async fn write(&self, statement: Query<'_, Any, AnyArguments>) -> Result<AnyQueryResult, StorageError> {
        let turn = self.turn().await?;
        let done = statement.execute(&self.writer).await?;
        drop(turn);
        reach_disk(self.log_sync.as_ref()).await?;
        Ok(done)
    }
}

/// So many may write at once.
pub(super) fn turns(number: usize) -> Arc<Semaphore> {
    Arc::new(Semaphore::new(number))
}

impl Writing {
    /// Returns when what was written is on the disk; others write meanwhile.
    pub(super) async fn commit(self) -> Result<(), StorageError> {
        self.transaction.commit().await?;
        drop(self.turn);
        reach_disk(self.log_sync.as_ref()).await
    }

    pub(super) async fn rollback(self) -> Result<(), sqlx::Error> {
        self.transaction.rollback().await
    }
}

/// PostgreSQL is there when it has answered.
async fn reach_disk(log_sync: Option<&LogSync>) -> Result<(), StorageError> {
    match log_sync {
        Some(log_sync) => log_sync.sync().await,
        None => Ok(()),
    }
}

impl Deref for Writing {
    type Target = AnyConnection;

    fn deref(&self) -> &AnyConnection {
        &self.transaction
    }
}

impl DerefMut for Writing {
    fn deref_mut(&mut self) -> &mut AnyConnection {
        &mut self.transaction
    }
}

/// The log of a database, to be synced for many at once; cloning shares it.
#[derive(Clone)]
pub(super) struct LogSync(Arc<Shared>);

struct Shared {
    log: PathBuf,
    /// How many commits there were.
    committed: AtomicU64,
    synced: Mutex<Synced>,
    /// The log that was synced last, kept open: under a flood of connections there may be no descriptor for another one.
    open: std::sync::Mutex<Option<File>>,
}

enum Synced {
    /// So many of the commits are on the disk.
    UpTo(u64),
    /// Whether what was written then will ever be on the disk nobody can tell, not even by another attempt that succeeds.
    Failed,
}

impl LogSync {
    /// That of the database in this file.
    pub(super) fn of(database: &Path) -> Self {
        // SQLite has it beside the file itself, and not beside a link to it.
        let mut log = database.canonicalize().unwrap_or_else(|_missing| database.to_owned()).into_os_string();
        log.push("-wal");
        let (committed, synced) = (AtomicU64::new(0), Mutex::new(Synced::UpTo(0)));
        Self(Arc::new(Shared { log: log.into(), committed, synced, open: std::sync::Mutex::default() }))
    }

    /// Returns when everything that was committed before is on the disk.
    ///
    /// # Errors
    /// The disk failed, now or at any time before.
    pub(super) async fn sync(&self) -> Result<(), StorageError> {
        let mine = self.0.committed.fetch_add(1, Ordering::SeqCst) + 1;
        // Whoever waits here is often served by the one before.
        let mut synced = self.0.synced.lock().await;
        match *synced {
            Synced::UpTo(commits) if commits >= mine => return Ok(()),
            Synced::UpTo(_) => {}
            Synced::Failed => return Err(StorageError::NotOnDisk("it failed before".to_owned())),
        }
        let commits = self.0.committed.load(Ordering::SeqCst);
        let shared = Arc::clone(&self.0);
        let done = tokio::task::spawn_blocking(move || shared.sync_log()).await;
        match done.unwrap_or_else(|ended| Err(std::io::Error::other(ended))) {
            Ok(()) => {
                *synced = Synced::UpTo(commits);
                Ok(())
            }
            // Nothing failed on the disk: the next attempt syncs these commits as well.
            Err(cause) if is_out_of_descriptors(&cause) => Err(StorageError::Database(sqlx::Error::Io(cause))),
            Err(cause) => {
                *synced = Synced::Failed;
                Err(StorageError::NotOnDisk(cause.to_string()))
            }
        }
    }
}

impl Shared {
    fn sync_log(&self) -> std::io::Result<()> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        // It is made anew when connections come after the last one went.
        if !open.as_ref().is_some_and(|file| is_at(file, &self.log)) {
            // Windows syncs only what may be written.
            *open = match OpenOptions::new().read(true).write(true).open(&self.log) {
                Ok(file) => Some(file),
                Err(cause) if cause.kind() == ErrorKind::NotFound => None,
                Err(cause) => return Err(cause),
            };
        }
        open.as_ref().map_or(Ok(()), File::sync_data)
    }
}

/// Returns whether an open file is the one that has this name now.
#[cfg(unix)]
fn is_at(file: &File, name: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let of = |found: std::io::Result<std::fs::Metadata>| found.ok().map(|found| (found.dev(), found.ino()));
    of(file.metadata()).is_some_and(|open| of(std::fs::metadata(name)) == Some(open))
}

/// Elsewhere nothing says so, and the file is opened each time.
#[cfg(not(unix))]
fn is_at(_file: &File, _name: &Path) -> bool {
    false
}

/// Returns whether this process, or the whole system, has too many files open at the moment (EMFILE, ENFILE).
fn is_out_of_descriptors(cause: &std::io::Error) -> bool {
    cfg!(unix) && matches!(cause.raw_os_error(), Some(23 | 24))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::DatabaseAddress;

    #[tokio::test]
    async fn many_who_wait_together_are_served_together() {
        let folder = tempfile::tempdir().unwrap();
        let log = LogSync::of(&folder.path().join("board.sqlite"));
        std::fs::write(folder.path().join("board.sqlite-wal"), "pages").unwrap();
        let synced = log.0.synced.lock().await;
        let waiting: Vec<_> = (0..10)
            .map(|_| {
                tokio::spawn({
                    let log = log.clone();
                    async move { log.sync().await }
                })
            })
            .collect();
        while log.0.committed.load(Ordering::SeqCst) < 10 {
            tokio::task::yield_now().await;
        }
        drop(synced);
        for one in waiting {
            one.await.unwrap().unwrap();
        }
        assert!(matches!(*log.0.synced.lock().await, Synced::UpTo(10)));
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn log_path_matches_sqlite() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("a board?.sqlite"), folder.path().join("link"));
        std::fs::write(&file, "").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        for (day, name) in [(20_000, file), (20_001, link)] {
            let storage = Storage::open(&DatabaseAddress::File(name.clone())).await.unwrap();
            storage.submitter_salt(day).await.unwrap();
            let log_sync = storage.log_sync.as_ref().unwrap();
            assert!(log_sync.0.committed.load(Ordering::SeqCst) > 0, "a write waits for the disk");
            assert!(std::fs::metadata(&log_sync.0.log).unwrap().len() > 0, "{}", name.display());
            storage.close().await;
        }
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn a_log_is_kept_open_until_another_one_has_its_name() {
        let folder = tempfile::tempdir().unwrap();
        let name = folder.path().join("board.sqlite-wal");
        let log = LogSync::of(&folder.path().join("board.sqlite"));
        let is_open = || log.0.open.lock().unwrap().as_ref().map(|file| is_at(file, &name));
        std::fs::write(&name, "pages").unwrap();
        log.sync().await.unwrap();
        assert_eq!(is_open(), Some(true));
        std::fs::remove_file(&name).unwrap();
        assert_eq!(is_open(), Some(false));
        std::fs::write(&name, "pages").unwrap();
        log.sync().await.unwrap();
        assert_eq!(is_open(), Some(true));
    }

    #[test]
    fn too_many_open_files_are_no_failure_of_the_disk() {
        let error = std::io::Error::from_raw_os_error;
        assert_eq!([24, 23, 5].map(|code| is_out_of_descriptors(&error(code))), [cfg!(unix), cfg!(unix), false]);
    }

    #[tokio::test]
    async fn a_log_that_was_written_back_and_removed_is_on_the_disk() {
        let folder = tempfile::tempdir().unwrap();
        LogSync::of(&folder.path().join("board.sqlite")).sync().await.unwrap();
    }

    #[tokio::test]
    async fn after_a_disk_that_failed_nothing_is_said_to_be_there() {
        let folder = tempfile::tempdir().unwrap();
        let log = LogSync::of(&folder.path().join("board.sqlite"));
        // A folder cannot be opened to be written.
        std::fs::create_dir(folder.path().join("board.sqlite-wal")).unwrap();
        assert!(matches!(log.sync().await, Err(StorageError::NotOnDisk(_))));
        std::fs::remove_dir(folder.path().join("board.sqlite-wal")).unwrap();
        assert!(matches!(log.sync().await, Err(StorageError::NotOnDisk(_))));
    }
}
