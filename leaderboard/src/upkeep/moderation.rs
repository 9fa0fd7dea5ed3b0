//! What a host can do about a run that should not be on the leaderboard.

use results::api::Tier;

use super::{UpkeepError, shown};
use crate::storage::{DatabaseAddress, Storage, StorageError};

pub(super) async fn set_tier(database: &DatabaseAddress, run_id: &str, tier: Tier) -> Result<String, UpkeepError> {
    let storage = open_up_to_date(database).await?;
    let before = storage.set_tier(run_id, tier).await;
    storage.close().await;
    let before = before.map_err(of(database))?.ok_or_else(|| UpkeepError::UnknownRun(run_id.to_owned()))?;
    Ok(format!("run {run_id} was {} and is {} now: {}", before.name(), tier.name(), shown(tier)))
}

/// All of them or, where one is unknown, none.
pub(super) async fn remove(database: &DatabaseAddress, run_ids: &[String]) -> Result<String, UpkeepError> {
    let storage = open_up_to_date(database).await?;
    let unknown = storage.delete_all(run_ids).await;
    storage.close().await;
    match unknown.map_err(of(database))? {
        Some(unknown) => Err(UpkeepError::UnknownRun(unknown)),
        None => Ok(format!("removed for ever: {}", run_ids.join(", "))),
    }
}

pub(super) async fn open(database: &DatabaseAddress) -> Result<Storage, UpkeepError> {
    expect_there(database)?;
    Storage::open_as_it_is(database).await.map_err(of(database))
}

/// For tasks that need every table.
pub(super) async fn open_up_to_date(database: &DatabaseAddress) -> Result<Storage, UpkeepError> {
    expect_there(database)?;
    Storage::open_up_to_date(database).await.map_err(of(database))
}

pub(super) fn expect_there(database: &DatabaseAddress) -> Result<(), UpkeepError> {
    if let DatabaseAddress::File(file) = database
        && !file.is_file()
    {
        return Err(UpkeepError::NoDatabase(file.clone()));
    }
    Ok(())
}

pub(super) fn of(database: &DatabaseAddress) -> impl Fn(StorageError) -> UpkeepError {
    move |cause| UpkeepError::Database { address: database.clone(), cause }
}
