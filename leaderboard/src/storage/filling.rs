//! Fills the columns that runs are grouped by, for runs that were stored before there were any.

use results::RunRecord;
use results::api::Tier;
use sqlx::{AnyConnection, Connection, Row};

use super::StorageError;
use super::grouping::{Grouping, grouping_columns, grouping_values};
use super::kinds::Kind;
use super::listing::{bind_listing, listing_columns};
use super::ranked::{list_anew, place};
use super::runs::tier;
use crate::limits::day_of;

/// Rows that are read at once; a record may have four megabytes.
const PORTION: i64 = 20;

const PORTION_OF_ROWS: &str = "SELECT run_id, tier, submitted_unix_seconds, record FROM runs \
     WHERE device_key IS NULL AND run_id > $1 ORDER BY run_id LIMIT $2";

const FILL: &str = concat!(
    "UPDATE runs SET (",
    grouping_columns!(),
    ", submitter_day) = (",
    grouping_values!(),
    ", COALESCE(submitter_day, $10)) ",
    "WHERE run_id = $11 AND device_key IS NULL"
);

/// Fills what is empty and says how many rows. A record that cannot be read leaves its row as it is: the run is shown as
/// before, has no place, and keeps no server from starting.
pub(super) async fn fill(connection: &mut AnyConnection) -> Result<u64, StorageError> {
    let (mut last, mut filled) = (String::new(), 0);
    loop {
        let rows = sqlx::query(PORTION_OF_ROWS).bind(&last).bind(PORTION).fetch_all(&mut *connection).await?;
        let Some(end) = rows.last() else { return Ok(filled) };
        last = end.try_get("run_id")?;
        let mut transaction = connection.begin().await?;
        for row in &rows {
            let run_id: &str = row.try_get("run_id")?;
            let record: RunRecord = match serde_json::from_str(row.try_get("record")?) {
                Ok(record) => record,
                Err(cause) => {
                    tracing::warn!(run_id, %cause, "a stored record cannot be read: its run gets no place");
                    continue;
                }
            };
            let day = day_of(row.try_get("submitted_unix_seconds")?);
            let update = Grouping::of(&record).bind(sqlx::query(FILL)).bind(day).bind(run_id);
            filled += update.execute(&mut *transaction).await?.rows_affected();
            // The class of a device, on which a ranking depends, is known only now.
            place(&mut transaction, run_id, None, tier(row)?).await?;
        }
        transaction.commit().await?;
    }
}

const PORTION_WITHOUT_KIND: &str = "SELECT run_id, tier, record FROM runs WHERE run_id IN \
     (SELECT DISTINCT run_id FROM results WHERE kind = 0 AND run_id > $1 ORDER BY run_id LIMIT $2) ORDER BY run_id";

const FILL_LISTING: &str = concat!(
    "UPDATE results SET (",
    listing_columns!(),
    ") = ($1, $2, $3, $4, $5, $6) WHERE run_id = $7 AND workload = $8 AND kind = 0"
);

/// Fills what lists and histories go by, for results of older versions, and says of how many runs. Those of a record that
/// cannot be read stay in the lists that nothing filters.
pub(super) async fn fill_listings(connection: &mut AnyConnection) -> Result<u64, StorageError> {
    let (mut last, mut filled) = (String::new(), 0);
    loop {
        let rows = sqlx::query(PORTION_WITHOUT_KIND).bind(&last).bind(PORTION).fetch_all(&mut *connection).await?;
        let Some(end) = rows.last() else { return Ok(filled) };
        last = end.try_get("run_id")?;
        let mut transaction = connection.begin().await?;
        for row in &rows {
            let (run_id, tier): (&str, Tier) = (row.try_get("run_id")?, tier(row)?);
            let record: RunRecord = match serde_json::from_str(row.try_get("record")?) {
                Ok(record) => record,
                Err(cause) => {
                    tracing::warn!(run_id, %cause, "a stored record cannot be read: no filter finds its run");
                    continue;
                }
            };
            for workload in &record.workloads {
                let kind = Kind::of(&record, workload, tier).keep(&mut transaction).await?;
                bind_listing(sqlx::query(FILL_LISTING), &record, &workload.summary, kind)
                    .bind(run_id)
                    .bind(&workload.workload)
                    .execute(&mut *transaction)
                    .await?;
            }
            // Whether they are ranked is part of what they are.
            list_anew(&mut transaction, run_id, tier).await?;
            filled += 1;
        }
        transaction.commit().await?;
    }
}
