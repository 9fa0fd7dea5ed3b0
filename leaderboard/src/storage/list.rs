//! Pages of lists of results, each read on one of a few access paths ([`super::access_path`]) with a bounded scan, and
//! the latest proven results of a device. For a device with a hundred thousand runs, most are left out.

use results::Client;
use results::api::{RunRow, RunSort};
use serde::Deserialize;
use serde_json::{Value, from_str, from_value, to_value};
use sqlx::any::AnyRow;
use sqlx::{AnyConnection, AssertSqlSafe, Row};

use super::access_path::{AccessPath, Conditions, RowKey, ScanRange, first_column};
use super::kinds::KindFilter;
use super::values::{Statement, as_flag, fields, read, sql};
use super::{Database, Result};
use crate::figures::DeviceDescription;
use crate::ranking::{Category, ProvenRun};

/// Divisor of the scan limit for the first scan. Most pages are full after it.
const FIRST_PART: u64 = 12;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    /// All results of a filter are read and sorted up to this number, and totals are counted up to it.
    pub(crate) few: u64,
    pub(crate) scanned: u64,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { few: 5_000, scanned: 25_000 }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct ListQuery {
    /// The conditions, except the kinds.
    pub(crate) conditions: Conditions,
    pub(crate) kinds: KindFilter,
    pub(crate) limit: u64,
    pub(crate) after: Option<RowKey>,
    pub(crate) skip: u64,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct ListPage {
    pub(crate) rows: Vec<RunRow>,
    /// Rows of the whole list, or a lower bound if `more_than_total`.
    pub(crate) total: u64,
    pub(crate) more_than_total: bool,
    /// The start of the next page and the rows that it still has to skip; `None` after the last row.
    pub(crate) next: Option<(RowKey, u64)>,
}

pub(super) const SHOWN: &str = concat!(
    "SELECT runs.run_id, results.workload, runs.backend, runs.adapter AS adapter_json, runs.claimed_name, \
     runs.client AS _client, results.batch_size, results.precision, runs.tier, results.submitted_unix_seconds, \
     results.summary AS summary_json, results.engine_version AS _engine_version, ",
    as_flag!("runs.standard", "standard"),
    ", ",
    as_flag!("results.ranked_as IS NOT NULL", "ranked"),
    ", results.descending_rate, results.descending_accuracy, results.seconds_to_target",
    " FROM results JOIN runs ON runs.run_id = results.run_id"
);

/// Describes a device by its newest run. A run that was merged into the device has the device's name and vendor.
pub(super) const DEVICE: &str = "SELECT runs.device_key AS key, device_source AS source, inferred, \
     COALESCE(into_name, device_name) AS name, COALESCE(into_vendor, vendor) AS vendor \
     FROM runs LEFT JOIN device_aliases ON device_aliases.device_key = runs.own_device_key \
     WHERE runs.device_key = $1 AND tier <> 'hidden' ORDER BY submitted_unix_seconds DESC, run_id LIMIT 1";

impl Database {
    pub(crate) async fn list(&self, query: &ListQuery) -> Result<ListPage> {
        self.list_within(query, Bounds::default()).await
    }

    /// Reads a page within other bounds. They do not change which results all pages together have.
    pub(crate) async fn list_within(&self, query: &ListQuery, bounds: Bounds) -> Result<ListPage> {
        let mut transaction = self.reading().await?;
        let kinds = query.kinds.kinds(&mut transaction).await?;
        let conditions = Conditions { kinds, ..query.conditions.clone() };
        if conditions.kinds.as_ref().is_some_and(String::is_empty) {
            return Ok(ListPage::default());
        }
        let (path, scan_limit, total) = choose_path(&mut transaction, &conditions, bounds).await?;
        let after = query.after.as_ref();
        // One more row shows whether there is a next page.
        let part = (query.skip, query.limit + 1);
        let scans = scan_limit.map(|most| Some((most / FIRST_PART).max(1))).into_iter().chain([scan_limit]);
        let (mut rows, mut is_full, mut until) = (Vec::new(), false, None);
        for limit in scans {
            until = match limit {
                Some(most) => last_place(&mut transaction, &conditions, after, most).await?,
                None => None,
            };
            let range = ScanRange { after, until: until.as_ref(), limit: bounds.few };
            rows = conditions.rows(path, range, part, SHOWN).query().fetch_all(&mut *transaction).await?;
            is_full = rows.len() as u64 > query.limit;
            if is_full || until.is_none() {
                break;
            }
        }
        rows.truncate(usize::try_from(query.limit)?);
        let next = match (rows.last(), until) {
            (Some(row), _) if is_full => Some((key(row, conditions.order)?, 0)),
            // Continues after the scanned results, and skips the rows that were not among them.
            (row, Some(until)) => {
                let mut skip = 0;
                if query.skip > 0 && row.is_none() {
                    let range = ScanRange { after, until: Some(&until), limit: bounds.few };
                    let met = count(&mut transaction, &conditions.count_matching(path, range)).await?;
                    skip = query.skip.saturating_sub(met);
                }
                Some((until, skip))
            }
            _ => None,
        };
        let before = if rows.is_empty() { 0 } else { query.skip };
        let (total, more_than_total) = match total {
            Some(total) => (total.min(bounds.few), total > bounds.few),
            None => (before + rows.len() as u64, next.is_some() || query.after.is_some()),
        };
        Ok(ListPage { rows: rows.iter().map(run_row).collect::<Result<_, _>>()?, total, more_than_total, next })
    }

    pub(crate) async fn described_device(&self, key: &str) -> Result<Option<DeviceDescription>> {
        self.row(sql!(DEVICE, [key])).await
    }

    pub(crate) async fn recent_of_device(&self, key: &str, most: u32) -> Result<Vec<RunRow>> {
        let rows = sql!(AssertSqlSafe(recent_of_device()), [key, i64::from(most)]).fetch_all(&self.pool).await?;
        rows.iter().map(run_row).collect()
    }
}

pub(super) fn recent_of_device() -> String {
    format!(
        "{SHOWN} WHERE runs.device_key = $1 AND runs.tier <> 'hidden' \
         ORDER BY runs.submitted_unix_seconds DESC, runs.run_id, results.workload LIMIT $2"
    )
}

pub(super) fn run_row(row: &AnyRow) -> Result<RunRow> {
    let client: Client = from_str(row.try_get("_client")?)?;
    let mut fields = fields(row)?;
    fields.insert("client_kind".to_owned(), to_value(client.kind)?);
    fields.insert("client".to_owned(), label(&client).into());
    fields.insert("operating_system".to_owned(), client.operating_system.into());
    Ok(from_value(Value::Object(fields))?)
}

/// Returns the client's name and version, such as `Chrome 142`.
pub(super) fn label(client: &Client) -> String {
    format!("{} {}", client.name, client.version)
}

/// Chooses the first filter that matches few results, or else the order of the list. Also returns the limit of the scan,
/// if many results of the path may not belong to the list, and the rows of the list, up to a limit; absent if counting
/// would take too long.
async fn choose_path(
    connection: &mut AnyConnection,
    conditions: &Conditions,
    bounds: Bounds,
) -> Result<(AccessPath, Option<u64>, Option<u64>)> {
    let mut total = None;
    for path in conditions.filter_paths() {
        let length = count(connection, &conditions.path_length(path, bounds.few + 1)).await?;
        if length <= bounds.few {
            let covers_all = conditions.covers_all(path);
            let matching = conditions.count_matching(path, ScanRange { limit: bounds.few, ..ScanRange::default() });
            let total = if covers_all { length } else { count(connection, &matching).await? };
            return Ok((path, None, Some(total)));
        }
        if conditions.covers_all(path) {
            total = Some(length);
        }
    }
    let path = None;
    if total.is_none() && conditions.covers_all(path) {
        total = Some(count(connection, &conditions.path_length(path, bounds.few + 1)).await?);
    }
    // If each result on the path belongs to the list, no more are scanned than shown.
    let scan_limit = (!conditions.covers_all(path)).then_some(bounds.scanned);
    Ok((path, scan_limit, total))
}

/// Returns the last place if `most` results are scanned in the order of the list, or `None` if the list ends earlier.
async fn last_place(
    connection: &mut AnyConnection,
    conditions: &Conditions,
    after: Option<&RowKey>,
    most: u64,
) -> Result<Option<RowKey>> {
    let row = conditions.last_scanned(after, most).query().fetch_optional(connection).await?;
    row.map(|row| key(&row, conditions.order)).transpose()
}

async fn count(connection: &mut AnyConnection, statement: &Statement) -> Result<u64> {
    let row = statement.query().fetch_one(connection).await?;
    Ok(u64::try_from(row.try_get::<i64, _>("results")?)?)
}

fn key(row: &AnyRow, order: RunSort) -> Result<RowKey> {
    Ok(RowKey {
        number: row.try_get(first_column(order))?,
        submitted_unix_seconds: row.try_get("submitted_unix_seconds")?,
        run_id: row.try_get("run_id")?,
        workload: row.try_get("workload")?,
    })
}

fn example_key() -> RowKey {
    let (run_id, workload) = ("0123456789abcdef".to_owned(), "caffe-mnist".to_owned());
    RowKey { number: 1.8e9, submitted_unix_seconds: 1.8e9, run_id, workload }
}

pub(super) fn all_queries() -> Vec<Statement> {
    let (key, mut queries) = (example_key(), Vec::new());
    let limit = Bounds::default().scanned;
    for (order, filters) in RunSort::ALL.into_iter().flat_map(|order| (0..32_u8).map(move |filters| (order, filters))) {
        let has = |number: u8| filters & (1 << number) != 0;
        let conditions = Conditions {
            order,
            workload: (order.needs_workload() || has(0)).then(|| "caffe-mnist".to_owned()),
            device: has(1).then(|| "reported-example-gpu-9000".to_owned()),
            kinds: has(2).then(|| "1,2,3".to_owned()),
            since: has(3).then_some(1.7e9),
            before: has(4).then_some(1.9e9),
        };
        let paths = conditions.filter_paths().into_iter().chain([None]);
        for (path, after) in paths.flat_map(|path| [(path, None), (path, Some(&key))]) {
            let until = Some(&key).filter(|_| path.is_none() && !conditions.covers_all(path));
            let range = ScanRange { after, until, limit };
            queries.push(conditions.path_length(path, limit));
            queries.push(conditions.count_matching(path, range));
            queries.push(conditions.rows(path, range, (10_000, 100), SHOWN));
        }
        queries.push(conditions.last_scanned(Some(&key), limit));
    }
    queries
}

/// Maximum number of scanned results of the device, in all categories.
const MAX_SCANNED: u64 = 20_000;
const MAX_PAST: u64 = 2000;

const PAST: &str = "SELECT results.run_id, results.rate, results.submitted_unix_seconds, \
     results.voice, results.submitter_day AS day, results.engine_version, results.driver FROM results";

/// A proven result of a device, with the versions that may explain a change.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct PastResult {
    #[serde(flatten)]
    pub(crate) run: ProvenRun,
    pub(crate) submitted_unix_seconds: f64,
    pub(crate) engine_version: String,
    pub(crate) driver: String,
}

impl Database {
    /// Returns the latest proven results of a device in a category, and true if older ones are left out.
    pub(crate) async fn history(
        &self,
        device: &str,
        class: &str,
        category: &Category,
    ) -> Result<(Vec<PastResult>, bool)> {
        let mut transaction = self.reading().await?;
        let version = category.suite.version.to_string();
        let kinds = KindFilter::new([
            ("backend", Some(&*category.backend)),
            ("precision", Some(category.precision.name())),
            ("suite_name", Some(&*category.suite.name)),
            ("suite_version", Some(&*version)),
            ("client_kind", Some(category.client_kind.name())),
            ("ranked_as", Some(class)),
        ]);
        let kinds = kinds.kinds(&mut transaction).await?.unwrap_or_default();
        if kinds.is_empty() {
            return Ok((Vec::new(), false));
        }
        let conditions = history_conditions(device, &category.workload, kinds);
        let until = last_place(&mut transaction, &conditions, None, MAX_SCANNED).await?;
        let mut rows = latest(&conditions, until.as_ref()).query().fetch_all(&mut *transaction).await?;
        let too_many = rows.len() as u64 > MAX_PAST;
        rows.truncate(usize::try_from(MAX_PAST)?);
        Ok((rows.iter().map(read).collect::<Result<_>>()?, too_many || until.is_some()))
    }
}

fn history_conditions(device: &str, workload: &str, kinds: String) -> Conditions {
    let (workload, device) = (Some(workload.to_owned()), Some(device.to_owned()));
    Conditions { order: RunSort::Newest, workload, device, kinds: Some(kinds), since: None, before: None }
}

fn latest(conditions: &Conditions, until: Option<&RowKey>) -> Statement {
    conditions.rows(None, ScanRange { until, ..ScanRange::default() }, (0, MAX_PAST + 1), PAST)
}

pub(super) fn history_queries() -> [Statement; 2] {
    let conditions = history_conditions("reported-example-gpu-9000", "caffe-mnist", "1,2,3".to_owned());
    [latest(&conditions, Some(&example_key())), conditions.last_scanned(None, MAX_SCANNED)]
}
