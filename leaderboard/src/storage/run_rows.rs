//! The rows of a record. They are prepared before the transaction as far as possible, because a transaction blocks all
//! other writers on SQLite.

use results::api::Tier;
use results::{Outcome, RunRecord, Summary, WorkloadRecord, obstacle};
use sqlx::any::AnyArguments;
use sqlx::query::Query;
use sqlx::{Any, AnyConnection, AssertSqlSafe};

use super::StorageError;
use super::kinds::Kind;
use super::runs::NewRun;
use super::trust::place;
use super::values::OptionalNumber;
use crate::devices::identity::{Inferred, Reported};
use crate::devices::{Identity, Vendor, class_of};
use crate::proof::is_provable;

/// The rows of a run to be written.
pub(super) struct RunRows<'a> {
    run: &'a NewRun<'a>,
    grouping: Grouping,
    notes: String,
    adapter: String,
    client: String,
    record: String,
    results: Vec<ResultRow<'a>>,
}

/// The row of a completed workload.
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

/// Number of bound values of [`RESULT_COLUMNS`]: all except the device, which may be merged.
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

    /// Returns `false` if a run with the same fingerprint is stored.
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
        // The kinds of a run's workloads differ only in precision.
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
        // New rows are listed and not ranked, which fits all other tiers.
        if matches!(run.tier, Tier::Proven | Tier::Hidden) {
            place(connection, run.run_id, None, run.tier).await?;
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

/// The columns that a run is grouped by.
macro_rules! grouping_columns {
    () => {
        "suite_name, suite_version, client_kind, device_class, device_key, device_name, device_source, inferred, vendor, \
         own_device_key"
    };
}
pub(super) use grouping_columns;

/// The values of [`grouping_columns`], from the parameters `$1` to `$9` of [`Grouping`]. The statement that writes also
/// looks up the target of a merged device: merging waits for running writes, and later writes see it.
macro_rules! grouping_values {
    () => {
        "$1, $2, $3, $4, COALESCE((SELECT into_key FROM device_aliases WHERE device_aliases.device_key = $5), $5), \
         $6, $7, $8, $9, (SELECT device_key FROM device_aliases WHERE device_aliases.device_key = $5)"
    };
}
pub(super) use grouping_values;

type Statement<'q> = Query<'q, Any, AnyArguments>;

/// The values of the grouping columns.
pub(super) struct Grouping {
    suite_name: String,
    suite_version: i64,
    client_kind: &'static str,
    device_class: &'static str,
    key: String,
    label: String,
    source: &'static str,
    inferred: Option<String>,
    vendor: Option<&'static str>,
}

impl Grouping {
    pub(super) fn of(record: &RunRecord) -> Self {
        let identity = Identity::of(record);
        Self {
            suite_name: record.suite.name.clone(),
            suite_version: i64::from(record.suite.version),
            client_kind: record.provenance.client.kind.name(),
            device_class: class_of(record).name(),
            source: identity.source.name(),
            inferred: identity.inferred.as_ref().and_then(guess),
            vendor: vendor(&identity.reported),
            key: identity.group.key,
            label: identity.group.label,
        }
    }

    /// Binds the first nine parameters.
    pub(super) fn bind<'q>(&self, statement: Statement<'q>) -> Statement<'q> {
        statement
            .bind(self.suite_name.clone())
            .bind(self.suite_version)
            .bind(self.client_kind)
            .bind(self.device_class)
            .bind(self.key.clone())
            .bind(self.label.clone())
            .bind(self.source)
            .bind(self.inferred.clone())
            .bind(self.vendor)
    }
}

/// Returns the candidates if the device is a guess.
fn guess(inferred: &Inferred) -> Option<String> {
    match inferred {
        Inferred::Reported(_) => None,
        Inferred::Candidates(devices) => {
            let names: Vec<&str> = devices.iter().map(|device| device.name.as_str()).collect();
            Some(names.join(" or "))
        }
    }
}

fn vendor(reported: &Reported) -> Option<&'static str> {
    reported.vendor.or_else(|| reported.device().map(|device| device.vendor)).map(Vendor::name)
}

/// Returns the vendor of a record's device if the platform reports it.
pub(super) fn vendor_of(record: &RunRecord) -> Option<&'static str> {
    vendor(&Reported::of(&record.device.adapter))
}

/// The columns in the order in which [`bind_listing`] binds them.
macro_rules! listing_columns {
    () => {
        "kind, descending_rate, descending_accuracy, seconds_to_target, engine_version, driver"
    };
}
pub(super) use listing_columns;

/// Binds the six values of [`listing_columns`].
pub(super) fn bind_listing<'q>(
    statement: Query<'q, Any, AnyArguments>,
    record: &RunRecord,
    summary: &Summary,
    kind: i64,
) -> Query<'q, Any, AnyArguments> {
    statement
        .bind(kind)
        .bind(descending(summary.samples_per_second))
        .bind(descending(summary.accuracy))
        .bind(OptionalNumber(summary.seconds_to_target))
        .bind(record.provenance.engine_version.clone())
        .bind(record.device.adapter.driver.clone())
}

/// Negates a metric, so that the largest comes first. Returns 0, which comes last, for `None`, and never the negative
/// zero, which a cursor would treat as a different place.
pub(super) fn descending(figure: Option<f64>) -> f64 {
    figure.filter(|figure| *figure > 0.0).map_or(0.0, |figure| -figure)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_comes_first_and_nothing_last() {
        let mut figures = [None, Some(2.0), Some(0.0), Some(3.0)].map(descending);
        figures.sort_by(f64::total_cmp);
        assert_eq!(figures, [-3.0, -2.0, 0.0, 0.0]);
        assert!(figures[2].is_sign_positive());
    }
}
