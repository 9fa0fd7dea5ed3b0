//! From proven runs to the tables of the start page: one line for each device, back end and kind of client.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use results::api::{Completion, DeviceSource, StandingsPlace, StandingsTable};

use crate::ranking::{self, Figure, Placed, ProvenRun, outliers, places};
use crate::storage::{StandingRow, StandingRows};

type Completions = HashMap<String, ranking::Completion>;

/// A table for each workload, in their order; empty where nothing is proven.
pub(crate) fn tables(workloads: &[&str], standing: StandingRows) -> Vec<StandingsTable> {
    let StandingRows { rows, completions } = standing;
    let mut of_workloads: BTreeMap<String, Vec<StandingRow>> = BTreeMap::new();
    for row in rows {
        of_workloads.entry(row.workload.clone()).or_default().push(row);
    }
    let mut table = |workload: &&str| {
        let rows = of_workloads.remove(*workload).unwrap_or_default();
        StandingsTable { workload: (*workload).to_owned(), places: table(rows, &completions) }
    };
    workloads.iter().map(&mut table).collect()
}

/// The places of one workload.
fn table(rows: Vec<StandingRow>, completions: &Completions) -> Vec<StandingsPlace> {
    let mut groups: BTreeMap<String, Vec<StandingRow>> = BTreeMap::new();
    for row in rows {
        // No part of a key has a slash.
        let key = format!("{}/{}/{}", row.device_key, row.backend, row.client_kind.name());
        groups.entry(key).or_default().push(row);
    }
    let runs = |rows: &[StandingRow]| -> Vec<ProvenRun> { rows.iter().map(|row| row.run.clone()).collect() };
    let figures = groups.iter().filter_map(|(key, rows)| Some((key.clone(), Figure::of(&runs(rows))?))).collect();
    let line = |placed: Placed| line(&placed, groups.get(&placed.device)?, completions);
    places(figures).into_iter().filter_map(line).collect()
}

fn line(placed: &Placed, rows: &[StandingRow], completions: &Completions) -> Option<StandingsPlace> {
    let rates: Vec<f64> = rows.iter().map(|row| row.run.rate).collect();
    let marked = outliers(&rates);
    let of_outliers = rows.iter().zip(&marked).filter(|(_, marked)| **marked).map(|(row, _)| row.run.run_id.clone());
    let usual = rows.iter().zip(&marked).filter(|(_, marked)| !**marked).map(|(row, _)| row);
    let best = usual.max_by(|a, b| a.run.rate.total_cmp(&b.run.rate)).or(rows.first())?;
    let Figure { median, lower_quartile, upper_quartile, runs, submitters } = placed.figure;
    Some(StandingsPlace {
        place: placed.place as u64,
        device_key: best.device_key.clone(),
        device_name: best.device_name.clone(),
        device_source: source(rows),
        inferred: agreed(rows),
        backend: best.backend.clone(),
        client_kind: best.client_kind,
        median,
        lower_quartile,
        upper_quartile,
        runs: runs as u64,
        submitters: submitters as u64,
        completion: completion(rows, completions),
        outliers: of_outliers.collect(),
        best_run_id: best.run.run_id.clone(),
    })
}

/// The weakest of what stands behind the name.
fn source(rows: &[StandingRow]) -> DeviceSource {
    rows.iter().map(|row| row.device_source).max().unwrap_or(DeviceSource::Masked)
}

/// What was inferred, where all runs of which something was agree.
fn agreed(rows: &[StandingRow]) -> Option<String> {
    let guesses: BTreeSet<&String> = rows.iter().filter_map(|row| row.inferred.as_ref()).collect();
    if guesses.len() == 1 { guesses.first().map(|guess| (*guess).clone()) } else { None }
}

/// Of everything that these submitters announced for the suite; nothing where nobody is known.
fn completion(rows: &[StandingRow], completions: &Completions) -> Option<Completion> {
    let submitters: BTreeSet<&String> = rows.iter().filter_map(|row| row.run.submitter.as_ref()).collect();
    let known: Vec<&ranking::Completion> = submitters.into_iter().filter_map(|word| completions.get(word)).collect();
    (!known.is_empty()).then(|| Completion {
        finished: known.iter().map(|completion| completion.finished).sum(),
        announced: known.iter().map(|completion| completion.announced).sum(),
    })
}
