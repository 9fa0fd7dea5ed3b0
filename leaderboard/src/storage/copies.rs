//! The data base as a file, which is SQLite's own: copies of it, and whether one is whole.

use std::path::Path;

use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection, SqliteJournalMode};
use sqlx::{ConnectOptions, Connection, Row};

use super::connect::{WRITER_PATIENCE, make_private};
use super::{Storage, StorageError};

impl Storage {
    /// Writes what is committed at this moment into a new file, in the order and with the size that it needs.
    pub(crate) async fn copy_to(&self, file: &Path) -> Result<(), StorageError> {
        let name = file.to_str().ok_or_else(|| StorageError::Name(file.display().to_string()))?;
        // An empty file counts as a new one.
        make_private(file);
        sqlx::query("VACUUM INTO $1").bind(name).execute(&self.pool).await?;
        Ok(())
    }

    /// How many runs a file holds that nobody else uses.
    ///
    /// # Errors
    /// A file that is no data base, is damaged, or is another program's.
    pub(crate) async fn inspect(file: &Path) -> Result<u64, StorageError> {
        let mut connection = alone(file).read_only(true).connect().await?;
        let checked = inspect(&mut connection).await;
        connection.close().await?;
        checked
    }
}

async fn inspect(connection: &mut SqliteConnection) -> Result<u64, StorageError> {
    let verdict: String =
        sqlx::query("PRAGMA integrity_check(1)").fetch_one(&mut *connection).await?.try_get("integrity_check")?;
    if verdict != "ok" {
        return Err(StorageError::Damaged(verdict));
    }
    let count: i64 = sqlx::query("SELECT COUNT(*) AS runs FROM runs").fetch_one(connection).await?.try_get("runs")?;
    Ok(u64::try_from(count)?)
}

/// Writes the log back into the file and removes it, which works only when no other process uses the file.
pub(crate) async fn leave_alone(file: &Path) -> Result<(), StorageError> {
    let connection = alone(file).journal_mode(SqliteJournalMode::Delete).connect().await?;
    connection.close().await?;
    Ok(())
}

fn alone(file: &Path) -> SqliteConnectOptions {
    SqliteConnectOptions::new().filename(file).busy_timeout(WRITER_PATIENCE / 10)
}
