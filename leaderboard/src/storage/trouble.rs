//! Database failures that are neither the client's fault nor a bug, recognized by the error codes of both databases.

use sqlx::error::DatabaseError;
use sqlx::postgres::PgDatabaseError;
use sqlx::sqlite::SqliteError;

use super::StorageError;
use DatabaseTrouble::{Busy, Full, ReadOnly, Unopened};

/// A temporary failure, or one that the host can end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DatabaseTrouble {
    /// The database is locked or unreachable. Waiting may help.
    Busy,
    /// A file that existed at startup cannot be opened, because too many files are open.
    Unopened,
    Full,
    /// The database can be read but not written.
    ReadOnly,
}

impl StorageError {
    pub(crate) fn trouble(&self) -> Option<DatabaseTrouble> {
        let Self::Database(error) = self else { return None };
        match error {
            // The connection was lost or refused, or the server is shutting down.
            sqlx::Error::Io(_) | sqlx::Error::PoolTimedOut | sqlx::Error::PoolClosed => Some(Busy),
            // Both databases have five-digit codes with different meanings, so the type of the error is checked first.
            sqlx::Error::Database(error) => match error.try_downcast_ref::<SqliteError>() {
                Some(error) => classify_sqlite(error.code()?.parse().ok()?),
                None => classify_postgres(error.try_downcast_ref::<PgDatabaseError>()?.code()),
            },
            _ => None,
        }
    }

    /// The names of all reasons, for metrics.
    pub(crate) const REASONS: [&str; 5] = ["busy", "full", "read_only", "not_on_disk", "other"];

    pub(crate) fn reason(&self) -> &'static str {
        match self.trouble() {
            Some(Busy | Unopened) => "busy",
            Some(Full) => "full",
            Some(ReadOnly) => "read_only",
            None if matches!(self, Self::NotOnDisk(_)) => "not_on_disk",
            None => "other",
        }
    }
}

/// The low byte of an extended SQLite code is its primary code.
fn classify_sqlite(code: u32) -> Option<DatabaseTrouble> {
    match code & 0xff {
        5 => Some(Busy),
        8 => Some(ReadOnly),
        13 => Some(Full),
        14 => Some(Unopened),
        _ => None,
    }
}

/// The first two characters of a PostgreSQL code are its class.
fn classify_postgres(code: &str) -> Option<DatabaseTrouble> {
    match code {
        "53100" => Some(Full),
        "25006" => Some(ReadOnly),
        // Conflicting transactions, or a timeout of a lock, a statement or a transaction.
        "40001" | "40P01" | "55P03" | "57014" | "25P03" => Some(Busy),
        // Shutting down, crashed, starting up, or its connection dropped by the host.
        "57P01" | "57P02" | "57P03" | "57P05" => Some(Busy),
        // A broken connection, too many connections, or too little memory.
        _ if code.starts_with("08") || code.starts_with("53") => Some(Busy),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use axum::http::StatusCode;
    use axum::response::IntoResponse;

    use super::*;
    use crate::error::ApiError;
    use crate::proof::testing::started;
    use crate::storage::{Database, DatabaseAddress};

    async fn announce(storage: &Database, letters: usize) -> Result<(), StorageError> {
        storage.start(&started(&"r".repeat(letters)), None).await.map(|_announced| ())
    }

    /// Executes a statement on all connections of the pools.
    async fn say(storage: &Database, statement: &'static str) {
        for pool in [&storage.pool, &storage.writer] {
            let mut connections = Vec::new();
            for _ in 0..pool.options().get_max_connections() {
                let mut connection = pool.acquire().await.unwrap();
                sqlx::query(statement).execute(&mut *connection).await.unwrap();
                connections.push(connection);
            }
        }
    }

    #[tokio::test]
    async fn troubles_are_reported_leave_reads_alone_and_end() {
        for (trouble, end, status, code) in [
            ("PRAGMA max_page_count = 1", "PRAGMA max_page_count = 1000000", StatusCode::INSUFFICIENT_STORAGE, "full"),
            ("PRAGMA query_only = ON", "PRAGMA query_only = OFF", StatusCode::SERVICE_UNAVAILABLE, "read_only"),
        ] {
            let folder = tempfile::tempdir().unwrap();
            let storage = Database::open(&DatabaseAddress::File(folder.path().join("trouble.sqlite"))).await.unwrap();
            say(&storage, trouble).await;
            let refused = ApiError::from(announce(&storage, 100_000).await.unwrap_err());
            assert_eq!(refused.code(), code);
            assert_eq!(refused.into_response().status(), status);
            storage.answers().await.unwrap();
            say(&storage, end).await;
            announce(&storage, 100_000).await.unwrap();
            assert!(storage.started(&"r".repeat(100_000)).await.unwrap().is_some());
            storage.close().await;
        }
    }

    /// SQLite also rolls back a transaction on a full disk, an I/O error, a lack of memory and an interrupt
    /// (<https://sqlite.org/lang_transaction.html>, section 2.3). These leave the same state.
    #[tokio::test]
    async fn writes_last_after_sqlite_has_rolled_a_transaction_back() {
        let folder = tempfile::tempdir().unwrap();
        let address = DatabaseAddress::File(folder.path().join("ended.sqlite"));
        let storage = Database::open(&address).await.unwrap();
        let ends = ["INSERT OR ROLLBACK INTO once VALUES (1), (1)", "INSERT INTO raised VALUES (1)", "ROLLBACK"];
        for (letters, end) in (1..).zip(ends) {
            let mut transaction = storage.writer.begin().await.unwrap();
            for statement in [
                "CREATE TEMP TABLE once (value UNIQUE)",
                "CREATE TEMP TABLE raised (value)",
                "CREATE TEMP TRIGGER raises BEFORE INSERT ON raised BEGIN SELECT RAISE(ROLLBACK, 'ended'); END",
            ] {
                sqlx::query(statement).execute(&mut *transaction).await.unwrap();
            }
            let ended = sqlx::query(end).execute(&mut *transaction).await;
            assert_eq!(ended.is_err(), end != "ROLLBACK", "{end}");
            // The driver still counts a transaction that no longer exists.
            drop(transaction);
            announce(&storage, letters).await.unwrap();
            let other = Database::open(&address).await.unwrap();
            assert!(other.started(&"r".repeat(letters)).await.unwrap().is_some(), "lost after {end}");
            other.close().await;
        }
        storage.close().await;
    }

    #[test]
    fn codes_are_told_apart() {
        // Among SQLite's, SQLITE_BUSY_SNAPSHOT, SQLITE_READONLY_DIRECTORY, SQLITE_CONSTRAINT_UNIQUE and SQLITE_CORRUPT.
        let cases: [(Option<DatabaseTrouble>, &[u32], &[&str]); 5] = [
            (Some(Busy), &[5, 517], &["53300", "40P01", "08006", "57P03"]),
            (Some(ReadOnly), &[1544], &["25006"]),
            (Some(Full), &[13], &["53100"]),
            (Some(Unopened), &[14], &[]),
            (None, &[2067, 11], &["23505", "28P01"]),
        ];
        for (expected, sqlite, postgres) in cases {
            for code in sqlite {
                assert_eq!(classify_sqlite(*code), expected, "{code}");
            }
            for code in postgres {
                assert_eq!(classify_postgres(code), expected, "{code}");
            }
        }
    }
}
