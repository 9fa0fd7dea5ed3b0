//! Requested states of announced runs, kept until they were verified.

use results::api::WantedState;
use sqlx::Row;

use super::segments::unsigned;
use super::started::KEPT_SECONDS;
use super::values::{as_flag, flag};
use super::{Storage, StorageError};

/// Forces SQLite to begin with states and hashes, which are few, and not with runs, which are many.
const WAITING: &str = "SELECT CAST(COALESCE(SUM(bytes), 0) AS BIGINT) AS of_all, \
     CAST(COALESCE(SUM(CASE WHEN prefix = $1 THEN bytes END), 0) AS BIGINT) AS of_prefix \
     FROM (SELECT run_id, bytes FROM shown_states UNION ALL SELECT run_id, bytes FROM part_hashes) AS waiting \
     CROSS JOIN started_runs WHERE started_runs.run_id = waiting.run_id \
     AND (used = TRUE OR expires_unix_seconds >= $2)";

const FORGET_STATES: &str = "DELETE FROM shown_states WHERE run_id IN (SELECT started_runs.run_id FROM started_runs \
     JOIN shown_states ON shown_states.run_id = started_runs.run_id \
     WHERE used = FALSE AND expires_unix_seconds < $1 LIMIT 10)";
const FORGET_HASHES: &str = "DELETE FROM part_hashes WHERE run_id IN (SELECT started_runs.run_id FROM started_runs \
     JOIN part_hashes ON part_hashes.run_id = started_runs.run_id \
     WHERE used = FALSE AND expires_unix_seconds < $1 LIMIT 10)";

/// Selects a workload of a run whose announcement can be deleted.
const FORGETTABLE: &str = "SELECT laps.run_id, laps.workload FROM started_runs \
     JOIN laps ON laps.run_id = started_runs.run_id WHERE expires_unix_seconds < $1 LIMIT 1";

impl Storage {
    /// Stores a state in base64 and its size in bytes, unless it is stored already.
    pub(crate) async fn show(
        &self,
        run_id: &str,
        workload: &str,
        shown: WantedState,
        bytes: usize,
        state: &str,
    ) -> Result<(), StorageError> {
        let insert = sqlx::query(
            "INSERT INTO shown_states (run_id, workload, step, weights_only, bytes, state) \
             VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (run_id, workload, step) DO NOTHING",
        )
        .bind(run_id)
        .bind(workload)
        .bind(i64::try_from(shown.step)?)
        .bind(shown.weights_only)
        .bind(i64::try_from(bytes)?)
        .bind(state);
        self.write(insert).await?;
        Ok(())
    }

    /// Returns the state after `step` steps, in base64, and whether it has only the weights.
    pub(crate) async fn state(
        &self,
        run_id: &str,
        workload: &str,
        step: u64,
    ) -> Result<Option<(bool, String)>, StorageError> {
        let row = sqlx::query(concat!(
            "SELECT state, ",
            as_flag!("weights_only", "weights_only"),
            " FROM shown_states WHERE run_id = $1 AND workload = $2 AND step = $3"
        ))
        .bind(run_id)
        .bind(workload)
        .bind(i64::try_from(step)?)
        .fetch_optional(&self.pool)
        .await?;
        row.map(|row| Ok((flag(&row, "weights_only")?, row.try_get("state")?))).transpose()
    }

    /// Returns the bytes of states and hashes waiting for verification: of all runs, and of the runs announced from
    /// `prefix`. Runs that expired without a record do not count.
    pub(crate) async fn waiting_bytes(&self, prefix: Option<&str>, now: f64) -> Result<[u64; 2], StorageError> {
        let row = sqlx::query(WAITING).bind(prefix).bind(now).fetch_one(&self.pool).await?;
        Ok([unsigned(&row, "of_all")?, unsigned(&row, "of_prefix")?])
    }

    /// Deletes states and hashes of runs that expired without a record, and the segments of runs whose announcements
    /// can be deleted. Deletes a few at a time, so that other writers get a turn.
    pub(crate) async fn forget_expired(&self, now: f64) -> Result<(), StorageError> {
        for forget in [FORGET_STATES, FORGET_HASHES] {
            while self.write(sqlx::query(forget).bind(now)).await?.rows_affected() > 0 {}
        }
        loop {
            let row = sqlx::query(FORGETTABLE).bind(now - KEPT_SECONDS).fetch_optional(&self.pool).await?;
            let Some(row) = row else { return Ok(()) };
            let (run_id, workload): (&str, &str) = (row.try_get("run_id")?, row.try_get("workload")?);
            let mut transaction = self.writing().await?;
            for delete in [
                "DELETE FROM segments WHERE run_id = $1 AND workload = $2",
                "DELETE FROM laps WHERE run_id = $1 AND workload = $2",
            ] {
                sqlx::query(delete).bind(run_id).bind(workload).execute(&mut *transaction).await?;
            }
            transaction.commit().await?;
        }
    }
}
