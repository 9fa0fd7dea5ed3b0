//! The tables of a data base, brought up to date before a server does it, or without one.

use super::UpkeepError;
use super::moderation::{expect_there, of};
use crate::storage::{DatabaseAddress, Storage};

/// Makes what is missing and says what that was.
pub(super) async fn migrate(database: &DatabaseAddress) -> Result<String, UpkeepError> {
    expect_there(database)?;
    let done = Storage::migrate(database).await.map_err(of(database))?;
    if done.is_empty() {
        return Ok(format!("the tables of {database} are up to date already"));
    }
    Ok(format!("brought the tables of {database} up to date: {}", done.join(", ")))
}
