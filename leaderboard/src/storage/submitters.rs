//! Who counts as one submitter on a day, and how many of the runs that each announced came to their end.

use results::Suite;
use sqlx::{AnyConnection, Row};

use super::{Storage, StorageError};
use crate::ranking::SubmitterSalt;

/// A salt is kept for the day after its own, because the clocks of two servers may differ.
const DAYS_OF_SALTS: i64 = 1;
/// Counts of submitters who never finished anything belong to no device; they are kept as long as announcements are.
const DAYS_OF_UNFINISHED: i64 = 8;
/// Counts that are forgotten at once.
const FORGOTTEN_AT_ONCE: i64 = 10_000;

/// A submitter, as far as anybody knows one.
#[derive(Clone, Debug)]
pub(crate) struct Submitter {
    /// Word of the [`SubmitterSalt`]; absent for runs that `leaderboard import` stored.
    pub(crate) word: Option<String>,
    /// The day of the word.
    pub(crate) day: i64,
}

impl Storage {
    /// The salt of a day, which the first who asks makes for all servers.
    pub(crate) async fn submitter_salt(&self, day: i64) -> Result<SubmitterSalt, StorageError> {
        if let Some(salt) = self.salt_of(day).await? {
            return Ok(salt);
        }
        let new = SubmitterSalt::random().map_err(|cause| StorageError::Salt(cause.to_string()))?;
        let insert = "INSERT INTO submitter_salts (day, salt) VALUES ($1, $2) ON CONFLICT (day) DO NOTHING";
        self.write(sqlx::query(insert).bind(day).bind(new.to_hex())).await?;
        self.forget_submitters(day).await?;
        // Another server may have been quicker.
        self.salt_of(day).await?.ok_or_else(|| StorageError::Salt("it is not there any more".to_owned()))
    }

    async fn salt_of(&self, day: i64) -> Result<Option<SubmitterSalt>, StorageError> {
        let row =
            sqlx::query("SELECT salt FROM submitter_salts WHERE day = $1").bind(day).fetch_optional(&self.pool).await?;
        let Some(row) = row else { return Ok(None) };
        let salt = SubmitterSalt::from_hex(row.try_get("salt")?);
        salt.map(Some).ok_or_else(|| StorageError::Salt("it is not 32 bytes in hex".to_owned()))
    }

    /// Once a day: salts of days that are over, and counts that nobody asks for.
    pub(crate) async fn forget_submitters(&self, today: i64) -> Result<(), StorageError> {
        let forget = "DELETE FROM submitter_salts WHERE day < $1";
        self.write(sqlx::query(forget).bind(today - DAYS_OF_SALTS)).await?;
        let forget = sqlx::query(
            "DELETE FROM announcements WHERE finished = 0 AND submitter IN (SELECT submitter FROM announcements \
             WHERE finished = 0 AND day < $1 LIMIT $2)",
        )
        .bind(today - DAYS_OF_UNFINISHED)
        .bind(FORGOTTEN_AT_ONCE);
        self.write(forget).await?;
        Ok(())
    }
}

/// Counts an announcement.
pub(super) async fn count_announced(
    connection: &mut AnyConnection,
    suite: &Suite,
    submitter: &str,
    day: i64,
) -> Result<(), StorageError> {
    sqlx::query(
        "INSERT INTO announcements (submitter, suite_name, suite_version, day, announced, finished) \
         VALUES ($1, $2, $3, $4, 1, 0) ON CONFLICT (submitter, suite_name, suite_version) \
         DO UPDATE SET announced = announcements.announced + 1",
    )
    .bind(submitter)
    .bind(&suite.name)
    .bind(i64::from(suite.version))
    .bind(day)
    .execute(connection)
    .await?;
    Ok(())
}

/// Counts that an announced run came to its end: once, because a run is handed in once.
pub(super) async fn count_finished(
    connection: &mut AnyConnection,
    suite: &Suite,
    submitter: &str,
) -> Result<(), StorageError> {
    sqlx::query(
        "UPDATE announcements SET finished = finished + 1 \
         WHERE submitter = $1 AND suite_name = $2 AND suite_version = $3",
    )
    .bind(submitter)
    .bind(&suite.name)
    .bind(i64::from(suite.version))
    .execute(connection)
    .await?;
    Ok(())
}
