use results::RunRecord;
use sqlx::Row;

use super::ranked::outdate;
use super::trust::{self, Own, Trust};
use super::unexamined;
use super::values::{as_flag, flag};
use super::{Storage, StorageError};

/// Runs that were never verified come first, so that a replay of many delays no new one. Among them, the /24 or /48 that was
/// served longest ago comes first, so that many runs of one client delay others by one run.
const TAKE: &str = concat!(
    "UPDATE verifications SET taken_until_unix_seconds = $1, attempts = attempts + 1, taken_by = $4 \
     WHERE taken_until_unix_seconds < $2 AND run_id = (SELECT waiting.run_id FROM verifications waiting \
     LEFT JOIN started_runs started ON started.run_id = waiting.run_id \
     WHERE taken_until_unix_seconds < $2 AND (CAST($3 AS TEXT) IS NULL OR waiting.run_id = $3) \
     ORDER BY in_part, COALESCE((SELECT MAX(served.verified_unix_seconds) FROM started_runs served \
     WHERE served.prefix = started.prefix), 0.0), queued_unix_seconds, waiting.run_id LIMIT 1) RETURNING run_id, attempts, ",
    as_flag!("in_part", "in_part")
);
const NOTE_SERVICE: &str = "UPDATE started_runs SET verified_unix_seconds = $1 WHERE run_id = $2";

/// A run that waits to be verified, taken by whoever holds this.
pub(crate) struct Verification {
    pub(crate) run_id: String,
    /// Number of attempts, including this one and without those that a server shutdown interrupted.
    pub(crate) attempts: u32,
    /// Whether not all of it can be computed again, which then proves nothing.
    pub(crate) in_part: bool,
    pub(crate) record: RunRecord,
}

/// What a verification makes of a run.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Conclusion {
    /// What the run is of its own from now on.
    pub(crate) own: Own,
    /// What became of it, as a sentence for whoever asked.
    pub(crate) said: String,
    /// Whether its weights are worth keeping, because they could not be looked at.
    pub(crate) unexamined: bool,
}

impl Storage {
    /// Takes the run that has waited longest for the server `by`, until `until`, when others may take it.
    pub(crate) async fn take_verification(
        &self,
        by: &str,
        now: f64,
        until: f64,
    ) -> Result<Option<Verification>, StorageError> {
        self.take(None, by, now, until).await
    }

    /// Takes this very run; nothing when it does not wait, or when somebody else works on it.
    pub(crate) async fn take_verification_of(
        &self,
        run_id: &str,
        by: &str,
        now: f64,
        until: f64,
    ) -> Result<Option<Verification>, StorageError> {
        self.take(Some(run_id), by, now, until).await
    }

    async fn take(
        &self,
        run_id: Option<&str>,
        by: &str,
        now: f64,
        until: f64,
    ) -> Result<Option<Verification>, StorageError> {
        // Nobody is told of it, so that the disk may have it later: what is taken is free again after a while anyway.
        let turn = self.turn().await?;
        let taken = sqlx::query(TAKE).bind(until).bind(now).bind(run_id).bind(by).fetch_optional(&self.writer).await?;
        let Some(taken) = taken else { return Ok(None) };
        let run_id: String = taken.try_get("run_id")?;
        sqlx::query(NOTE_SERVICE).bind(now).bind(&run_id).execute(&self.writer).await?;
        drop(turn);
        let attempts = u32::try_from(taken.try_get::<i64, _>("attempts")?)?;
        // What has waited for so long that its announcement is forgotten has lost its weights, too.
        let mut connection = self.pool.acquire().await?;
        let in_part = flag(&taken, "in_part")? || !unexamined::has_all_weights(&mut connection, &run_id).await?;
        let row = sqlx::query("SELECT record FROM runs WHERE run_id = $1")
            .bind(&run_id)
            .fetch_optional(&mut *connection)
            .await?;
        // Somebody deleted it at this very moment.
        let Some(row) = row else { return Ok(None) };
        Ok(Some(Verification { run_id, attempts, in_part, record: serde_json::from_str(row.try_get("record")?)? }))
    }

    /// Gives a run what it has earned, beneath whatever a moderator said of it, and forgets its weights. What that is
    /// follows from what the run is of its own by then, and from whether it could be computed again in part only, because
    /// weights are gone by now that may have been gone before they were read. It is returned unless the run was deleted.
    pub(crate) async fn conclude_verification(
        &self,
        of: &Verification,
        now: f64,
        conclude: impl FnOnce(&Own, bool) -> Conclusion,
    ) -> Result<Option<Own>, StorageError> {
        let run_id = of.run_id.as_str();
        let mut transaction = self.writing().await?;
        let Some(before) = trust::read(&mut transaction, run_id).await? else {
            // Somebody deleted it, and all that waited for it.
            transaction.rollback().await?;
            return Ok(None);
        };
        let in_part = of.in_part || !unexamined::has_all_weights(&mut transaction, run_id).await?;
        let Conclusion { own, mut said, unexamined } = conclude(&before.own, in_part);
        let mut stale = None;
        if own != before.own {
            let after = Trust { own: own.clone(), word: before.word.clone() };
            stale = trust::write(&mut transaction, run_id, &before, &after).await?;
        }
        if before.word.is_some() {
            said.push_str(" What a moderator said of it stands, and is what is shown.");
        }
        sqlx::query("UPDATE replays SET outcome = $1 WHERE run_id = $2")
            .bind(said)
            .bind(run_id)
            .execute(&mut *transaction)
            .await?;
        sqlx::query("DELETE FROM verifications WHERE run_id = $1").bind(run_id).execute(&mut *transaction).await?;
        if unexamined {
            unexamined::keep(&mut transaction, run_id, now).await?;
        } else {
            unexamined::forget(&mut transaction, run_id).await?;
        }
        if let Some(device) = &stale {
            outdate(&mut transaction, device).await?;
        }
        transaction.commit().await?;
        self.refresh_figures().await;
        Ok(Some(own))
    }

    /// Lets others have every run that the server `by` took. An attempt that a stop of the server `interrupted` does not count;
    /// of a server that died it does, because the run may have killed it.
    pub(crate) async fn release_verifications(&self, by: &str, interrupted: bool) -> Result<(), StorageError> {
        let release = "UPDATE verifications SET taken_until_unix_seconds = 0, attempts = attempts - $1 \
             WHERE taken_by = $2 AND taken_until_unix_seconds > 0";
        self.write(sqlx::query(release).bind(i64::from(interrupted)).bind(by)).await?;
        Ok(())
    }

    /// Whether a run waits to be verified, or is being verified. One that only waits to be computed again in part is what it
    /// is meanwhile.
    pub(crate) async fn is_being_verified(&self, run_id: &str) -> Result<bool, StorageError> {
        let row = sqlx::query("SELECT COUNT(*) AS waiting FROM verifications WHERE run_id = $1 AND in_part = FALSE")
            .bind(run_id)
            .fetch_one(&self.pool)
            .await?;
        Ok(row.try_get::<i64, _>("waiting")? > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::DatabaseAddress;

    #[tokio::test]
    async fn prefix_that_was_served_longest_ago_comes_first() {
        let folder = tempfile::tempdir().unwrap();
        let storage = Storage::open(&DatabaseAddress::File(folder.path().join("queue.sqlite"))).await.unwrap();
        // No run has a record, which the queue does not read.
        sqlx::query("PRAGMA foreign_keys = OFF").execute(&storage.writer).await.unwrap();
        for (queued, (run_id, prefix)) in
            (1_i64..).zip([("a1", "a"), ("a2", "a"), ("a3", "a"), ("b1", "b"), ("c1", "c")])
        {
            let announce = "INSERT INTO started_runs (run_id, nonce, seed, suite_name, suite_version, engine_version, \
                 created_unix_seconds, expires_unix_seconds, used, prefix) \
                 VALUES ($1, '', 1, 'quick', 1, '', 0.0, 0.0, TRUE, $2)";
            sqlx::query(announce).bind(run_id).bind(prefix).execute(&storage.writer).await.unwrap();
            let queue = "INSERT INTO verifications (run_id, queued_unix_seconds, taken_until_unix_seconds, attempts) \
                 VALUES ($1, $2, 0.0, 0)";
            sqlx::query(queue).bind(run_id).bind(queued).execute(&storage.writer).await.unwrap();
        }
        for (server, now) in ["1", "2", "3", "4", "5"].into_iter().zip([100.0, 101.0, 102.0, 103.0, 104.0]) {
            storage.take_verification(server, now, 1e9).await.unwrap();
        }
        let rows = sqlx::query("SELECT run_id FROM verifications ORDER BY taken_by").fetch_all(&storage.pool).await;
        let order: Vec<String> = rows.unwrap().iter().map(|row| row.get("run_id")).collect();
        assert_eq!(order, ["a1", "b1", "c1", "a2", "a3"]);
        storage.close().await;
    }
}
