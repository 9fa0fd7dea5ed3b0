//! The table of the open class.

use axum::Json;
use axum::extract::State;
use results::api::{OpenQuery, OpenTable};

use super::Leaderboard;
use super::extract::{ReadQuery, bad_query_of};
use crate::error::Result;
use crate::validation::FieldPath;

pub(crate) async fn show(
    State(leaderboard): State<Leaderboard>,
    ReadQuery(query): ReadQuery<OpenQuery>,
) -> Result<Json<OpenTable>> {
    FieldPath::ROOT.field("data_set").name(&query.data_set).map_err(bad_query_of)?;
    let entries = leaderboard.storage.open_class(&query.data_set).await?;
    Ok(Json(OpenTable { data_set: query.data_set, entries }))
}
