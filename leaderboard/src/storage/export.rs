//! Visible runs for exports, in portions.

use std::collections::BTreeMap;

use results::api::{StoredRun, Verdict};
use results::{RunRecord, Summary, WorkloadRecord};
use sqlx::Row;
use sqlx::any::AnyRow;

use super::values::{Statement, being_verified, read, tuple};
use super::{Database, Result};

/// A place in the order of submission: seconds since 1970, and the id of a run.
pub(crate) type SubmissionPlace = (f64, String);

pub(super) const AFTER: &str = "SELECT submitted_unix_seconds, run_id FROM runs WHERE tier <> 'hidden' \
     AND (submitted_unix_seconds, run_id) > ($1, $2) ORDER BY submitted_unix_seconds, run_id LIMIT $3";

impl Database {
    /// Returns a run that is not hidden, as it was uploaded.
    pub(crate) async fn uploaded_run(&self, run_id: &str) -> Result<Option<StoredRun>> {
        self.uploaded_runs(&[run_id]).await?.remove(run_id).transpose()
    }

    /// Returns a run that is not hidden, with the listed metrics in its record.
    pub(crate) async fn visible_run(&self, run_id: &str) -> Result<Option<StoredRun>> {
        Ok(self.uploaded_run(run_id).await?.map(StoredRun::into_listed))
    }

    /// Returns the visible runs among these, in this order, and the number of unreadable ones.
    pub(crate) async fn visible_runs_named(&self, ids: &[&str]) -> Result<(Vec<StoredRun>, u64)> {
        let mut found = self.uploaded_runs(ids).await?;
        let (mut runs, mut left_out) = (Vec::with_capacity(ids.len()), 0);
        for run_id in ids {
            match found.remove(*run_id).transpose() {
                Ok(run) => runs.extend(run),
                Err(cause) => {
                    let cause = &cause as &dyn std::error::Error;
                    tracing::warn!(run_id, cause, "a stored run cannot be read");
                    left_out += 1;
                }
            }
        }
        Ok((runs, left_out))
    }

    async fn uploaded_runs(&self, ids: &[&str]) -> Result<BTreeMap<String, Result<StoredRun>>> {
        let mut statement = Statement::default();
        let places: Vec<String> = ids.iter().map(|id| statement.value(*id)).collect();
        let are_named = format!("run_id IN ({})", places.join(", "));
        statement.sql = [
            "SELECT run_id AS _run_id, submitted_unix_seconds AS _submitted, record AS _record, tier, \
             notes AS notes_json, ",
            being_verified!(),
            " FROM runs WHERE tier <> 'hidden' AND ",
            &are_named,
        ]
        .concat();
        // One statement for single runs is worth keeping.
        let query = |statement: &Statement| statement.query().persistent(ids.len() == 1);
        let rows = query(&statement).fetch_all(&self.pool).await?;
        statement.sql = format!("SELECT run_id, workload, summary FROM results WHERE {are_named}");
        let mut listed = Listed::new();
        for row in query(&statement).fetch_all(&self.pool).await? {
            listed.insert((row.try_get("run_id")?, row.try_get("workload")?), row.try_get("summary")?);
        }
        rows.iter().map(|row| Ok((row.try_get("_run_id")?, stored_run(row, &listed)))).collect()
    }

    /// Returns the places of at most `most` visible runs after a place.
    pub(crate) async fn places_after(&self, place: &SubmissionPlace, most: u32) -> Result<Vec<SubmissionPlace>> {
        let (seconds, run_id) = place;
        Ok(tuple!(AFTER, [seconds, run_id, i64::from(most)]).fetch_all(&self.pool).await?)
    }

    pub(crate) async fn count_visible_runs(&self) -> Result<u64> {
        let count = sqlx::query_scalar("SELECT COUNT(*) FROM runs WHERE tier <> 'hidden'");
        let runs: i64 = count.fetch_one(&self.pool).await?;
        Ok(u64::try_from(runs)?)
    }
}

/// JSON of listed metrics by run and workload.
type Listed = BTreeMap<(String, String), String>;

fn stored_run(row: &AnyRow, listed: &Listed) -> Result<StoredRun> {
    let run_id: String = row.try_get("_run_id")?;
    let Verdict { tier, notes, being_verified } = read(row)?;
    let mut record: RunRecord = serde_json::from_str(row.try_get("_record")?)?;
    // Nonces are not stored. This protects an export if one ever is.
    record.nonce = None;
    let summary = |of: &WorkloadRecord| match listed.get(&(run_id.clone(), of.workload.clone())) {
        Some(json) => serde_json::from_str(json),
        None => Ok(of.summary.clone()),
    };
    let mut listed = record.workloads.iter().map(summary).collect::<Result<Vec<Summary>, _>>()?;
    if record.workloads.iter().map(|of| &of.summary).eq(&listed) {
        listed.clear();
    }
    let submitted_unix_seconds = row.try_get("_submitted")?;
    Ok(StoredRun { run_id, tier, notes, submitted_unix_seconds, being_verified, listed, record })
}
