use sqlx::Row;

use super::values::{as_flag, flag};
use super::{Storage, StorageError};
use crate::proof::challenge::weights_bytes;
use crate::proof::told::Told;

const FORGET_EXPIRED: &str = "DELETE FROM shown_weights WHERE run_id IN (SELECT started_runs.run_id FROM started_runs \
     JOIN shown_weights ON shown_weights.run_id = started_runs.run_id \
     WHERE used = FALSE AND expires_unix_seconds < $1 LIMIT 10)";

impl Storage {
    /// Everything that was told of a run, workload by workload and in order.
    pub(crate) async fn told(&self, run_id: &str) -> Result<Vec<Told>, StorageError> {
        let rows = sqlx::query(concat!(
            "SELECT workload, number, step, weights_sha256, measured_sha256, told_unix_seconds, shown_unix_seconds, ",
            as_flag!("is_last", "is_last"),
            ", ",
            as_flag!("weights_wanted", "weights_wanted"),
            " FROM checkpoints WHERE run_id = $1 ORDER BY workload, number"
        ))
        .bind(run_id)
        .fetch_all(&self.pool)
        .await?;
        let told = rows.iter().map(|row| {
            Ok(Told {
                workload: row.try_get("workload")?,
                number: u32::try_from(row.try_get::<i64, _>("number")?)?,
                step: u64::try_from(row.try_get::<i64, _>("step")?)?,
                weights_sha256: row.try_get("weights_sha256")?,
                measured_sha256: row.try_get("measured_sha256")?,
                is_last: flag(row, "is_last")?,
                told_unix_seconds: row.try_get("told_unix_seconds")?,
                weights_wanted: flag(row, "weights_wanted")?,
                shown_unix_seconds: row.try_get("shown_unix_seconds")?,
            })
        });
        told.collect()
    }

    /// Notes a checkpoint; `false` when one of this number is there.
    pub(crate) async fn tell(&self, run_id: &str, told: &Told) -> Result<bool, StorageError> {
        let insert = sqlx::query(
            "INSERT INTO checkpoints (run_id, workload, number, step, weights_sha256, measured_sha256, is_last, \
             told_unix_seconds, weights_wanted, shown_unix_seconds) \
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, NULL) ON CONFLICT (run_id, workload, number) DO NOTHING",
        )
        .bind(run_id)
        .bind(&told.workload)
        .bind(i64::from(told.number))
        .bind(i64::try_from(told.step)?)
        .bind(&told.weights_sha256)
        .bind(&told.measured_sha256)
        .bind(told.is_last)
        .bind(told.told_unix_seconds)
        .bind(told.weights_wanted);
        let inserted = self.write(insert).await?;
        Ok(inserted.rows_affected() == 1)
    }

    /// Bytes of weights that wait to be verified: of all runs, and of those announced from `prefix`. Weights of runs that
    /// expired without a record do not count.
    pub(crate) async fn waiting_weights(&self, prefix: Option<&str>, now: f64) -> Result<[u64; 2], StorageError> {
        let rows = sqlx::query(
            "SELECT workload, COUNT(*) AS runs, COUNT(CASE WHEN prefix = $1 THEN 1 END) AS of_prefix FROM shown_weights \
             JOIN started_runs ON started_runs.run_id = shown_weights.run_id \
             WHERE used = TRUE OR expires_unix_seconds >= $2 GROUP BY workload",
        )
        .bind(prefix)
        .bind(now)
        .fetch_all(&self.pool)
        .await?;
        let mut bytes = [0, 0];
        for row in &rows {
            let each = weights_bytes(row.try_get("workload")?);
            for (sum, column) in bytes.iter_mut().zip(["runs", "of_prefix"]) {
                *sum += each * u64::try_from(row.try_get::<i64, _>(column)?)?;
            }
        }
        Ok(bytes)
    }

    /// Deletes the weights of runs that expired without a record, a few at a time, so that others write in between.
    pub(crate) async fn forget_expired_weights(&self, now: f64) -> Result<(), StorageError> {
        while self.write(sqlx::query(FORGET_EXPIRED).bind(now)).await?.rows_affected() > 0 {}
        Ok(())
    }

    /// Keeps the weights of a checkpoint and the moment at which they came.
    pub(crate) async fn show(&self, run_id: &str, told: &Told, weights: &str, now: f64) -> Result<(), StorageError> {
        let mut transaction = self.writing().await?;
        sqlx::query(
            "UPDATE checkpoints SET shown_unix_seconds = $1 WHERE run_id = $2 AND workload = $3 AND number = $4 \
             AND shown_unix_seconds IS NULL",
        )
        .bind(now)
        .bind(run_id)
        .bind(&told.workload)
        .bind(i64::from(told.number))
        .execute(&mut *transaction)
        .await?;
        sqlx::query(
            "INSERT INTO shown_weights (run_id, workload, step, weights) VALUES ($1, $2, $3, $4) \
             ON CONFLICT (run_id, workload) DO NOTHING",
        )
        .bind(run_id)
        .bind(&told.workload)
        .bind(i64::try_from(told.step)?)
        .bind(weights)
        .execute(&mut *transaction)
        .await?;
        transaction.commit().await?;
        Ok(())
    }

    /// The weights that were shown of a workload, in base64, and their step.
    pub(crate) async fn shown(&self, run_id: &str, workload: &str) -> Result<Option<(u64, String)>, StorageError> {
        let row = sqlx::query("SELECT step, weights FROM shown_weights WHERE run_id = $1 AND workload = $2")
            .bind(run_id)
            .bind(workload)
            .fetch_optional(&self.pool)
            .await?;
        let Some(row) = row else { return Ok(None) };
        Ok(Some((u64::try_from(row.try_get::<i64, _>("step")?)?, row.try_get("weights")?)))
    }
}
