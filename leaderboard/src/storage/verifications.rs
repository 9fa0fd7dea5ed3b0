use results::RunRecord;
use results::api::Tier;
use sqlx::Row;

use super::ranked::place;
use super::{Storage, StorageError};

/// A run that waits to be verified, taken by whoever holds this.
pub(crate) struct Verification {
    pub(crate) run_id: String,
    /// How many times it was taken, with this one.
    pub(crate) attempts: u32,
    pub(crate) record: RunRecord,
}

impl Storage {
    /// Takes the run that has waited longest, until `until`: whoever dies with it leaves it to others then.
    pub(crate) async fn take_verification(&self, now: f64, until: f64) -> Result<Option<Verification>, StorageError> {
        let turn = self.turn().await?;
        let taken = sqlx::query(
            "UPDATE verifications SET taken_until_unix_seconds = $1, attempts = attempts + 1 \
             WHERE taken_until_unix_seconds < $2 AND run_id = (SELECT run_id FROM verifications \
             WHERE taken_until_unix_seconds < $2 ORDER BY queued_unix_seconds, run_id LIMIT 1) \
             RETURNING run_id, attempts",
        )
        .bind(until)
        .bind(now)
        .fetch_optional(&self.pool)
        .await?;
        drop(turn);
        let Some(taken) = taken else { return Ok(None) };
        let run_id: String = taken.try_get("run_id")?;
        let attempts = u32::try_from(taken.try_get::<i64, _>("attempts")?)?;
        let row =
            sqlx::query("SELECT record FROM runs WHERE run_id = $1").bind(&run_id).fetch_optional(&self.pool).await?;
        // Somebody deleted it at this very moment.
        let Some(row) = row else { return Ok(None) };
        Ok(Some(Verification { run_id, attempts, record: serde_json::from_str(row.try_get("record")?)? }))
    }

    /// Gives a run the tier that it has earned, unless somebody gave it another meanwhile, and forgets its weights.
    pub(crate) async fn conclude_verification(
        &self,
        run_id: &str,
        tier: Tier,
        notes: &[String],
    ) -> Result<(), StorageError> {
        let mut transaction = self.writing().await?;
        let given = sqlx::query("UPDATE runs SET tier = $1, notes = $2 WHERE run_id = $3 AND tier = 'checked'")
            .bind(tier.name())
            .bind(serde_json::to_string(notes)?)
            .bind(run_id)
            .execute(&mut *transaction)
            .await?;
        for forget in ["DELETE FROM verifications WHERE run_id = $1", "DELETE FROM shown_weights WHERE run_id = $1"] {
            sqlx::query(forget).bind(run_id).execute(&mut *transaction).await?;
        }
        if given.rows_affected() == 1 {
            place(&mut transaction, run_id, Some(Tier::Checked), tier).await?;
        }
        transaction.commit().await?;
        self.refresh_figures().await;
        Ok(())
    }

    /// Lets others have a run that was taken.
    pub(crate) async fn release_verification(&self, run_id: &str) -> Result<(), StorageError> {
        let _turn = self.turn().await?;
        sqlx::query("UPDATE verifications SET taken_until_unix_seconds = 0 WHERE run_id = $1")
            .bind(run_id)
            .execute(&self.pool)
            .await?;
        Ok(())
    }

    /// Whether a run waits to be verified, or is being verified.
    pub(crate) async fn is_being_verified(&self, run_id: &str) -> Result<bool, StorageError> {
        let row = sqlx::query("SELECT COUNT(*) AS waiting FROM verifications WHERE run_id = $1")
            .bind(run_id)
            .fetch_one(&self.pool)
            .await?;
        Ok(row.try_get::<i64, _>("waiting")? > 0)
    }
}
