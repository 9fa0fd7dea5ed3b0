//! Connections to SQLite and PostgreSQL, and their settings.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sqlx::any::{AnyConnectOptions, AnyPoolOptions};
use sqlx::migrate::{Migrate, MigrateError, Migration, MigrationType, Migrator};
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode};
use sqlx::{AnyConnection, AnyPool, ConnectOptions, Connection, Executor, Row, SqlSafeStr};
use tokio::sync::Semaphore;

use super::address::DatabaseAddress;
use super::values::sql;
use super::writing::{LogSync, WRITER_PATIENCE};
use super::{Database, Result, StorageError};

pub(super) struct Dialect {
    /// Size of the pool. A PostgreSQL server allows a hundred by default, for all servers together.
    connections: u32,
    /// Number of simultaneous writers. SQLite allows one.
    writers: usize,
    alone: &'static str,
    pooled: &'static str,
    /// First statement of a transaction that changes the grouping of runs: blocks all writers of runs.
    pub(super) alone_with_runs: &'static str,
    pub(super) begin_reading: &'static str,
    /// Explanation of a plan with all usable indexes: a statement before it, the prefix, and the column of the answer.
    pub(super) before_explaining: &'static str,
    pub(super) explain: &'static str,
    pub(super) step: &'static str,
    /// Updates the statistics of the tables, if the planner uses any.
    pub(super) analyze: Option<&'static str>,
}

/// Settings of all connections to SQLite. Deleted data is overwritten. The ten seconds are `WRITER_PATIENCE`. The log
/// grows to 8,000 pages (32 MB) and the cache to 16 MB, because consecutive uploads change the same pages.
macro_rules! pragmas {
    ($synchronous:literal) => {
        concat!(
            "PRAGMA busy_timeout = 10000; PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 8000; ",
            "PRAGMA cache_size = -16384; PRAGMA foreign_keys = ON; PRAGMA secure_delete = ON; PRAGMA synchronous = ",
            $synchronous
        )
    };
}

static SQLITE: Dialect = Dialect {
    connections: 4,
    writers: 1,
    // Commits reach the disk before they return.
    alone: pragmas!("FULL"),
    // Every write waits for `LogSync`, so acknowledged writes survive a kill or a power failure.
    pooled: pragmas!("NORMAL"),
    alone_with_runs: "UPDATE device_aliases SET into_key = into_key WHERE device_key = ''",
    begin_reading: "BEGIN",
    before_explaining: "SELECT 1",
    explain: "EXPLAIN QUERY PLAN",
    step: "detail",
    // With statistics, SQLite would skip through devices (`ANY(device_key)`) and sort a quarter of a million results.
    analyze: None,
};

static POSTGRES: Dialect = Dialect {
    connections: 10,
    writers: 10,
    // Migrations may take long, and notices about existing tables are not logged.
    alone: "SET client_min_messages = warning",
    // Timeouts for locks, for statements, and for a client that disappeared while it held a lock.
    pooled: "SET lock_timeout = '10s'; SET statement_timeout = '30s'; \
             SET idle_in_transaction_session_timeout = '30s'",
    alone_with_runs: "LOCK TABLE runs IN SHARE ROW EXCLUSIVE MODE",
    begin_reading: "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
    before_explaining: "SET LOCAL enable_seqscan = off",
    explain: "EXPLAIN",
    step: "QUERY PLAN",
    // Only these tables, because others may belong to another board that is being deleted.
    analyze: Some("VACUUM (ANALYZE) runs, results, kinds, figures, announcements, started_runs"),
};

pub(super) struct Connector {
    options: AnyConnectOptions,
    dialect: &'static Dialect,
    file: Option<PathBuf>,
}

impl Connector {
    /// Returns the connector of a database. A missing file is an error, unless it is to be created.
    pub(super) fn to(address: &DatabaseAddress, create: bool) -> Result<Self> {
        sqlx::any::install_default_drivers();
        match address {
            DatabaseAddress::File(file) => {
                if create {
                    make_private(file);
                }
                Ok(Self { options: options_of(file, create)?, dialect: &SQLITE, file: Some(file.clone()) })
            }
            DatabaseAddress::Postgres(options) => {
                Ok(Self { options: AnyConnectOptions::clone(options), dialect: &POSTGRES, file: None })
            }
        }
    }

    /// Opens one connection, with an error at once if this fails. The pool would retry until its timeout.
    pub(super) async fn connect(&self) -> Result<AnyConnection> {
        let mut connection = self.options.connect().await?;
        connection.execute(self.dialect.alone).await?;
        Ok(connection)
    }

    pub(super) fn storage(self) -> Database {
        let pool = self.pool(self.dialect.connections);
        // A commit invalidates the page caches of all other connections to SQLite. The only writer keeps its own.
        let writer = if self.dialect.writers == 1 { self.pool(1) } else { pool.clone() };
        let log_sync = self.file.as_deref().map(LogSync::of);
        let turns = Arc::new(Semaphore::new(self.dialect.writers));
        Database { pool, writer, turns, dialect: self.dialect, log_sync, probed: Arc::default() }
    }

    fn pool(&self, connections: u32) -> AnyPool {
        let said_first = self.dialect.pooled;
        AnyPoolOptions::new()
            .max_connections(connections)
            .acquire_timeout(WRITER_PATIENCE)
            // The pool tests connections when they are returned. After that, only a server can disappear.
            .test_before_acquire(self.file.is_none())
            .after_connect(move |connection, _| {
                Box::pin(async move {
                    connection.execute(said_first).await?;
                    Ok(())
                })
            })
            .after_release(|connection, _| Box::pin(is_reusable(connection)))
            .connect_lazy_with(self.options.clone())
    }
}

/// Returns true if a returned connection has no open transaction. SQLite rolls back automatically after some errors
/// (<https://sqlite.org/lang_transaction.html>, section 2.3). Then the driver's `ROLLBACK` fails, it still counts the
/// transaction, and later ones would be savepoints that are never committed.
async fn is_reusable(connection: &mut AnyConnection) -> Result<bool, sqlx::Error> {
    if connection.is_in_transaction() {
        // Answered after the rollback that began when the transaction was dropped.
        connection.ping().await?;
    }
    let is_reusable = !connection.is_in_transaction();
    if !is_reusable {
        tracing::warn!("cannot roll back a transaction: closing its connection");
    }
    Ok(is_reusable)
}

/// Creates the file if necessary, only for its owner: its salts could reveal submitters' addresses.
#[cfg(unix)]
pub(super) fn make_private(file: &Path) {
    use std::fs::{OpenOptions, Permissions, set_permissions};
    use std::io::ErrorKind;
    use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};

    // An existing file is not opened: closing it would release the locks that SQLite may hold on it in this process.
    if OpenOptions::new().write(true).create_new(true).mode(0o600).open(file).is_ok() {
        return;
    }
    for ending in ["", "-wal", "-shm"] {
        let mut name = file.as_os_str().to_owned();
        name.push(ending);
        if let Err(cause) = set_permissions(&name, Permissions::from_mode(0o600))
            && cause.kind() != ErrorKind::NotFound
        {
            tracing::warn!(%cause, file = %name.display(), "other users may be able to read the database");
        }
    }
}

/// On other systems, the folder determines who may read its files.
#[cfg(not(unix))]
pub(super) fn make_private(_file: &Path) {}

/// Encodes a file's name, because the common driver takes only addresses.
fn options_of(file: &Path, create: bool) -> Result<AnyConnectOptions> {
    let name = file.to_str().ok_or_else(|| StorageError::Name(file.display().to_string()))?;
    let mut address = "sqlite:".to_owned();
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() {
            address.push(char::from(byte));
        } else {
            let _ = write!(address, "%{byte:02X}");
        }
    }
    address.push_str(if create { "?mode=rwc" } else { "?mode=rw" });
    Ok(address.parse()?)
}

/// Files of `migrations/`, in order: version, name and SQL. A released file is never edited; add another one instead.
const FILES: [(i64, &str, &str); 3] = [
    (1, "schema", include_str!("../../migrations/0001_schema.sql")),
    (2, "speedrun", include_str!("../../migrations/0002_speedrun.sql")),
    (3, "open", include_str!("../../migrations/0003_open.sql")),
];

/// Runs the missing migrations. If several servers start at once, one runs them and the others wait.
pub(super) async fn bring_up_to_date(connection: &mut AnyConnection) -> Result<(), MigrateError> {
    // A manual list, because sqlx's macro would compile SQLite twice.
    let migrations = FILES.map(|(version, name, sql)| {
        Migration::new(version, name.into(), MigrationType::Simple, sql.into_sql_str(), false)
    });
    Migrator::with_migrations(migrations.into()).run(connection).await
}

pub(super) async fn missing(connection: &mut AnyConnection) -> Result<Vec<String>, MigrateError> {
    let table = Migrator::DEFAULT.table_name;
    connection.ensure_migrations_table(&table).await?;
    let done = connection.list_applied_migrations(&table).await?;
    let is_missing = |version: i64| !done.iter().any(|done| done.version == version);
    Ok(FILES
        .iter()
        .filter(|file| is_missing(file.0))
        .map(|(version, name, _)| format!("{version:04}_{name}"))
        .collect())
}

impl Database {
    pub(crate) async fn copy_to(&self, file: &Path) -> Result<()> {
        let name = file.to_str().ok_or_else(|| StorageError::Name(file.display().to_string()))?;
        // An empty file counts as a new one, and keeps its permissions.
        sql!("VACUUM INTO $1", [name]).execute(&self.pool).await?;
        Ok(())
    }

    /// Counts the runs in an unused file. Fails if the file is damaged or not a leaderboard database.
    pub(crate) async fn inspect(file: &Path) -> Result<u64> {
        let mut connection = alone(file).read_only(true).connect().await?;
        let verdict = sqlx::query("PRAGMA integrity_check(1)").fetch_one(&mut connection).await;
        let count = sqlx::query("SELECT COUNT(*) AS runs FROM runs").fetch_one(&mut connection).await;
        connection.close().await?;
        match verdict?.try_get("integrity_check")? {
            "ok" => Ok(u64::try_from(count?.try_get::<i64, _>("runs")?)?),
            damage => Err(StorageError::Damaged(damage.to_owned())),
        }
    }
}

/// Writes the log back into the file and removes it, which works only when no other process uses the file.
pub(crate) async fn leave_alone(file: &Path) -> Result<()> {
    let connection = alone(file).journal_mode(SqliteJournalMode::Delete).connect().await?;
    connection.close().await?;
    Ok(())
}

fn alone(file: &Path) -> SqliteConnectOptions {
    SqliteConnectOptions::new().filename(file).busy_timeout(WRITER_PATIENCE / 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_of_the_folder_is_in_the_list() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("migrations");
        let mut found: Vec<String> =
            std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        found.sort();
        assert_eq!(found, FILES.map(|(version, name, _)| format!("{version:04}_{name}.sql")));
    }
}
