//! The places of devices.

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use engine::SuiteDefinition;
use results::api::{RankedClass, ScoreTable, Standings, StandingsQuery, StandingsTable};
use results::{ClientKind, Precision, Suite};

use super::Leaderboard;
use super::list::MOST_ROWS;
use super::runs::{bad_query, read_query};
use crate::error::ApiError;
use crate::ranking::reference_of;
use crate::standings::lines;
use crate::storage::TableQuery;
use crate::validation::FieldPath;

/// Lines of one table when the query names no limit.
const DEFAULT_LINES: u32 = 50;

/// `GET /api/v1/standings`: all tables of a suite in one answer.
pub(crate) async fn show(
    State(leaderboard): State<Leaderboard>,
    query: Result<Query<StandingsQuery>, QueryRejection>,
) -> Result<Json<Standings>, ApiError> {
    let query = read_query(query)?;
    let known = known_suite(&query.suite)?;
    check_backend(query.backend.as_deref())?;
    let limit = query.limit.unwrap_or(DEFAULT_LINES);
    let bounded = FieldPath::ROOT.field("limit").whole(u64::from(limit), 1..=MOST_ROWS);
    bounded.map_err(|refusal| bad_query(refusal.message).at(refusal.field))?;
    let suite = current(known);
    let wanted = table(&suite, query.class, query.precision, query.backend.as_deref(), query.client);
    let reference = reference_of(&suite);
    // Scores are the figures of no workload.
    let named: Vec<&str> = reference.map(|_| "").into_iter().chain(known.workloads.iter().copied()).collect();
    let mut read = leaderboard.storage.fastest(&wanted, &named, limit).await?.into_iter();
    let scores = reference.and_then(|reference| {
        let (figures, total) = read.next()?;
        Some(ScoreTable { reference: reference.description.clone(), total, places: lines(figures) })
    });
    let of_workload = |(workload, (figures, total)): (&&str, _)| StandingsTable {
        workload: (*workload).to_owned(),
        total,
        places: lines(figures),
    };
    let tables = known.workloads.iter().zip(read).map(of_workload).collect();
    Ok(Json(Standings { suite, scores, tables }))
}

pub(super) fn known_suite(name: &str) -> Result<&'static SuiteDefinition, ApiError> {
    engine::suite(name).ok_or_else(|| {
        let names: Vec<&str> = engine::SUITES.iter().map(|suite| suite.name).collect();
        bad_query(format!("There is no such suite. Ask for one of these: {}.", names.join(", "))).at("suite")
    })
}

pub(super) fn check_backend(backend: Option<&str>) -> Result<(), ApiError> {
    let Some(backend) = backend else { return Ok(()) };
    let named = FieldPath::ROOT.field("backend").name(backend);
    named.map_err(|refusal| bad_query(refusal.message).at(refusal.field))
}

/// A suite as it is now.
pub(super) fn current(known: &SuiteDefinition) -> Suite {
    Suite { name: known.name.to_owned(), version: known.version }
}

/// The table that a query means: of GPUs and in f32 where it does not say.
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
