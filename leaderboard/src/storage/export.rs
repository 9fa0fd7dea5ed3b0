//! Visible runs for exports, in portions.

use results::RunRecord;
use results::api::StoredRun;
use sqlx::Row;
use sqlx::any::AnyRow;

use super::runs::{Listed, tier};
use super::values::{as_flag, flag, sql};
use super::{Storage, StorageError};

/// A place in the order of submission.
pub(crate) struct Place {
    submitted_unix_seconds: f64,
    run_id: String,
}

impl Place {
    pub(crate) const BEGINNING: Self = Self { submitted_unix_seconds: f64::MIN, run_id: String::new() };
}

/// A portion of an export.
pub(crate) struct Portion {
    pub(crate) runs: Vec<StoredRun>,
    /// Number of runs that cannot be read.
    pub(crate) left_out: u64,
    /// Start of the next portion; `None` after the last one.
    pub(crate) next: Option<Place>,
}

/// Selects the exported columns of runs with a condition.
macro_rules! exported {
    ($condition:literal) => {
        concat!(
            "SELECT run_id, tier, notes, submitted_unix_seconds, record, ",
            as_flag!(
                "EXISTS (SELECT 1 FROM verifications WHERE verifications.run_id = runs.run_id AND in_part = FALSE)",
                "being_verified"
            ),
            " FROM runs WHERE tier <> 'hidden' AND ",
            $condition
        )
    };
}

const AFTER: &str =
    exported!("(submitted_unix_seconds, run_id) > ($1, $2) ORDER BY submitted_unix_seconds, run_id LIMIT $3");
const LISTED_AFTER: &str = "SELECT run_id, workload, summary FROM results WHERE run_id IN (\
     SELECT run_id FROM runs WHERE tier <> 'hidden' AND (submitted_unix_seconds, run_id) > ($1, $2) \
     ORDER BY submitted_unix_seconds, run_id LIMIT $3)";
const NAMED: &str = exported!("run_id = $1");

impl Storage {
    /// Returns a run that is not hidden, with the listed metrics in its record.
    pub(crate) async fn visible_run(&self, run_id: &str) -> Result<Option<StoredRun>, StorageError> {
        let row = sql!(NAMED, run_id).fetch_optional(&self.pool).await?;
        let Some(row) = row else { return Ok(None) };
        Ok(Some(stored_run(&row, &self.listed(run_id).await?)?.into_listed()))
    }

    /// Returns the visible ones of these runs, and the number of unreadable ones.
    pub(crate) async fn visible_runs_named(&self, ids: &[&str]) -> Result<(Vec<StoredRun>, u64), StorageError> {
        let (mut runs, mut left_out) = (Vec::with_capacity(ids.len()), 0);
        for id in ids {
            let Some(row) = sql!(NAMED, *id).fetch_optional(&self.pool).await? else { continue };
            match stored_run(&row, &self.listed(id).await?) {
                Ok(run) => runs.push(run),
                Err(cause) => {
                    tell_unreadable(id, &cause);
                    left_out += 1;
                }
            }
        }
        Ok((runs, left_out))
    }

    /// Returns at most `most` runs after a place. Unreadable rows are left out and counted.
    pub(crate) async fn visible_runs_after(&self, place: &Place, most: u32) -> Result<Portion, StorageError> {
        let all =
            |query| sql!(query, place.submitted_unix_seconds, &place.run_id, i64::from(most)).fetch_all(&self.pool);
        let rows = all(AFTER).await?;
        let listed = Listed::of(&all(LISTED_AFTER).await?)?;
        let mut portion = Portion { runs: Vec::with_capacity(rows.len()), left_out: 0, next: None };
        for row in &rows {
            match stored_run(row, &listed) {
                Ok(run) => portion.runs.push(run),
                Err(cause) => {
                    tell_unreadable(row.try_get("run_id")?, &cause);
                    portion.left_out += 1;
                }
            }
        }
        if let Some(last) = rows.last().filter(|_| rows.len() == most as usize) {
            portion.next = Some(Place {
                submitted_unix_seconds: last.try_get("submitted_unix_seconds")?,
                run_id: last.try_get("run_id")?,
            });
        }
        Ok(portion)
    }

    /// Returns how many runs anyone may see.
    pub(crate) async fn count_visible_runs(&self) -> Result<u64, StorageError> {
        let row = sqlx::query("SELECT COUNT(*) AS runs FROM runs WHERE tier <> 'hidden'").fetch_one(&self.pool).await?;
        Ok(u64::try_from(row.try_get::<i64, _>("runs")?)?)
    }
}

fn tell_unreadable(run_id: &str, cause: &StorageError) {
    tracing::warn!(run_id, cause = cause as &dyn std::error::Error, "a stored run cannot be read");
}

fn stored_run(row: &AnyRow, listed: &Listed) -> Result<StoredRun, StorageError> {
    let record: RunRecord = serde_json::from_str(row.try_get("record")?)?;
    let run_id: String = row.try_get("run_id")?;
    let summaries = record.workloads.iter().map(|workload| (&*workload.workload, &workload.summary));
    let mut run = StoredRun {
        listed: listed.differing(&run_id, summaries),
        run_id,
        tier: tier(row)?,
        notes: serde_json::from_str(row.try_get("notes")?)?,
        submitted_unix_seconds: row.try_get("submitted_unix_seconds")?,
        being_verified: flag(row, "being_verified")?,
        record,
    };
    // Nonces are not stored. This protects an export if one ever is.
    run.record.nonce = None;
    Ok(run)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::DatabaseAddress;

    #[tokio::test]
    async fn a_portion_is_found_by_an_index_and_nothing_is_sorted() {
        let folder = tempfile::tempdir().unwrap();
        let storage = Storage::open(&DatabaseAddress::File(folder.path().join("export.sqlite"))).await.unwrap();
        let explain = sqlx::AssertSqlSafe(format!("EXPLAIN QUERY PLAN {AFTER}"));
        let rows = sql!(explain, 0.0, "", 16).fetch_all(&storage.pool).await.unwrap();
        let plan: Vec<String> = rows.iter().map(|row| row.try_get("detail").unwrap()).collect();
        assert!(plan.iter().any(|step| step.contains("SEARCH runs USING INDEX runs_by_submission")), "{plan:?}");
        assert!(!plan.iter().any(|step| step.contains("B-TREE")), "{plan:?}");
    }
}
