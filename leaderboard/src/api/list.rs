//! Queries of lists of results, their pages, and the cursors between them.

use axum::Json;
use axum::extract::State;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use results::api::{ListRuns, ModerationLog, ModerationQuery, RunList, RunSort, Tier};
use results::{BROWSERS, ClientKind, Date, Precision, SYSTEMS, UNKNOWN, VENDORS};
use serde::{Deserialize, Serialize};

use super::Leaderboard;
use super::extract::{ReadQuery, bad_query, bad_query_of};
use crate::error::Result;
use crate::secrets::{is_run_id, sha256};
use crate::storage::{Conditions, Database, KindFilter, ListQuery, RowKey};
use crate::validation::FieldPath;

const DEFAULT_ROWS: u32 = 100;
/// Maximum length of a key, larger than the limit of names in a record.
const MAX_KEY_LENGTH: usize = 1000;
const DAY: f64 = 86_400.0;

pub(crate) async fn show(
    State(leaderboard): State<Leaderboard>,
    ReadQuery(query): ReadQuery<ListRuns>,
) -> Result<Json<RunList>> {
    let found = leaderboard.storage.list(&list_query(&leaderboard.storage, &query).await?).await?;
    let next = found.next.map(|(key, skip)| write_cursor(&query, &key, skip)).transpose()?;
    Ok(Json(RunList { rows: found.rows, total: found.total, more_than_total: found.more_than_total, next }))
}

pub(crate) fn next_page(query: &ListRuns, key: &RowKey, skip: u64) -> Result<ListRuns, serde_json::Error> {
    Ok(ListRuns { cursor: Some(write_cursor(query, key, skip)?), offset: None, ..query.clone() })
}

pub(crate) async fn list_query(storage: &Database, query: &ListRuns) -> Result<ListQuery> {
    check(query)?;
    let by_default = if query.workload.is_some() { RunSort::Fastest } else { RunSort::Newest };
    let (after, skip) = match &query.cursor {
        Some(cursor) => read_cursor(query, cursor).map(|(key, skip)| (Some(key), skip))?,
        None => (None, u64::from(query.offset.unwrap_or(0))),
    };
    let day = |field: &str, text: &Option<String>| text.as_deref().map(|text| day(field, text)).transpose();
    let device = match &query.device {
        Some(device) => Some(storage.grouped_as(device).await?),
        None => None,
    };
    let kinds = kinds(query)?;
    let (since, until) = (day("since", &query.since)?, day("until", &query.until)?);
    let (order, workload) = (query.sort.unwrap_or(by_default), query.workload.clone());
    let before = until.map(|begin| begin + DAY);
    Ok(ListQuery {
        conditions: Conditions { order, workload, device, kinds: None, since, before },
        kinds,
        limit: u64::from(query.limit.unwrap_or(DEFAULT_ROWS)),
        after,
        skip,
    })
}

fn kinds(query: &ListRuns) -> Result<KindFilter> {
    let ranked_precision = (query.ranked && query.workload.is_some()).then_some(Precision::F32);
    let browsers: Vec<&str> = BROWSERS.into_iter().chain([UNKNOWN]).collect();
    let systems: Vec<&str> = SYSTEMS.into_iter().chain([UNKNOWN]).collect();
    Ok(KindFilter::new([
        ("backend", query.backend.as_deref()),
        ("precision", query.precision.or(ranked_precision).map(Precision::name)),
        ("suite_name", query.suite.as_deref()),
        ("client_kind", query.client.map(ClientKind::name)),
        ("browser", one_of("browser", query.browser.as_deref(), &browsers)?),
        ("system", one_of("system", query.system.as_deref(), &systems)?),
        ("vendor", one_of("vendor", query.vendor.as_deref(), &VENDORS)?),
        ("tier", query.tier.map(Tier::name)),
        ("ranked_as", query.ranked.then(|| query.class.unwrap_or_default().name())),
    ]))
}

fn one_of(field: &str, word: Option<&str>, words: &[&'static str]) -> Result<Option<&'static str>> {
    let Some(word) = word else { return Ok(None) };
    let found = words.iter().copied().find(|known| known.eq_ignore_ascii_case(word));
    found.map(Some).ok_or_else(|| {
        bad_query(format!("The leaderboard has no such {field}. Use one of these: {}.", words.join(", "))).at(field)
    })
}

fn day(field: &str, text: &str) -> Result<f64> {
    let message = "This is not a day. Write it as 2026-11-23, in UTC.";
    Date::from_iso(text).map(Date::unix_seconds).ok_or_else(|| bad_query(message).at(field))
}

fn check(query: &ListRuns) -> Result<()> {
    for (field, name) in [("workload", &query.workload), ("suite", &query.suite)] {
        name.as_ref().map_or(Ok(()), |name| FieldPath::ROOT.field(field).name(name)).map_err(bad_query_of)?;
    }
    let refuse = |field: &str, message: &str| Err(bad_query(message).at(field));
    if !query.device.as_deref().is_none_or(is_device_key) {
        return refuse("device", "This is not the key of a device. `/api/v1/standings` lists the keys.");
    }
    if query.tier == Some(Tier::Hidden) {
        return refuse("tier", "Hidden runs cannot be listed.");
    }
    if query.workload.is_none() && query.sort.is_some_and(RunSort::needs_workload) {
        return refuse("sort", "Specify a `workload` as well: metrics of different workloads cannot be compared.");
    }
    if query.class.is_some() && !query.ranked {
        return refuse("class", "A class needs `ranked=true` as well.");
    }
    if query.cursor.is_some() && query.offset.is_some() {
        return refuse("offset", "A cursor already sets the position: omit `offset`.");
    }
    Ok(())
}

/// Returns true if a key has only letters and digits of any script, and hyphens.
pub(super) fn is_device_key(key: &str) -> bool {
    key.len() <= MAX_KEY_LENGTH && key.chars().all(|letter| letter.is_alphanumeric() || letter == '-')
}

/// Maximum length of a cursor, larger than all valid ones.
const MAX_CURSOR_LENGTH: usize = 500;
/// Number of hexadecimal digits of the digest that ties a cursor to its query.
const QUERY_DIGITS: usize = 12;

/// The content of a cursor. Numbers are stored as their bits, so that they stay exact.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ListCursor {
    q: String,
    n: u64,
    s: u64,
    r: String,
    w: String,
    #[serde(default)]
    o: u32,
}

/// Returns the cursor of the rows after a place. Errors do not occur.
fn write_cursor(query: &ListRuns, key: &RowKey, skip: u64) -> Result<String, serde_json::Error> {
    let RowKey { number, submitted_unix_seconds, run_id: r, workload: w } = key.clone();
    let (n, s, o) = (number.to_bits(), submitted_unix_seconds.to_bits(), u32::try_from(skip).unwrap_or(u32::MAX));
    Ok(URL_SAFE_NO_PAD.encode(serde_json::to_vec(&ListCursor { q: digest_of_query(query)?, n, s, r, w, o })?))
}

/// Returns the place in a cursor of this query, and the number of rows to skip after it.
fn read_cursor(query: &ListRuns, cursor: &str) -> Result<(RowKey, u64)> {
    let refusal = |message: &str| bad_query(message).at("cursor");
    let broken = || refusal("This is not a valid cursor. Start without one, then pass `next` unchanged.");
    let place = (cursor.len() <= MAX_CURSOR_LENGTH).then(|| URL_SAFE_NO_PAD.decode(cursor).ok()).flatten();
    let place: Option<ListCursor> = place.and_then(|json| serde_json::from_slice(&json).ok());
    let ListCursor { q: digest, n, s, r: run_id, w: workload, o: skip } = place.ok_or_else(broken)?;
    if digest_of_query(query)? != digest {
        return Err(refusal(
            "This cursor belongs to another query. Repeat the query that returned it, or start without a cursor.",
        ));
    }
    let [number, submitted_unix_seconds] = [n, s].map(f64::from_bits);
    let is_name = FieldPath::ROOT.field("cursor").name(&workload).is_ok();
    if !(is_run_id(&run_id) && is_name && number.is_finite() && submitted_unix_seconds.is_finite()) {
        return Err(broken());
    }
    Ok((RowKey { number, submitted_unix_seconds, run_id, workload }, u64::from(skip)))
}

fn digest_of_query(query: &ListRuns) -> Result<String, serde_json::Error> {
    let query = ListRuns { limit: None, cursor: None, offset: None, ..query.clone() };
    Ok(sha256(&serde_json::to_vec(&query)?).chars().take(QUERY_DIGITS).collect())
}

pub(crate) async fn moderation_log(
    State(leaderboard): State<Leaderboard>,
    ReadQuery(query): ReadQuery<ModerationQuery>,
) -> Result<Json<ModerationLog>> {
    Ok(Json(leaderboard.storage.moderation_log(&query).await?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_cursor_is_refused() {
        let query = ListRuns { workload: Some("caffe-mnist".to_owned()), ..ListRuns::default() };
        let (run_id, workload) = ("0123456789abcdef".to_owned(), "caffe-mnist".to_owned());
        let key = RowKey { number: -1234.5, submitted_unix_seconds: 1.8e9 + 0.1, run_id, workload };
        let forged = |key: &RowKey| write_cursor(&query, key, 0).unwrap();
        assert_eq!(read_cursor(&query, &forged(&key)).unwrap(), (key.clone(), 0));
        for cursor in [
            String::new(),
            "????".to_owned(),
            "e30".to_owned(),
            "a".repeat(10_000),
            forged(&RowKey { number: f64::NAN, ..key.clone() }),
            forged(&RowKey { run_id: "\0".repeat(16), ..key.clone() }),
            forged(&RowKey { workload: "a\0b".to_owned(), ..key.clone() }),
        ] {
            let refusal = format!("{:?}", read_cursor(&query, &cursor).unwrap_err());
            assert!(refusal.contains("not a valid cursor"), "{cursor}: {refusal}");
        }
    }
}
