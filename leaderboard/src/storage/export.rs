//! Visible runs for exports, in portions.

use results::RunRecord;
use results::api::StoredRun;
use sqlx::Row;
use sqlx::any::AnyRow;

use super::runs::{Listed, tier};
use super::values::{Columns, being_verified, sql};
use super::{Result, Storage, StorageError};

pub(crate) struct Place {
    submitted_unix_seconds: f64,
    run_id: String,
}

impl Place {
    pub(crate) const BEGINNING: Self = Self { submitted_unix_seconds: f64::MIN, run_id: String::new() };
}

pub(crate) struct Portion {
    pub(crate) runs: Vec<StoredRun>,
    pub(crate) left_out: u64,
    pub(crate) next: Option<Place>,
}

macro_rules! exported {
    ($condition:literal) => {
        concat!(
            "SELECT run_id, tier, notes, submitted_unix_seconds, record, ",
            being_verified!(),
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

pub(super) fn all_queries() -> Vec<(String, Vec<String>)> {
    vec![(AFTER.to_owned(), ["1.8e9", "'0123456789abcdef'", "100"].map(str::to_owned).into())]
}

impl Storage {
    /// Returns a run that is not hidden, as it was uploaded.
    pub(crate) async fn uploaded_run(&self, run_id: &str) -> Result<Option<StoredRun>> {
        let Some(row) = self.optional(sql!(NAMED, [run_id])).await? else { return Ok(None) };
        stored_run(&row, &self.listed(run_id).await?).map(Some)
    }

    /// Returns a run that is not hidden, with the listed metrics in its record.
    pub(crate) async fn visible_run(&self, run_id: &str) -> Result<Option<StoredRun>> {
        Ok(self.uploaded_run(run_id).await?.map(StoredRun::into_listed))
    }

    pub(crate) async fn visible_runs_named(&self, ids: &[&str]) -> Result<(Vec<StoredRun>, u64)> {
        let (mut runs, mut left_out) = (Vec::with_capacity(ids.len()), 0);
        for id in ids {
            match self.uploaded_run(id).await {
                Ok(run) => runs.extend(run),
                Err(cause @ StorageError::Json(_)) => {
                    tell_unreadable(id, &cause);
                    left_out += 1;
                }
                Err(cause) => return Err(cause),
            }
        }
        Ok((runs, left_out))
    }

    /// Returns at most `most` runs after a place. Unreadable rows are skipped and counted.
    pub(crate) async fn visible_runs_after(&self, place: &Place, most: u32) -> Result<Portion> {
        let all =
            |query| sql!(query, [place.submitted_unix_seconds, &place.run_id, i64::from(most)]).fetch_all(&self.pool);
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

    pub(crate) async fn count_visible_runs(&self) -> Result<u64> {
        let row = sqlx::query("SELECT COUNT(*) AS runs FROM runs WHERE tier <> 'hidden'").fetch_one(&self.pool).await?;
        row.whole("runs")
    }
}

fn tell_unreadable(run_id: &str, cause: &StorageError) {
    tracing::warn!(run_id, cause = cause as &dyn std::error::Error, "a stored run cannot be read");
}

fn stored_run(row: &AnyRow, listed: &Listed) -> Result<StoredRun> {
    let record: RunRecord = row.json("record")?;
    let run_id: String = row.try_get("run_id")?;
    let mut run = StoredRun {
        listed: listed.differing(&run_id, &record),
        run_id,
        tier: tier(row)?,
        notes: row.json("notes")?,
        submitted_unix_seconds: row.try_get("submitted_unix_seconds")?,
        being_verified: row.flag("being_verified")?,
        record,
    };
    // Nonces are not stored. This protects an export if one ever is.
    run.record.nonce = None;
    Ok(run)
}
