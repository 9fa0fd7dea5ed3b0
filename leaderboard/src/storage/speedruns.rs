//! Records of the speedrun, and the class that each ranked result competes in.

use results::api::{DeviceForm, SpeedrunClass, SpeedrunRecord};
use results::{ClientKind, RunRecord, Suite};
use sqlx::any::AnyRow;
use sqlx::{AssertSqlSafe, Row};

use super::list::{SHOWN, run_row};
use super::trust::PLACE;
use super::values::{execute, sql, tuple};
use super::{Database, Result};
use crate::devices::{DeviceIdentity, form_of};

/// Number of fastest results of a class that are scanned. All results that beat a scanned one are scanned too, so the
/// newest records are complete, however many results there are.
const SCANNED: u64 = 5_000;
const MAX_RECORDS: u64 = 20;

/// Selects the records of a class, the fastest first: the results that were submitted before all faster ones.
pub(super) fn records() -> String {
    let order = "seconds_to_target, submitted_unix_seconds, run_id";
    format!(
        "{SHOWN} JOIN (SELECT run_id, workload, submitted_unix_seconds AS submitted, \
         MIN(submitted_unix_seconds) \
         OVER (ORDER BY {order} ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS faster \
         FROM (SELECT run_id, workload, seconds_to_target, submitted_unix_seconds FROM results \
         WHERE speedrun_class = $1 AND workload = $2 AND ranked_as IS NOT NULL AND seconds_to_target IS NOT NULL \
         ORDER BY {order} LIMIT {SCANNED}) AS fastest) AS placed \
         ON results.run_id = placed.run_id AND results.workload = placed.workload \
         WHERE faster IS NULL OR submitted < faster ORDER BY results.seconds_to_target LIMIT {MAX_RECORDS}"
    )
}

/// Returns the class as [`PLACE`] writes it.
fn class_name(suite: &Suite, form: DeviceForm, client: ClientKind) -> String {
    format!("{} {} {} {}", suite.name, suite.version, form.name(), client.name())
}

impl Database {
    /// Returns the classes of a suite with a record in a workload.
    pub(crate) async fn speedruns(&self, suite: &Suite, workload: &str) -> Result<Vec<SpeedrunClass>> {
        let mut transaction = self.reading().await?;
        let mut classes = Vec::new();
        for form in DeviceForm::ALL {
            for client_kind in ClientKind::ALL {
                let query = sql!(AssertSqlSafe(records()), [class_name(suite, form, client_kind), workload]);
                let rows = query.fetch_all(&mut *transaction).await?;
                let record = |row: &AnyRow| {
                    Ok(SpeedrunRecord { engine_version: row.try_get("_engine_version")?, run: run_row(row)? })
                };
                let records = rows.iter().map(record).collect::<Result<Vec<_>>>()?;
                if !records.is_empty() {
                    classes.push(SpeedrunClass { form, client_kind, records });
                }
            }
        }
        Ok(classes)
    }

    /// Finds the forms of runs that an older version stored.
    pub(super) async fn fill_forms(&self) -> Result<()> {
        let next = "SELECT run_id, record FROM runs WHERE form IS NULL AND run_id > $1 ORDER BY run_id LIMIT 1";
        let mut last = String::new();
        loop {
            let found: Option<(String, String)> = tuple!(next, [&last]).fetch_optional(&self.pool).await?;
            let Some((run_id, record)) = found else { return Ok(()) };
            // A run that cannot be read is listed without a class.
            if let Ok(record) = serde_json::from_str::<RunRecord>(&record) {
                let form = form_of(&record, &DeviceIdentity::of(&record)).name();
                let mut transaction = self.writing().await?;
                execute!(transaction, "UPDATE runs SET form = $1 WHERE run_id = $2", [form, &run_id])?;
                execute!(transaction, PLACE, [&run_id])?;
                transaction.commit().await?;
            }
            last = run_id;
        }
    }
}
