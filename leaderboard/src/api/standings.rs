//! The places of devices.

use std::error::Error;

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use results::Suite;
use results::api::{Standings, StandingsQuery};

use super::Leaderboard;
use super::runs::bad_query;
use crate::error::ApiError;
use crate::standings::tables;
use crate::validation::FieldPath;

/// `GET /api/v1/standings`: all tables of a suite in one answer.
pub(crate) async fn show(
    State(leaderboard): State<Leaderboard>,
    query: Result<Query<StandingsQuery>, QueryRejection>,
) -> Result<Json<Standings>, ApiError> {
    let Query(query) = query.map_err(|rejection| {
        let cause = rejection.source().map_or_else(|| rejection.body_text(), ToString::to_string);
        bad_query(format!("The query cannot be read: {cause}."))
    })?;
    let known = engine::suite(&query.suite).ok_or_else(|| {
        let names: Vec<&str> = engine::SUITES.iter().map(|suite| suite.name).collect();
        bad_query(format!("There is no such suite. Ask for one of these: {}.", names.join(", "))).at("suite")
    })?;
    if let Some(backend) = &query.backend {
        let named = FieldPath::ROOT.field("backend").name(backend);
        named.map_err(|refusal| bad_query(refusal.message).at(refusal.field))?;
    }
    let suite = Suite { name: known.name.to_owned(), version: known.version };
    let rows = leaderboard.storage.standing_rows(&suite, &query).await?;
    Ok(Json(Standings { suite, tables: tables(known.workloads, rows) }))
}
