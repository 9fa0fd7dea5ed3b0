//! Back-ups, and putting one back.

use std::fs;
use std::path::Path;

use super::UpkeepError;
use super::moderation::{of, open};
use crate::storage::{self, DatabaseAddress, Storage};
use crate::whole_file::with_ending;

/// Copies a snapshot of the data base. Readers and writers are not disturbed.
pub(super) async fn backup(database: &DatabaseAddress, to: &Path) -> Result<String, UpkeepError> {
    file_of(database)?;
    expect_free(to)?;
    let partial = with_ending(to, "partial");
    expect_free(&partial)?;
    let storage = open(database).await?;
    let copied = storage.copy_to(&partial).await;
    storage.close().await;
    let finished = match copied {
        Ok(()) => put_in_place(&partial, to),
        Err(cause) => Err(of(database)(cause)),
    };
    if finished.is_err() {
        // What stays behind is only in the way, and the next attempt names it.
        let _ = fs::remove_file(&partial);
    }
    finished?;
    Ok(format!("copied {database} to {} ({} runs)", to.display(), runs_in(to).await?))
}

/// Puts a copy of the back-up in the place of the data base. The old file is kept beside it.
pub(super) async fn restore(from: &Path, address: &DatabaseAddress) -> Result<String, UpkeepError> {
    let database = file_of(address)?;
    let (kept, partial) = (with_ending(database, "replaced"), with_ending(database, "partial"));
    expect_free(&kept)?;
    expect_free(&partial)?;
    runs_in(from).await?;
    let replaced = database.exists();
    if replaced {
        storage::leave_alone(database).await.map_err(|cause| {
            if cause.is_busy() { UpkeepError::InUse(database.to_owned()) } else { of(address)(cause) }
        })?;
    }
    let write = |file: &Path| {
        let file = file.to_owned();
        move |cause| UpkeepError::Write { file, cause }
    };
    let copied = fs::copy(from, &partial).map(|_bytes| ()).map_err(write(&partial));
    if let Err(failed) = copied {
        // As above.
        let _ = fs::remove_file(&partial);
        return Err(failed);
    }
    if replaced {
        fs::rename(database, &kept).map_err(write(&kept))?;
    }
    put_in_place(&partial, database)?;
    let runs = runs_in(database).await?;
    let old = if replaced { format!("; what was there is now {}", kept.display()) } else { String::new() };
    Ok(format!("restored {} from {} ({runs} runs){old}", database.display(), from.display()))
}

/// The file of a data base that is one.
fn file_of(database: &DatabaseAddress) -> Result<&Path, UpkeepError> {
    match database {
        DatabaseAddress::File(file) => Ok(file),
        DatabaseAddress::Postgres(_) => Err(UpkeepError::NotAFile(database.clone())),
    }
}

/// How many runs a whole and readable data base of ours holds.
async fn runs_in(file: &Path) -> Result<u64, UpkeepError> {
    let no_backup = |why: String| UpkeepError::NoBackup { file: file.to_owned(), why };
    if !file.is_file() {
        return Err(no_backup("there is no such file".to_owned()));
    }
    Storage::inspect(file).await.map_err(|cause| no_backup(cause.to_string()))
}

pub(super) fn expect_free(file: &Path) -> Result<(), UpkeepError> {
    if file.exists() { Err(UpkeepError::Exists(file.to_owned())) } else { Ok(()) }
}

/// Gives a complete file its name once it is on the disk, so that nobody ever finds half of it there.
fn put_in_place(partial: &Path, file: &Path) -> Result<(), UpkeepError> {
    let synced = fs::File::options().write(true).open(partial).and_then(|complete| complete.sync_all());
    synced.and_then(|()| fs::rename(partial, file)).map_err(|cause| UpkeepError::Write { file: file.to_owned(), cause })
}
