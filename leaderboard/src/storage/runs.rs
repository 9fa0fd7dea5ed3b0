use std::collections::BTreeSet;

use results::api::{Deed, RankedClass, Tier, Verdict};
use results::{ClientKind, Precision, Suite};
use serde::Deserialize;
use serde_json::json;
use sqlx::AnyConnection;

use super::moderation::{Occasion, log};
use super::run_rows::{NewRun, RunRows};
use super::started::count_finished;
use super::trust::hold;
use super::values::{being_verified, execute, scalar, sql, tuple};
use super::verifications::queue;
use super::{Database, Result, verifications};

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Acceptance {
    Stored,
    AlreadyUsed,
    SameRecord(String),
    Deleted,
}

/// Columns that identify a repeated upload.
#[derive(Deserialize)]
pub(crate) struct StoredRow {
    #[serde(flatten)]
    pub(crate) verdict: Verdict,
    pub(crate) submitted_unix_seconds: f64,
    pub(crate) fingerprint: String,
}

impl Database {
    /// Stores a run with its results and its secret, or nothing at all.
    pub(crate) async fn accept(&self, new: &NewRun) -> Result<Acceptance> {
        let rows = RunRows::of(new)?;
        loop {
            if let Some(done) = self.store(new, &rows).await? {
                return Ok(done);
            }
            // The same record exists or has just been deleted. The next iteration detects a deletion.
            let query = scalar!("SELECT run_id FROM runs WHERE fingerprint = $1", [&new.fingerprint]);
            if let Some(other) = query.fetch_optional(&self.pool).await? {
                return Ok(Acceptance::SameRecord(other));
            }
        }
    }

    /// Returns `None` if the same record is stored already.
    async fn store(&self, new: &NewRun, rows: &RunRows<'_>) -> Result<Option<Acceptance>> {
        let run_id = new.run.run_id.as_str();
        let mut transaction = self.writing().await?;
        // The first statement writes, so that the second of two equal requests waits here and then sees the first.
        if new.registered {
            let update = "UPDATE started_runs SET used = TRUE WHERE run_id = $1 AND used = FALSE";
            let used = execute!(transaction, update, [run_id])?;
            if used.rows_affected() == 0 {
                return Ok(Some(Acceptance::AlreadyUsed));
            }
        }
        let Some(inserted) = rows.insert_run(&mut transaction).await? else { return Ok(None) };
        if inserted.is_deleted {
            return Ok(Some(Acceptance::Deleted));
        }
        rows.insert_results(&mut transaction, &inserted.device).await?;
        if let Some(hash) = &new.deletion_secret_hash {
            insert_secret(&mut transaction, run_id, hash).await?;
        }
        if let (true, Some(word)) = (new.registered, &new.submitter.word) {
            count_finished(&mut transaction, &new.run.record.suite, word).await?;
        }
        if new.run.being_verified {
            queue(&mut transaction, run_id, new.run.submitted_unix_seconds, false).await?;
        } else if inserted.has_states {
            // The states are not needed.
            verifications::forget_states(&mut transaction, run_id).await?;
        }
        transaction.commit().await?;
        Ok(Some(Acceptance::Stored))
    }

    pub(crate) async fn stored_row(&self, run_id: &str) -> Result<Option<StoredRow>> {
        let query = concat!(
            "SELECT tier, notes AS notes_json, submitted_unix_seconds, fingerprint, ",
            being_verified!(),
            " FROM runs WHERE run_id = $1"
        );
        self.row(sql!(query, [run_id])).await
    }

    pub(crate) async fn verdict(&self, run_id: &str) -> Result<Option<Verdict>> {
        let verdict = self.stored_row(run_id).await?.map(|row| row.verdict);
        Ok(verdict.filter(|verdict| verdict.tier != Tier::Hidden))
    }

    /// Adds a deletion secret to a run. Returns `false` if it has `most` already or is deleted.
    pub(crate) async fn add_deletion_secret(&self, run_id: &str, hash: &str, most: u32) -> Result<bool> {
        let mut transaction = self.writing().await?;
        if !hold(&mut transaction, run_id).await? {
            return Ok(false);
        }
        let count = scalar!("SELECT COUNT(*) FROM deletion_secrets WHERE run_id = $1", [run_id]);
        let secrets: i64 = count.fetch_one(&mut *transaction).await?;
        let has_room = secrets < i64::from(most);
        if has_room {
            insert_secret(&mut transaction, run_id, hash).await?;
        }
        transaction.commit().await?;
        Ok(has_room)
    }

    pub(crate) async fn deletion_secrets(&self, run_id: &str) -> Result<Vec<String>> {
        let query = scalar!("SELECT secret_hash FROM deletion_secrets WHERE run_id = $1", [run_id]);
        Ok(query.fetch_all(&self.pool).await?)
    }
}

async fn insert_secret(connection: &mut AnyConnection, run_id: &str, hash: &str) -> Result<()> {
    execute!(connection, "INSERT INTO deletion_secrets (secret_hash, run_id) VALUES ($1, $2)", [hash, run_id])?;
    Ok(())
}

impl Database {
    /// Takes bytes from a day's budget for imports before the record is stored. Returns `false` if fewer are left.
    pub(crate) async fn take_import_bytes(&self, day: i64, bytes: u64, most: u64) -> Result<bool> {
        let (bytes, most) = (i64::try_from(bytes)?, i64::try_from(most)?);
        if bytes > most {
            return Ok(false);
        }
        let mut transaction = self.writing().await?;
        // One statement, so that two servers cannot both take the last bytes.
        let insert = "INSERT INTO import_days (day, bytes) VALUES ($1, $2) ON CONFLICT (day) \
             DO UPDATE SET bytes = import_days.bytes + excluded.bytes WHERE import_days.bytes + excluded.bytes <= $3";
        let taken = execute!(transaction, insert, [day, bytes, most])?;
        execute!(transaction, "DELETE FROM import_days WHERE day < $1", [day])?;
        transaction.commit().await?;
        Ok(taken.rows_affected() == 1)
    }
}

const RUN: &str = "SELECT suite_name, suite_version, runs.device_key, backend, client_kind, \
     CASE WHEN device_class IN ('gpu', 'processor') THEN device_class END AS class, \
     COALESCE(into_vendor, vendor) AS vendor \
     FROM runs LEFT JOIN device_aliases ON device_aliases.device_key = runs.own_device_key \
     WHERE run_id = $1 AND tier <> 'hidden'";

const RATES: &str = "SELECT workload, precision, rate FROM results WHERE run_id = $1 AND rate > 0 ORDER BY workload";

#[derive(Deserialize)]
pub(crate) struct StandingRun {
    #[serde(default)]
    pub(crate) rates: Vec<WorkloadRate>,
    pub(crate) suite: Suite,
    pub(crate) class: Option<RankedClass>,
    pub(crate) device_key: String,
    pub(crate) vendor: Option<String>,
    pub(crate) backend: String,
    pub(crate) client_kind: ClientKind,
}

#[derive(Deserialize)]
pub(crate) struct WorkloadRate {
    pub(crate) workload: String,
    pub(crate) precision: Precision,
    pub(crate) rate: f64,
}

impl Database {
    pub(crate) async fn standing_run(&self, run_id: &str) -> Result<Option<StandingRun>> {
        let Some(run) = self.row(sql!(RUN, [run_id])).await? else { return Ok(None) };
        Ok(Some(StandingRun { rates: self.rows(sql!(RATES, [run_id])).await?, ..run }))
    }

    /// Deletes the run with its results and secrets. Returns `false` if there was none.
    pub(crate) async fn delete(&self, run_id: &str) -> Result<bool> {
        Ok(self.delete_all(&[run_id.to_owned()], None).await?.is_none())
    }

    /// Deletes these runs, or none if one is unknown; then returns the unknown one. A host's deletion is logged.
    pub(crate) async fn delete_all(&self, run_ids: &[String], removed: Option<Occasion<'_>>) -> Result<Option<String>> {
        // All transactions use the same order, to avoid deadlocks.
        let mut in_order: Vec<&String> = run_ids.iter().collect();
        in_order.sort();
        let mut devices = BTreeSet::new();
        let mut transaction = self.writing().await?;
        for run_id in in_order {
            let forget = "INSERT INTO deleted_records (fingerprint) SELECT fingerprint FROM runs WHERE run_id = $1 \
                 ON CONFLICT (fingerprint) DO NOTHING";
            execute!(transaction, forget, [run_id])?;
            let delete = tuple!("DELETE FROM runs WHERE run_id = $1 RETURNING tier, device_key", [run_id]);
            let deleted: Option<(String, Option<String>)> = delete.fetch_optional(&mut *transaction).await?;
            let Some((tier, device)) = deleted else { return Ok(Some(run_id.clone())) };
            devices.extend(device.filter(|_| tier == Tier::Proven.name()));
            if let Some(occasion) = removed {
                log(&mut transaction, Deed::Remove, occasion, json!({ "run_id": run_id })).await?;
            }
        }
        self.commit_with_stale(transaction, &devices).await?;
        Ok(None)
    }
}
