//! How the figures of a device changed.

use axum::Json;
use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{Path, Query, State};
use results::Date;
use results::api::{DeviceHistory, DeviceHistoryQuery, HistoryCategory, HistoryLine};

use super::Leaderboard;
use super::devices::{device_key, unknown_device};
use super::runs::read_query;
use super::standings::check_backend;
use crate::error::ApiError;
use crate::figures::DeviceFigure;
use crate::ranking::{Category, Group, PastRun, history};
use crate::standings::told;
use crate::storage::{HistoryPart, PastResult};

/// `GET /api/v1/devices/{key}/history`: what a device's proven runs of one category come to by version, driver and month.
pub(crate) async fn show(
    State(leaderboard): State<Leaderboard>,
    key: Result<Path<String>, PathRejection>,
    query: Result<Query<DeviceHistoryQuery>, QueryRejection>,
) -> Result<Json<DeviceHistory>, ApiError> {
    let key = leaderboard.storage.grouped_as(&device_key(key)?).await?;
    let query = read_query(query)?;
    check_backend(query.backend.as_deref())?;
    let device = leaderboard.storage.described_device(&key).await?.ok_or_else(unknown_device)?;
    let figures = leaderboard.storage.figures_of_device(&device.key).await?;
    let (category, part) = match usual(&figures, &query) {
        Some(line) => {
            let part = leaderboard.storage.history(&device.key, line.class.name(), &line.category).await?;
            (Some(line.category.clone()), part)
        }
        None => (None, HistoryPart { results: Vec::new(), older_left_out: false }),
    };
    let by = |label: &dyn Fn(&PastResult) -> String| lines(&part.results, label);
    Ok(Json(DeviceHistory {
        device_key: device.key,
        category: category.map(told_category),
        results: part.results.len() as u64,
        older_left_out: part.older_left_out,
        engine_versions: by(&|result| result.engine_version.clone()),
        drivers: by(&|result| result.driver.clone()),
        months: by(&|result| month(result.submitted_unix_seconds)),
    }))
}

/// Of the categories that fit the query, that in which the device has most runs.
fn usual<'a>(figures: &'a [DeviceFigure], query: &DeviceHistoryQuery) -> Option<&'a DeviceFigure> {
    let fits = |line: &&DeviceFigure| {
        let Category { suite, workload, backend, precision, client_kind } = &line.category;
        let named = |wanted: &Option<String>, name: &str| wanted.as_deref().is_none_or(|wanted| wanted == name);
        !workload.is_empty()
            && named(&query.suite, &suite.name)
            && named(&query.workload, workload)
            && named(&query.backend, backend)
            && query.precision.is_none_or(|wanted| wanted == *precision)
            && query.client.is_none_or(|wanted| wanted == *client_kind)
    };
    // Of several with equally many the first, so that it stays the same.
    figures.iter().rev().filter(fits).max_by_key(|line| line.figure.runs)
}

/// A line for each label, in the order in which they were first seen; what has no label is left out.
fn lines(results: &[PastResult], label: &dyn Fn(&PastResult) -> String) -> Vec<HistoryLine> {
    let labelled = results.iter().map(|result| PastRun {
        label: label(result),
        submitted_unix_seconds: result.submitted_unix_seconds,
        run: result.run.clone(),
    });
    let line = |group: Group| HistoryLine {
        label: group.label,
        figure: told(&group.figure),
        first_unix_seconds: group.first_unix_seconds,
        last_unix_seconds: group.last_unix_seconds,
    };
    history(labelled.filter(|past| !past.label.is_empty())).into_iter().map(line).collect()
}

/// Such as `2026-11`.
fn month(unix_seconds: f64) -> String {
    let Date { year, month, .. } = Date::of(unix_seconds);
    format!("{year:04}-{month:02}")
}

fn told_category(category: Category) -> HistoryCategory {
    let Category { suite, workload, backend, precision, client_kind } = category;
    HistoryCategory { suite, workload, backend, precision, client_kind }
}
