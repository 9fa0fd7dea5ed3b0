//! What the places of a suite are made from, in one read.

use std::collections::HashMap;

use results::api::{DeviceSource, StandingsQuery};
use results::{ClientKind, Precision, Suite};
use sqlx::Row;
use sqlx::any::AnyRow;

use super::{Storage, StorageError};
use crate::ranking::{Completion, ProvenRun};

/// Only results that may be ranked; a program that acts as a GPU is neither class.
const ROWS: &str = "SELECT runs.run_id, results.workload, runs.backend, runs.client_kind, runs.device_key, \
     runs.device_name, runs.device_source, runs.inferred, results.samples_per_second, runs.submitter, \
     runs.submitter_day FROM runs JOIN results ON results.run_id = runs.run_id \
     WHERE runs.suite_name = $1 AND runs.suite_version = $2 AND runs.device_class = $3 AND runs.tier = 'proven' \
     AND runs.standard AND NOT runs.software AND results.rankable AND results.samples_per_second > 0 \
     AND results.precision = $4 AND (CAST($5 AS TEXT) IS NULL OR runs.backend = $5) \
     AND (CAST($6 AS TEXT) IS NULL OR runs.client_kind = $6) ORDER BY runs.submitted_unix_seconds, runs.run_id";

const COMPLETIONS: &str = "SELECT submitter, announced, finished FROM announcements \
     WHERE suite_name = $1 AND suite_version = $2 AND finished > 0";

/// A proven run of a workload, with what it is grouped by.
pub(crate) struct StandingRow {
    pub(crate) workload: String,
    pub(crate) backend: String,
    pub(crate) client_kind: ClientKind,
    pub(crate) device_key: String,
    pub(crate) device_name: String,
    pub(crate) device_source: DeviceSource,
    pub(crate) inferred: Option<String>,
    pub(crate) run: ProvenRun,
}

/// Everything that the places of a suite follow from.
pub(crate) struct StandingRows {
    pub(crate) rows: Vec<StandingRow>,
    /// Of each submitter who finished something.
    pub(crate) completions: HashMap<String, Completion>,
}

impl Storage {
    pub(crate) async fn standing_rows(
        &self,
        suite: &Suite,
        query: &StandingsQuery,
    ) -> Result<StandingRows, StorageError> {
        // Runs and counts have to be of the same moment.
        let mut transaction = self.reading().await?;
        let rows = sqlx::query(ROWS)
            .bind(&suite.name)
            .bind(i64::from(suite.version))
            .bind(query.class.unwrap_or_default().name())
            .bind(query.precision.unwrap_or(Precision::F32).name())
            .bind(&query.backend)
            .bind(query.client.map(ClientKind::name))
            .fetch_all(&mut *transaction)
            .await?;
        let counted = sqlx::query(COMPLETIONS)
            .bind(&suite.name)
            .bind(i64::from(suite.version))
            .fetch_all(&mut *transaction)
            .await?;
        Ok(StandingRows {
            rows: rows.iter().map(standing_row).collect::<Result<_, _>>()?,
            completions: counted.iter().map(completion).collect::<Result<_, _>>()?,
        })
    }
}

fn standing_row(row: &AnyRow) -> Result<StandingRow, StorageError> {
    let word = |name: &str| -> Result<String, StorageError> { Ok(row.try_get(name)?) };
    let unknown = |column: &'static str, word: String| StorageError::Word { column, word };
    let (client, source) = (word("client_kind")?, word("device_source")?);
    Ok(StandingRow {
        workload: word("workload")?,
        backend: word("backend")?,
        client_kind: ClientKind::named(&client).ok_or_else(|| unknown("client_kind", client))?,
        device_key: word("device_key")?,
        device_name: word("device_name")?,
        device_source: DeviceSource::named(&source).ok_or_else(|| unknown("device_source", source))?,
        inferred: row.try_get("inferred")?,
        run: ProvenRun {
            run_id: word("run_id")?,
            rate: row.try_get("samples_per_second")?,
            submitter: row.try_get("submitter")?,
            day: u32::try_from(row.try_get::<i64, _>("submitter_day")?)?,
        },
    })
}

fn completion(row: &AnyRow) -> Result<(String, Completion), StorageError> {
    let count = |name: &str| -> Result<u64, StorageError> { Ok(u64::try_from(row.try_get::<i64, _>(name)?)?) };
    let completion = Completion { finished: count("finished")?, announced: count("announced")? };
    Ok((row.try_get("submitter")?, completion))
}
