//! The rows of a record. They are prepared before the transaction, because it blocks all other writers on SQLite.

use results::api::{StoredRun, Tier};
use results::{Outcome, obstacle};
use serde_json::{Value as Json, json};
use sqlx::{AnyConnection, Row};

use super::Result;
use super::kinds::ResultKind;
use super::started::Submitter;
use super::trust::place;
use super::values::{bind, insert};
use crate::devices::{DeviceIdentity, class_of};
use crate::proof::is_provable;

pub(crate) struct NewRun {
    /// A run that is being verified is queued.
    pub(crate) run: StoredRun,
    /// Hash of the record without its run id and nonce.
    pub(crate) fingerprint: String,
    /// `None` if no client receives the secret.
    pub(crate) deletion_secret_hash: Option<String>,
    /// Submitter of the announcement, or else of the upload.
    pub(crate) submitter: Submitter,
    /// True for an announced run, whose nonce is used up.
    pub(crate) registered: bool,
}

pub(super) struct RunRows<'a> {
    run: &'a StoredRun,
    /// Values of [`INSERT_RUN`].
    values: Vec<Json>,
    /// Rows of the completed workloads without their device, which may be merged. The others remain in the record.
    results: Vec<Json>,
    kinds: Vec<ResultKind>,
}

/// Looks up the target of a merged device during the write, because merging waits for running writes.
const INSERT_RUN: &str = "INSERT INTO runs (suite_name, suite_version, client_kind, device_class, device_key, \
     device_name, device_source, inferred, vendor, own_device_key, run_id, tier, notes, submitted_unix_seconds, \
     fingerprint, standard, software, backend, adapter, client, claimed_name, record, submitter, submitter_day, prefix) \
     VALUES ($1, $2, $3, $4, \
     COALESCE((SELECT into_key FROM device_aliases WHERE device_aliases.device_key = $5), $5), $6, $7, $8, $9, \
     (SELECT device_key FROM device_aliases WHERE device_aliases.device_key = $5), \
     $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, \
     (SELECT prefix FROM started_runs WHERE run_id = $10)) ON CONFLICT (fingerprint) DO NOTHING RETURNING device_key";

impl<'a> RunRows<'a> {
    pub(super) fn of(new: &'a NewRun) -> Result<Self> {
        let NewRun { run, submitter, .. } = new;
        let (record, device) = (&run.record, &run.record.device);
        let identity = DeviceIdentity::of(record);
        let vendor = identity.reported.vendor_name();
        let values = json!([
            record.suite.name,
            record.suite.version,
            record.provenance.client.kind.name(),
            class_of(record).name(),
            identity.key,
            identity.label,
            identity.source.name(),
            identity.inferred,
            vendor,
            run.run_id,
            run.tier.name(),
            run.notes,
            run.submitted_unix_seconds,
            new.fingerprint,
            record.is_standard(),
            device.adapter.software,
            device.backend,
            device.adapter,
            record.provenance.client,
            device.claimed_name,
            serde_json::to_string(record)?,
            submitter.word,
            submitter.day,
        ]);
        let Json::Array(values) = values else { unreachable!("it is a list") };
        let mut rows = Self { run, values, results: Vec::new(), kinds: Vec::new() };
        for (place, of) in record.workloads.iter().enumerate().filter(|(_, of)| of.outcome == Outcome::Completed) {
            let summary = run.listed.get(place).unwrap_or(&of.summary);
            let kind = ResultKind::of(record, of, run.tier, vendor);
            rows.results.push(json!({
                "run_id": run.run_id, "workload": of.workload, "backend": record.device.backend, "kind": kind.number(),
                "batch_size": of.settings.batch_size, "precision": of.settings.precision,
                "rankable": obstacle(record, of).is_none() && is_provable(&of.workload),
                "submitted_unix_seconds": run.submitted_unix_seconds, "submitter_day": submitter.day,
                "voice": submitter.word, "engine_version": record.provenance.engine_version,
                "driver": record.device.adapter.driver, "summary": summary,
                "samples_per_second": summary.samples_per_second, "rate": summary.samples_per_second.unwrap_or(0.0),
                "descending_rate": descending(summary.samples_per_second),
                "descending_accuracy": descending(summary.accuracy), "seconds_to_target": summary.seconds_to_target,
            }));
            // The kinds of a run's workloads differ only in precision.
            if rows.kinds.last() != Some(&kind) {
                rows.kinds.push(kind);
            }
        }
        Ok(rows)
    }

    /// Inserts the run. Returns its device, or `None` if a run with the same fingerprint is stored.
    pub(super) async fn insert_run(&self, connection: &mut AnyConnection) -> Result<Option<String>> {
        let insert = self.values.iter().fold(sqlx::query(INSERT_RUN), bind);
        let row = insert.fetch_optional(connection).await?;
        Ok(row.map(|row| row.try_get("device_key")).transpose()?)
    }

    pub(super) async fn insert_results(&self, connection: &mut AnyConnection, device: &str) -> Result<()> {
        for kind in &self.kinds {
            kind.keep(&mut *connection).await?;
        }
        for row in &self.results {
            let mut row = row.clone();
            row["device_key"] = device.into();
            insert("results", &row, "").execute(&mut *connection).await?;
        }
        // New rows are listed and not ranked, which fits all other tiers.
        let tier = self.run.tier;
        if !self.results.is_empty() && matches!(tier, Tier::Proven | Tier::Hidden) {
            place(connection, &self.run.run_id, None, tier).await?;
        }
        Ok(())
    }
}

/// Negates a metric, so that the largest comes first. Returns 0, never the negative zero, for `None`.
pub(super) fn descending(figure: Option<f64>) -> f64 {
    figure.filter(|figure| *figure > 0.0).map_or(0.0, |figure| -figure)
}
