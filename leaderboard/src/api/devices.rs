//! A device's page, and the history of its metrics.

use std::collections::BTreeMap;

use axum::Json;
use axum::extract::{FromRequestParts, Path, State};
use axum::http::request::Parts;
use results::Date;
use results::api::{CategoryFigure, DeviceHistory, DeviceHistoryQuery, DeviceSummary, HistoryLine};

use super::Leaderboard;
use super::extract::ReadQuery;
use super::list::is_device_key;
use super::standings::key;
use crate::error::{ApiError, Result};
use crate::figures::{DeviceFigure, browser_taxes};
use crate::ranking::{Category, ProvenRun, figure_of, has_place, place_behind, places};
use crate::storage::{PastResult, StorageError, TableQuery};

const RECENT_RUNS: u32 = 20;

/// For a merged device, answers its target and no redirect, which browsers would keep after a separation.
pub(crate) async fn show(
    State(leaderboard): State<Leaderboard>,
    DeviceKey(key): DeviceKey,
) -> Result<Json<DeviceSummary>> {
    let key = leaderboard.storage.grouped_as(&key).await?;
    let device = leaderboard.storage.described_device(&key).await?.ok_or_else(ApiError::unknown_device)?;
    let rows = leaderboard.storage.figures_of_device(&key).await?;
    let figures = add_places(&leaderboard, &rows).await?;
    Ok(Json(DeviceSummary {
        device_key: device.key,
        merged_keys: leaderboard.storage.merged_into(&key).await?,
        device_name: device.name,
        device_source: device.source,
        vendor: device.vendor,
        inferred: device.inferred,
        figures,
        browser_taxes: browser_taxes(&rows),
        recent: leaderboard.storage.recent_of_device(&key, RECENT_RUNS).await?,
    }))
}

pub(crate) struct DeviceKey(String);

impl<S: Send + Sync> FromRequestParts<S> for DeviceKey {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self> {
        let key = Path::<String>::from_request_parts(parts, state).await.ok().map(|Path(key)| key);
        key.filter(|key| is_device_key(key)).map(Self).ok_or_else(ApiError::unknown_device)
    }
}

async fn add_places(leaderboard: &Leaderboard, rows: &[DeviceFigure]) -> Result<Vec<CategoryFigure>, StorageError> {
    let mut tables: BTreeMap<_, Vec<&DeviceFigure>> = BTreeMap::new();
    for row in rows {
        let Category { suite, workload, precision, .. } = &row.category;
        let table = (&suite.name, suite.version, row.class.name(), workload, precision.name());
        tables.entry(table).or_default().push(row);
    }
    let mut figures = Vec::with_capacity(rows.len());
    for lines in tables.into_values() {
        let Some(first) = lines.first() else { continue };
        let Category { suite, workload, precision, .. } = &first.category;
        let table = TableQuery { suite, class: first.class, precision: *precision, backend: None, client: None };
        let with_place = lines.iter().filter(|line| has_place(&line.figure));
        let slowest = with_place.map(|line| line.figure.median).fold(f64::MAX, f64::min);
        let (fast, of) = leaderboard.storage.at_least(&table, workload, slowest).await?;
        let places = places(fast);
        // If its metrics have just been refreshed, a row comes after all others.
        let place = |line: &DeviceFigure| {
            let key = key(line);
            match places.iter().find(|placed| placed.device == key) {
                _ if !has_place(&line.figure) => place_behind(of.with_place),
                Some(placed) => placed.place,
                None => places.len() as u64 + 1,
            }
        };
        figures.extend(lines.into_iter().map(|line| CategoryFigure {
            suite: suite.clone(),
            workload: Some(workload.clone()).filter(|workload| !workload.is_empty()),
            backend: line.category.backend.clone(),
            precision: *precision,
            client_kind: line.category.client_kind,
            class: line.class,
            place: place(line),
            of: of.total,
            figure: line.figure,
            best_run_id: line.best_run_id.clone(),
        }));
    }
    Ok(figures)
}

pub(crate) async fn show_history(
    State(leaderboard): State<Leaderboard>,
    DeviceKey(key): DeviceKey,
    ReadQuery(query): ReadQuery<DeviceHistoryQuery>,
) -> Result<Json<DeviceHistory>> {
    let key = leaderboard.storage.grouped_as(&key).await?;
    let device = leaderboard.storage.described_device(&key).await?.ok_or_else(ApiError::unknown_device)?;
    let figures = leaderboard.storage.figures_of_device(&device.key).await?;
    let line = usual(&figures, &query);
    let (results, older_left_out) = match line {
        Some(line) => leaderboard.storage.history(&device.key, line.class.name(), &line.category).await?,
        None => Default::default(),
    };
    let by = |label: &dyn Fn(&PastResult) -> String| history_lines(&results, label);
    Ok(Json(DeviceHistory {
        device_key: device.key,
        category: line.map(|line| line.category.clone()),
        results: results.len() as u64,
        older_left_out,
        engine_versions: by(&|result| result.engine_version.clone()),
        drivers: by(&|result| result.driver.clone()),
        months: by(&|result| month(result.submitted_unix_seconds)),
    }))
}

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
    // The first of several with equal numbers, so that the answer is stable.
    figures.iter().rev().filter(fits).max_by_key(|line| line.figure.runs)
}

/// Returns a line for each label, in the order of first occurrence. Results without a label are left out.
fn history_lines(results: &[PastResult], label: &dyn Fn(&PastResult) -> String) -> Vec<HistoryLine> {
    let mut labels: BTreeMap<String, Vec<&PastResult>> = BTreeMap::new();
    for result in results {
        labels.entry(label(result)).or_default().push(result);
    }
    labels.remove("");
    let line = |(label, results): (String, Vec<&PastResult>)| {
        let runs: Vec<ProvenRun> = results.iter().map(|result| result.run.clone()).collect();
        let times = || results.iter().map(|result| result.submitted_unix_seconds);
        Some(HistoryLine {
            label,
            figure: figure_of(&runs)?,
            first_unix_seconds: times().fold(f64::INFINITY, f64::min),
            last_unix_seconds: times().fold(f64::NEG_INFINITY, f64::max),
        })
    };
    let mut lines: Vec<HistoryLine> = labels.into_iter().filter_map(line).collect();
    lines.sort_by(|a, b| a.first_unix_seconds.total_cmp(&b.first_unix_seconds));
    lines
}

fn month(unix_seconds: f64) -> String {
    let Date { year, month, .. } = Date::of(unix_seconds);
    format!("{year:04}-{month:02}")
}
