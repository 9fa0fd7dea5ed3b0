//! Results of the open class.

use results::api::OpenEntry;
use results::{Summary, WorkloadRecord};
use serde_json::{from_str, from_value, json};
use sqlx::any::AnyRow;
use sqlx::{AnyConnection, Row};

use super::list::label;
use super::values::{KEEP, fields, insert, scalar, sql};
use super::{Database, Result};

const MAX_ENTRIES: i64 = 100;

/// Selects the lowest losses. Runs that are no longer proven keep their rows, because that may change again.
pub(super) const LOWEST: &str = "SELECT open_results.run_id, title, loss, parameters, seconds AS training_seconds, \
     COALESCE(into_name, device_name) AS device, backend, client AS _client, open_results.submitted_unix_seconds \
     FROM open_results JOIN runs ON runs.run_id = open_results.run_id \
     LEFT JOIN device_aliases ON device_aliases.device_key = runs.own_device_key \
     WHERE data_set = $1 AND tier = 'proven' \
     ORDER BY loss, open_results.submitted_unix_seconds, open_results.run_id LIMIT $2";

impl Database {
    /// Returns the proven runs of the open class with the lowest losses.
    pub(crate) async fn open_class(&self, data_set: &str) -> Result<Vec<OpenEntry>> {
        let rows = sql!(LOWEST, [data_set, MAX_ENTRIES]).fetch_all(&self.pool).await?;
        let entry = |row: &AnyRow| {
            let mut fields = fields(row)?;
            fields.insert("client".to_owned(), label(&from_str(row.try_get("_client")?)?).into());
            Ok(from_value(fields.into())?)
        };
        rows.iter().map(entry).collect()
    }
}

/// Stores the result of a proven run of the open class. `listed` has the loss that the server computed.
pub(super) async fn keep_result(
    connection: &mut AnyConnection,
    run_id: &str,
    of: &WorkloadRecord,
    listed: &Summary,
) -> Result<()> {
    let Some((network, loss)) = of.network.as_ref().zip(listed.test_loss) else { return Ok(()) };
    let select = "SELECT submitted_unix_seconds FROM runs WHERE run_id = $1";
    let submitted_unix_seconds: f64 = scalar!(select, [run_id]).fetch_one(&mut *connection).await?;
    let row = json!({
        "run_id": run_id, "data_set": network["data_set"], "title": network["title"], "loss": loss,
        "parameters": of.settings.parameters, "seconds": listed.training_seconds,
        "submitted_unix_seconds": submitted_unix_seconds,
    });
    insert("open_results", &row, KEEP).execute(connection).await?;
    Ok(())
}
