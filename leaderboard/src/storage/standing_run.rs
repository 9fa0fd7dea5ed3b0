//! A run as it stands among others: what it is grouped by, and the rates of its workloads.

use results::api::RankedClass;
use results::{ClientKind, Precision, Suite};
use sqlx::Row;
use sqlx::any::AnyRow;

use super::values::{as_flag, flag, unknown_word};
use super::{Storage, StorageError};

const RUN: &str = concat!(
    "SELECT suite_name, suite_version, device_class, runs.device_key, backend, client_kind, ",
    "COALESCE(into_vendor, vendor) AS vendor, ",
    as_flag!("standard", "standard"),
    " FROM runs LEFT JOIN device_aliases ON device_aliases.device_key = runs.own_device_key \
     WHERE run_id = $1 AND tier <> 'hidden'"
);

const RATES: &str = concat!(
    "SELECT workload, precision, rate, ",
    as_flag!("rankable", "rankable"),
    " FROM results WHERE run_id = $1 AND rate > 0 ORDER BY workload"
);

/// A run, as far as it can be placed.
pub(crate) struct StandingRun {
    pub(crate) grouped: Grouped,
    pub(crate) standard: bool,
    pub(crate) rates: Vec<WorkloadRate>,
}

/// Columns that the run is grouped by.
pub(crate) struct Grouped {
    pub(crate) suite: Suite,
    /// Absent for programs that act as GPUs.
    pub(crate) class: Option<RankedClass>,
    pub(crate) device_key: String,
    pub(crate) vendor: Option<String>,
    pub(crate) backend: String,
    pub(crate) client_kind: ClientKind,
}

pub(crate) struct WorkloadRate {
    pub(crate) workload: String,
    pub(crate) precision: Precision,
    /// Samples per second.
    pub(crate) rate: f64,
    /// Of windows that agree and a network that learned.
    pub(crate) rankable: bool,
}

impl Storage {
    /// Nothing when there is no such run or when it is hidden.
    pub(crate) async fn standing_run(&self, run_id: &str) -> Result<Option<StandingRun>, StorageError> {
        let Some(run) = sqlx::query(RUN).bind(run_id).fetch_optional(&self.pool).await? else { return Ok(None) };
        let rates = sqlx::query(RATES).bind(run_id).fetch_all(&self.pool).await?;
        Ok(Some(StandingRun {
            grouped: grouped(&run)?,
            standard: flag(&run, "standard")?,
            rates: rates.iter().map(workload_rate).collect::<Result<_, _>>()?,
        }))
    }
}

fn grouped(row: &AnyRow) -> Result<Grouped, StorageError> {
    let (class, client): (&str, &str) = (row.try_get("device_class")?, row.try_get("client_kind")?);
    let version = u32::try_from(row.try_get::<i64, _>("suite_version")?)?;
    Ok(Grouped {
        suite: Suite { name: row.try_get("suite_name")?, version },
        class: RankedClass::named(class),
        device_key: row.try_get("device_key")?,
        vendor: row.try_get("vendor")?,
        backend: row.try_get("backend")?,
        client_kind: ClientKind::named(client).ok_or_else(|| unknown_word("client_kind", client))?,
    })
}

fn workload_rate(row: &AnyRow) -> Result<WorkloadRate, StorageError> {
    let precision: &str = row.try_get("precision")?;
    Ok(WorkloadRate {
        workload: row.try_get("workload")?,
        precision: Precision::named(precision).ok_or_else(|| unknown_word("precision", precision))?,
        rate: row.try_get("rate")?,
        rankable: flag(row, "rankable")?,
    })
}
