use results::Suite;
use sqlx::AnyConnection;

use super::values::{as_flag, execute, insert, scalar, sql};
use super::{Database, Result};
use crate::limits::day_of;
use crate::proof::Started;
use crate::ranking::SubmitterSalt;
use crate::secrets::{SECRET_BYTES, random_word};

/// Time after which an expired row is deleted. It lets late clients get "expired" and not "unknown".
pub(super) const KEPT_SECONDS: f64 = 7.0 * 86_400.0;
/// Maximum number of old rows that an announcement deletes.
const FORGOTTEN_AT_ONCE: i64 = 500;

/// Deletes a run without its segments, which can be very many and are deleted first.
pub(super) const FORGET: &str = "DELETE FROM started_runs WHERE run_id IN (SELECT run_id FROM started_runs \
     WHERE expires_unix_seconds < $1 AND NOT EXISTS (SELECT 1 FROM laps WHERE laps.run_id = started_runs.run_id) \
     ORDER BY expires_unix_seconds LIMIT $2)";

/// Counts open runs, up to the second parameter.
pub(super) const COUNT_OPEN: &str = "SELECT COUNT(*) AS open FROM (SELECT run_id FROM started_runs WHERE used = FALSE \
     AND expires_unix_seconds > $1 LIMIT $2) AS open_runs";

impl Started {
    /// Returns the submitter of the announcement. The run counts as theirs, even if another address uploads it.
    pub(crate) fn submitter(&self) -> Submitter {
        let (word, prefix) = (self.submitter.clone(), self.prefix.clone());
        Submitter { word, day: day_of(self.created_unix_seconds), prefix }
    }
}

impl Database {
    /// Stores an announced run, unless `most` are open, and deletes some runs that expired long ago.
    pub(crate) async fn start(&self, run: &Started, most: Option<u32>) -> Result<bool> {
        let mut transaction = self.writing().await?;
        execute!(transaction, FORGET, [run.created_unix_seconds - KEPT_SECONDS, FORGOTTEN_AT_ONCE])?;
        if let Some(most) = most.map(i64::from) {
            let open: i64 = scalar!(COUNT_OPEN, [run.created_unix_seconds, most]).fetch_one(&mut *transaction).await?;
            if open >= most {
                // Keeps the deletions.
                transaction.commit().await?;
                return Ok(false);
            }
        }
        let mut row = serde_json::to_value(run)?;
        row["nonce"] = "".into();
        insert("started_runs", &row, "").execute(&mut *transaction).await?;
        if let Some(word) = &run.submitter {
            count_announced(&mut transaction, &run.suite, word, day_of(run.created_unix_seconds)).await?;
        }
        transaction.commit().await?;
        Ok(true)
    }

    pub(crate) async fn started(&self, run_id: &str) -> Result<Option<Started>> {
        let query = concat!(
            "SELECT run_id, seed, suite_name, suite_version, engine_version, created_unix_seconds, \
             expires_unix_seconds, submitter, prefix, network AS network_json, ",
            as_flag!("used", "used"),
            " FROM started_runs WHERE run_id = $1"
        );
        self.row(sql!(query, [run_id])).await
    }
}

/// A salt is kept for one more day, because the clocks of two servers may differ.
const SALT_DAYS: i64 = 1;
/// Counts of submitters without finished runs belong to no device. They are kept as long as announcements.
const UNFINISHED_DAYS: i64 = 8;
/// Maximum number of counts that are deleted at once.
const COUNTS_FORGOTTEN_AT_ONCE: i64 = 10_000;

#[derive(Clone, Debug)]
pub(crate) struct Submitter {
    /// Pseudonym made with the [`SubmitterSalt`]. `None` for runs from `leaderboard import`.
    pub(crate) word: Option<String>,
    pub(crate) day: i64,
    /// Pseudonym of the /24 or /48 that announced the run.
    pub(crate) prefix: Option<String>,
}

impl Database {
    /// Returns the salt of a day. The first call creates it for all servers.
    pub(crate) async fn submitter_salt(&self, day: i64) -> Result<SubmitterSalt> {
        if let Some(salt) = self.salt_of(day).await? {
            return Ok(salt);
        }
        let new = random_word::<SECRET_BYTES>()?;
        let insert = "INSERT INTO submitter_salts (day, salt) VALUES ($1, $2) ON CONFLICT (day) DO NOTHING";
        self.write(sql!(insert, [day, new])).await?;
        self.forget_submitters(day).await?;
        // Another server may have inserted it first.
        Ok(self.salt_of(day).await?.ok_or(sqlx::Error::RowNotFound)?)
    }

    async fn salt_of(&self, day: i64) -> Result<Option<SubmitterSalt>> {
        let query = scalar!("SELECT salt FROM submitter_salts WHERE day = $1", [day]);
        Ok(query.fetch_optional(&self.pool).await?.map(SubmitterSalt))
    }

    pub(crate) async fn forget_submitters(&self, today: i64) -> Result<()> {
        let forget = "DELETE FROM submitter_salts WHERE day < $1";
        self.write(sql!(forget, [today - SALT_DAYS])).await?;
        let forget = "DELETE FROM announcements WHERE finished = 0 AND submitter IN (SELECT submitter \
             FROM announcements WHERE finished = 0 AND day < $1 LIMIT $2)";
        self.write(sql!(forget, [today - UNFINISHED_DAYS, COUNTS_FORGOTTEN_AT_ONCE])).await?;
        Ok(())
    }
}

pub(super) async fn count_announced(connection: &mut AnyConnection, suite: &Suite, word: &str, day: i64) -> Result<()> {
    let insert = "INSERT INTO announcements (submitter, suite_name, suite_version, day, announced, finished) \
         VALUES ($1, $2, $3, $4, 1, 0) ON CONFLICT (submitter, suite_name, suite_version) \
         DO UPDATE SET announced = announcements.announced + 1";
    execute!(connection, insert, [word, &suite.name, i64::from(suite.version), day])?;
    Ok(())
}

pub(super) async fn count_finished(connection: &mut AnyConnection, suite: &Suite, submitter: &str) -> Result<()> {
    let update = "UPDATE announcements SET finished = finished + 1 \
         WHERE submitter = $1 AND suite_name = $2 AND suite_version = $3";
    execute!(connection, update, [submitter, &suite.name, i64::from(suite.version)])?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proof::testing::started;
    use crate::storage::DatabaseAddress;

    const EXPIRED: i64 = 20_000;

    #[tokio::test]
    async fn expired_rows_are_deleted_in_portions_oldest_first() {
        let folder = tempfile::tempdir().unwrap();
        let storage = Database::open(&DatabaseAddress::File(folder.path().join("expired.sqlite"))).await.unwrap();
        // They expired more than a week ago.
        let fill = "WITH RECURSIVE numbers (number) \
             AS (SELECT 1 UNION ALL SELECT number + 1 FROM numbers WHERE number < $1) INSERT INTO started_runs (run_id, nonce, seed, suite_name, suite_version, engine_version, \
             created_unix_seconds, expires_unix_seconds, used) \
             SELECT 'old' || number, 'n', 1, 'quick', 1, '0.1.0', 0, number, FALSE FROM numbers";
        sql!(fill, [EXPIRED]).execute(&storage.pool).await.unwrap();
        for number in 1..=EXPIRED / FORGOTTEN_AT_ONCE {
            let now = 1.8e9;
            let new = started(&format!("new{number}"));
            let new = Started { created_unix_seconds: now, expires_unix_seconds: now + 3600.0, ..new };
            assert!(storage.start(&new, None).await.unwrap());
            let count = sqlx::query_scalar("SELECT COUNT(*) FROM started_runs");
            let rows: i64 = count.fetch_one(&storage.pool).await.unwrap();
            assert_eq!(rows, EXPIRED - number * FORGOTTEN_AT_ONCE + number);
            let oldest = number * FORGOTTEN_AT_ONCE;
            assert!(storage.started(&format!("old{oldest}")).await.unwrap().is_none());
            assert_eq!(storage.started(&format!("old{}", oldest + 1)).await.unwrap().is_some(), oldest < EXPIRED);
        }
    }
}
