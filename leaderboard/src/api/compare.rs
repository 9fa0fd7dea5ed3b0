//! Comparisons of a few runs or devices.

use axum::Json;
use axum::extract::State;
use results::api::{ComparedFigure, ComparedSide, ComparedWorkload, Comparing, ComparingQuery};
use results::environment::difference;
use view::comparison::{compare_runs, relate_to_first};

use super::Leaderboard;
use super::extract::{ReadQuery, RunId, bad_query};
use super::list::is_device_key;
use crate::devices::DeviceIdentity;
use crate::error::{ApiError, Result};
use crate::figures::{DeviceDescription, DeviceFigure};

/// Maximum number of sides. More are unreadable side by side, and a record may have four megabytes.
const MAX_SIDES: usize = 4;

/// `GET /api/v1/compare`: two to four runs, or devices, with ratios to the first.
pub(crate) async fn show(
    State(leaderboard): State<Leaderboard>,
    ReadQuery(query): ReadQuery<ComparingQuery>,
) -> Result<Json<Comparing>> {
    match (query.runs, query.devices) {
        (Some(runs), None) => {
            let mut stored = Vec::new();
            for id in several("runs", &runs)? {
                let RunId(id) = RunId::parse(id)?;
                let run = leaderboard.storage.visible_run(&id).await?;
                stored.push(run.ok_or_else(|| ApiError::unknown_run().at("runs"))?);
            }
            Ok(Json(compare_runs(&stored, |record| DeviceIdentity::of(record).label)))
        }
        (None, Some(devices)) => {
            let mut sides = Vec::new();
            for key in several("devices", &devices)? {
                let unknown = || ApiError::unknown_device().at("devices");
                if !is_device_key(&key) {
                    return Err(unknown());
                }
                let key = leaderboard.storage.grouped_as(&key).await?;
                let device = leaderboard.storage.described_device(&key).await?.ok_or_else(unknown)?;
                sides.push((device, leaderboard.storage.figures_of_device(&key).await?));
            }
            Ok(Json(compare_devices(&sides)))
        }
        _ => Err(bad_query("Specify either `runs` or `devices`: two to four of them, separated by commas.")),
    }
}

fn several(field: &str, text: &str) -> Result<Vec<String>> {
    let words: Vec<String> = text.split(',').map(|word| word.trim().to_owned()).collect();
    let twice = words.iter().enumerate().any(|(i, word)| words[..i].contains(word));
    if (2..=MAX_SIDES).contains(&words.len()) && !twice {
        return Ok(words);
    }
    Err(bad_query("Specify two to four different ones, separated by commas.").at(field))
}

type DeviceSide = (DeviceDescription, Vec<DeviceFigure>);

fn compare_devices(sides: &[DeviceSide]) -> Comparing {
    let mut lines: Vec<&DeviceFigure> = Vec::new();
    for line in sides.iter().flat_map(|(_, figures)| figures).filter(|line| !line.category.workload.is_empty()) {
        if !lines.iter().any(|other| is_same_kind(other, line)) {
            lines.push(line);
        }
    }
    let compared = lines.into_iter().filter_map(|line| {
        let of_side =
            |(_, lines): &DeviceSide| lines.iter().find(|other| is_same_kind(other, line)).map(figure_of_device);
        Some(ComparedWorkload {
            workload: line.category.workload.clone(),
            suite: Some(line.category.suite.clone()),
            backend: Some(line.category.backend.clone()),
            client_kind: Some(line.category.client_kind),
            figures: relate_to_first(sides.iter().map(of_side).collect())?,
        })
    });
    let devices: Vec<&DeviceDescription> = sides.iter().map(|(device, _)| device).collect();
    let vendors = devices.iter().map(|device| device.vendor.clone()).collect();
    let sources = devices.iter().map(|device| Some(device.source.name().to_owned())).collect();
    let guesses = devices.iter().map(|device| device.inferred.clone()).collect();
    let differences = [difference("vendor", vendors), difference("source", sources), difference("inferred", guesses)];
    Comparing {
        workloads: compared.collect(),
        sides: devices
            .iter()
            .map(|device| ComparedSide { id: device.key.clone(), name: device.name.clone() })
            .collect(),
        differences: differences.into_iter().flatten().collect(),
    }
}

fn is_same_kind(a: &DeviceFigure, b: &DeviceFigure) -> bool {
    a.class == b.class && a.category == b.category
}

fn figure_of_device(line: &DeviceFigure) -> ComparedFigure {
    ComparedFigure {
        precision: line.category.precision,
        samples_per_second: Some(line.figure.median),
        samples_per_second_low: Some(line.figure.lower_quartile),
        samples_per_second_high: Some(line.figure.upper_quartile),
        ..ComparedFigure::default()
    }
}
