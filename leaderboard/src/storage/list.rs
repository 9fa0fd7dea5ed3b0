//! Lists of results. Each is read in the order of an index that holds everything it is filtered by, so that a list of a
//! million results is as quick as one of a hundred; the tests hold every query to that.

use results::api::{ListRuns, RunList, RunRow};
use results::{Client, Precision};
use sqlx::any::AnyRow;
use sqlx::{AssertSqlSafe, Row};

use super::runs::tier;
use super::values::{as_flag, flag, unknown_word};
use super::{Storage, StorageError};
use crate::figures::DeviceDescription;

/// Rows of one answer when the query names no limit.
const DEFAULT_ROWS: u32 = 100;
/// Nobody counts further: whoever reads "more than ten thousand" knows enough.
const MOST_COUNTED: i64 = 10_000;

/// What a row shows, of the results that were chosen.
const SHOWN: &str = concat!(
    "SELECT runs.run_id, results.workload, runs.backend, runs.adapter, runs.claimed_name, runs.client, ",
    "results.batch_size, results.precision, runs.tier, runs.submitted_unix_seconds, results.summary, ",
    as_flag!("runs.standard", "standard"),
    ", ",
    as_flag!("results.ranked_as IS NOT NULL", "ranked"),
    " FROM results JOIN runs ON runs.run_id = results.run_id"
);

/// Whose word the device's newest run has for it; one that was merged into it goes by its name.
const DEVICE: &str = "SELECT device_source, inferred, COALESCE(into_name, device_name) AS device_name, \
     COALESCE(into_vendor, vendor) AS vendor \
     FROM runs LEFT JOIN device_aliases ON device_aliases.device_key = runs.own_device_key \
     WHERE runs.device_key = $1 AND tier <> 'hidden' ORDER BY submitted_unix_seconds DESC, run_id LIMIT 1";

/// A condition for each filter that is set, so that the data base sees which index has all of them.
struct Chosen {
    condition: String,
    order: &'static str,
    values: Vec<String>,
}

impl Chosen {
    fn by(query: &ListRuns) -> Self {
        let mut chosen = Self { condition: String::new(), order: "", values: Vec::new() };
        if query.ranked {
            chosen.condition.push_str("results.ranked_as IS NOT NULL");
            chosen.equals("ranked_as", query.class.unwrap_or_default().name());
        } else {
            chosen.condition.push_str("results.shown");
        }
        let Some(workload) = &query.workload else {
            chosen.order = "results.submitted_unix_seconds DESC, results.run_id, results.workload";
            return chosen;
        };
        chosen.order = "results.rate DESC, results.submitted_unix_seconds, results.run_id";
        chosen.equals("workload", workload);
        if let Some(backend) = &query.backend {
            chosen.equals("backend", backend);
        }
        if let Some(precision) = query.precision.or(query.ranked.then_some(Precision::F32)) {
            chosen.equals("precision", precision.name());
        }
        chosen
    }

    fn equals(&mut self, column: &str, value: &str) {
        self.values.push(value.to_owned());
        let number = self.values.len();
        self.condition.push_str(&format!(" AND results.{column} = ${number}"));
    }

    /// Rows of a page; their number and how many come before them are the next two parameters. What comes before is
    /// counted in the index, and only the page is read.
    fn rows(&self) -> String {
        let Self { condition, order, values } = self;
        let (limit, offset) = (values.len() + 1, values.len() + 2);
        format!(
            "{SHOWN} JOIN (SELECT run_id, workload FROM results WHERE {condition} ORDER BY {order} LIMIT ${limit} \
             OFFSET ${offset}) AS page ON results.run_id = page.run_id AND results.workload = page.workload \
             ORDER BY {order}"
        )
    }

    /// How many rows there are; counting ends at the next parameter. They are counted in their order, so that the index is
    /// read and not the rows.
    fn count(&self) -> String {
        let Self { condition, order, values } = self;
        let most = values.len() + 1;
        format!(
            "SELECT COUNT(*) AS total FROM (SELECT 1 FROM results WHERE {condition} ORDER BY {order} LIMIT ${most}) AS \
             counted"
        )
    }
}

impl Storage {
    /// Results that fit the query: those of one workload fastest first, and otherwise the newest first.
    pub(crate) async fn list(&self, query: &ListRuns) -> Result<RunList, StorageError> {
        let chosen = Chosen::by(query);
        let values = &chosen.values;
        // The total and the rows have to be of the same moment.
        let mut transaction = self.reading().await?;
        let mut count = sqlx::query(AssertSqlSafe(chosen.count()));
        let mut rows = sqlx::query(AssertSqlSafe(chosen.rows()));
        for value in values {
            (count, rows) = (count.bind(value), rows.bind(value));
        }
        let counted: i64 = count.bind(MOST_COUNTED + 1).fetch_one(&mut *transaction).await?.try_get("total")?;
        let rows = rows
            .bind(i64::from(query.limit.unwrap_or(DEFAULT_ROWS)))
            .bind(i64::from(query.offset.unwrap_or(0)))
            .fetch_all(&mut *transaction)
            .await?;
        Ok(RunList {
            rows: rows.iter().map(run_row).collect::<Result<_, _>>()?,
            total: u64::try_from(counted.min(MOST_COUNTED))?,
            more_than_total: counted > MOST_COUNTED,
        })
    }

    /// Which device has this key; nothing where none of its runs is visible.
    pub(crate) async fn described_device(&self, key: &str) -> Result<Option<DeviceDescription>, StorageError> {
        let Some(row) = sqlx::query(DEVICE).bind(key).fetch_optional(&self.pool).await? else { return Ok(None) };
        let source: &str = row.try_get("device_source")?;
        Ok(Some(DeviceDescription {
            key: key.to_owned(),
            name: row.try_get("device_name")?,
            source: results::api::DeviceSource::named(source).ok_or_else(|| unknown_word("device_source", source))?,
            inferred: row.try_get("inferred")?,
            vendor: row.try_get("vendor")?,
        }))
    }

    /// The latest results of a device, the newest first.
    pub(crate) async fn recent_of_device(&self, key: &str, most: u32) -> Result<Vec<RunRow>, StorageError> {
        let rows = sqlx::query(AssertSqlSafe(recent_of_device()))
            .bind(key)
            .bind(i64::from(most))
            .fetch_all(&self.pool)
            .await?;
        rows.iter().map(run_row).collect()
    }
}

fn recent_of_device() -> String {
    format!(
        "{SHOWN} WHERE runs.device_key = $1 AND runs.tier <> 'hidden' \
         ORDER BY runs.submitted_unix_seconds DESC, runs.run_id, results.workload LIMIT $2"
    )
}

fn run_row(row: &AnyRow) -> Result<RunRow, StorageError> {
    let client: Client = serde_json::from_str(row.try_get("client")?)?;
    Ok(RunRow {
        run_id: row.try_get("run_id")?,
        workload: row.try_get("workload")?,
        backend: row.try_get("backend")?,
        adapter: serde_json::from_str(row.try_get("adapter")?)?,
        claimed_name: row.try_get("claimed_name")?,
        client_kind: client.kind,
        client: format!("{} {}", client.name, client.version),
        operating_system: client.operating_system,
        batch_size: u32::try_from(row.try_get::<i64, _>("batch_size")?)?,
        precision: precision(row)?,
        tier: tier(row)?,
        standard: flag(row, "standard")?,
        ranked: flag(row, "ranked")?,
        submitted_unix_seconds: row.try_get("submitted_unix_seconds")?,
        summary: serde_json::from_str(row.try_get("summary")?)?,
    })
}

fn precision(row: &AnyRow) -> Result<Precision, StorageError> {
    let name: &str = row.try_get("precision")?;
    Precision::named(name).ok_or_else(|| unknown_word("precision", name))
}

/// Every kind of list, each with a value for every parameter; for looking at how they are performed.
pub(super) fn all_queries() -> Vec<(String, Vec<String>)> {
    let mut queries = vec![
        (recent_of_device(), values(&["'reported-example-gpu-9000'", "20"])),
        (DEVICE.to_owned(), values(&["'reported-example-gpu-9000'"])),
    ];
    for query in kinds() {
        let chosen = Chosen::by(&query);
        let quoted: Vec<String> = chosen.values.iter().map(|value| format!("'{value}'")).collect();
        queries.push((chosen.rows(), [quoted.clone(), values(&["100", "10000"])].concat()));
        queries.push((chosen.count(), [quoted, vec![MOST_COUNTED.to_string()]].concat()));
    }
    queries
}

/// Every combination of filters for which there is an index.
fn kinds() -> Vec<ListRuns> {
    let all = ListRuns::default();
    let workload = ListRuns { workload: Some("caffe-mnist".to_owned()), ..all.clone() };
    let backend = Some("wgsl".to_owned());
    let precision = Some(Precision::F16);
    let both = ListRuns { backend: backend.clone(), precision, ..workload.clone() };
    let of_backend = ListRuns { backend, ..workload.clone() };
    let of_precision = ListRuns { precision, ..workload.clone() };
    let shown = [all, workload, of_backend, of_precision, both];
    let ranked = shown.clone().map(|query| ListRuns { ranked: true, ..query });
    shown.into_iter().chain(ranked).collect()
}

fn values(values: &[&str]) -> Vec<String> {
    values.iter().map(|value| (*value).to_owned()).collect()
}
