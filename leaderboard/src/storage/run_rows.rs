//! The rows that a record becomes. Whatever of them can be made before is made before the transaction that writes them: on
//! SQLite nobody else writes as long as that lasts.

use results::api::Tier;
use results::{Outcome, Summary, WorkloadRecord, obstacle};
use sqlx::{AnyConnection, AssertSqlSafe};

use super::StorageError;
use super::grouping::{Grouping, grouping_columns, grouping_values};
use super::kinds::Kind;
use super::listing::{bind_listing, listing_columns};
use super::ranked::place;
use super::runs::NewRun;
use super::values::OptionalNumber;
use crate::proof::is_provable;

/// The rows of a run, not yet written.
pub(super) struct RunRows<'a> {
    run: &'a NewRun<'a>,
    grouping: Grouping,
    notes: String,
    adapter: String,
    client: String,
    record: String,
    results: Vec<ResultRow<'a>>,
}

/// That of a completed workload.
struct ResultRow<'a> {
    workload: &'a WorkloadRecord,
    kind: Kind,
    rankable: bool,
    figures: &'a Summary,
    /// The summary as JSON.
    summary: String,
}

const INSERT_RUN: &str = concat!(
    "INSERT INTO runs (",
    grouping_columns!(),
    ", run_id, tier, notes, submitted_unix_seconds, fingerprint, standard, software, backend, adapter, client, ",
    "claimed_name, record, submitter, submitter_day, prefix) VALUES (",
    grouping_values!(),
    ", $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, ",
    "(SELECT prefix FROM started_runs WHERE run_id = $10)) ",
    "ON CONFLICT (fingerprint) DO NOTHING",
);

const RESULT_COLUMNS: &str = concat!(
    "run_id, workload, batch_size, samples_per_second, summary, precision, rankable, backend, submitted_unix_seconds, ",
    "rate, ",
    listing_columns!(),
    ", voice, submitter_day, device_key",
);

/// Values of [`RESULT_COLUMNS`] that are bound: all but the device, which may be merged into another one.
const RESULT_VALUES: usize = 18;

impl<'a> RunRows<'a> {
    pub(super) fn of(run: &'a NewRun<'a>) -> Result<Self, StorageError> {
        let record = run.record;
        // Only completed workloads have results; the others stay in the record.
        let all = record.workloads.iter().enumerate();
        let completed = all.filter(|(_, workload)| workload.outcome == Outcome::Completed);
        let result = |(place, workload): (usize, &'a WorkloadRecord)| {
            let figures = run.listed.get(place).unwrap_or(&workload.summary);
            Ok(ResultRow {
                kind: Kind::of(record, workload, run.tier),
                rankable: obstacle(record, workload).is_none() && is_provable(&workload.workload),
                summary: serde_json::to_string(figures)?,
                figures,
                workload,
            })
        };
        Ok(Self {
            grouping: Grouping::of(record),
            notes: serde_json::to_string(run.notes)?,
            adapter: serde_json::to_string(&record.device.adapter)?,
            client: serde_json::to_string(&record.provenance.client)?,
            record: serde_json::to_string(record)?,
            results: completed.map(result).collect::<Result<_, StorageError>>()?,
            run,
        })
    }

    /// `false` when a run with the same fingerprint is stored.
    pub(super) async fn insert_run(&self, connection: &mut AnyConnection) -> Result<bool, StorageError> {
        let (run, device) = (self.run, &self.run.record.device);
        let inserted = self
            .grouping
            .bind(sqlx::query(INSERT_RUN))
            .bind(run.run_id)
            .bind(run.tier.name())
            .bind(&self.notes)
            .bind(run.submitted_unix_seconds)
            .bind(run.fingerprint)
            .bind(run.record.is_standard())
            .bind(device.adapter.software)
            .bind(&device.backend)
            .bind(&self.adapter)
            .bind(&self.client)
            .bind(&device.claimed_name)
            .bind(&self.record)
            .bind(&run.submitter.word)
            .bind(run.submitter.day)
            .execute(connection)
            .await?;
        Ok(inserted.rows_affected() == 1)
    }

    /// Follows [`Self::insert_run`].
    pub(super) async fn insert_results(&self, connection: &mut AnyConnection) -> Result<(), StorageError> {
        if self.results.is_empty() {
            return Ok(());
        }
        // All workloads of a run are of one kind, but for their precisions.
        let mut kept: Option<&Kind> = None;
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
                .bind(summary.samples_per_second.unwrap_or(0.0));
            insert = bind_listing(insert, run.record, summary, row.kind.number())
                .bind(&run.submitter.word)
                .bind(run.submitter.day);
        }
        insert.execute(&mut *connection).await?;
        // Others are listed and not ranked, as rows are by themselves.
        if matches!(run.tier, Tier::Proven | Tier::Hidden) {
            place(connection, run.run_id, None, run.tier).await?;
        }
        Ok(())
    }
}

/// All results of a run in one statement, which costs a writer less than one for each.
fn insert_results(results: usize) -> String {
    let row = |row: usize| {
        let first = row * RESULT_VALUES + 1;
        let values: Vec<String> = (first..first + RESULT_VALUES).map(|value| format!("${value}")).collect();
        format!("({}, COALESCE((SELECT device_key FROM runs WHERE run_id = $1), ''))", values.join(", "))
    };
    let rows: Vec<String> = (0..results).map(row).collect();
    format!("INSERT INTO results ({RESULT_COLUMNS}) VALUES {}", rows.join(", "))
}
