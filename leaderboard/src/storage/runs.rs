use std::collections::{BTreeMap, BTreeSet};

use results::api::{Deed, Note, RankedClass, Tier, Verdict};
use results::{ClientKind, Precision, RunRecord, Suite, Summary};
use sqlx::any::AnyRow;
use sqlx::{AnyConnection, Row};

use super::moderation::{Line, Occasion, log};
use super::run_rows::RunRows;
use super::started::{Submitter, count_finished};
use super::values::{Columns, being_verified, execute, sql};
use super::verifications::queue;
use super::{Result, Storage, verifications};

pub(crate) struct NewRun<'a> {
    pub(crate) run_id: &'a str,
    pub(crate) tier: Tier,
    pub(crate) notes: &'a [Note],
    pub(crate) submitted_unix_seconds: f64,
    /// Hash of the record without its run id and nonce.
    pub(crate) fingerprint: &'a str,
    /// `None` if no client receives the secret.
    pub(crate) deletion_secret_hash: Option<&'a str>,
    /// Submitter of the announcement, or else of the upload.
    pub(crate) submitter: &'a Submitter,
    /// The record without its nonce.
    pub(crate) record: &'a RunRecord,
    /// Listed metrics of the record's workloads that replace the record's own; empty if there are none.
    pub(crate) listed: &'a [Summary],
    /// True for an announced run, whose nonce is used up.
    pub(crate) registered: bool,
    /// True if parts of it are to be verified.
    pub(crate) verify: bool,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Acceptance {
    Stored,
    AlreadyUsed,
    SameRecord(String),
    Deleted,
}

/// Columns that identify a repeated upload.
pub(crate) struct StoredRow {
    pub(crate) verdict: Verdict,
    pub(crate) submitted_unix_seconds: f64,
    pub(crate) fingerprint: String,
}

pub(super) struct Listed(BTreeMap<(String, String), Summary>);

impl Listed {
    pub(super) fn of(rows: &[AnyRow]) -> Result<Self> {
        let listed = |row: &AnyRow| {
            let key = (row.try_get("run_id")?, row.try_get("workload")?);
            Ok((key, row.json("summary")?))
        };
        rows.iter().map(listed).collect::<Result<_>>().map(Self)
    }

    /// Returns the listed metrics of a run's workloads in the order of its record, none if they equal the record's.
    pub(super) fn differing<'a>(
        &'a self,
        run_id: &str,
        summaries: impl Iterator<Item = (&'a str, &'a Summary)>,
    ) -> Vec<Summary> {
        let mut differ = false;
        let listed = summaries.map(|(workload, summary)| {
            let listed = self.0.get(&(run_id.to_owned(), workload.to_owned())).unwrap_or(summary);
            differ |= listed != summary;
            listed.clone()
        });
        let listed = listed.collect();
        if differ { listed } else { Vec::new() }
    }
}

impl Storage {
    /// Stores a run with its results and its secret, or nothing at all.
    pub(crate) async fn accept(&self, run: &NewRun<'_>) -> Result<Acceptance> {
        let rows = RunRows::of(run)?;
        loop {
            if let Some(done) = self.store(run, &rows).await? {
                return Ok(done);
            }
            // The same record exists or has just been deleted. The next iteration detects a deletion.
            if let Some(other) = self.run_with(run.fingerprint).await? {
                return Ok(Acceptance::SameRecord(other));
            }
        }
    }

    /// Returns `None` if the same record is stored already.
    async fn store(&self, run: &NewRun<'_>, rows: &RunRows<'_>) -> Result<Option<Acceptance>> {
        let mut transaction = self.writing().await?;
        // The first statement writes, so that the second of two equal requests waits here and then sees the first.
        if run.registered {
            let used = execute!(
                transaction,
                "UPDATE started_runs SET used = TRUE WHERE run_id = $1 AND used = FALSE",
                [run.run_id]
            )?;
            if used.rows_affected() == 0 {
                return Ok(Some(Acceptance::AlreadyUsed));
            }
        }
        if !rows.insert_run(&mut transaction).await? {
            return Ok(None);
        }
        if is_deleted(&mut transaction, run.fingerprint).await? {
            return Ok(Some(Acceptance::Deleted));
        }
        rows.insert_results(&mut transaction).await?;
        if let Some(hash) = run.deletion_secret_hash {
            insert_secret(&mut transaction, run.run_id, hash).await?;
        }
        if let (true, Some(word)) = (run.registered, &run.submitter.word) {
            count_finished(&mut transaction, &run.record.suite, word).await?;
        }
        if run.verify {
            queue(&mut transaction, run.run_id, run.submitted_unix_seconds, false).await?;
        } else if run.registered {
            // Its states are not needed.
            verifications::forget_states(&mut transaction, run.run_id).await?;
        }
        transaction.commit().await?;
        Ok(Some(Acceptance::Stored))
    }

    async fn run_with(&self, fingerprint: &str) -> Result<Option<String>> {
        let row = self.optional(sql!("SELECT run_id FROM runs WHERE fingerprint = $1", [fingerprint])).await?;
        row.map(|row| Ok(row.try_get("run_id")?)).transpose()
    }

    pub(crate) async fn stored_row(&self, run_id: &str) -> Result<Option<StoredRow>> {
        let query = concat!(
            "SELECT tier, notes, submitted_unix_seconds, fingerprint, ",
            being_verified!(),
            " FROM runs WHERE run_id = $1"
        );
        let Some(row) = self.optional(sql!(query, [run_id])).await? else { return Ok(None) };
        let (tier, being_verified) = (tier(&row)?, row.flag("being_verified")?);
        Ok(Some(StoredRow {
            verdict: Verdict { tier, notes: row.json("notes")?, being_verified },
            submitted_unix_seconds: row.try_get("submitted_unix_seconds")?,
            fingerprint: row.try_get("fingerprint")?,
        }))
    }

    pub(super) async fn listed(&self, run_id: &str) -> Result<Listed> {
        Listed::of(&self.all(sql!("SELECT run_id, workload, summary FROM results WHERE run_id = $1", [run_id])).await?)
    }

    /// Returns the public verdict on a run, or `None` for a hidden run.
    pub(crate) async fn verdict(&self, run_id: &str) -> Result<Option<Verdict>> {
        let verdict = self.stored_row(run_id).await?.map(|row| row.verdict);
        Ok(verdict.filter(|verdict| verdict.tier != Tier::Hidden))
    }

    /// Adds a deletion secret to a run. Returns `false` if it has `most` already or is deleted.
    pub(crate) async fn add_deletion_secret(&self, run_id: &str, hash: &str, most: u32) -> Result<bool> {
        let mut transaction = self.writing().await?;
        if hold(&mut transaction, run_id).await?.is_none() {
            return Ok(false);
        }
        let row = sql!("SELECT COUNT(*) AS secrets FROM deletion_secrets WHERE run_id = $1", [run_id])
            .fetch_one(&mut *transaction)
            .await?;
        let has_room = row.try_get::<i64, _>("secrets")? < i64::from(most);
        if has_room {
            insert_secret(&mut transaction, run_id, hash).await?;
        }
        transaction.commit().await?;
        Ok(has_room)
    }

    /// Returns the hashes of the deletion secrets of a run, none for an unknown run.
    pub(crate) async fn deletion_secrets(&self, run_id: &str) -> Result<Vec<String>> {
        let rows = self.all(sql!("SELECT secret_hash FROM deletion_secrets WHERE run_id = $1", [run_id])).await?;
        rows.iter().map(|row| Ok(row.try_get("secret_hash")?)).collect()
    }
}

/// Locks a run until the transaction ends and returns its tier, or `None` for an unknown run. The update without effect
/// locks the row on PostgreSQL and all writing on SQLite.
pub(super) async fn hold(connection: &mut AnyConnection, run_id: &str) -> Result<Option<Tier>> {
    let row = sql!("UPDATE runs SET tier = tier WHERE run_id = $1 RETURNING tier", [run_id])
        .fetch_optional(connection)
        .await?;
    row.map(|row| tier(&row)).transpose()
}

async fn insert_secret(connection: &mut AnyConnection, run_id: &str, hash: &str) -> Result<()> {
    execute!(connection, "INSERT INTO deletion_secrets (secret_hash, run_id) VALUES ($1, $2)", [hash, run_id])?;
    Ok(())
}

pub(super) fn tier(row: &AnyRow) -> Result<Tier> {
    row.named("tier", Tier::named)
}

impl Storage {
    /// Takes bytes from a day's budget for imports before the record is stored. Returns `false` if fewer are left.
    pub(crate) async fn take_import_bytes(&self, day: i64, bytes: u64, most: u64) -> Result<bool> {
        let (bytes, most) = (i64::try_from(bytes)?, i64::try_from(most)?);
        if bytes > most {
            return Ok(false);
        }
        let mut transaction = self.writing().await?;
        // One statement, so that two servers cannot both take the last bytes.
        let taken = execute!(
            transaction,
            "INSERT INTO import_days (day, bytes) VALUES ($1, $2) ON CONFLICT (day) \
             DO UPDATE SET bytes = import_days.bytes + excluded.bytes WHERE import_days.bytes + excluded.bytes <= $3",
            [day, bytes, most]
        )?;
        execute!(transaction, "DELETE FROM import_days WHERE day < $1", [day])?;
        transaction.commit().await?;
        Ok(taken.rows_affected() == 1)
    }
}

const RUN: &str = "SELECT suite_name, suite_version, device_class, runs.device_key, backend, client_kind, \
     COALESCE(into_vendor, vendor) AS vendor \
     FROM runs LEFT JOIN device_aliases ON device_aliases.device_key = runs.own_device_key \
     WHERE run_id = $1 AND tier <> 'hidden'";

const RATES: &str = "SELECT workload, precision, rate FROM results WHERE run_id = $1 AND rate > 0 ORDER BY workload";

/// Columns that determine the place of a run.
pub(crate) struct StandingRun {
    pub(crate) rates: Vec<WorkloadRate>,
    pub(crate) suite: Suite,
    pub(crate) class: Option<RankedClass>,
    pub(crate) device_key: String,
    pub(crate) vendor: Option<String>,
    pub(crate) backend: String,
    pub(crate) client_kind: ClientKind,
}

pub(crate) struct WorkloadRate {
    pub(crate) workload: String,
    pub(crate) precision: Precision,
    pub(crate) rate: f64,
}

impl Storage {
    pub(crate) async fn standing_run(&self, run_id: &str) -> Result<Option<StandingRun>> {
        let Some(run) = self.optional(sql!(RUN, [run_id])).await? else { return Ok(None) };
        let rates = self.all(sql!(RATES, [run_id])).await?;
        Ok(Some(StandingRun {
            suite: run.suite()?,
            class: RankedClass::named(run.try_get("device_class")?),
            device_key: run.try_get("device_key")?,
            vendor: run.try_get("vendor")?,
            backend: run.try_get("backend")?,
            client_kind: run.named("client_kind", ClientKind::named)?,
            rates: rates.iter().map(workload_rate).collect::<Result<_, _>>()?,
        }))
    }
}

fn workload_rate(row: &AnyRow) -> Result<WorkloadRate> {
    Ok(WorkloadRate {
        workload: row.try_get("workload")?,
        precision: row.named("precision", Precision::named)?,
        rate: row.try_get("rate")?,
    })
}

impl Storage {
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
            let deleted = sql!("DELETE FROM runs WHERE run_id = $1 RETURNING tier, device_key", [run_id])
                .fetch_optional(&mut *transaction)
                .await?;
            let Some(row) = deleted else {
                return Ok(Some(run_id.clone()));
            };
            if tier(&row)? == Tier::Proven {
                devices.extend(row.try_get::<Option<String>, _>("device_key")?);
            }
            if let Some(occasion) = removed {
                log(&mut transaction, &Line { run_id: Some(run_id), ..Line::of(Deed::Remove, occasion) }).await?;
            }
        }
        self.commit_with_stale(transaction, &devices).await?;
        Ok(None)
    }
}

/// Returns true if the record was deleted. Must follow the writing of its row, which waits for concurrent deletions.
pub(super) async fn is_deleted(connection: &mut AnyConnection, fingerprint: &str) -> Result<bool> {
    let row = sql!("SELECT COUNT(*) AS records FROM deleted_records WHERE fingerprint = $1", [fingerprint])
        .fetch_one(connection)
        .await?;
    Ok(row.try_get::<i64, _>("records")? > 0)
}
