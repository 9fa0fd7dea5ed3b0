use std::ffi::OsStr;
use std::path::Path;

use leaderboard::DatabaseAddress;
use sqlx::{AnyConnection, AssertSqlSafe, Connection, Executor, Row};
use tempfile::TempDir;

use super::postgres::Cluster;

/// A data base that nobody else uses. A file is removed when this is dropped; what is on a PostgreSQL server goes with it.
pub(crate) struct TestDatabase {
    argument: String,
    folder: Option<TempDir>,
}

impl TestDatabase {
    /// An empty one of the kind that this program tests.
    pub(crate) fn new() -> Self {
        if crate::on_postgres() {
            return Self::at(Cluster::shared().new_schema());
        }
        let folder = tempfile::tempdir().unwrap();
        let argument = folder.path().join("leaderboard.sqlite").to_str().unwrap().to_owned();
        Self { argument, folder: Some(folder) }
    }

    /// Returns a database without tables. A file exists, as tasks that make none expect.
    pub(crate) fn empty() -> Self {
        let database = Self::new();
        if let Some(file) = database.file() {
            std::fs::File::create(file).unwrap();
        }
        database
    }

    /// One on a PostgreSQL server.
    pub(crate) fn at(address: String) -> Self {
        Self { argument: address, folder: None }
    }

    /// What `--database` takes.
    pub(crate) fn argument(&self) -> &str {
        &self.argument
    }

    pub(crate) fn address(&self) -> DatabaseAddress {
        DatabaseAddress::parse(self.as_ref()).unwrap()
    }

    /// Where a file is all there is of it.
    pub(crate) fn file(&self) -> Option<&Path> {
        self.folder.as_ref().map(|_folder| Path::new(&self.argument))
    }

    /// Runs statements past the server.
    pub(crate) fn execute(&self, statements: &str) {
        block_on(async {
            let mut connection = self.connect().await;
            connection.execute(AssertSqlSafe(statements)).await.unwrap();
            connection.close().await.unwrap();
        });
    }

    /// What a query that counts answers, past the server.
    pub(crate) fn count(&self, query: &'static str) -> i64 {
        block_on(async {
            let mut connection = self.connect().await;
            let row = sqlx::query(query).fetch_one(&mut connection).await.unwrap();
            connection.close().await.unwrap();
            row.get(0)
        })
    }

    /// The words that a query finds, past the server.
    pub(crate) fn words(&self, query: &'static str) -> Vec<String> {
        block_on(async {
            let mut connection = self.connect().await;
            let rows = sqlx::query(query).fetch_all(&mut connection).await.unwrap();
            connection.close().await.unwrap();
            rows.iter().map(|row| row.get(0)).collect()
        })
    }

    pub(crate) async fn connect(&self) -> AnyConnection {
        let scheme = if self.argument.contains("://") { "" } else { "sqlite:" };
        connect(&format!("{scheme}{}", self.argument)).await
    }
}

impl AsRef<OsStr> for TestDatabase {
    fn as_ref(&self) -> &OsStr {
        self.argument().as_ref()
    }
}

pub(crate) async fn connect(address: &str) -> AnyConnection {
    sqlx::any::install_default_drivers();
    AnyConnection::connect(address).await.unwrap()
}

pub(crate) fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}
