//! Turns of writers. SQLite has one writer at a time, and waiting writers would occupy the pool's connections. So they
//! queue before they take one. PostgreSQL has as many writers as connections.

use std::fs::{File, OpenOptions};
use std::io::ErrorKind;
use std::ops::{Deref, DerefMut};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError};

use sqlx::any::{AnyArguments, AnyQueryResult};
use sqlx::query::Query;
use sqlx::{Any, AnyConnection, Transaction};
use tokio::sync::{Mutex, OwnedSemaphorePermit};

use super::connect::WRITER_PATIENCE;
use super::{Database, Result, StorageError};

pub(super) struct Writing {
    transaction: Transaction<'static, Any>,
    /// The writer's turn, which ends on drop.
    turn: OwnedSemaphorePermit,
    log_sync: Option<Arc<LogSync>>,
}

impl Database {
    /// Waits for a turn, at most the usual timeout of a writer.
    pub(super) async fn turn(&self) -> Result<OwnedSemaphorePermit> {
        let turn = tokio::time::timeout(WRITER_PATIENCE, Arc::clone(&self.turns).acquire_owned()).await;
        // The semaphore is never closed, so this is a timeout, as for a connection.
        turn.ok().and_then(Result::ok).ok_or(StorageError::Database(sqlx::Error::PoolTimedOut))
    }

    pub(super) async fn writing(&self) -> Result<Writing> {
        let turn = self.turn().await?;
        Ok(Writing { transaction: self.writer.begin().await?, turn, log_sync: self.log_sync.clone() })
    }

    /// Executes one write statement and waits until it is on the disk.
    pub(super) async fn write(&self, statement: Query<'_, Any, AnyArguments>) -> Result<AnyQueryResult> {
        let turn = self.turn().await?;
        let done = statement.execute(&self.writer).await?;
        drop(turn);
        reach_disk(self.log_sync.as_ref()).await?;
        Ok(done)
    }
}

impl Writing {
    /// Waits until the commit is on the disk. Others can write meanwhile.
    pub(super) async fn commit(self) -> Result<()> {
        self.transaction.commit().await?;
        drop(self.turn);
        reach_disk(self.log_sync.as_ref()).await
    }
}

/// PostgreSQL syncs before it answers.
async fn reach_disk(log_sync: Option<&Arc<LogSync>>) -> Result<()> {
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

/// Syncs the log of an SQLite database, for several commits at once.
pub(super) struct LogSync {
    log: PathBuf,
    committed: AtomicU64,
    synced: Mutex<Synced>,
    /// The last synced log, kept open because file descriptors may run out under load.
    open: std::sync::Mutex<Option<File>>,
}

enum Synced {
    UpTo(u64),
    /// The first failed sync. After it, a later successful sync does not prove that earlier writes are on the disk.
    Failed,
}

impl LogSync {
    pub(super) fn of(database: &Path) -> Arc<Self> {
        // SQLite resolves links to the file.
        let mut log = database.canonicalize().unwrap_or_else(|_missing| database.to_owned()).into_os_string();
        log.push("-wal");
        let (committed, synced) = (AtomicU64::new(0), Mutex::new(Synced::UpTo(0)));
        Arc::new(Self { log: log.into(), committed, synced, open: std::sync::Mutex::default() })
    }

    /// Waits until all earlier commits are on the disk. Fails if the disk fails or ever failed.
    pub(super) async fn sync(self: &Arc<Self>) -> Result<()> {
        let mine = self.committed.fetch_add(1, Ordering::SeqCst) + 1;
        // An earlier waiter may already have synced this commit.
        let mut synced = self.synced.lock().await;
        match *synced {
            Synced::UpTo(commits) if commits >= mine => return Ok(()),
            Synced::UpTo(_) => {}
            Synced::Failed => return Err(StorageError::NotOnDisk("it failed before".to_owned())),
        }
        let commits = self.committed.load(Ordering::SeqCst);
        let shared = Arc::clone(self);
        let done = tokio::task::spawn_blocking(move || shared.sync_log()).await;
        match done.unwrap_or_else(|ended| Err(std::io::Error::other(ended))) {
            Ok(()) => {
                *synced = Synced::UpTo(commits);
                Ok(())
            }
            // This is not a disk error. The next attempt syncs these commits too.
            Err(cause) if is_out_of_descriptors(&cause) => Err(StorageError::Database(sqlx::Error::Io(cause))),
            Err(cause) => {
                *synced = Synced::Failed;
                Err(StorageError::NotOnDisk(cause.to_string()))
            }
        }
    }

    fn sync_log(&self) -> std::io::Result<()> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        // SQLite creates a new log after the last connection was closed.
        if !open.as_ref().is_some_and(|file| is_at(file, &self.log)) {
            // Windows syncs only files that are open for writing.
            *open = match OpenOptions::new().read(true).write(true).open(&self.log) {
                Ok(file) => Some(file),
                Err(cause) if cause.kind() == ErrorKind::NotFound => None,
                Err(cause) => return Err(cause),
            };
        }
        open.as_ref().map_or(Ok(()), File::sync_data)
    }
}

/// Returns true if an open file still has this name.
#[cfg(unix)]
fn is_at(file: &File, name: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let of = |found: std::io::Result<std::fs::Metadata>| found.ok().map(|found| (found.dev(), found.ino()));
    of(file.metadata()).is_some_and(|open| of(std::fs::metadata(name)) == Some(open))
}

/// Always returns false. Other systems have no such check, so the file is opened each time.
#[cfg(not(unix))]
fn is_at(_file: &File, _name: &Path) -> bool {
    false
}

/// Returns true if this process or the whole system currently has too many open files (EMFILE, ENFILE).
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
        let synced = log.synced.lock().await;
        let syncs = futures_util::future::join_all((0..10).map(|_| log.sync()));
        let release = async {
            while log.committed.load(Ordering::SeqCst) < 10 {
                tokio::task::yield_now().await;
            }
            drop(synced);
        };
        let (done, ()) = tokio::join!(syncs, release);
        assert!(done.iter().all(|one| one.is_ok()));
        assert!(matches!(*log.synced.lock().await, Synced::UpTo(10)));
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn log_path_matches_sqlite() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("a board?.sqlite"), folder.path().join("link"));
        std::fs::write(&file, "").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        for (day, name) in [(20_000, file), (20_001, link)] {
            let storage = Database::open(&DatabaseAddress::File(name.clone())).await.unwrap();
            storage.submitter_salt(day).await.unwrap();
            let log_sync = storage.log_sync.as_ref().unwrap();
            assert!(log_sync.committed.load(Ordering::SeqCst) > 0, "a write waits for the disk");
            assert!(std::fs::metadata(&log_sync.log).unwrap().len() > 0, "{}", name.display());
            storage.close().await;
        }
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn log_stays_open_until_it_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let name = folder.path().join("board.sqlite-wal");
        let log = LogSync::of(&folder.path().join("board.sqlite"));
        let is_open = || log.open.lock().unwrap().as_ref().map(|file| is_at(file, &name));
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
    async fn removed_log_is_synced_to_disk() {
        let folder = tempfile::tempdir().unwrap();
        LogSync::of(&folder.path().join("board.sqlite")).sync().await.unwrap();
    }

    #[tokio::test]
    async fn failed_disk_write_is_not_reported_as_stored() {
        let folder = tempfile::tempdir().unwrap();
        let log = LogSync::of(&folder.path().join("board.sqlite"));
        // A folder cannot be opened for writing.
        std::fs::create_dir(folder.path().join("board.sqlite-wal")).unwrap();
        assert!(matches!(log.sync().await, Err(StorageError::NotOnDisk(_))));
        std::fs::remove_dir(folder.path().join("board.sqlite-wal")).unwrap();
        assert!(matches!(log.sync().await, Err(StorageError::NotOnDisk(_))));
    }
}
