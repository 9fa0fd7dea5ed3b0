//! Reads figures of devices, each from an index: for the tables of a suite, for a device's page and for distributions.

use results::api::RankedClass;
use results::{ClientKind, Precision, Suite};
use sqlx::Row;
use sqlx::any::AnyRow;

use super::values::unknown_word;
use super::{Storage, StorageError};
use crate::figures::DeviceFigure;
use crate::ranking::Histogram;

/// The lines of a table, as parameters 1 to 7.
macro_rules! of_table {
    () => {
        " FROM figures WHERE suite_name = $1 AND suite_version = $2 AND device_class = $3 AND precision = $4 \
         AND workload = $5 AND (CAST($6 AS TEXT) IS NULL OR backend = $6) \
         AND (CAST($7 AS TEXT) IS NULL OR client_kind = $7)"
    };
}

const FASTEST: &str = concat!(
    "SELECT line",
    of_table!(),
    " ORDER BY has_place DESC, median DESC, device_key, backend, client_kind LIMIT $8"
);
const TOTAL: &str =
    concat!("SELECT COUNT(*) AS total, COUNT(CASE WHEN has_place THEN 1 END) AS with_place", of_table!());
const OF_DEVICE: &str = "SELECT line FROM figures WHERE device_key = $1 \
     ORDER BY suite_name, suite_version, device_class, workload, backend, precision, client_kind";

// These two need all lines of a table, of which there may be thousands. Handing over a row takes longer than finding it,
// so that the data base puts them together. What stands between the parts is in none of them.
const AT_LEAST: &str = concat!(
    "SELECT string_agg(device_key || '/' || backend || '/' || client_kind || '|' || median || '|' || lower_quartile \
     || '|' || upper_quartile, ';') AS lines",
    of_table!(),
    " AND has_place = TRUE AND median >= $8"
);
const RATES: &str =
    concat!("SELECT string_agg(device_key || '|' || COALESCE(vendor, '') || '|' || rates, ';') AS lines", of_table!());

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
    /// Device, back end and kind of client, which have no slashes.
    pub(crate) key: String,
    pub(crate) median: f64,
    pub(crate) lower_quartile: f64,
    pub(crate) upper_quartile: f64,
}

/// Number of lines of a table.
#[derive(Clone, Copy)]
pub(crate) struct Lines {
    pub(crate) total: u64,
    /// Number of lines with enough voices for a place.
    pub(crate) with_place: u64,
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
    /// Returns the first lines of the tables of these workloads, in the order of their places, and the number of lines
    /// of each table, all from one snapshot.
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
            tables.push((figures, lines(&total)?.total));
        }
        Ok(tables)
    }

    /// Returns the lines of a table that have enough voices for a place and are at least as fast, and the table's
    /// number of lines.
    pub(crate) async fn at_least(
        &self,
        query: &TableQuery<'_>,
        workload: &str,
        median: f64,
    ) -> Result<(Vec<FastLine>, Lines), StorageError> {
        let row = bound!(AT_LEAST, query, workload).bind(median).fetch_one(&self.pool).await?;
        let total = bound!(TOTAL, query, workload).fetch_one(&self.pool).await?;
        Ok((parts(row.try_get("lines")?, fast_line)?, lines(&total)?))
    }

    /// The rates behind all lines of a table, in no order.
    pub(crate) async fn rates_in(
        &self,
        query: &TableQuery<'_>,
        workload: &str,
    ) -> Result<Vec<RatesOfDevice>, StorageError> {
        let row = bound!(RATES, query, workload).fetch_one(&self.pool).await?;
        parts(row.try_get("lines")?, rates_of_device)
    }

    /// Everything that the proven runs of a device come to.
    pub(crate) async fn figures_of_device(&self, device_key: &str) -> Result<Vec<DeviceFigure>, StorageError> {
        let rows = sqlx::query(OF_DEVICE).bind(device_key).fetch_all(&self.pool).await?;
        rows.iter().map(device_figure).collect()
    }
}

fn lines(row: &AnyRow) -> Result<Lines, StorageError> {
    let count = |name: &str| -> Result<u64, StorageError> { Ok(u64::try_from(row.try_get::<i64, _>(name)?)?) };
    Ok(Lines { total: count("total")?, with_place: count("with_place")? })
}

fn device_figure(row: &AnyRow) -> Result<DeviceFigure, StorageError> {
    Ok(serde_json::from_str(row.try_get("line")?)?)
}

/// What the data base put together; it says nothing of no lines.
fn parts<T>(together: Option<&str>, read: impl Fn(&str) -> Result<T, StorageError>) -> Result<Vec<T>, StorageError> {
    together.into_iter().flat_map(|lines| lines.split(';')).map(read).collect()
}

fn fast_line(line: &str) -> Result<FastLine, StorageError> {
    let broken = || unknown_word("line", line);
    let mut words = line.split('|');
    let key = words.next().ok_or_else(broken)?.to_owned();
    let mut number = || words.next().and_then(|word| word.parse().ok()).ok_or_else(broken);
    Ok(FastLine { key, median: number()?, lower_quartile: number()?, upper_quartile: number()? })
}

fn rates_of_device(line: &str) -> Result<RatesOfDevice, StorageError> {
    let mut words = line.splitn(3, '|');
    let (Some(device), Some(vendor), Some(rates)) = (words.next(), words.next(), words.next()) else {
        return Err(unknown_word("line", line));
    };
    Ok(RatesOfDevice {
        device_key: device.to_owned(),
        vendor: Some(vendor.to_owned()).filter(|vendor| !vendor.is_empty()),
        rates: serde_json::from_str(rates)?,
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
