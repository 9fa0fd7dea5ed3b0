//! Fingerprints that an older version made are made again, so that a record that comes back from an export is known.
//!
//! Nothing of the old ones is kept. Whatever comes in is read and hashed as it is written now, and that has fields which the
//! old records had not: no record that comes in can have an old fingerprint. So those among the fingerprints of deleted
//! records keep nothing away, and cannot be made again, because their records are gone.

use results::RunRecord;
use sqlx::any::AnyRow;
use sqlx::{AnyConnection, Connection, Row};

use super::StorageError;
use crate::fingerprint::fingerprint;

/// Rows that are read at once; a record may have four megabytes.
const PORTION: i64 = 20;

const PORTION_OF_ROWS: &str = "SELECT runs.run_id, fingerprint, record FROM stale_fingerprints \
     JOIN runs ON runs.run_id = stale_fingerprints.run_id WHERE stale_fingerprints.run_id > $1 \
     ORDER BY stale_fingerprints.run_id LIMIT $2";

/// The same record may have come back under another id while its fingerprint was an old one.
const RENEW: &str = "UPDATE runs SET fingerprint = $1 WHERE run_id = $2 \
     AND NOT EXISTS (SELECT 1 FROM runs other WHERE other.fingerprint = $1 AND other.run_id <> $2)";

/// Makes all of them again and says how many were others. A record that cannot be read keeps its old one: nobody can export
/// it, and no server is kept from starting.
pub(super) async fn renew(connection: &mut AnyConnection) -> Result<u64, StorageError> {
    let (mut last, mut renewed) = (String::new(), 0);
    loop {
        let rows = sqlx::query(PORTION_OF_ROWS).bind(&last).bind(PORTION).fetch_all(&mut *connection).await?;
        let Some(end) = rows.last() else { return Ok(renewed) };
        last = end.try_get("run_id")?;
        let mut transaction = connection.begin().await?;
        for row in &rows {
            renewed += u64::from(renew_row(&mut transaction, row).await?);
        }
        transaction.commit().await?;
    }
}

/// The same of one run that is about to be deleted, if it is still to be done. The first statement writes.
pub(super) async fn renew_one(connection: &mut AnyConnection, run_id: &str) -> Result<(), StorageError> {
    let is_stale = "DELETE FROM stale_fingerprints WHERE run_id = $1";
    if sqlx::query(is_stale).bind(run_id).execute(&mut *connection).await?.rows_affected() == 0 {
        return Ok(());
    }
    let row = sqlx::query("SELECT run_id, fingerprint, record FROM runs WHERE run_id = $1")
        .bind(run_id)
        .fetch_one(&mut *connection)
        .await?;
    renew_row(connection, &row).await?;
    Ok(())
}

/// Whether the run has another fingerprint now.
async fn renew_row(connection: &mut AnyConnection, row: &AnyRow) -> Result<bool, StorageError> {
    let (run_id, before): (&str, &str) = (row.try_get("run_id")?, row.try_get("fingerprint")?);
    let mut record: RunRecord = match serde_json::from_str(row.try_get("record")?) {
        Ok(record) => record,
        Err(cause) => {
            tracing::warn!(run_id, %cause, "a stored record cannot be read: its fingerprint stays that of an older version");
            return Ok(false);
        }
    };
    let now = fingerprint(&mut record)?;
    let mut is_another = false;
    if now != before {
        let update = sqlx::query(RENEW).bind(&now).bind(run_id).execute(&mut *connection).await?;
        is_another = update.rows_affected() > 0;
        if !is_another {
            tracing::warn!(run_id, "this run is stored twice: an export of it came back while an older version ran");
        }
    }
    sqlx::query("DELETE FROM stale_fingerprints WHERE run_id = $1").bind(run_id).execute(connection).await?;
    Ok(is_another)
}
