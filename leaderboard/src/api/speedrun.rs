//! The speedrun of a workload.

use axum::Json;
use axum::extract::State;
use results::Suite;
use results::api::{Speedrun, SpeedrunQuery};

use super::Leaderboard;
use super::extract::{ReadQuery, bad_query};
use crate::error::Result;

const DEFAULT_WORKLOAD: &str = "gpt-nano";

pub(crate) async fn show(
    State(leaderboard): State<Leaderboard>,
    ReadQuery(query): ReadQuery<SpeedrunQuery>,
) -> Result<Json<Speedrun>> {
    let name = query.workload.as_deref().unwrap_or(DEFAULT_WORKLOAD);
    let having = engine::SUITES.iter().filter(|suite| suite.workloads.contains(&name));
    let suite = having.min_by_key(|suite| suite.workloads.len());
    let Some((suite, known)) = suite.zip(engine::workload(name)) else {
        return Err(bad_query("No suite has such a workload. `native-runner workloads` lists them.").at("workload"));
    };
    let suite = Suite { name: suite.name.to_owned(), version: suite.version };
    let classes = leaderboard.storage.speedruns(&suite, known.name).await?;
    Ok(Json(Speedrun { workload: known.name.to_owned(), suite, goal: known.target, classes }))
}
