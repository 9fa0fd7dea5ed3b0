//! The rows of a record. They are prepared before the transaction, because it blocks all other writers on SQLite.

use results::api::{StoredRun, Tier};
use results::{Goal, Outcome, Summary, WorkloadRecord, obstacle};
use serde_json::{Value as Json, json, to_string};
use sqlx::AnyConnection;

use super::Result;
use super::kinds::ResultKind;
use super::started::Submitter;
use super::trust::{outdate, place};
use super::values::{insert, insert_all, scalar, tuple};
use crate::devices::{DeviceIdentity, class_of, form_of};
use crate::proof::proof_obstacle;

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

/// Counts the aliases of a run's device, deleted records like it, and its uploaded states. Runs after the insertion, which
/// waits for a merge or a deletion in progress.
const FOUND: &str = "SELECT (SELECT COUNT(*) FROM device_aliases WHERE device_key = $1), \
     (SELECT COUNT(*) FROM deleted_records WHERE fingerprint = $2), \
     (SELECT COUNT(*) FROM shown_states WHERE run_id = $3) + (SELECT COUNT(*) FROM part_hashes WHERE run_id = $3)";

/// Groups a run under the target of its merged device.
const MERGE: &str = "UPDATE runs SET device_key = into_key, own_device_key = runs.device_key FROM device_aliases \
     WHERE run_id = $1 AND device_aliases.device_key = runs.device_key RETURNING runs.device_key";

pub(super) struct InsertedRun {
    pub(super) device: String,
    /// True if the same record was deleted before.
    pub(super) is_deleted: bool,
    pub(super) has_states: bool,
}

impl<'a> RunRows<'a> {
    pub(super) fn of(new: &'a NewRun) -> Result<Self> {
        let NewRun { run, submitter, .. } = new;
        let (record, device) = (&run.record, &run.record.device);
        let identity = DeviceIdentity::of(record);
        let vendor = identity.reported.vendor_name();
        let row = json!({
            "run_id": run.run_id, "tier": run.tier, "notes": to_string(&run.notes)?, "fingerprint": new.fingerprint,
            "submitted_unix_seconds": run.submitted_unix_seconds, "standard": record.is_standard(),
            "software": device.adapter.software, "backend": device.backend, "adapter": to_string(&device.adapter)?,
            "client": to_string(&record.provenance.client)?, "claimed_name": device.claimed_name,
            "record": to_string(record)?, "suite": record.suite,
            "client_kind": record.provenance.client.kind, "device_class": class_of(record).name(),
            "device_key": identity.key, "device_name": identity.label, "device_source": identity.source,
            "inferred": identity.inferred, "form": form_of(record, &identity).name(), "vendor": vendor,
            "submitter": submitter.word, "submitter_day": submitter.day, "prefix": submitter.prefix,
        });
        let mut rows = Self { run, row, results: Vec::new(), kinds: Vec::new() };
        for (place, of) in record.workloads.iter().enumerate().filter(|(_, of)| of.outcome == Outcome::Completed) {
            let summary = run.listed.get(place).unwrap_or(&of.summary);
            let kind = ResultKind::of(record, of, run.tier, vendor);
            rows.results.push(json!({
                "run_id": run.run_id, "workload": of.workload, "backend": record.device.backend, "kind": kind.number(),
                "batch_size": of.settings.batch_size, "precision": of.settings.precision,
                "rankable": obstacle(record, of).is_none() && proof_obstacle(&of.workload).is_none(),
                "submitted_unix_seconds": run.submitted_unix_seconds, "submitter_day": submitter.day,
                "voice": submitter.word, "engine_version": record.provenance.engine_version,
                "driver": record.device.adapter.driver, "summary": to_string(summary)?,
                "samples_per_second": summary.samples_per_second, "rate": summary.samples_per_second.unwrap_or(0.0),
                "descending_rate": descending(summary.samples_per_second),
                "descending_accuracy": descending_result(of, summary),
                "seconds_to_target": summary.seconds_to_target,
            }));
            // The kinds of a run's workloads differ only in precision.
            if rows.kinds.last() != Some(&kind) {
                rows.kinds.push(kind);
            }
        }
        Ok(rows)
    }

    /// Inserts the run. Returns `None` if a run with the same fingerprint is stored.
    pub(super) async fn insert_run(&self, connection: &mut AnyConnection) -> Result<Option<InsertedRun>> {
        let insert = insert("runs", &self.row, "ON CONFLICT (fingerprint) DO NOTHING");
        if insert.execute(&mut *connection).await?.rows_affected() == 0 {
            return Ok(None);
        }
        let [device, fingerprint] = ["device_key", "fingerprint"].map(|column| self.row[column].as_str().unwrap_or(""));
        let run_id = self.run.run_id.as_str();
        let found = tuple!(FOUND, [device, fingerprint, run_id]);
        let (aliases, deleted, states): (i64, i64, i64) = found.fetch_one(&mut *connection).await?;
        let mut device = device.to_owned();
        if aliases > 0 {
            device = scalar!(MERGE, [run_id]).fetch_one(connection).await?;
        }
        Ok(Some(InsertedRun { device, is_deleted: deleted > 0, has_states: states > 0 }))
    }

    pub(super) async fn insert_results(&self, connection: &mut AnyConnection, device: &str) -> Result<()> {
        for kind in &self.kinds {
            kind.keep(&mut *connection).await?;
        }
        if !self.results.is_empty() {
            let mut rows = self.results.clone();
            for row in &mut rows {
                row["device_key"] = device.into();
            }
            insert_all("results", &rows, "").execute(&mut *connection).await?;
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

/// Returns the number that results are sorted by, the best first: the negative accuracy, or for a target loss the
/// negative probability of a right answer, e^-loss.
pub(super) fn descending_result(of: &WorkloadRecord, listed: &Summary) -> f64 {
    descending(match of.target.map(|target| target.goal) {
        Some(Goal::Loss(_)) => listed.test_loss.map(|loss| (-loss).exp()),
        Some(Goal::Accuracy(_)) | None => listed.accuracy,
    })
}

/// Negates a metric, so that the largest comes first. Returns 0, never the negative zero, for `None`.
fn descending(figure: Option<f64>) -> f64 {
    figure.filter(|figure| *figure > 0.0).map_or(0.0, |figure| -figure)
}
