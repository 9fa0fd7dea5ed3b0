//! The database. Only this module contains SQL, which is common to SQLite and PostgreSQL.

mod access_path;
mod address;
mod bulk;
mod comparisons;
mod connect;
mod device_aliases;
mod export;
mod figures;
mod kinds;
mod list;
mod moderation;
mod open;
mod run_rows;
mod runs;
mod segments;
mod speedruns;
mod started;
mod trouble;
mod trust;
mod values;
mod verifications;
mod writing;

use std::sync::Arc;
use std::time::{Duration, Instant};

use sqlx::{Any, AnyConnection, AnyPool, Connection, Transaction};
use tokio::sync::{Mutex, Semaphore};

pub(crate) use access_path::{Conditions, RowKey};
pub use address::{AddressError, AddressParser, DatabaseAddress};
pub(crate) use connect::leave_alone;
use connect::{Connector, Dialect};
pub(crate) use export::SubmissionPlace;
pub(crate) use figures::{RatesOfDevice, TableQuery};
pub(crate) use kinds::KindFilter;
pub(crate) use list::{Bounds, ListQuery, PastResult};
pub(crate) use moderation::{Occasion, TierChange};
pub(crate) use run_rows::NewRun;
pub(crate) use runs::{Acceptance, StandingRun, WorkloadRate};
pub(crate) use started::Submitter;
pub(crate) use trouble::DatabaseTrouble;
pub(crate) use trust::Own;
pub(crate) use verifications::{Conclusion, MeasuredResult, Verification};
use writing::LogSync;

/// Connections to the database. Clones share them.
#[derive(Clone)]
pub(crate) struct Database {
    pool: AnyPool,
    /// Pool of the only connection that writes to SQLite. For PostgreSQL it equals `pool`.
    writer: AnyPool,
    turns: Arc<Semaphore>,
    dialect: &'static Dialect,
    log_sync: Option<Arc<LogSync>>,
    probed: Arc<Mutex<Option<Instant>>>,
}

/// Size of a probe, as large as a large record, because a few bytes may still fit on a full disk.
const PROBE_BYTES: usize = 65_536;
/// Minimum time between a successful probe and the next one.
const PROBE_INTERVAL: Duration = Duration::from_secs(2);

pub(crate) type Result<T, E = StorageError> = std::result::Result<T, E>;

/// An error of the database, or an invalid value in it.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StorageError {
    #[error(transparent)]
    Database(#[from] sqlx::Error),
    #[error("cannot bring its tables up to date: {0}")]
    Migration(#[from] sqlx::migrate::MigrateError),
    #[error("a stored value is corrupt: {0}")]
    Json(#[from] serde_json::Error),
    #[error("a stored value is out of range: {0}")]
    Integer(#[from] std::num::TryFromIntError),
    #[error(
        "its tables lack {0}: once no server of an older version uses it, bring them up to date with `leaderboard \
         migrate`"
    )]
    Outdated(String),
    #[error("the system provides no random numbers: {0}")]
    Randomness(#[from] getrandom::Error),
    #[error("it is damaged: {0}")]
    Damaged(String),
    #[error("written data may not be on the disk; check the disk before you restart the server: {0}")]
    NotOnDisk(String),
    #[error("SQLite does not support the file name {0}, which is not valid Unicode")]
    Name(String),
    /// An action of a moderator is refused.
    #[error("{0}")]
    Refused(String),
}

impl StorageError {
    pub(crate) fn unknown_run(run_id: &str) -> Self {
        Self::Refused(format!(
            "no run {run_id} in the database: a run id is the 16 letters and digits after /runs/ in the run's link"
        ))
    }
}

impl Database {
    /// Opens the database, creates a missing file, and upgrades its tables.
    pub(crate) async fn open(address: &DatabaseAddress) -> Result<Self> {
        let connector = Connector::to(address, true)?;
        let connection = connector.connect().await?;
        Self::upgrade(connector, connection).await
    }

    /// Opens an existing database without an upgrade, so that a newer task does not break a running older server.
    pub(crate) async fn open_as_it_is(address: &DatabaseAddress) -> Result<Self> {
        let connector = Connector::to(address, false)?;
        connector.connect().await?.close().await?;
        Ok(connector.storage())
    }

    /// Opens an existing database. Its tables must be up to date.
    pub(crate) async fn open_up_to_date(address: &DatabaseAddress) -> Result<Self> {
        let connector = Connector::to(address, false)?;
        let mut connection = connector.connect().await?;
        let missing = connect::missing(&mut connection).await?;
        connection.close().await?;
        if missing.is_empty() { Ok(connector.storage()) } else { Err(StorageError::Outdated(missing.join(", "))) }
    }

    /// Upgrades the tables of an existing database, and returns the migrations that were missing.
    pub(crate) async fn migrate(address: &DatabaseAddress) -> Result<Vec<String>> {
        let connector = Connector::to(address, false)?;
        let mut connection = connector.connect().await?;
        let missing = connect::missing(&mut connection).await?;
        Self::upgrade(connector, connection).await?.close().await;
        Ok(missing)
    }

    async fn upgrade(connector: Connector, mut connection: AnyConnection) -> Result<Self> {
        connect::bring_up_to_date(&mut connection).await?;
        connection.close().await?;
        let storage = connector.storage();
        storage.fill_forms().await?;
        storage.refresh_figures().await;
        Ok(storage)
    }

    async fn reading(&self) -> Result<Transaction<'static, Any>> {
        Ok(self.pool.begin_with(self.dialect.begin_reading).await?)
    }

    /// Waits for running queries and writes the log back to the file.
    pub(crate) async fn close(&self) {
        self.writer.close().await;
        self.pool.close().await;
    }

    pub(crate) async fn answers(&self) -> Result<()> {
        sqlx::query("SELECT run_id FROM runs LIMIT 1").fetch_optional(&self.pool).await?;
        Ok(())
    }

    /// Checks that the database can be written, unless that succeeded within [`PROBE_INTERVAL`].
    pub(crate) async fn takes_writes(&self) -> Result<()> {
        let mut probed = self.probed.lock().await;
        if probed.is_some_and(|at| at.elapsed() < PROBE_INTERVAL) {
            return Ok(());
        }
        // No lookup uses day -1.
        let mut transaction = self.writing().await?;
        let insert = "INSERT INTO submitter_salts (day, salt) VALUES (-1, $1) ON CONFLICT (day) DO NOTHING";
        sqlx::query(insert).bind("0".repeat(PROBE_BYTES)).execute(&mut *transaction).await?;
        sqlx::query("DELETE FROM submitter_salts WHERE day = -1").execute(&mut *transaction).await?;
        transaction.commit().await?;
        *probed = Some(Instant::now());
        Ok(())
    }
}
