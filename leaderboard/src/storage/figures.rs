//! Metrics of devices for standings, device pages and distributions. Each query uses an index.

use std::time::Duration;

use results::api::{Completion, FigureOfDevice, RankedClass};
use results::{ClientKind, Precision, Suite};
use serde::Deserialize;
use serde_json::json;
use sqlx::Row;

use super::trust::mark;
use super::values::{AnyQuery, execute, insert, read, scalar, sql, tuple};
use super::{Database, Result, StorageError};
use crate::figures::{DeviceFigure, MadeFigure, figures_of};
use crate::ranking::{Histogram, has_place};

/// Condition for the rows of a table, with parameters 1 to 7.
macro_rules! of_table {
    () => {
        " FROM figures WHERE suite_name = $1 AND suite_version = $2 AND device_class = $3 AND precision = $4 \
         AND workload = $5 AND (CAST($6 AS TEXT) IS NULL OR backend = $6) \
         AND (CAST($7 AS TEXT) IS NULL OR client_kind = $7)"
    };
}

pub(super) const FASTEST: &str = concat!(
    "SELECT line",
    of_table!(),
    " ORDER BY has_place DESC, median DESC, device_key, backend, client_kind LIMIT $8"
);
pub(super) const TOTAL: &str =
    concat!("SELECT COUNT(*) AS total, COUNT(CASE WHEN has_place THEN 1 END) AS with_place", of_table!());
pub(super) const SELECT_DEVICE: &str = "SELECT line FROM figures WHERE device_key = $1 \
     ORDER BY suite_name, suite_version, device_class, workload, backend, precision, client_kind";

// The database concatenates rows, because transferring them is slow. No part contains the separators.
pub(super) const SELECT_FASTER: &str = concat!(
    "SELECT string_agg(device_key || '/' || backend || '/' || client_kind || '|' || median || '|' || lower_quartile \
     || '|' || upper_quartile, ';') AS lines",
    of_table!(),
    " AND has_place = TRUE AND median >= $8"
);
pub(super) const RATES: &str =
    concat!("SELECT string_agg(device_key || '|' || COALESCE(vendor, '') || '|' || rates, ';') AS lines", of_table!());

#[derive(Clone, Copy)]
pub(crate) struct TableQuery<'a> {
    pub(crate) suite: &'a Suite,
    pub(crate) class: RankedClass,
    pub(crate) precision: Precision,
    pub(crate) backend: Option<&'a str>,
    pub(crate) client: Option<ClientKind>,
}

/// Device, backend and client kind of a line, separated by slashes, and its metric without the number of runs.
pub(crate) type FastLine = (String, FigureOfDevice, ());

#[derive(Clone, Copy, Deserialize)]
pub(crate) struct Lines {
    pub(crate) total: u64,
    pub(crate) with_place: u64,
}

pub(crate) struct RatesOfDevice {
    pub(crate) device_key: String,
    pub(crate) vendor: Option<String>,
    pub(crate) rates: Histogram,
}

fn bound<'q>(statement: &'static str, query: &TableQuery<'q>, workload: &'q str) -> AnyQuery<'q> {
    let TableQuery { suite, class, precision, backend, client } = *query;
    let (version, class, precision) = (i64::from(suite.version), class.name(), precision.name());
    sql!(statement, [&suite.name, version, class, precision, workload, backend, client.map(ClientKind::name)])
}

impl Database {
    /// Returns the first lines of the tables of these workloads and the tables' sizes, from one snapshot.
    pub(crate) async fn fastest(
        &self,
        query: &TableQuery<'_>,
        workloads: &[&str],
        limit: u32,
    ) -> Result<Vec<(Vec<DeviceFigure>, u64)>> {
        let mut transaction = self.reading().await?;
        let mut tables = Vec::with_capacity(workloads.len());
        for workload in workloads {
            let rows = bound(FASTEST, query, workload).bind(i64::from(limit)).fetch_all(&mut *transaction).await?;
            let total = bound(TOTAL, query, workload).fetch_one(&mut *transaction).await?;
            let figures = rows.iter().map(|row| figure(row.try_get("line")?)).collect::<Result<_>>()?;
            tables.push((figures, read::<Lines>(&total)?.total));
        }
        Ok(tables)
    }

    /// Returns the lines of a table with enough voices for a place that are at least as fast, and the table's size.
    pub(crate) async fn at_least(
        &self,
        query: &TableQuery<'_>,
        workload: &str,
        median: f64,
    ) -> Result<(Vec<FastLine>, Lines)> {
        let row = bound(SELECT_FASTER, query, workload).bind(median).fetch_one(&self.pool).await?;
        let total = bound(TOTAL, query, workload).fetch_one(&self.pool).await?;
        Ok((parts(row.try_get("lines")?, fast_line)?, read(&total)?))
    }

    pub(crate) async fn rates_in(&self, query: &TableQuery<'_>, workload: &str) -> Result<Vec<RatesOfDevice>> {
        let row = bound(RATES, query, workload).fetch_one(&self.pool).await?;
        parts(row.try_get("lines")?, rates_of_device)
    }

    pub(crate) async fn figures_of_device(&self, device_key: &str) -> Result<Vec<DeviceFigure>> {
        let lines: Vec<String> = scalar!(SELECT_DEVICE, [device_key]).fetch_all(&self.pool).await?;
        lines.iter().map(|line| figure(line)).collect()
    }
}

fn figure(line: &str) -> Result<DeviceFigure> {
    Ok(serde_json::from_str(line)?)
}

/// Reads a concatenated column, which is null without rows.
fn parts<T>(together: Option<&str>, read: impl Fn(&str) -> Result<T>) -> Result<Vec<T>> {
    together.into_iter().flat_map(|lines| lines.split(';')).map(read).collect()
}

fn fast_line(line: &str) -> Result<FastLine> {
    let (key, numbers) = line.split_once('|').ok_or_else(|| broken(line))?;
    let numbers: Vec<f64> = numbers.split('|').filter_map(|word| word.parse().ok()).collect();
    let [median, lower_quartile, upper_quartile] = numbers[..] else { return Err(broken(line)) };
    let (runs, submitters, days) = (0, u64::MAX, u64::MAX);
    Ok((key.to_owned(), FigureOfDevice { median, lower_quartile, upper_quartile, runs, submitters, days }, ()))
}

fn rates_of_device(line: &str) -> Result<RatesOfDevice> {
    let words: Vec<&str> = line.splitn(3, '|').collect();
    let [device_key, vendor, rates] = words[..] else { return Err(broken(line)) };
    Ok(RatesOfDevice {
        device_key: device_key.to_owned(),
        vendor: Some(vendor.to_owned()).filter(|vendor| !vendor.is_empty()),
        rates: serde_json::from_str(rates)?,
    })
}

fn broken(line: &str) -> StorageError {
    StorageError::Json(serde::de::Error::custom(line))
}

const LOOK_EVERY: Duration = Duration::from_secs(30);

/// Attempts per device. A device that changes faster waits for the next check.
const MAX_ATTEMPTS: u32 = 5;

/// Time in which submitters may announce further runs. They are known for a day.
const RECENT_SECONDS: f64 = 2.0 * 86_400.0;

/// Sorted by key, like all marks, to avoid deadlocks.
const OUTDATE_RECENT: &str = "INSERT INTO stale_devices (device_key, mark) \
     SELECT DISTINCT device_key, CAST($1 AS TEXT) FROM runs \
     WHERE submitted_unix_seconds > $2 AND tier = 'proven' AND device_key IS NOT NULL ORDER BY device_key \
     ON CONFLICT (device_key) DO UPDATE SET mark = excluded.mark";

/// A merged device has the name of its target.
pub(super) const PROVEN: &str = "SELECT runs.run_id, runs.suite_name, runs.suite_version, results.ranked_as AS class, \
     results.workload, results.backend, results.precision, runs.client_kind, runs.device_key AS key, \
     runs.device_source AS source, runs.inferred, COALESCE(device_aliases.into_name, runs.device_name) AS name, \
     COALESCE(device_aliases.into_vendor, runs.vendor) AS vendor, \
     results.rate, results.voice, results.seconds_to_target, runs.submitter, runs.submitter_day AS day \
     FROM runs JOIN results ON results.run_id = runs.run_id \
     LEFT JOIN device_aliases ON device_aliases.device_key = runs.own_device_key \
     WHERE runs.device_key = $1 AND results.ranked_as IS NOT NULL AND results.rate > 0 \
     ORDER BY runs.submitted_unix_seconds, runs.run_id";

pub(super) const COMPLETIONS: &str = "SELECT submitter, suite_name, suite_version, announced, finished \
     FROM announcements WHERE finished > 0 AND submitter IN (SELECT submitter FROM runs WHERE device_key = $1)";

#[derive(Deserialize)]
struct CompletionOf {
    submitter: String,
    suite: Suite,
    #[serde(flatten)]
    completion: Completion,
}

impl Database {
    /// Refreshes all stale metrics. After a failure they stay marked for [`Self::refresh_regularly`].
    pub(crate) async fn refresh_figures(&self) {
        if let Err(cause) = self.try_refresh().await {
            tracing::warn!(cause = &cause as &dyn std::error::Error, "device metrics are temporarily out of date");
        }
    }

    pub(crate) async fn refresh_regularly(&self) {
        loop {
            self.refresh_figures().await;
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }

    /// Marks the metrics of devices whose submitters may have announced further runs since.
    pub(crate) async fn refresh_recent(&self, now: f64) -> Result<()> {
        self.write(sql!(OUTDATE_RECENT, [mark()?, now - RECENT_SECONDS])).await?;
        self.refresh_figures().await;
        Ok(())
    }

    async fn try_refresh(&self) -> Result<()> {
        let (mut last, mut attempts) = (String::new(), 0);
        // Sorted by key, so that a device that is always stale does not block the others.
        let next = "SELECT device_key, mark FROM stale_devices WHERE device_key > $1 ORDER BY device_key LIMIT 1";
        loop {
            let stale: Option<(String, String)> = tuple!(next, [&last]).fetch_optional(&self.pool).await?;
            let Some((device, mark)) = stale else { return Ok(()) };
            let completions: Vec<CompletionOf> = self.rows(sql!(COMPLETIONS, [&device])).await?;
            let completions = completions.into_iter().map(|of| ((of.submitter, of.suite), of.completion)).collect();
            let figures = figures_of(self.rows(sql!(PROVEN, [&device])).await?, &completions);
            attempts += 1;
            // Repeats, so that a writer sees its own change in the metrics despite concurrent changes.
            if self.replace_figures(&device, &mark, &figures).await? || attempts == MAX_ATTEMPTS {
                (last, attempts) = (device, 0);
            }
        }
    }

    /// Returns `false` if the device changed again or another server has refreshed it.
    async fn replace_figures(&self, device: &str, mark: &str, figures: &[MadeFigure]) -> Result<bool> {
        let mut transaction = self.writing().await?;
        let as_marked =
            execute!(transaction, "DELETE FROM stale_devices WHERE device_key = $1 AND mark = $2", [device, mark])?;
        if as_marked.rows_affected() == 0 {
            return Ok(false);
        }
        execute!(transaction, "DELETE FROM figures WHERE device_key = $1", [device])?;
        for MadeFigure { line, rates } in figures {
            let DeviceFigure { device, class, category, figure, .. } = line;
            let row = json!({
                "device_key": device.key, "suite": category.suite, "device_class": class,
                "workload": category.workload, "backend": category.backend,
                "precision": category.precision, "client_kind": category.client_kind, "vendor": device.vendor,
                "median": figure.median, "lower_quartile": figure.lower_quartile,
                "upper_quartile": figure.upper_quartile, "has_place": has_place(figure), "line": line,
                "rates": rates,
            });
            insert("figures", &row, "").execute(&mut *transaction).await?;
        }
        transaction.commit().await?;
        Ok(true)
    }
}
