use std::collections::BTreeMap;

use results::api::{Tier, Verdict};
use results::{RunRecord, Summary};
use sqlx::any::AnyRow;
use sqlx::{AnyConnection, Row};

use super::deleted::is_deleted;
use super::run_rows::RunRows;
use super::submitters::{Submitter, count_finished};
use super::verifications::queue;
use super::{Storage, StorageError, unexamined};

/// A checked record on its way in.
pub(crate) struct NewRun<'a> {
    pub(crate) run_id: &'a str,
    pub(crate) tier: Tier,
    pub(crate) notes: &'a [String],
    pub(crate) submitted_unix_seconds: f64,
    /// Hash of the record without run id and nonce.
    pub(crate) fingerprint: &'a str,
    /// Absent where nobody is there to be given a secret.
    pub(crate) deletion_secret_hash: Option<&'a str>,
    /// Who announced it, or else who handed it in.
    pub(crate) submitter: &'a Submitter,
    /// Without its nonce.
    pub(crate) record: &'a RunRecord,
    /// Metrics of the record's workloads that are listed instead of the record's own; empty if there are none.
    pub(crate) listed: &'a [Summary],
    /// Whether the run was announced, so that its nonce must be used up.
    pub(crate) registered: bool,
    /// Whether parts of it are to be computed again.
    pub(crate) verify: bool,
}

/// What was done with a record.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Acceptance {
    Stored,
    /// The announced run has a record already.
    AlreadyUsed,
    /// The very same record is stored as this run.
    SameRecord(String),
    /// The very same record was here and was deleted.
    Deleted,
}

/// What is needed to recognise a record that is sent again.
pub(crate) struct StoredRow {
    pub(crate) tier: Tier,
    pub(crate) notes: Vec<String>,
    pub(crate) submitted_unix_seconds: f64,
    pub(crate) fingerprint: String,
}

/// Listed metrics by run and workload.
pub(super) struct Listed(BTreeMap<(String, String), Summary>);

impl Listed {
    pub(super) fn of(rows: &[AnyRow]) -> Result<Self, StorageError> {
        let listed = |row: &AnyRow| {
            let key = (row.try_get("run_id")?, row.try_get("workload")?);
            Ok((key, serde_json::from_str(row.try_get("summary")?)?))
        };
        rows.iter().map(listed).collect::<Result<_, StorageError>>().map(Self)
    }

    /// Returns the listed metrics of a run's workloads, in the order of the given ones of its record. Returns none if
    /// they are equal.
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
    pub(crate) async fn accept(&self, run: &NewRun<'_>) -> Result<Acceptance, StorageError> {
        let rows = RunRows::of(run)?;
        loop {
            if let Some(done) = self.store(run, &rows).await? {
                return Ok(done);
            }
            // The same record is there, or was a moment ago: where it was just deleted that is found next time.
            if let Some(other) = self.run_with(run.fingerprint).await? {
                return Ok(Acceptance::SameRecord(other));
            }
        }
    }

    /// Nothing when the same record is stored already.
    async fn store(&self, run: &NewRun<'_>, rows: &RunRows<'_>) -> Result<Option<Acceptance>, StorageError> {
        let mut transaction = self.writing().await?;
        // The first statement writes, so that of two equal requests the second waits here and then sees the first.
        if run.registered {
            let used = sqlx::query("UPDATE started_runs SET used = TRUE WHERE run_id = $1 AND used = FALSE")
                .bind(run.run_id)
                .execute(&mut *transaction)
                .await?;
            if used.rows_affected() == 0 {
                transaction.rollback().await?;
                return Ok(Some(Acceptance::AlreadyUsed));
            }
        }
        if !rows.insert_run(&mut transaction).await? {
            transaction.rollback().await?;
            return Ok(None);
        }
        if is_deleted(&mut transaction, run.fingerprint).await? {
            transaction.rollback().await?;
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
            unexamined::forget(&mut transaction, run.run_id).await?;
        }
        transaction.commit().await?;
        Ok(Some(Acceptance::Stored))
    }

    async fn run_with(&self, fingerprint: &str) -> Result<Option<String>, StorageError> {
        let row = sqlx::query("SELECT run_id FROM runs WHERE fingerprint = $1")
            .bind(fingerprint)
            .fetch_optional(&self.pool)
            .await?;
        row.map(|row| Ok(row.try_get("run_id")?)).transpose()
    }

    pub(crate) async fn stored_row(&self, run_id: &str) -> Result<Option<StoredRow>, StorageError> {
        let row = sqlx::query("SELECT tier, notes, submitted_unix_seconds, fingerprint FROM runs WHERE run_id = $1")
            .bind(run_id)
            .fetch_optional(&self.pool)
            .await?;
        let Some(row) = row else { return Ok(None) };
        Ok(Some(StoredRow {
            tier: tier(&row)?,
            notes: serde_json::from_str(row.try_get("notes")?)?,
            submitted_unix_seconds: row.try_get("submitted_unix_seconds")?,
            fingerprint: row.try_get("fingerprint")?,
        }))
    }

    /// Returns the listed metrics of a run.
    pub(super) async fn listed(&self, run_id: &str) -> Result<Listed, StorageError> {
        let query = sqlx::query("SELECT run_id, workload, summary FROM results WHERE run_id = $1").bind(run_id);
        Listed::of(&query.fetch_all(&self.pool).await?)
    }

    /// What anyone may know of a run's tier; nothing when it is hidden.
    pub(crate) async fn verdict(&self, run_id: &str) -> Result<Option<Verdict>, StorageError> {
        // First: a verification that ends in between is asked about once more, and no tier is taken for final too early.
        let being_verified = self.is_being_verified(run_id).await?;
        let row = sqlx::query("SELECT tier, notes FROM runs WHERE run_id = $1 AND tier <> 'hidden'")
            .bind(run_id)
            .fetch_optional(&self.pool)
            .await?;
        let Some(row) = row else { return Ok(None) };
        Ok(Some(Verdict { tier: tier(&row)?, notes: serde_json::from_str(row.try_get("notes")?)?, being_verified }))
    }

    /// Adds one more secret that may delete the run; `false` when it has `most` of them already, or is gone.
    pub(crate) async fn add_deletion_secret(&self, run_id: &str, hash: &str, most: u32) -> Result<bool, StorageError> {
        let mut transaction = self.writing().await?;
        if hold(&mut transaction, run_id).await?.is_none() {
            transaction.rollback().await?;
            return Ok(false);
        }
        let row = sqlx::query("SELECT COUNT(*) AS secrets FROM deletion_secrets WHERE run_id = $1")
            .bind(run_id)
            .fetch_one(&mut *transaction)
            .await?;
        let has_room = row.try_get::<i64, _>("secrets")? < i64::from(most);
        if has_room {
            insert_secret(&mut transaction, run_id, hash).await?;
        }
        transaction.commit().await?;
        Ok(has_room)
    }

    /// Hashes of the secrets that may delete the run; empty when there is no such run.
    pub(crate) async fn deletion_secrets(&self, run_id: &str) -> Result<Vec<String>, StorageError> {
        let rows = sqlx::query("SELECT secret_hash FROM deletion_secrets WHERE run_id = $1")
            .bind(run_id)
            .fetch_all(&self.pool)
            .await?;
        rows.iter().map(|row| Ok(row.try_get("secret_hash")?)).collect()
    }
}

/// Keeps everybody else from changing the run until the transaction ends, and returns its tier; nothing when there is
/// no such run. Whoever waited here sees what the one before it committed.
///
/// A change that changes nothing is how both data bases say this: it locks the row in one, and all writing in the other.
pub(super) async fn hold(connection: &mut AnyConnection, run_id: &str) -> Result<Option<Tier>, StorageError> {
    let row = sqlx::query("UPDATE runs SET tier = tier WHERE run_id = $1 RETURNING tier")
        .bind(run_id)
        .fetch_optional(connection)
        .await?;
    row.map(|row| tier(&row)).transpose()
}

async fn insert_secret(connection: &mut AnyConnection, run_id: &str, hash: &str) -> Result<(), StorageError> {
    sqlx::query("INSERT INTO deletion_secrets (secret_hash, run_id) VALUES ($1, $2)")
        .bind(hash)
        .bind(run_id)
        .execute(connection)
        .await?;
    Ok(())
}

pub(super) fn tier(row: &AnyRow) -> Result<Tier, StorageError> {
    let name: &str = row.try_get("tier")?;
    Tier::from_name(name).ok_or_else(|| StorageError::Tier(name.to_owned()))
}
