//! Shared comparisons of backends. They are not runs, and nothing else reads them.

use results::api::{Deed, SharedComparison, StoredComparison};
use serde_json::json;

use super::moderation::{Occasion, log};
use super::values::{KEEP, execute, insert, scalar, sql};
use super::{Database, Result};

impl Database {
    /// Stores a comparison. Returns `false` if there is already one with this id.
    pub(crate) async fn keep_comparison(
        &self,
        comparison_id: &str,
        submitted_unix_seconds: f64,
        deletion_secret_hash: &str,
        comparison: &SharedComparison,
    ) -> Result<bool> {
        let row = json!({
            "comparison_id": comparison_id, "submitted_unix_seconds": submitted_unix_seconds,
            "deletion_secret_hash": deletion_secret_hash, "comparison": serde_json::to_string(comparison)?,
        });
        Ok(self.write(insert("comparisons", &row, KEEP)).await?.rows_affected() == 1)
    }

    pub(crate) async fn comparison(&self, comparison_id: &str) -> Result<Option<StoredComparison>> {
        let query = "SELECT comparison_id, submitted_unix_seconds, comparison AS comparison_json FROM comparisons \
             WHERE comparison_id = $1";
        self.row(sql!(query, [comparison_id])).await
    }

    pub(crate) async fn comparison_secret(&self, comparison_id: &str) -> Result<Option<String>> {
        let query = "SELECT deletion_secret_hash FROM comparisons WHERE comparison_id = $1";
        Ok(scalar!(query, [comparison_id]).fetch_optional(&self.pool).await?)
    }

    /// Deletes a comparison. Returns `false` if there is none. If a host deletes it, the log keeps its id.
    pub(crate) async fn delete_comparison(&self, comparison_id: &str, removed: Option<Occasion<'_>>) -> Result<bool> {
        let mut transaction = self.writing().await?;
        let deleted = execute!(transaction, "DELETE FROM comparisons WHERE comparison_id = $1", [comparison_id])?;
        if deleted.rows_affected() == 0 {
            return Ok(false);
        }
        if let Some(occasion) = removed {
            log(&mut transaction, Deed::Remove, occasion, json!({ "run_id": comparison_id })).await?;
        }
        transaction.commit().await?;
        Ok(true)
    }
}
