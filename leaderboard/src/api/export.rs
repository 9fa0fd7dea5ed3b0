//! Exports of all visible results or of a list.

use std::time::{Duration, Instant};

use axum::Json;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderValue, Uri, header};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use results::Date;
use results::api::ListRuns;
use results::open_data::{ExportAbout, ExportFormat, ExportQuery, LICENCE_ADDRESS, SnapshotList};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::Leaderboard;
use super::extract::{Requester, bad_query, read_query};
use super::list::list_query;
use crate::error::{ApiError, Result};
use crate::limits::{ClientPlaces, Most, Taken};
use crate::open_data::{self, Export, ExportError, ExportedRuns};
use crate::storage::ListQuery;
use crate::validation::MAX_ROWS;

const EXPORTS: usize = 8;
/// Maximum number of exports of one address, and of a /24 or /48, so that slow readers leave places to others.
const MAX_EXPORTS_PER_CLIENT: Most = Most { of_network: 2, of_prefix: EXPORTS / 2 };
/// Timeout of an export, so that a stalled reader does not block others.
const EXPORT_TIMEOUT: Duration = Duration::from_secs(1800);
/// Time after which the mean speed of a reader counts …
const SPEED_GRACE: Duration = Duration::from_secs(30);
/// … and the minimum speed.
const MIN_BYTES_PER_SECOND: f64 = 16_384.0;

/// Media type of a Parquet file, which is already compressed.
pub(crate) const PARQUET: &str = "application/vnd.apache.parquet";

pub(crate) fn export_places() -> ClientPlaces {
    ClientPlaces::new(EXPORTS, MAX_EXPORTS_PER_CLIENT)
}

pub(crate) async fn all(State(leaderboard): State<Leaderboard>, requester: Requester, uri: Uri) -> Result<Response> {
    let ExportQuery { format, list } = read(uri.query().unwrap_or_default())?;
    let list = if list == ListRuns::default() { None } else { Some(to_list_query(&leaderboard, list).await?) };
    let place = leaderboard.exports.take(1, requester.counted()).ok_or_else(ApiError::busy)?;
    let date = Date::of(leaderboard.clock.unix_seconds()).iso();
    let runs = match list {
        None => ExportedRuns::all(leaderboard.storage),
        Some(list) => ExportedRuns::of_list(leaderboard.storage, list),
    };
    let mut export = Export::new(runs, format)?;
    // An error at the start is answered as text. Later ones can only end the connection.
    let first = export.next().await?;
    let (ending, kind) = match format {
        ExportFormat::Csv => ("csv", "text/csv; charset=utf-8; header=present"),
        ExportFormat::Jsonl => ("jsonl", "application/jsonl; charset=utf-8"),
        ExportFormat::Parquet => ("parquet", PARQUET),
    };
    let named = |text: String| HeaderValue::from_str(&text).map_err(|cause| ApiError::internal(&cause));
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static(kind)),
        (header::CONTENT_DISPOSITION, named(format!("attachment; filename=\"gradmark-results-{date}.{ending}\""))?),
        (header::LINK, named(format!("<{LICENCE_ADDRESS}>; rel=\"license\""))?),
    ];
    Ok((headers, stream_of(export, first, place)).into_response())
}

#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct OnlyFormat {
    format: ExportFormat,
}

/// Reads format and list separately: with `flatten`, every value would be read as a string.
fn read(query: &str) -> Result<ExportQuery> {
    let is_format = |pair: &&str| pair.split('=').next() == Some("format");
    let (format, list): (Vec<&str>, Vec<&str>) = query.split('&').partition(is_format);
    let OnlyFormat { format } = part(&format)?;
    Ok(ExportQuery { format, list: part(&list)? })
}

fn part<T: DeserializeOwned + Serialize>(pairs: &[&str]) -> Result<T> {
    let uri = format!("/?{}", pairs.join("&")).parse::<Uri>();
    let uri = uri.map_err(|cause| bad_query(format!("The query cannot be read: {cause}.")))?;
    read_query(&uri)
}

async fn to_list_query(leaderboard: &Leaderboard, list: ListRuns) -> Result<ListQuery> {
    let parts = [("limit", list.limit.is_some()), ("offset", list.offset.is_some()), ("cursor", list.cursor.is_some())];
    if let Some((field, _)) = parts.into_iter().find(|(_, there)| *there) {
        return Err(bad_query(format!("An export contains the whole list: omit `{field}`.")).at(field));
    }
    Ok(ListQuery { limit: MAX_ROWS, ..list_query(&leaderboard.storage, &list).await? })
}

fn stream_of(export: Export, first: Option<Vec<u8>>, place: Taken) -> Body {
    let start = Instant::now();
    let state = (export, first, place, 0.0);
    Body::from_stream(stream::try_unfold(state, move |(mut export, first, place, read)| async move {
        let next = match first {
            Some(bytes) => Ok(Some(bytes)),
            None if is_too_slow(start.elapsed(), read) => Err(ExportError::TooSlow),
            None => export.next().await,
        };
        if let Err(cause) = &next {
            tracing::warn!(cause = cause as &dyn std::error::Error, "an export ended early");
        }
        Ok::<_, ExportError>(next?.map(|bytes| {
            let read = read + bytes.len() as f64;
            (Bytes::from(bytes), (export, None, place, read))
        }))
    }))
}

fn is_too_slow(elapsed: Duration, read: f64) -> bool {
    elapsed > EXPORT_TIMEOUT.min(SPEED_GRACE + Duration::from_secs_f64(read / MIN_BYTES_PER_SECOND))
}

pub(crate) async fn about(State(leaderboard): State<Leaderboard>) -> Result<Json<ExportAbout>> {
    Ok(Json(open_data::about(leaderboard.storage.count_visible_runs().await?)))
}

impl From<ExportError> for ApiError {
    fn from(error: ExportError) -> Self {
        match error {
            ExportError::Storage(cause) => cause.into(),
            error => Self::internal(&error),
        }
    }
}

pub(crate) async fn list_snapshots(State(leaderboard): State<Leaderboard>) -> Result<Json<SnapshotList>> {
    leaderboard.snapshots.list().await.map(Json).map_err(|cause| ApiError::internal(&cause))
}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt;

    use super::*;
    use crate::storage::{Database, DatabaseAddress};

    #[tokio::test]
    async fn export_keeps_its_slot_until_read_or_abandoned() {
        let folder = tempfile::tempdir().unwrap();
        let storage = Database::open(&DatabaseAddress::File(folder.path().join("export.sqlite"))).await.unwrap();
        let places = ClientPlaces::new(2, MAX_EXPORTS_PER_CLIENT);
        let begin = async || {
            let place = places.take(1, None).unwrap();
            let mut export = Export::new(ExportedRuns::all(storage.clone()), ExportFormat::Csv).unwrap();
            let first = export.next().await.unwrap();
            stream_of(export, first, place)
        };
        let (read, given_up) = (begin().await, begin().await);
        assert!(places.take(1, None).is_none());
        assert!(read.collect().await.unwrap().to_bytes().starts_with(b"run_id,"));
        assert!(places.take(1, None).is_some() && places.take(2, None).is_none());
        drop(given_up);
        assert!(places.take(2, None).is_some());
    }

    #[test]
    fn a_reader_has_to_keep_up_a_speed() {
        let after = Duration::from_secs;
        assert!(!is_too_slow(after(29), 0.0) && is_too_slow(after(31), 0.0));
        assert!(!is_too_slow(after(60), 1e6) && is_too_slow(after(100), 1e6));
        assert!(is_too_slow(after(1801), 1e12));
    }
}
