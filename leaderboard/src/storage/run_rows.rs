//! The rows of a record. They are prepared before the transaction, because it blocks all other writers on SQLite.

use results::api::Tier;
use results::{Outcome, Summary, WorkloadRecord, obstacle};
use sqlx::{AnyConnection, AssertSqlSafe};

use super::Result;
use super::kinds::ResultKind;
use super::runs::NewRun;
use super::trust::place;
use super::values::{OptionalNumber, execute};
use crate::devices::{DeviceIdentity, class_of};
use crate::proof::is_provable;

pub(super) struct RunRows<'a> {
    run: &'a NewRun<'a>,
    identity: DeviceIdentity,
    notes: String,
    adapter: String,
    client: String,
    record: String,
    results: Vec<ResultRow<'a>>,
}

struct ResultRow<'a> {
    workload: &'a WorkloadRecord,
    kind: ResultKind,
    rankable: bool,
    figures: &'a Summary,
    summary: String,
}

/// Looks up the target of a merged device during the write, because merging waits for running writes.
const INSERT_RUN: &str = "INSERT INTO runs (suite_name, suite_version, client_kind, device_class, device_key, \
     device_name, device_source, inferred, vendor, own_device_key, run_id, tier, notes, submitted_unix_seconds, \
     fingerprint, standard, software, backend, adapter, client, claimed_name, record, submitter, submitter_day, prefix) \
     VALUES ($1, $2, $3, $4, \
     COALESCE((SELECT into_key FROM device_aliases WHERE device_aliases.device_key = $5), $5), $6, $7, $8, $9, \
     (SELECT device_key FROM device_aliases WHERE device_aliases.device_key = $5), \
     $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, \
     (SELECT prefix FROM started_runs WHERE run_id = $10)) ON CONFLICT (fingerprint) DO NOTHING";

const RESULT_COLUMNS: &str = "run_id, workload, batch_size, samples_per_second, summary, precision, rankable, backend, \
     submitted_unix_seconds, rate, kind, descending_rate, descending_accuracy, seconds_to_target, engine_version, driver, \
     voice, submitter_day, device_key";
/// Number of bound values of [`RESULT_COLUMNS`]: all except the device, which may be merged.
const RESULT_VALUES: usize = 18;

impl<'a> RunRows<'a> {
    pub(super) fn of(run: &'a NewRun<'a>) -> Result<Self> {
        let record = run.record;
        let identity = DeviceIdentity::of(record);
        // Only completed workloads have results; the others remain in the record.
        let all = record.workloads.iter().enumerate();
        let completed = all.filter(|(_, workload)| workload.outcome == Outcome::Completed);
        let result = |(place, workload): (usize, &'a WorkloadRecord)| {
            let figures = run.listed.get(place).unwrap_or(&workload.summary);
            Ok(ResultRow {
                kind: ResultKind::of(record, workload, run.verdict.tier, identity.reported.vendor_name()),
                rankable: obstacle(record, workload).is_none() && is_provable(&workload.workload),
                summary: serde_json::to_string(figures)?,
                figures,
                workload,
            })
        };
        Ok(Self {
            notes: serde_json::to_string(&run.verdict.notes)?,
            adapter: serde_json::to_string(&record.device.adapter)?,
            client: serde_json::to_string(&record.provenance.client)?,
            record: serde_json::to_string(record)?,
            results: completed.map(result).collect::<Result<_>>()?,
            identity,
            run,
        })
    }

    /// Inserts the run. Returns `false` if a run with the same fingerprint is stored.
    pub(super) async fn insert_run(&self, connection: &mut AnyConnection) -> Result<bool> {
        let (run, record, identity) = (self.run, self.run.record, &self.identity);
        let device = &record.device;
        let inserted = execute!(
            connection,
            INSERT_RUN,
            [
                &record.suite.name,
                i64::from(record.suite.version),
                record.provenance.client.kind.name(),
                class_of(record).name(),
                &identity.key,
                &identity.label,
                identity.source.name(),
                &identity.inferred,
                identity.reported.vendor_name(),
                run.run_id,
                run.verdict.tier.name(),
                &self.notes,
                run.submitted_unix_seconds,
                run.fingerprint,
                record.is_standard(),
                device.adapter.software,
                &device.backend,
                &self.adapter,
                &self.client,
                &device.claimed_name,
                &self.record,
                &run.submitter.word,
                run.submitter.day
            ]
        )?;
        Ok(inserted.rows_affected() == 1)
    }

    pub(super) async fn insert_results(&self, connection: &mut AnyConnection) -> Result<()> {
        if self.results.is_empty() {
            return Ok(());
        }
        // The kinds of a run's workloads differ only in precision.
        let mut kept: Option<&ResultKind> = None;
        for row in &self.results {
            if kept != Some(&row.kind) {
                row.kind.keep(&mut *connection).await?;
            }
            kept = Some(&row.kind);
        }
        let run = self.run;
        let mut insert = sqlx::query(AssertSqlSafe(insert_results(self.results.len())));
        for row in &self.results {
            let (settings, summary) = (&row.workload.settings, row.figures);
            insert = insert
                .bind(run.run_id)
                .bind(&row.workload.workload)
                .bind(i64::from(settings.batch_size))
                .bind(OptionalNumber(summary.samples_per_second))
                .bind(&row.summary)
                .bind(settings.precision.name())
                .bind(row.rankable)
                .bind(&run.record.device.backend)
                .bind(run.submitted_unix_seconds)
                .bind(summary.samples_per_second.unwrap_or(0.0))
                .bind(row.kind.number())
                .bind(descending(summary.samples_per_second))
                .bind(descending(summary.accuracy))
                .bind(OptionalNumber(summary.seconds_to_target))
                .bind(&run.record.provenance.engine_version)
                .bind(&run.record.device.adapter.driver)
                .bind(&run.submitter.word)
                .bind(run.submitter.day);
        }
        insert.execute(&mut *connection).await?;
        // New rows are listed and not ranked, which fits all other tiers.
        if matches!(run.verdict.tier, Tier::Proven | Tier::Hidden) {
            place(connection, run.run_id, None, run.verdict.tier).await?;
        }
        Ok(())
    }
}

/// Inserts all results of a run in one statement, which is faster than several.
fn insert_results(results: usize) -> String {
    let row = |row: usize| {
        let first = row * RESULT_VALUES + 1;
        let values: Vec<String> = (first..first + RESULT_VALUES).map(|value| format!("${value}")).collect();
        format!("({}, COALESCE((SELECT device_key FROM runs WHERE run_id = $1), ''))", values.join(", "))
    };
    let rows: Vec<String> = (0..results).map(row).collect();
    format!("INSERT INTO results ({RESULT_COLUMNS}) VALUES {}", rows.join(", "))
}

/// Negates a metric, so that the largest comes first. Returns 0, never the negative zero, for `None`.
pub(super) fn descending(figure: Option<f64>) -> f64 {
    figure.filter(|figure| *figure > 0.0).map_or(0.0, |figure| -figure)
}
