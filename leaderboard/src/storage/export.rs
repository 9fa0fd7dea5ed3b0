//! Visible runs for exports, in portions.

use std::collections::BTreeMap;

use results::api::{StoredRun, Verdict};
use results::{RunRecord, Summary, WorkloadRecord};
use sqlx::Row;
use sqlx::any::AnyRow;

use super::values::{being_verified, read, sql, tuple};
use super::{Database, Result, StorageError};

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
            "SELECT run_id AS _run_id, submitted_unix_seconds AS _submitted, record AS _record, ",
            "tier, notes AS notes_json, ",
            being_verified!(),
            " FROM runs WHERE tier <> 'hidden' AND ",
            $condition
        )
    };
}

pub(super) const AFTER: &str =
    exported!("(submitted_unix_seconds, run_id) > ($1, $2) ORDER BY submitted_unix_seconds, run_id LIMIT $3");
const LISTED_AFTER: &str = "SELECT run_id, workload, summary FROM results WHERE run_id IN (\
     SELECT run_id FROM runs WHERE tier <> 'hidden' AND (submitted_unix_seconds, run_id) > ($1, $2) \
     ORDER BY submitted_unix_seconds, run_id LIMIT $3)";
const LISTED_OF: &str = "SELECT run_id, workload, summary FROM results WHERE run_id = $1";
const NAMED: &str = exported!("run_id = $1");

impl Database {
    /// Returns a run that is not hidden, as it was uploaded.
    pub(crate) async fn uploaded_run(&self, run_id: &str) -> Result<Option<StoredRun>> {
        let Some(row) = sql!(NAMED, [run_id]).fetch_optional(&self.pool).await? else { return Ok(None) };
        let listed = tuple!(LISTED_OF, [run_id]).fetch_all(&self.pool).await?;
        stored_run(&row, &summaries(listed)?).map(Some)
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
        let (seconds, run_id, limit) = (place.submitted_unix_seconds, &place.run_id, i64::from(most));
        let rows = sql!(AFTER, [seconds, run_id, limit]).fetch_all(&self.pool).await?;
        let listed = summaries(tuple!(LISTED_AFTER, [seconds, run_id, limit]).fetch_all(&self.pool).await?)?;
        let mut portion = Portion { runs: Vec::with_capacity(rows.len()), left_out: 0, next: None };
        for row in &rows {
            match stored_run(row, &listed) {
                Ok(run) => portion.runs.push(run),
                Err(cause) => {
                    tell_unreadable(row.try_get("_run_id")?, &cause);
                    portion.left_out += 1;
                }
            }
        }
        if let Some(last) = rows.last().filter(|_| rows.len() == most as usize) {
            portion.next =
                Some(Place { submitted_unix_seconds: last.try_get("_submitted")?, run_id: last.try_get("_run_id")? });
        }
        Ok(portion)
    }

    pub(crate) async fn count_visible_runs(&self) -> Result<u64> {
        let count = sqlx::query_scalar("SELECT COUNT(*) FROM runs WHERE tier <> 'hidden'");
        let runs: i64 = count.fetch_one(&self.pool).await?;
        Ok(u64::try_from(runs)?)
    }
}

fn tell_unreadable(run_id: &str, cause: &StorageError) {
    tracing::warn!(run_id, cause = cause as &dyn std::error::Error, "a stored run cannot be read");
}

/// Listed metrics by run and workload.
type Listed = BTreeMap<(String, String), Summary>;

fn summaries(rows: Vec<(String, String, String)>) -> Result<Listed> {
    let read = |(run_id, workload, summary): (String, String, String)| {
        Ok(((run_id, workload), serde_json::from_str(&summary)?))
    };
    rows.into_iter().map(read).collect()
}

fn stored_run(row: &AnyRow, listed: &Listed) -> Result<StoredRun> {
    let run_id: String = row.try_get("_run_id")?;
    let Verdict { tier, notes, being_verified } = read(row)?;
    let mut record: RunRecord = serde_json::from_str(row.try_get("_record")?)?;
    // Nonces are not stored. This protects an export if one ever is.
    record.nonce = None;
    let summary =
        |of: &WorkloadRecord| listed.get(&(run_id.clone(), of.workload.clone())).unwrap_or(&of.summary).clone();
    let mut listed: Vec<Summary> = record.workloads.iter().map(summary).collect();
    if record.workloads.iter().map(|of| &of.summary).eq(&listed) {
        listed.clear();
    }
    let submitted_unix_seconds = row.try_get("_submitted")?;
    Ok(StoredRun { run_id, tier, notes, submitted_unix_seconds, being_verified, listed, record })
}
