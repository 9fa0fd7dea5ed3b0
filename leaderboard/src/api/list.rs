//! Lists of results: what a query means, and a page of it.

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use results::api::{ListRuns, RunList, RunSort, Tier};
use results::{BROWSERS, ClientKind, Date, Precision, SYSTEMS, UNKNOWN, VENDORS};

use super::Leaderboard;
use super::cursor;
use super::runs::{bad_query, read_query};
use crate::error::ApiError;
use crate::storage::{Key, KindFilter, Order, Wanted};
use crate::validation::{self, FieldPath, Refusal};

pub(super) const MOST_ROWS: u64 = 500;
/// Rows of one answer when the query names no limit.
const DEFAULT_ROWS: u32 = 100;
/// Nobody pages further than this; every row before a page is counted again.
pub(super) const LARGEST_OFFSET: u64 = 10_000;
/// Longer than any name that a record may have.
const LONGEST_KEY: usize = 1000;
const DAY: f64 = 86_400.0;

pub(crate) async fn show(
    State(leaderboard): State<Leaderboard>,
    query: Result<Query<ListRuns>, QueryRejection>,
) -> Result<Json<RunList>, ApiError> {
    let query = read_query(query)?;
    let mut wanted = wanted(&query)?;
    if let Some(device) = &mut wanted.device {
        *device = leaderboard.storage.grouped_as(device).await?;
    }
    let found = leaderboard.storage.list(&wanted).await?;
    let next = found.next.map(|(key, skip)| next_page(&query, &key, skip)).transpose()?;
    let next = next.and_then(|query| query.cursor);
    Ok(Json(RunList { rows: found.rows, total: found.total, more_than_total: found.more_than_total, next }))
}

/// The query of the page that comes after a place.
pub(crate) fn next_page(query: &ListRuns, key: &Key, skip: u64) -> Result<ListRuns, serde_json::Error> {
    Ok(ListRuns { cursor: Some(cursor::written(query, key, skip)?), offset: None, ..query.clone() })
}

/// What a query means, or what is wrong with it.
pub(crate) fn wanted(query: &ListRuns) -> Result<Wanted, ApiError> {
    let refused = |refusal: Refusal| bad_query(refusal.message).at(refusal.field);
    check(query).map_err(refused)?;
    let by_default = if query.workload.is_some() { RunSort::Fastest } else { RunSort::Newest };
    let order = Order(query.sort.unwrap_or(by_default));
    let (after, skip) = match &query.cursor {
        Some(cursor) => {
            let (key, skip) = cursor::read(query, cursor).map_err(refused)?;
            (Some(key), skip)
        }
        None => (None, u64::from(query.offset.unwrap_or(0))),
    };
    let day = |field: &str, text: &Option<String>| text.as_deref().map(|text| day(field, text)).transpose();
    Ok(Wanted {
        order,
        workload: query.workload.clone(),
        device: query.device.clone(),
        kinds: kinds(query)?,
        since: day("since", &query.since)?,
        before: day("until", &query.until)?.map(|begin| begin + DAY),
        limit: u64::from(query.limit.unwrap_or(DEFAULT_ROWS)),
        after,
        skip,
    })
}

fn kinds(query: &ListRuns) -> Result<KindFilter, ApiError> {
    let ranked_precision = (query.ranked && query.workload.is_some()).then_some(Precision::F32);
    let browsers: Vec<&str> = BROWSERS.into_iter().chain([UNKNOWN]).collect();
    let systems: Vec<&str> = SYSTEMS.into_iter().chain([UNKNOWN]).collect();
    Ok(KindFilter {
        backend: query.backend.clone(),
        precision: query.precision.or(ranked_precision).map(Precision::name),
        suite_name: query.suite.clone(),
        suite_version: None,
        client_kind: query.client.map(ClientKind::name),
        browser: one_of("browser", query.browser.as_deref(), &browsers)?,
        system: one_of("system", query.system.as_deref(), &systems)?,
        vendor: one_of("vendor", query.vendor.as_deref(), &VENDORS)?,
        tier: query.tier.map(Tier::name),
        ranked_as: query.ranked.then(|| query.class.unwrap_or_default().name()),
    })
}

/// The one of these words that is asked for, in whatever case.
fn one_of(field: &str, word: Option<&str>, words: &[&'static str]) -> Result<Option<&'static str>, ApiError> {
    let Some(word) = word else { return Ok(None) };
    let found = words.iter().copied().find(|known| known.eq_ignore_ascii_case(word));
    found.map(Some).ok_or_else(|| {
        bad_query(format!("The leaderboard knows no such {field}. Ask for one of these: {}.", words.join(", ")))
            .at(field)
    })
}

/// The moment at which a day begins.
fn day(field: &str, text: &str) -> Result<f64, ApiError> {
    let message = "This is no day. Write it as 2026-11-23; days are those of UTC.";
    Date::from_iso(text).map(Date::unix_seconds).ok_or_else(|| bad_query(message).at(field))
}

fn check(query: &ListRuns) -> validation::Checked {
    let path = FieldPath::ROOT;
    let refuse = |field: &'static str, message: &str| path.field(field).refuse("bad_query", message);
    for (field, name) in [("workload", &query.workload), ("backend", &query.backend), ("suite", &query.suite)] {
        if let Some(name) = name {
            path.field(field).name(name)?;
        }
    }
    if let Some(device) = &query.device
        && !is_device_key(device)
    {
        return refuse("device", "This is no device's key. Take one from `/api/v1/standings`.");
    }
    if query.tier == Some(Tier::Hidden) {
        return refuse("tier", "Hidden runs are in no list.");
    }
    if query.workload.is_none() && query.sort.is_some_and(RunSort::needs_workload) {
        return refuse("sort", "Name a `workload` as well: figures of different workloads cannot be compared.");
    }
    if query.class.is_some() && !query.ranked {
        return refuse("class", "A class is one of rankings: ask for `ranked=true` as well.");
    }
    if query.cursor.is_some() && query.offset.is_some() {
        return refuse("offset", "A cursor says where to go on: leave out `offset`.");
    }
    path.field("limit").whole(u64::from(query.limit.unwrap_or(1)), 1..=MOST_ROWS)?;
    path.field("offset").whole(u64::from(query.offset.unwrap_or(0)), 0..=LARGEST_OFFSET)
}

/// Letters and digits of any script, and hyphens.
pub(super) fn is_device_key(key: &str) -> bool {
    key.len() <= LONGEST_KEY && key.chars().all(|letter| letter.is_alphanumeric() || letter == '-')
}
