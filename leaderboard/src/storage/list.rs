use results::api::{ListRuns, RunList, RunRow};
use results::{Client, Precision};
use sqlx::Row;
use sqlx::any::AnyRow;

use super::runs::tier;
use super::values::{as_flag, flag};
use super::{Storage, StorageError};

/// Rows of one answer when the query names no limit.
const DEFAULT_ROWS: u32 = 100;

/// Whether a result may be ranked. One text for the filter and for the column, so that they agree.
macro_rules! ranked {
    () => {
        "(runs.standard AND results.rankable AND NOT runs.software \
         AND runs.tier = 'proven')"
    };
}

macro_rules! selected {
    () => {
        concat!(
            " FROM results JOIN runs ON runs.run_id = results.run_id WHERE runs.tier <> 'hidden' ",
            "AND (CAST($1 AS TEXT) IS NULL OR results.workload = $1) ",
            "AND (CAST($2 AS TEXT) IS NULL OR runs.backend = $2) ",
            "AND (CAST($4 AS TEXT) IS NULL OR results.precision = $4) AND ($3 = FALSE OR ",
            ranked!(),
            ")"
        )
    };
}

const COUNT: &str = concat!("SELECT COUNT(*) AS total", selected!());

const ROWS: &str = concat!(
    "SELECT runs.run_id, results.workload, runs.backend, runs.adapter, runs.claimed_name, runs.client, ",
    "results.batch_size, results.precision, runs.tier, runs.submitted_unix_seconds, results.summary, ",
    as_flag!("runs.standard", "standard"),
    ", ",
    as_flag!(ranked!(), "ranked"),
    selected!(),
    " ORDER BY results.samples_per_second DESC NULLS LAST, runs.submitted_unix_seconds, runs.run_id, ",
    "results.workload LIMIT $5 OFFSET $6"
);

impl Storage {
    /// Results that fit the query, fastest first; those without a throughput come last.
    pub(crate) async fn list(&self, query: &ListRuns) -> Result<RunList, StorageError> {
        let precision = query.precision.or(query.ranked.then_some(Precision::F32));
        // The total and the rows have to be of the same moment.
        let mut transaction = self.reading().await?;
        let total: i64 = sqlx::query(COUNT)
            .bind(&query.workload)
            .bind(&query.backend)
            .bind(query.ranked)
            .bind(precision.map(Precision::name))
            .fetch_one(&mut *transaction)
            .await?
            .try_get("total")?;
        let rows = sqlx::query(ROWS)
            .bind(&query.workload)
            .bind(&query.backend)
            .bind(query.ranked)
            .bind(precision.map(Precision::name))
            .bind(i64::from(query.limit.unwrap_or(DEFAULT_ROWS)))
            .bind(i64::from(query.offset.unwrap_or(0)))
            .fetch_all(&mut *transaction)
            .await?;
        Ok(RunList { rows: rows.iter().map(run_row).collect::<Result<_, _>>()?, total: u64::try_from(total)? })
    }
}

fn run_row(row: &AnyRow) -> Result<RunRow, StorageError> {
    let client: Client = serde_json::from_str(row.try_get("client")?)?;
    Ok(RunRow {
        run_id: row.try_get("run_id")?,
        workload: row.try_get("workload")?,
        backend: row.try_get("backend")?,
        adapter: serde_json::from_str(row.try_get("adapter")?)?,
        claimed_name: row.try_get("claimed_name")?,
        client_kind: client.kind,
        client: format!("{} {}", client.name, client.version),
        operating_system: client.operating_system,
        batch_size: u32::try_from(row.try_get::<i64, _>("batch_size")?)?,
        precision: precision(row)?,
        tier: tier(row)?,
        standard: flag(row, "standard")?,
        ranked: flag(row, "ranked")?,
        submitted_unix_seconds: row.try_get("submitted_unix_seconds")?,
        summary: serde_json::from_str(row.try_get("summary")?)?,
    })
}

fn precision(row: &AnyRow) -> Result<Precision, StorageError> {
    let name: &str = row.try_get("precision")?;
    Precision::named(name).ok_or_else(|| StorageError::Precision(name.to_owned()))
}
