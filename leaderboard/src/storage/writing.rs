//! Turns to write. SQLite lets one connection write at a time, and whoever finds it taken sleeps a while and looks again: of
//! many at once most would sleep, and no connection would be left for those who read. So they queue here, before they
//! take a connection. PostgreSQL needs no turns; as many may write as there are connections.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use sqlx::any::{AnyArguments, AnyQueryResult};
use sqlx::query::Query;
use sqlx::{Any, AnyConnection, Transaction};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::connect::WRITER_PATIENCE;
use super::log_sync::LogSync;
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
