//! A device's page.

use std::collections::BTreeMap;

use axum::Json;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use results::api::{BrowserTaxOfDevice, CategoryFigure, DeviceSummary};

use super::Leaderboard;
use super::list::is_device_key;
use crate::error::ApiError;
use crate::figures::DeviceFigure;
use crate::ranking::{self, BrowserTax, Category, browser_taxes, place_behind};
use crate::standings::{key, places_of, told};
use crate::storage::{StorageError, TableQuery};

/// Results of the device that are shown.
const RECENT: u32 = 20;

/// `GET /api/v1/devices/{key}`: what all runs of a device come to. One that was merged into another is answered with that
/// one's, and with its key: whoever merged them may separate them again, which a redirect that browsers keep would outlast.
pub(crate) async fn show(
    State(leaderboard): State<Leaderboard>,
    key: Result<Path<String>, PathRejection>,
) -> Result<Json<DeviceSummary>, ApiError> {
    let key = leaderboard.storage.grouped_as(&device_key(key)?).await?;
    let device = leaderboard.storage.described_device(&key).await?.ok_or_else(unknown_device)?;
    let rows = leaderboard.storage.figures_of_device(&key).await?;
    let figures = with_places(&leaderboard, &rows).await?;
    Ok(Json(DeviceSummary {
        device_key: device.key,
        merged_keys: leaderboard.storage.merged_into(&key).await?,
        device_name: device.name,
        device_source: device.source,
        vendor: device.vendor,
        inferred: device.inferred,
        figures,
        browser_taxes: taxes(&rows),
        recent: leaderboard.storage.recent_of_device(&key, RECENT).await?,
    }))
}

/// The key in an address.
pub(super) fn device_key(key: Result<Path<String>, PathRejection>) -> Result<String, ApiError> {
    let Path(key) = key.map_err(|_rejected| unknown_device())?;
    if is_device_key(&key) { Ok(key) } else { Err(unknown_device()) }
}

pub(super) fn unknown_device() -> ApiError {
    ApiError::new(
        StatusCode::NOT_FOUND,
        "unknown_device",
        "No device of this key has a visible run. The tables of `/api/v1/standings` have the keys.",
    )
}

/// Figures with their places, each in the table of its suite, class, precision and workload.
async fn with_places(leaderboard: &Leaderboard, rows: &[DeviceFigure]) -> Result<Vec<CategoryFigure>, StorageError> {
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
        let with_place = lines.iter().filter(|line| line.figure.has_place());
        let slowest = with_place.map(|line| line.figure.median).fold(f64::MAX, f64::min);
        let (fast, of) = leaderboard.storage.at_least(&table, workload, slowest).await?;
        let behind_all = fast.len() as u64 + 1;
        let of_others = place_behind(usize::try_from(of.with_place)?) as u64;
        let places = places_of(fast);
        // Where its figures were made anew a moment ago, a line is behind all others.
        let place = |line: &DeviceFigure| {
            let has_place = line.figure.has_place();
            if has_place { places.get(&key(line)).copied().unwrap_or(behind_all) } else { of_others }
        };
        figures.extend(lines.into_iter().map(|line| category_figure(line, place(line), of.total)));
    }
    Ok(figures)
}

fn category_figure(row: &DeviceFigure, place: u64, of: u64) -> CategoryFigure {
    let category = &row.category;
    CategoryFigure {
        suite: category.suite.clone(),
        workload: Some(category.workload.clone()).filter(|workload| !workload.is_empty()),
        backend: category.backend.clone(),
        precision: category.precision,
        client_kind: category.client_kind,
        class: row.class,
        place,
        of,
        figure: told(&row.figure),
        best_run_id: row.best_run_id.clone(),
    }
}

fn taxes(rows: &[DeviceFigure]) -> Vec<BrowserTaxOfDevice> {
    let of_workloads = rows.iter().filter(|row| !row.category.workload.is_empty());
    let figures: Vec<ranking::DeviceFigure> = of_workloads
        .map(|row| ranking::DeviceFigure {
            device: row.device.key.clone(),
            category: row.category.clone(),
            figure: row.figure.clone(),
        })
        .collect();
    let told = |tax: BrowserTax| BrowserTaxOfDevice {
        suite: tax.suite,
        workload: tax.workload,
        backend: tax.backend,
        precision: tax.precision,
        native_over_browser: tax.native_over_browser,
        native_submitters: tax.submitters.0 as u64,
        browser_submitters: tax.submitters.1 as u64,
    };
    browser_taxes(&figures).into_iter().map(told).collect()
}
