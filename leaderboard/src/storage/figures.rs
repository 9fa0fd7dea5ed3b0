//! Reads figures of devices, each from an index: for the tables of a suite, for a device's page and for distributions.

use results::api::{DeviceSource, RankedClass};
use results::{ClientKind, Precision, Suite};
use sqlx::Row;
use sqlx::any::AnyRow;

use super::refreshing::{category, class};
use super::values::unknown_word;
use super::{Storage, StorageError};
use crate::figures::{DeviceDescription, DeviceFigure};
use crate::ranking::{Completion, Figure, Histogram};

/// The lines of a table, as parameters 1 to 7.
macro_rules! of_table {
    () => {
        " FROM figures WHERE suite_name = $1 AND suite_version = $2 AND device_class = $3 AND precision = $4 \
         AND workload = $5 AND (CAST($6 AS TEXT) IS NULL OR backend = $6) \
         AND (CAST($7 AS TEXT) IS NULL OR client_kind = $7)"
    };
}

macro_rules! columns {
    () => {
        "SELECT device_key, suite_name, suite_version, device_class, workload, backend, precision, client_kind, \
         device_name, device_source, inferred, vendor, median, lower_quartile, upper_quartile, runs, submitters, \
         finished, announced, outlier_runs, outliers, best_run_id"
    };
}

const FASTEST: &str =
    concat!(columns!(), of_table!(), " ORDER BY median DESC, device_key, backend, client_kind LIMIT $8");
const AT_LEAST: &str = concat!(
    "SELECT device_key, backend, client_kind, median, lower_quartile, upper_quartile",
    of_table!(),
    " AND median >= $8"
);
const RATES: &str = concat!("SELECT device_key, vendor, rates", of_table!());
const TOTAL: &str = concat!("SELECT COUNT(*) AS total", of_table!());
const OF_DEVICE: &str = concat!(
    columns!(),
    " FROM figures WHERE device_key = $1 \
     ORDER BY suite_name, suite_version, device_class, workload, backend, precision, client_kind"
);

/// Which lines stand in a table.
pub(crate) struct TableQuery<'a> {
    pub(crate) suite: &'a Suite,
    pub(crate) class: RankedClass,
    pub(crate) precision: Precision,
    pub(crate) backend: Option<&'a str>,
    pub(crate) client: Option<ClientKind>,
}

/// A line of a table, as far as places depend on it.
pub(crate) struct FastLine {
    pub(crate) device_key: String,
    pub(crate) backend: String,
    /// As the data base has it.
    pub(crate) client_kind: String,
    pub(crate) median: f64,
    pub(crate) lower_quartile: f64,
    pub(crate) upper_quartile: f64,
}

/// How many proven runs of a device have which rate.
pub(crate) struct RatesOfDevice {
    pub(crate) device_key: String,
    pub(crate) vendor: Option<String>,
    pub(crate) rates: Histogram,
}

macro_rules! bound {
    ($statement:expr, $query:expr, $workload:expr) => {
        sqlx::query($statement)
            .bind(&$query.suite.name)
            .bind(i64::from($query.suite.version))
            .bind($query.class.name())
            .bind($query.precision.name())
            .bind($workload)
            .bind($query.backend)
            .bind($query.client.map(ClientKind::name))
    };
}

impl Storage {
    /// The first lines of the tables of these workloads, the fastest first, and how many lines each table has; all of the
    /// same moment.
    pub(crate) async fn fastest(
        &self,
        query: &TableQuery<'_>,
        workloads: &[&str],
        limit: u32,
    ) -> Result<Vec<(Vec<DeviceFigure>, u64)>, StorageError> {
        let mut transaction = self.reading().await?;
        let mut tables = Vec::with_capacity(workloads.len());
        for workload in workloads {
            let rows = bound!(FASTEST, query, *workload).bind(i64::from(limit)).fetch_all(&mut *transaction).await?;
            let total = bound!(TOTAL, query, *workload).fetch_one(&mut *transaction).await?;
            let figures = rows.iter().map(device_figure).collect::<Result<_, _>>()?;
            tables.push((figures, u64::try_from(total.try_get::<i64, _>("total")?)?));
        }
        Ok(tables)
    }

    /// The lines of a table that are at least as fast, and how many lines it has.
    pub(crate) async fn at_least(
        &self,
        query: &TableQuery<'_>,
        workload: &str,
        median: f64,
    ) -> Result<(Vec<FastLine>, u64), StorageError> {
        let rows = bound!(AT_LEAST, query, workload).bind(median).fetch_all(&self.pool).await?;
        let total = bound!(TOTAL, query, workload).fetch_one(&self.pool).await?;
        let lines = rows.iter().map(fast_line).collect::<Result<_, _>>()?;
        Ok((lines, u64::try_from(total.try_get::<i64, _>("total")?)?))
    }

    /// The rates behind all lines of a table, in no order.
    pub(crate) async fn rates_in(
        &self,
        query: &TableQuery<'_>,
        workload: &str,
    ) -> Result<Vec<RatesOfDevice>, StorageError> {
        let rows = bound!(RATES, query, workload).fetch_all(&self.pool).await?;
        let rates = |row: &AnyRow| {
            Ok(RatesOfDevice {
                device_key: row.try_get("device_key")?,
                vendor: row.try_get("vendor")?,
                rates: serde_json::from_str(row.try_get("rates")?)?,
            })
        };
        rows.iter().map(rates).collect()
    }

    /// Everything that the proven runs of a device come to.
    pub(crate) async fn figures_of_device(&self, device_key: &str) -> Result<Vec<DeviceFigure>, StorageError> {
        let rows = sqlx::query(OF_DEVICE).bind(device_key).fetch_all(&self.pool).await?;
        rows.iter().map(device_figure).collect()
    }
}

fn fast_line(row: &AnyRow) -> Result<FastLine, StorageError> {
    Ok(FastLine {
        device_key: row.try_get("device_key")?,
        backend: row.try_get("backend")?,
        client_kind: row.try_get("client_kind")?,
        median: row.try_get("median")?,
        lower_quartile: row.try_get("lower_quartile")?,
        upper_quartile: row.try_get("upper_quartile")?,
    })
}

fn device_figure(row: &AnyRow) -> Result<DeviceFigure, StorageError> {
    let count = |name: &str| -> Result<i64, StorageError> { Ok(row.try_get(name)?) };
    let source: &str = row.try_get("device_source")?;
    let (finished, announced): (Option<i64>, Option<i64>) = (row.try_get("finished")?, row.try_get("announced")?);
    let completion = finished.zip(announced).map(|(finished, announced)| -> Result<Completion, StorageError> {
        Ok(Completion { finished: u64::try_from(finished)?, announced: u64::try_from(announced)? })
    });
    Ok(DeviceFigure {
        device: DeviceDescription {
            key: row.try_get("device_key")?,
            name: row.try_get("device_name")?,
            source: DeviceSource::named(source).ok_or_else(|| unknown_word("device_source", source))?,
            inferred: row.try_get("inferred")?,
            vendor: row.try_get("vendor")?,
        },
        class: class(row, "device_class")?,
        category: category(row)?,
        figure: Figure {
            median: row.try_get("median")?,
            lower_quartile: row.try_get("lower_quartile")?,
            upper_quartile: row.try_get("upper_quartile")?,
            runs: usize::try_from(count("runs")?)?,
            submitters: usize::try_from(count("submitters")?)?,
        },
        completion: completion.transpose()?,
        outlier_runs: u64::try_from(count("outlier_runs")?)?,
        outliers: serde_json::from_str(row.try_get("outliers")?)?,
        best_run_id: row.try_get("best_run_id")?,
    })
}

/// Every query of this file, each with a value for every parameter; for looking at how they are performed.
pub(super) fn all_queries() -> Vec<(String, Vec<String>)> {
    let table = ["'quick'", "1", "'gpu'", "'f32'", "'caffe-mnist'", "NULL", "NULL"];
    let of = |query: &str, more: &[&str]| {
        (query.to_owned(), table.iter().chain(more).map(|value| (*value).to_owned()).collect())
    };
    vec![
        of(FASTEST, &["50"]),
        of(AT_LEAST, &["1e5"]),
        of(RATES, &[]),
        of(TOTAL, &[]),
        (OF_DEVICE.to_owned(), vec!["'reported-example-gpu-9000'".to_owned()]),
    ]
}
