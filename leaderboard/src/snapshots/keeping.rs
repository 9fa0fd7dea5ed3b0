//! A file of each day at its beginning, and an end for those of the week before.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use results::Date;

use super::making::{SnapshotError, is_partial, make};
use super::name::SnapshotName;
use super::{SECONDS_OF_DAY, Snapshots};
use crate::storage::Storage;

/// After a failure it is tried again; and clocks are set, and machines sleep.
const LONGEST_WAIT: f64 = 3600.0;
/// Behind midnight, so that nobody wakes before it.
const MARGIN: f64 = 1.0;
/// What a server locks that looks after the folder. It stays there, empty.
const LOCK: &str = ".gradmark-snapshots.lock";

impl Snapshots {
    /// Looks after the folder; never ends if there is one. Nothing that fails here stops the server.
    pub(crate) async fn keep(self, storage: Storage) {
        let Some(folder) = self.folder else { return };
        loop {
            let now = self.clock.unix_seconds();
            if let Err(cause) = look_after(&folder, now, &storage).await {
                tracing::warn!(
                    cause = &cause as &dyn std::error::Error,
                    "today's snapshot could not be written; the next try is in an hour"
                );
            }
            tokio::time::sleep(until_next_look(self.clock.unix_seconds())).await;
        }
    }
}

/// Deletes what is too old and writes what is missing, unless another server is doing so.
async fn look_after(folder: &Path, now: f64, storage: &Storage) -> Result<(), SnapshotError> {
    let lock = File::create(folder.join(LOCK))?;
    match lock.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Ok(()),
        Err(TryLockError::Error(cause)) => return Err(cause.into()),
    }
    if let Err(cause) = tidy(folder, now) {
        tracing::warn!(cause = &cause as &dyn std::error::Error, "the folder of snapshots cannot be read");
    }
    let day = Date::of(now).iso();
    let made = make(folder, &day, storage.clone(), &Arc::new(lock)).await?;
    if made > 0 {
        tracing::info!(day, files = made, "wrote today's snapshot");
    }
    Ok(())
}

/// Deletes files that are not kept any more, and what was left by a server that was killed: the lock says that no other
/// one is writing.
fn tidy(folder: &Path, now: f64) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        let Some(name) = name.to_str() else { continue };
        if is_partial(name) || SnapshotName::parse(name).is_some_and(|name| !name.is_kept(now)) {
            match fs::remove_file(entry.path()) {
                Ok(()) => tracing::info!(name, "deleted a snapshot whose time was over"),
                Err(cause) => tracing::warn!(name, %cause, "a snapshot whose time is over cannot be deleted"),
            }
        }
    }
    Ok(())
}

/// To the next day, or to the next hour if that is sooner.
fn until_next_look(now: f64) -> Duration {
    let rest_of_day = SECONDS_OF_DAY - now.rem_euclid(SECONDS_OF_DAY) + MARGIN;
    Duration::from_secs_f64(rest_of_day.min(LONGEST_WAIT))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_look_is_within_an_hour_and_just_behind_midnight() {
        assert_eq!(until_next_look(0.0), Duration::from_secs(3600));
        assert_eq!(until_next_look(86_400.0 * 20_000.0 - 10.0), Duration::from_secs(11));
        assert_eq!(until_next_look(86_400.0 * 20_000.0 - 3600.0), Duration::from_secs(3600));
    }

    #[test]
    fn only_old_files_of_ours_are_deleted() {
        let folder = tempfile::tempdir().unwrap();
        let now = 1_800_000_000.0;
        let (old, kept) = (
            ["gradmark-2027-01-08.csv.gz", "gradmark-2027-01-08.csv.gz.sha256", ".gradmark-2027-01-15.parquet.partial"],
            ["gradmark-2027-01-09.csv.gz", "gradmark-2020-01-01.csv", "gradmark.sqlite", ".hidden.partial", LOCK],
        );
        for name in old.iter().chain(&kept) {
            fs::write(folder.path().join(name), "x").unwrap();
        }
        tidy(folder.path(), now).unwrap();
        assert!(old.iter().all(|name| !folder.path().join(name).exists()));
        assert!(kept.iter().all(|name| folder.path().join(name).exists()));
    }
}
