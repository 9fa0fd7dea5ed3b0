//! A few runs or devices side by side.

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use results::api::{Comparing, ComparingQuery};

use super::Leaderboard;
use super::devices::unknown_device;
use super::list::is_device_key;
use super::run_id::RunId;
use super::runs::{bad_query, read_query};
use crate::comparing::{DeviceSide, of_devices, of_runs};
use crate::error::ApiError;

/// More than these beside each other nobody reads, and a record may have four megabytes.
const MOST: usize = 4;

/// `GET /api/v1/compare`: two to four runs, or devices, with ratios to the first.
pub(crate) async fn show(
    State(leaderboard): State<Leaderboard>,
    query: Result<Query<ComparingQuery>, QueryRejection>,
) -> Result<Json<Comparing>, ApiError> {
    let query = read_query(query)?;
    match (query.runs, query.devices) {
        (Some(runs), None) => {
            let mut stored = Vec::new();
            for id in several("runs", &runs)? {
                let RunId(id) = RunId::parse(id)?;
                let run = leaderboard.storage.visible_run(&id).await?;
                stored.push(run.ok_or_else(|| ApiError::unknown_run().at("runs"))?);
            }
            Ok(Json(of_runs(&stored)))
        }
        (None, Some(devices)) => {
            let mut sides = Vec::new();
            for key in several("devices", &devices)? {
                let unknown = || unknown_device().at("devices");
                let key = if is_device_key(&key) {
                    leaderboard.storage.grouped_as(&key).await?
                } else {
                    return Err(unknown());
                };
                let device = leaderboard.storage.described_device(&key).await?.ok_or_else(unknown)?;
                sides.push(DeviceSide { figures: leaderboard.storage.figures_of_device(&key).await?, device });
            }
            Ok(Json(of_devices(&sides)))
        }
        _ => Err(bad_query("Name either `runs` or `devices`: two to four of them, with commas between them.")),
    }
}

/// Two to four words with commas between them, none twice.
fn several(field: &str, text: &str) -> Result<Vec<String>, ApiError> {
    let words: Vec<String> = text.split(',').map(|word| word.trim().to_owned()).collect();
    let twice = words.iter().enumerate().any(|(i, word)| words[..i].contains(word));
    if (2..=MOST).contains(&words.len()) && !twice {
        return Ok(words);
    }
    Err(bad_query("Two to four are compared, each another, with commas between them.").at(field))
}
