//! Shared comparisons of backends. They are not runs, and nothing else reads them.

use results::api::{Deed, SharedComparison, StoredComparison};

use super::moderation::{LogLine, Occasion, log};
use super::values::{execute, scalar, sql};
use super::{Result, Storage};

pub(crate) struct NewComparison<'a> {
    pub(crate) comparison_id: &'a str,
    pub(crate) submitted_unix_seconds: f64,
    pub(crate) deletion_secret_hash: &'a str,
    pub(crate) comparison: &'a SharedComparison,
}

impl Storage {
    pub(crate) async fn keep_comparison(&self, new: &NewComparison<'_>) -> Result<bool> {
        let comparison = serde_json::to_string(new.comparison)?;
        let insert = sql!(
            "INSERT INTO comparisons (comparison_id, submitted_unix_seconds, deletion_secret_hash, comparison) \
             VALUES ($1, $2, $3, $4) ON CONFLICT (comparison_id) DO NOTHING",
            [new.comparison_id, new.submitted_unix_seconds, new.deletion_secret_hash, comparison]
        );
        Ok(self.write(insert).await?.rows_affected() == 1)
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
            log(&mut transaction, &LogLine { run_id: Some(comparison_id), ..LogLine::of(Deed::Remove, occasion) })
                .await?;
        }
        transaction.commit().await?;
        Ok(true)
    }
}
