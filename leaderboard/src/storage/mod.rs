//! The data base. SQL is written here and nowhere else, in the words that SQLite and PostgreSQL share; only `copies`,
//! which treats it as a file, is SQLite's own.

mod budgets;
mod checkpoints;
mod copies;
mod list;
mod migrations;
mod runs;
mod started;
mod verifications;

use std::path::Path;
use std::time::Duration;

use sqlx::SqlitePool;
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};

pub(crate) use copies::leave_alone;
pub(crate) use runs::{Acceptance, NewRun};
pub(crate) use started::Started;
pub(crate) use verifications::Verification;

/// Connections: SQLite writes one at a time, so more would only wait for each other.
const CONNECTIONS: u32 = 4;
/// How long a writer waits for the one before it.
const WRITER_PATIENCE: Duration = Duration::from_secs(10);

/// A pool of connections to the data base; cloning shares it.
#[derive(Clone)]
pub(crate) struct Storage {
    pool: SqlitePool,
}

/// What the data base refused, or what it held and should not have.
#[derive(Debug, thiserror::Error)]
pub enum StorageError {
    #[error(transparent)]
    Database(#[from] sqlx::Error),
    #[error("its tables could not be brought up to date: {0}")]
    Migration(#[from] sqlx::migrate::MigrateError),
    #[error("a stored value is not what was written: {0}")]
    Json(#[from] serde_json::Error),
    #[error("a stored value is out of range: {0}")]
    Integer(#[from] std::num::TryFromIntError),
    #[error("a stored tier is unknown: {0}")]
    Tier(String),
    #[error("a stored precision is unknown: {0}")]
    Precision(String),
    #[error("it is damaged: {0}")]
    Damaged(String),
    #[error("SQLite takes no file name like {0}, which is not Unicode")]
    Name(String),
}

impl StorageError {
    /// Whether waiting may help.
    pub(crate) fn is_busy(&self) -> bool {
        match self {
            Self::Database(sqlx::Error::PoolTimedOut) => true,
            // SQLITE_BUSY is 5, and an extended code keeps it in its low byte.
            Self::Database(sqlx::Error::Database(error)) => {
                error.code().and_then(|code| code.parse::<u32>().ok()).is_some_and(|code| code & 0xff == 5)
            }
            _ => false,
        }
    }
}

impl Storage {
    /// Opens or makes the file and brings its tables up to date.
    ///
    /// A commit has reached the disk before it returns (write-ahead log with `synchronous=FULL`), so
    /// that a killed server loses nothing that it acknowledged. What is deleted is overwritten.
    pub(crate) async fn open(file: &Path) -> Result<Self, StorageError> {
        let storage = Self::connect(options(file).create_if_missing(true)).await?;
        migrations::migrator().run(&storage.pool).await?;
        Ok(storage)
    }

    /// Opens a file that is there and leaves its tables as they are: a newer program's task must not take them away
    /// from an older server that is running.
    pub(crate) async fn open_as_it_is(file: &Path) -> Result<Self, StorageError> {
        Self::connect(options(file)).await
    }

    async fn connect(options: SqliteConnectOptions) -> Result<Self, StorageError> {
        let pool = SqlitePoolOptions::new()
            .max_connections(CONNECTIONS)
            .acquire_timeout(WRITER_PATIENCE)
            .connect_with(options)
            .await?;
        Ok(Self { pool })
    }

    /// Waits for running queries and writes the log back into the file.
    pub(crate) async fn close(&self) {
        self.pool.close().await;
    }

    /// Reads a table; an error says that the data base does not answer.
    pub(crate) async fn answers(&self) -> Result<(), StorageError> {
        sqlx::query("SELECT run_id FROM runs LIMIT 1").fetch_optional(&self.pool).await?;
        Ok(())
    }
}

fn options(file: &Path) -> SqliteConnectOptions {
    SqliteConnectOptions::new()
        .filename(file)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Full)
        .foreign_keys(true)
        .busy_timeout(WRITER_PATIENCE)
        .pragma("secure_delete", "ON")
}
