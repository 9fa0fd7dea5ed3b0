//! Lists of results. A page is found on one of a few ways, each an index, and no answer looks at more than a bounded number
//! of results, however many there are; the tests hold every query to that.

mod ways;

use results::api::{RunRow, RunSort};
use results::{Client, Precision};
use sqlx::any::AnyRow;
use sqlx::{AnyConnection, AssertSqlSafe, Row};

use super::kinds::{KindFilter, Kinds};
use super::runs::tier;
use super::values::{Statement, as_flag, flag, unknown_word};
use super::{Storage, StorageError};
use crate::figures::DeviceDescription;
pub(super) use ways::{Conditions, Reach, Way};
pub(crate) use ways::{Key, Order};

/// The part of what may be looked at that is looked at first.
const FIRST_PORTION: u64 = 12;

/// How much is looked at for one answer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    /// A filter that leaves no more is the way: all that it leaves are read and sorted. Nobody counts further, either:
    /// whoever reads "more than 5,000" knows enough.
    pub(crate) few: u64,
    /// Results that are looked at in the order of the list.
    pub(crate) looked_at: u64,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { few: 5_000, looked_at: 25_000 }
    }
}

/// A list that is wanted.
#[derive(Clone, Debug)]
pub(crate) struct Wanted {
    pub(crate) order: Order,
    pub(crate) workload: Option<String>,
    pub(crate) device: Option<String>,
    pub(crate) kinds: KindFilter,
    /// From this moment on, in seconds since 1970.
    pub(crate) since: Option<f64>,
    /// Before this one.
    pub(crate) before: Option<f64>,
    pub(crate) limit: u64,
    /// Where the last page ended.
    pub(crate) after: Option<Key>,
    /// Rows to leave out after that.
    pub(crate) skip: u64,
}

/// A page of it.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    pub(crate) rows: Vec<RunRow>,
    /// Rows there are, at least.
    pub(crate) total: u64,
    pub(crate) more_than_total: bool,
    /// Where the next page begins, and how many rows it has to leave out still; nothing after the last row.
    pub(crate) next: Option<(Key, u64)>,
}

/// The way to a page.
struct Chosen {
    way: Way,
    /// How much is looked at where there may be more on the way than that, and than what belongs to the list.
    cut: Option<u64>,
    /// Rows of the list, as far as they were counted; nothing where that would take too long.
    total: Option<u64>,
}

impl Chosen {
    /// How much is looked at, first a little: most pages are full then.
    fn portions(&self) -> Vec<Option<u64>> {
        match self.cut {
            Some(most) => vec![Some((most / FIRST_PORTION).max(1)), Some(most)],
            None => vec![None],
        }
    }
}

/// What a row shows, of the results that were chosen.
const SHOWN: &str = concat!(
    "SELECT runs.run_id, results.workload, runs.backend, runs.adapter, runs.claimed_name, runs.client, ",
    "results.batch_size, results.precision, runs.tier, results.submitted_unix_seconds, results.summary, ",
    as_flag!("runs.standard", "standard"),
    ", ",
    as_flag!("results.ranked_as IS NOT NULL", "ranked"),
    ", results.descending_rate, results.descending_accuracy, results.seconds_to_target",
    " FROM results JOIN runs ON runs.run_id = results.run_id"
);

/// Whose word the device's newest run has for it; one that was merged into it goes by its name.
const DEVICE: &str = "SELECT device_source, inferred, COALESCE(into_name, device_name) AS device_name, \
     COALESCE(into_vendor, vendor) AS vendor \
     FROM runs LEFT JOIN device_aliases ON device_aliases.device_key = runs.own_device_key \
     WHERE runs.device_key = $1 AND tier <> 'hidden' ORDER BY submitted_unix_seconds DESC, run_id LIMIT 1";

impl Storage {
    /// A page of the results that are wanted.
    pub(crate) async fn list(&self, wanted: &Wanted) -> Result<Found, StorageError> {
        self.list_within(wanted, Bounds::default()).await
    }

    /// The same within other bounds, of which only how much is looked at for one answer depends.
    pub(crate) async fn list_within(&self, wanted: &Wanted, bounds: Bounds) -> Result<Found, StorageError> {
        let mut transaction = self.reading().await?;
        let conditions = Conditions {
            order: wanted.order,
            workload: wanted.workload.as_deref(),
            device: wanted.device.as_deref(),
            kinds: wanted.kinds.kinds(&mut transaction).await?,
            since: wanted.since,
            before: wanted.before,
        };
        if conditions.kinds.as_ref().is_some_and(Kinds::is_empty) {
            return Ok(Found { rows: Vec::new(), total: 0, more_than_total: false, next: None });
        }
        let chosen = choose(&mut transaction, &conditions, bounds).await?;
        let after = wanted.after.as_ref();
        // One more tells whether there are more.
        let part = (wanted.skip, wanted.limit + 1);
        let (mut rows, mut is_full, mut until) = (Vec::new(), false, None);
        for portion in chosen.portions() {
            until = match portion {
                Some(most) => last_place(&mut transaction, &conditions, after, most).await?,
                None => None,
            };
            let statement =
                conditions.rows(chosen.way, Reach { after, until: until.as_ref(), most: bounds.few }, part, SHOWN);
            rows = statement.query().fetch_all(&mut *transaction).await?;
            is_full = rows.len() as u64 > wanted.limit;
            if is_full || until.is_none() {
                break;
            }
        }
        rows.truncate(usize::try_from(wanted.limit)?);
        let next = match (rows.last(), until) {
            (Some(row), _) if is_full => Some((key(row, wanted.order)?, 0)),
            // After all that was looked at, and with as many rows to leave out as were not met there.
            (row, Some(until)) => {
                let mut skip = 0;
                if wanted.skip > 0 && row.is_none() {
                    let reach = Reach { after, until: Some(&until), most: bounds.few };
                    let met = counted(&mut transaction, &conditions.count(chosen.way, reach)).await?;
                    skip = wanted.skip.saturating_sub(met);
                }
                Some((until, skip))
            }
            _ => None,
        };
        let before = if rows.is_empty() { 0 } else { wanted.skip };
        let (total, more_than_total) = match chosen.total {
            Some(total) => (total.min(bounds.few), total > bounds.few),
            None => (before + rows.len() as u64, next.is_some() || wanted.after.is_some()),
        };
        Ok(Found { rows: rows.iter().map(run_row).collect::<Result<_, _>>()?, total, more_than_total, next })
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

/// The first filter that leaves few, or else the order of the list.
async fn choose(
    connection: &mut AnyConnection,
    conditions: &Conditions<'_>,
    bounds: Bounds,
) -> Result<Chosen, StorageError> {
    let mut total = None;
    for way in conditions.ways() {
        let length = counted(connection, &conditions.length(way, bounds.few + 1)).await?;
        if length <= bounds.few {
            let leads_all = conditions.leads_all(way);
            let count = conditions.count(way, Reach { most: bounds.few, ..Reach::default() });
            let total = if leads_all { length } else { counted(connection, &count).await? };
            return Ok(Chosen { way, cut: None, total: Some(total) });
        }
        if conditions.leads_all(way) {
            total = Some(length);
        }
    }
    let way = Way::Order;
    if total.is_none() && conditions.leads_all(way) {
        total = Some(counted(connection, &conditions.length(way, bounds.few + 1)).await?);
    }
    // Where all on the way belongs to the list, no more is looked at than is shown.
    let cut = (!conditions.leads_all(way)).then_some(bounds.looked_at);
    Ok(Chosen { way, cut, total })
}

/// The last place in the order of the list where so many results are looked at; nothing where the order ends before.
pub(super) async fn last_place(
    connection: &mut AnyConnection,
    conditions: &Conditions<'_>,
    after: Option<&Key>,
    most: u64,
) -> Result<Option<Key>, StorageError> {
    let statement = conditions.last(after, most);
    let row = statement.query().fetch_optional(connection).await?;
    row.map(|row| key(&row, conditions.order)).transpose()
}

async fn counted(connection: &mut AnyConnection, statement: &Statement) -> Result<u64, StorageError> {
    let row = statement.query().fetch_one(connection).await?;
    Ok(u64::try_from(row.try_get::<i64, _>("results")?)?)
}

fn key(row: &AnyRow, order: Order) -> Result<Key, StorageError> {
    Ok(Key {
        number: row.try_get(order.number())?,
        submitted_unix_seconds: row.try_get("submitted_unix_seconds")?,
        run_id: row.try_get("run_id")?,
        workload: row.try_get("workload")?,
    })
}

/// Every kind of list, each with a value for every parameter; for looking at how they are performed.
pub(super) fn all_queries() -> Vec<(String, Vec<String>)> {
    let key = Key {
        number: 1.8e9,
        submitted_unix_seconds: 1.8e9,
        run_id: "0123456789abcdef".to_owned(),
        workload: "caffe-mnist".to_owned(),
    };
    let device = "'reported-example-gpu-9000'".to_owned();
    let mut queries =
        vec![(recent_of_device(), vec![device.clone(), "20".to_owned()]), (DEVICE.to_owned(), vec![device])];
    let mut add = |statement: Statement| {
        let values = statement.values.iter().map(super::values::Value::written).collect();
        queries.push((statement.sql, values));
    };
    let most = Bounds::default().looked_at;
    for conditions in kinds_of_lists() {
        let ways: Vec<Way> = conditions.ways().into_iter().chain([Way::Order]).collect();
        for (way, after) in ways.into_iter().flat_map(|way| [(way, None), (way, Some(&key))]) {
            let until = Some(&key).filter(|_| way == Way::Order && !conditions.leads_all(way));
            add(conditions.length(way, most));
            add(conditions.count(way, Reach { after, until, most }));
            add(conditions.rows(way, Reach { after, until, most }, (10_000, 100), SHOWN));
        }
        add(conditions.last(Some(&key), most));
    }
    queries
}

/// Every order with every filter, and with all of them.
fn kinds_of_lists() -> Vec<Conditions<'static>> {
    let mut lists = Vec::new();
    for sort in RunSort::ALL {
        for filters in 0..32_u8 {
            let has = |number: u8| filters & (1 << number) != 0;
            lists.push(Conditions {
                order: Order(sort),
                workload: (sort.needs_workload() || has(0)).then_some("caffe-mnist"),
                device: has(1).then_some("reported-example-gpu-9000"),
                kinds: has(2).then(|| Kinds::numbered(&[1, 2, 3])),
                since: has(3).then_some(1.7e9),
                before: has(4).then_some(1.9e9),
            });
        }
    }
    lists
}
