//! The rows of a record. They are prepared before the transaction, because it blocks all other writers on SQLite.

use results::api::{StoredRun, Tier};
use results::{Outcome, obstacle};
use serde_json::{Value as Json, json};
use sqlx::AnyConnection;

use super::Result;
use super::kinds::ResultKind;
use super::started::Submitter;
use super::trust::{outdate, place};
use super::values::{insert, scalar};
use crate::devices::{DeviceIdentity, class_of};
use crate::proof::is_provable;

pub(crate) struct NewRun {
    /// A run that is being verified is queued.
    pub(crate) run: StoredRun,
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
    /// Row of the run, on its own device.
    row: Json,
    /// Rows of the completed workloads without their device, which may be merged. The others remain in the record.
    results: Vec<Json>,
    kinds: Vec<ResultKind>,
}

/// Groups a run under the target of its merged device. The insertion of the run before waits for a running merge.
const MERGE: &str = "UPDATE runs SET device_key = into_key, own_device_key = runs.device_key FROM device_aliases \
     WHERE run_id = $1 AND device_aliases.device_key = runs.device_key RETURNING runs.device_key";

impl<'a> RunRows<'a> {
    pub(super) fn of(new: &'a NewRun) -> Result<Self> {
        let NewRun { run, submitter, .. } = new;
        let (record, device) = (&run.record, &run.record.device);
        let identity = DeviceIdentity::of(record);
        let vendor = identity.reported.vendor_name();
        let row = json!({
            "run_id": run.run_id, "tier": run.tier, "notes": run.notes, "fingerprint": new.fingerprint,
            "submitted_unix_seconds": run.submitted_unix_seconds, "standard": record.is_standard(),
            "software": device.adapter.software, "backend": device.backend, "adapter": device.adapter,
            "client": record.provenance.client, "claimed_name": device.claimed_name,
            "record": serde_json::to_string(record)?, "suite": record.suite,
            "client_kind": record.provenance.client.kind, "device_class": class_of(record).name(),
            "device_key": identity.key, "device_name": identity.label, "device_source": identity.source,
            "inferred": identity.inferred, "vendor": vendor, "submitter": submitter.word,
            "submitter_day": submitter.day, "prefix": submitter.prefix,
        });
        let mut rows = Self { run, row, results: Vec::new(), kinds: Vec::new() };
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
        let insert = insert("runs", &self.row, "ON CONFLICT (fingerprint) DO NOTHING");
        if insert.execute(&mut *connection).await?.rows_affected() == 0 {
            return Ok(None);
        }
        let merged: Option<String> = scalar!(MERGE, [&self.run.run_id]).fetch_optional(connection).await?;
        Ok(merged.or_else(|| self.row["device_key"].as_str().map(str::to_owned)))
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
            let device = place(&mut *connection, &self.run.run_id, None, tier).await?;
            if let Some(device) = device {
                outdate(connection, &device).await?;
            }
        }
        Ok(())
    }
}

/// Negates a metric, so that the largest comes first. Returns 0, never the negative zero, for `None`.
pub(super) fn descending(figure: Option<f64>) -> f64 {
    figure.filter(|figure| *figure > 0.0).map_or(0.0, |figure| -figure)
}
