//! Comparisons of a few runs or devices.

use axum::Json;
use axum::extract::State;
use results::api::{ComparedFigure, ComparedSide, ComparedWorkload, Comparing, ComparingQuery, StoredRun};
use results::environment::{FACTS, difference, differences};
use results::estimate::{Estimate, Interval};
use results::{Outcome, RunRecord, WorkloadRecord};

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
            Ok(Json(compare_runs(&stored)))
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

fn compare_runs(runs: &[StoredRun]) -> Comparing {
    let records: Vec<&RunRecord> = runs.iter().map(|run| &run.record).collect();
    let name = |run: &StoredRun| DeviceIdentity::of(&run.record).label;
    let mut names: Vec<&str> = Vec::new();
    for workload in records.iter().flat_map(|record| &record.workloads) {
        if !names.contains(&workload.workload.as_str()) {
            names.push(&workload.workload);
        }
    }
    let compared = names.into_iter().filter_map(|name| {
        let is_compared = |of: &&WorkloadRecord| of.workload == name && of.outcome == Outcome::Completed;
        let figures = records.iter().map(|record| record.workloads.iter().find(is_compared).map(figure_of_run));
        let (workload, figures) = (name.to_owned(), relate_to_first(figures.collect())?);
        Some(ComparedWorkload { workload, suite: None, backend: None, client_kind: None, figures })
    });
    Comparing {
        workloads: compared.collect(),
        sides: runs.iter().map(|run| ComparedSide { id: run.run_id.clone(), name: name(run) }).collect(),
        differences: differences(FACTS, &records.iter().map(|record| vec![*record]).collect::<Vec<_>>()),
    }
}

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

fn figure_of_run(workload: &WorkloadRecord) -> ComparedFigure {
    let summary = &workload.summary;
    ComparedFigure {
        batch_size: Some(workload.settings.batch_size),
        precision: workload.settings.precision,
        samples_per_second: summary.samples_per_second,
        samples_per_second_low: summary.samples_per_second_low,
        samples_per_second_high: summary.samples_per_second_high,
        accuracy: summary.accuracy,
        seconds_to_target: summary.seconds_to_target,
        ..ComparedFigure::default()
    }
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

/// Returns one workload's metrics with ratios to the first side, or `None` if fewer than two sides have one.
fn relate_to_first(mut figures: Vec<Option<ComparedFigure>>) -> Option<Vec<Option<ComparedFigure>>> {
    if figures.iter().flatten().count() < 2 {
        return None;
    }
    if let Some((Some(first), others)) = figures.split_first_mut() {
        for other in others.iter_mut().flatten().filter(|other| other.batch_size == first.batch_size) {
            let ratio = estimate(other).zip(estimate(first)).and_then(|(rate, its)| rate.over(its));
            other.to_first = ratio.map(|ratio| ratio.value);
            other.verdict = ratio.and_then(|ratio| ratio.interval).map(Interval::verdict);
        }
    }
    Some(figures)
}

fn estimate(figure: &ComparedFigure) -> Option<Estimate> {
    Estimate::new(figure.samples_per_second, figure.samples_per_second_low, figure.samples_per_second_high)
}

#[cfg(test)]
mod tests {
    use results::api::SideVerdict;

    use super::*;

    fn figure(rate: Option<f64>, interval: Option<(f64, f64)>) -> Option<ComparedFigure> {
        Some(ComparedFigure {
            batch_size: Some(128),
            samples_per_second: rate,
            samples_per_second_low: interval.map(|(low, _)| low),
            samples_per_second_high: interval.map(|(_, high)| high),
            ..ComparedFigure::default()
        })
    }

    fn second(figures: Vec<Option<ComparedFigure>>) -> (Option<f64>, Option<SideVerdict>) {
        let second = relate_to_first(figures).unwrap().swap_remove(1).unwrap();
        (second.to_first, second.verdict)
    }

    #[test]
    fn ratio_needs_metrics_and_verdict_needs_intervals() {
        let (some, none) = (figure(Some(100.0), Some((90.0, 110.0))), figure(None, None));
        assert_eq!(second(vec![some.clone(), none.clone()]), (None, None));
        assert_eq!(second(vec![none, some.clone()]), (None, None));
        assert_eq!(second(vec![some.clone(), figure(Some(50.0), None)]), (Some(0.5), None));
        assert_eq!(relate_to_first(vec![some.clone(), None]), None, "nothing to compare");
        let without_first = relate_to_first(vec![None, some.clone(), some]).unwrap();
        assert!(without_first.iter().flatten().all(|figure| figure.to_first.is_none() && figure.verdict.is_none()));
    }
}
