//! How the rates of proven runs lie, and where a run is among them.

use std::collections::BTreeMap;

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use results::api::{Distribution, DistributionQuery, RateBin, RunStanding, WorkloadStanding};

use super::Leaderboard;
use super::run_id::RunId;
use super::runs::{bad_query, read_query};
use super::standings::{check_backend, current, known_suite, table};
use crate::error::ApiError;
use crate::ranking::{Bin, Histogram, ReferenceScore, reference_of};
use crate::storage::{Grouped, RatesOfDevice, StandingRun, StorageError, TableQuery, WorkloadRate};

/// Bins of one percent in each that is answered: five percent are as much as a chart can show.
const BINS_IN_ONE: i32 = 5;

/// `GET /api/v1/distribution`: how many proven runs of a workload have which rate.
pub(crate) async fn show(
    State(leaderboard): State<Leaderboard>,
    query: Result<Query<DistributionQuery>, QueryRejection>,
) -> Result<Json<Distribution>, ApiError> {
    let query = read_query(query)?;
    let known = known_suite(&query.suite)?;
    check_backend(query.backend.as_deref())?;
    if !known.workloads.contains(&query.workload.as_str()) {
        let names = known.workloads.join(", ");
        return Err(bad_query(format!("The suite has no such workload. Ask for one of these: {names}.")).at("workload"));
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

/// `GET /api/v1/runs/{id}/standing`: where a run is among all proven ones.
pub(crate) async fn of_run(
    State(leaderboard): State<Leaderboard>,
    RunId(id): RunId,
) -> Result<Json<RunStanding>, ApiError> {
    let run = leaderboard.storage.standing_run(&id).await?.ok_or_else(ApiError::unknown_run)?;
    let reference = reference_of(&run.grouped.suite);
    let mut workloads = Vec::with_capacity(run.rates.len());
    for rate in &run.rates {
        workloads.push(workload_standing(&leaderboard, &run.grouped, rate).await?);
    }
    let score = reference.and_then(|reference| score(&run, reference));
    Ok(Json(RunStanding {
        score_reference: score.and(reference).map(|reference| reference.description.clone()),
        score,
        device_key: run.grouped.device_key,
        workloads,
    }))
}

async fn workload_standing(
    leaderboard: &Leaderboard,
    run: &Grouped,
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

/// The run's own score; nothing unless every workload of the suite has a rate that may be ranked.
fn score(run: &StandingRun, reference: &ReferenceScore) -> Option<f64> {
    let rates = run.rates.iter().filter(|rate| rate.rankable).map(|rate| (rate.workload.clone(), rate.rate));
    let rates: BTreeMap<String, f64> = rates.collect();
    run.standard.then(|| reference.score(&rates)).flatten()
}
