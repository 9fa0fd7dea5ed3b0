//! Deleting for ever: of a record only its fingerprint is kept, so that it cannot come back from somebody's export.

use std::collections::BTreeSet;

use results::api::{Deed, Tier};
use sqlx::{AnyConnection, Row};

use super::moderation::{Line, Occasion, log};
use super::ranked::outdate;
use super::runs::tier;
use super::{Storage, StorageError};

impl Storage {
    /// Deletes the run with its results and secrets; `false` when there was none.
    pub(crate) async fn delete(&self, run_id: &str) -> Result<bool, StorageError> {
        Ok(self.delete_all(&[run_id.to_owned()], None).await?.is_none())
    }

    /// Deletes these runs, or none of them when one is unknown, which is then returned. Where a host does it, and not their
    /// owner, the log keeps the id of each.
    pub(crate) async fn delete_all(
        &self,
        run_ids: &[String],
        removed: Option<Occasion<'_>>,
    ) -> Result<Option<String>, StorageError> {
        // Whoever deletes several does it in the same order, so that two never wait for each other.
        let mut in_order: Vec<&String> = run_ids.iter().collect();
        in_order.sort();
        let mut devices = BTreeSet::new();
        let mut transaction = self.writing().await?;
        for run_id in in_order {
            let Some(deleted) = delete(&mut transaction, run_id).await? else {
                transaction.rollback().await?;
                return Ok(Some(run_id.clone()));
            };
            devices.extend(deleted.device_with_figures);
            if let Some(occasion) = removed {
                log(&mut transaction, &Line { run_id: Some(run_id), ..Line::of(Deed::Remove, occasion) }).await?;
            }
        }
        for device in &devices {
            outdate(&mut transaction, device).await?;
        }
        transaction.commit().await?;
        self.refresh_figures().await;
        Ok(None)
    }
}

/// What was deleted.
struct Deleted {
    /// The device whose figures are partly of it.
    device_with_figures: Option<String>,
}

/// Nothing when there is no such run.
async fn delete(connection: &mut AnyConnection, run_id: &str) -> Result<Option<Deleted>, StorageError> {
    sqlx::query(
        "INSERT INTO deleted_records (fingerprint) SELECT fingerprint FROM runs WHERE run_id = $1 \
         ON CONFLICT (fingerprint) DO NOTHING",
    )
    .bind(run_id)
    .execute(&mut *connection)
    .await?;
    let deleted = sqlx::query("DELETE FROM runs WHERE run_id = $1 RETURNING tier, device_key")
        .bind(run_id)
        .fetch_optional(connection)
        .await?;
    let Some(row) = deleted else { return Ok(None) };
    let device: Option<String> = row.try_get("device_key")?;
    let was_proven = tier(&row)? == Tier::Proven;
    Ok(Some(Deleted { device_with_figures: device.filter(|_| was_proven) }))
}

/// Whether the record of this fingerprint was deleted. Ask after writing its row: whoever deletes the same record at this
/// moment is then through.
pub(super) async fn is_deleted(connection: &mut AnyConnection, fingerprint: &str) -> Result<bool, StorageError> {
    let row = sqlx::query("SELECT COUNT(*) AS records FROM deleted_records WHERE fingerprint = $1")
        .bind(fingerprint)
        .fetch_one(connection)
        .await?;
    Ok(row.try_get::<i64, _>("records")? > 0)
}
