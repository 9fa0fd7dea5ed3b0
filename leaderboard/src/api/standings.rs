//! The places of devices.

use axum::Json;
use axum::extract::State;
use engine::SuiteDefinition;
use results::api::{
    Distribution, DistributionQuery, RunStanding, ScoreRank, ScoreTable, Standings, StandingsPlace, StandingsQuery,
    StandingsTable, WorkloadStanding,
};
use results::estimate::Estimate;
use results::{Precision, Suite};

use super::Leaderboard;
use super::extract::{ReadQuery, RunId, bad_query};
use crate::error::{ApiError, Result};
use crate::figures::DeviceFigure;
use crate::ranking::{Histogram, Placed, places};
use crate::storage::{Database, RatesOfDevice, StandingRun, StorageError, TableQuery, WorkloadRate};

const DEFAULT_LINES: u32 = 50;
/// Name of the workload of lines of scores.
const SCORES: &str = "";

pub(crate) async fn show(
    State(leaderboard): State<Leaderboard>,
    ReadQuery(query): ReadQuery<StandingsQuery>,
) -> Result<Json<Standings>> {
    let known = known_suite(&query.suite)?;
    let limit = query.limit.unwrap_or(DEFAULT_LINES);
    let suite = Suite { name: known.name.to_owned(), version: known.version };
    let (class, precision) = (query.class.unwrap_or_default(), query.precision.unwrap_or(Precision::F32));
    let (backend, client) = (query.backend.as_deref(), query.client);
    let wanted = TableQuery { suite: &suite, class, precision, backend, client };
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

fn known_suite(name: &str) -> Result<&'static SuiteDefinition> {
    engine::SUITES.iter().find(|suite| suite.name == name).ok_or_else(|| {
        let names: Vec<&str> = engine::SUITES.iter().map(|suite| suite.name).collect();
        bad_query(format!("There is no such suite. Use one of these: {}.", names.join(", "))).at("suite")
    })
}

/// Returns the lines of a table with their places, in order. Only the last lines may be missing from the argument.
pub(crate) fn lines(figures: Vec<DeviceFigure>) -> Vec<StandingsPlace> {
    let placed = places(figures.into_iter().map(|row| (key(&row), row.figure, row)).collect());
    let place = |Placed { place, line: row, .. }: Placed<DeviceFigure>| StandingsPlace {
        place,
        device_key: row.device.key,
        device_name: row.device.name,
        device_source: row.device.source,
        vendor: row.device.vendor,
        inferred: row.device.inferred,
        backend: row.category.backend,
        client_kind: row.category.client_kind,
        figure: row.figure,
        seconds_to_target: row.seconds_to_target,
        completion: row.completion,
        outlier_runs: row.outlier_runs,
        outliers: row.outliers,
        best_run_id: row.best_run_id,
    };
    placed.into_iter().map(place).collect()
}

/// Returns the key of a table row: device, backend and client kind.
pub(crate) fn key(row: &DeviceFigure) -> String {
    format!("{}/{}/{}", row.device.key, row.category.backend, row.category.client_kind.name())
}

/// Number of bins of one percent in each returned bin. A chart cannot show more than five percent.
const BINS_IN_ONE: i32 = 5;

pub(crate) async fn show_distribution(
    State(leaderboard): State<Leaderboard>,
    ReadQuery(query): ReadQuery<DistributionQuery>,
) -> Result<Json<Distribution>> {
    let known = known_suite(&query.suite)?;
    if !known.workloads.contains(&query.workload.as_str()) {
        let names = known.workloads.join(", ");
        return Err(bad_query(format!("The suite has no such workload. Use one of these: {names}.")).at("workload"));
    }
    let suite = Suite { name: known.name.to_owned(), version: known.version };
    let (class, precision) = (query.class.unwrap_or_default(), query.precision.unwrap_or(Precision::F32));
    let (backend, client) = (query.backend.as_deref(), query.client);
    let table = TableQuery { suite: &suite, class, precision, backend, client };
    let of_devices = leaderboard.storage.rates_in(&table, &query.workload).await?;
    let rates = together(of_devices.iter());
    let mut devices: Vec<&str> = of_devices.iter().map(|row| row.device_key.as_str()).collect();
    devices.sort_unstable();
    devices.dedup();
    let (workload, runs, devices, bins) = (query.workload, rates.runs(), devices.len() as u64, rates.bins(BINS_IN_ONE));
    Ok(Json(Distribution { suite, workload, runs, devices, bins }))
}

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

/// Ranks a score among the other devices. Returns `None` without a class or with fewer than two other devices.
pub(super) async fn rank_score(storage: &Database, id: &str, score: f64) -> Result<Option<ScoreRank>, StorageError> {
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
