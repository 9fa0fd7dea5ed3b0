//! The places of devices.

use std::collections::HashMap;

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use engine::SuiteDefinition;
use results::api::{
    Distribution, DistributionQuery, FigureOfDevice, RankedClass, RateBin, RunStanding, ScoreRank, ScoreTable,
    Standings, StandingsPlace, StandingsQuery, StandingsTable, WorkloadStanding,
};
use results::estimate::Estimate;
use results::{ClientKind, Precision, Suite};

use super::Leaderboard;
use super::extract::RunId;
use super::list::MAX_ROWS;
use super::runs::{bad_query, bad_query_of, read_query};
use crate::error::{ApiError, Result};
use crate::figures::DeviceFigure;
use crate::ranking::{Bin, Figure, Histogram, Placed, places};
use crate::storage::{FastLine, RatesOfDevice, StandingRun, Storage, StorageError, TableQuery, WorkloadRate};
use crate::validation::FieldPath;

const DEFAULT_LINES: u32 = 50;
/// Name of the workload of lines of scores.
const SCORES: &str = "";

/// `GET /api/v1/standings`: all tables of a suite in one answer.
pub(crate) async fn show(
    State(leaderboard): State<Leaderboard>,
    query: Result<Query<StandingsQuery>, QueryRejection>,
) -> Result<Json<Standings>> {
    let query = read_query(query)?;
    let known = known_suite(&query.suite)?;
    check_backend(query.backend.as_deref())?;
    let limit = query.limit.unwrap_or(DEFAULT_LINES);
    let bounded = FieldPath::ROOT.field("limit").whole(u64::from(limit), 1..=MAX_ROWS);
    bounded.map_err(bad_query_of)?;
    let suite = current(known);
    let wanted = table(&suite, query.class, query.precision, query.backend.as_deref(), query.client);
    let named: Vec<&str> = std::iter::once(SCORES).chain(known.workloads.iter().copied()).collect();
    let mut read = leaderboard.storage.fastest(&wanted, &named, limit).await?.into_iter();
    let (figures, total) = read.next().unwrap_or_default();
    let scores = ScoreTable { total, places: lines(figures) };
    let of_workload = |(workload, (figures, total)): (&&str, _)| StandingsTable {
        workload: (*workload).to_owned(),
        total,
        places: lines(figures),
    };
    let tables = known.workloads.iter().zip(read).map(of_workload).collect();
    Ok(Json(Standings { suite, scores, tables }))
}

pub(super) fn known_suite(name: &str) -> Result<&'static SuiteDefinition> {
    engine::suite(name).ok_or_else(|| {
        let names: Vec<&str> = engine::SUITES.iter().map(|suite| suite.name).collect();
        bad_query(format!("There is no such suite. Use one of these: {}.", names.join(", "))).at("suite")
    })
}

pub(super) fn check_backend(backend: Option<&str>) -> Result<()> {
    let Some(backend) = backend else { return Ok(()) };
    let named = FieldPath::ROOT.field("backend").name(backend);
    named.map_err(bad_query_of)
}

pub(super) fn current(known: &SuiteDefinition) -> Suite {
    Suite { name: known.name.to_owned(), version: known.version }
}

/// Returns the table of a query, by default for GPUs in f32.
pub(super) fn table<'a>(
    suite: &'a Suite,
    class: Option<RankedClass>,
    precision: Option<Precision>,
    backend: Option<&'a str>,
    client: Option<ClientKind>,
) -> TableQuery<'a> {
    TableQuery {
        suite,
        class: class.unwrap_or_default(),
        precision: precision.unwrap_or(Precision::F32),
        backend,
        client,
    }
}

/// Returns the lines of a table with their places, in order. Only the last lines may be missing from the argument.
pub(crate) fn lines(figures: Vec<DeviceFigure>) -> Vec<StandingsPlace> {
    let mut of_keys: HashMap<String, DeviceFigure> = figures.into_iter().map(|figure| (key(&figure), figure)).collect();
    let figures = of_keys.iter().map(|(key, row)| (key.clone(), row.figure.clone())).collect();
    let line = |placed: Placed| of_keys.remove(&placed.device).map(|row| line(placed.place, row));
    places(figures).into_iter().filter_map(line).collect()
}

/// Returns places by key for all lines with enough voices that are at least as fast as the slowest line of interest.
pub(crate) fn places_of(lines: Vec<FastLine>) -> HashMap<String, u64> {
    let figure = |line: FastLine| {
        let FastLine { key, median, lower_quartile, upper_quartile } = line;
        // Places do not depend on the number of runs.
        let (submitters, days) = (usize::MAX, usize::MAX);
        let figure = Figure { median, lower_quartile, upper_quartile, runs: 0, submitters, days };
        (key, figure)
    };
    let placed = places(lines.into_iter().map(figure).collect());
    placed.into_iter().map(|placed| (placed.device, placed.place as u64)).collect()
}

/// Returns the key of a table row as in [`FastLine`].
pub(crate) fn key(row: &DeviceFigure) -> String {
    format!("{}/{}/{}", row.device.key, row.category.backend, row.category.client_kind.name())
}

fn line(place: usize, row: DeviceFigure) -> StandingsPlace {
    StandingsPlace {
        place: place as u64,
        device_key: row.device.key,
        device_name: row.device.name,
        device_source: row.device.source,
        vendor: row.device.vendor,
        inferred: row.device.inferred,
        backend: row.category.backend,
        client_kind: row.category.client_kind,
        figure: describe_figure(&row.figure),
        seconds_to_target: row.seconds_to_target,
        completion: row.completion,
        outlier_runs: row.outlier_runs,
        outliers: row.outliers,
        best_run_id: row.best_run_id,
    }
}

pub(crate) fn describe_figure(figure: &Figure) -> FigureOfDevice {
    FigureOfDevice {
        median: figure.median,
        lower_quartile: figure.lower_quartile,
        upper_quartile: figure.upper_quartile,
        runs: figure.runs as u64,
        submitters: figure.submitters as u64,
        days: figure.days as u64,
    }
}

/// Number of bins of one percent in each returned bin. A chart cannot show more than five percent.
const BINS_IN_ONE: i32 = 5;

/// `GET /api/v1/distribution`: the number of proven runs of a workload by rate.
pub(crate) async fn show_distribution(
    State(leaderboard): State<Leaderboard>,
    query: Result<Query<DistributionQuery>, QueryRejection>,
) -> Result<Json<Distribution>> {
    let query = read_query(query)?;
    let known = known_suite(&query.suite)?;
    check_backend(query.backend.as_deref())?;
    if !known.workloads.contains(&query.workload.as_str()) {
        let names = known.workloads.join(", ");
        return Err(bad_query(format!("The suite has no such workload. Use one of these: {names}.")).at("workload"));
    }
    let suite = current(known);
    let table = table(&suite, query.class, query.precision, query.backend.as_deref(), query.client);
    let of_devices = leaderboard.storage.rates_in(&table, &query.workload).await?;
    let rates = together(of_devices.iter());
    let mut devices: Vec<&str> = of_devices.iter().map(|row| row.device_key.as_str()).collect();
    devices.sort_unstable();
    devices.dedup();
    let bin = |Bin { from, to, runs }| RateBin { from, to, runs };
    Ok(Json(Distribution {
        suite: suite.clone(),
        workload: query.workload,
        runs: rates.runs(),
        devices: devices.len() as u64,
        bins: rates.bins(BINS_IN_ONE).into_iter().map(bin).collect(),
    }))
}

/// `GET /api/v1/runs/{id}/standing`: the rank of a run among all proven ones.
pub(crate) async fn of_run(State(leaderboard): State<Leaderboard>, RunId(id): RunId) -> Result<Json<RunStanding>> {
    let run = leaderboard.storage.standing_run(&id).await?.ok_or_else(ApiError::unknown_run)?;
    let mut workloads = Vec::with_capacity(run.rates.len());
    for rate in &run.rates {
        workloads.push(workload_standing(&leaderboard, &run, rate).await?);
    }
    let throughput = |name: &str| {
        let rate = run.rates.iter().find(|rate| rate.workload == name)?;
        Estimate::new(Some(rate.rate), None, None)
    };
    let score = engine::score_of(&run.suite, throughput).map(|score| score.value);
    Ok(Json(RunStanding { score, device_key: run.device_key, workloads }))
}

/// Maximum number of lines of a table that a score is ranked among.
const MAX_RANKED: u32 = 200;

/// Ranks the score of a visible run among the other devices of its class, suite and precision. Returns `None` for a run
/// that has no class, and with fewer than two other devices.
pub(super) async fn rank_score(storage: &Storage, id: &str, score: f64) -> Result<Option<ScoreRank>, StorageError> {
    let Some(run) = storage.standing_run(id).await? else { return Ok(None) };
    let (Some(class), Some(rate)) = (run.class, run.rates.first()) else { return Ok(None) };
    let wanted = TableQuery { suite: &run.suite, class, precision: rate.precision, backend: None, client: None };
    let (figures, total) = storage.fastest(&wanted, &[SCORES], MAX_RANKED).await?.pop().unwrap_or_default();
    let table = ScoreTable { total, places: lines(figures) };
    Ok(ScoreRank::among(&table, score, |line| line.device_key == run.device_key))
}

async fn workload_standing(
    leaderboard: &Leaderboard,
    run: &StandingRun,
    rate: &WorkloadRate,
) -> Result<WorkloadStanding, StorageError> {
    let devices = match run.class {
        None => Vec::new(),
        Some(class) => {
            let (suite, precision) = (&run.suite, rate.precision);
            let (backend, client) = (Some(run.backend.as_str()), Some(run.client_kind));
            let table = TableQuery { suite, class, precision, backend, client };
            leaderboard.storage.rates_in(&table, &rate.workload).await?
        }
    };
    let all = together(devices.iter());
    let device = together(devices.iter().filter(|row| row.device_key == run.device_key));
    let vendor = together(devices.iter().filter(|row| run.vendor.is_some() && row.vendor == run.vendor));
    Ok(WorkloadStanding {
        workload: rate.workload.clone(),
        samples_per_second: rate.rate,
        among_all: all.mid_rank(rate.rate),
        of_device: device.mid_rank(rate.rate),
        of_vendor: vendor.mid_rank(rate.rate),
        runs: [&all, &device, &vendor].map(Histogram::runs),
    })
}

fn together<'a>(figures: impl Iterator<Item = &'a RatesOfDevice>) -> Histogram {
    let mut sum = Histogram::default();
    figures.for_each(|row| sum.add(&row.rates));
    sum
}
