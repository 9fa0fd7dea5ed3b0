//! Files of the open data, one of each format for each day, which anyone may download for a week.
//!
//! They spare the data base those who want everything, and give them a name for what they have. A run that is deleted
//! stays in the files that have it, so that these are kept no longer than is told.

mod keeping;
mod making;
mod name;
mod serving;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use results::Date;
use results::open_data::{Snapshot, SnapshotList};

use crate::whole_file::sum_of;
use crate::{Clock, StartError};
use name::SnapshotName;
pub(crate) use serving::serve;

const SECONDS_OF_DAY: f64 = 86_400.0;
/// Days whose files are there, today's included.
const DAYS: f64 = 7.0;

/// Where the files lie, if this server offers any; cloning shares it.
#[derive(Clone)]
pub(crate) struct Snapshots {
    folder: Option<Arc<Path>>,
    clock: Clock,
}

impl Snapshots {
    /// Makes the folder where it is missing, so that one that cannot be made is an error when the server starts.
    pub(crate) fn open(folder: Option<PathBuf>, clock: Clock) -> Result<Self, StartError> {
        if let Some(folder) = &folder {
            fs::create_dir_all(folder).map_err(|cause| StartError::Snapshots { folder: folder.clone(), cause })?;
        }
        Ok(Self { folder: folder.map(Arc::from), clock })
    }

    /// What anyone may download now, newest first.
    pub(crate) async fn list(&self) -> io::Result<SnapshotList> {
        let Some(folder) = self.folder.clone() else { return Ok(SnapshotList::default()) };
        let now = self.clock.unix_seconds();
        tokio::task::spawn_blocking(move || list(&folder, now)).await?
    }

    /// The path of a file that anyone may download, which may be missing all the same.
    fn file(&self, name: &str) -> Option<PathBuf> {
        let offered = SnapshotName::parse(name)?.is_kept(self.clock.unix_seconds());
        self.folder.as_ref().filter(|_| offered).map(|folder| folder.join(name))
    }
}

/// Whether files of this day are still there. A day that has not come yet is another server's whose clock is ahead, or
/// this one's from when its clock was wrong.
fn is_kept(day: &str, now: f64) -> bool {
    let (oldest, newest) = (Date::of(now - (DAYS - 1.0) * SECONDS_OF_DAY).iso(), Date::of(now + SECONDS_OF_DAY).iso());
    (oldest.as_str()..=newest.as_str()).contains(&day)
}

fn list(folder: &Path, now: f64) -> io::Result<SnapshotList> {
    let mut list = SnapshotList::default();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let Some(name) = entry.file_name().to_str().and_then(SnapshotName::parse) else { continue };
        if name.is_sum() || !name.is_kept(now) {
            continue;
        }
        // Deleted just now, or somebody took its sum away.
        let Ok(sum) = fs::read_to_string(sum_of(&entry.path())) else { continue };
        let sha256 = sum.split_whitespace().next().unwrap_or_default().to_owned();
        let bytes = entry.metadata()?.len();
        list.snapshots.push(Snapshot { name: name.to_string(), day: name.day().to_owned(), bytes, sha256 });
    }
    list.snapshots.sort_by(|one, other| other.day.cmp(&one.day).then_with(|| one.name.cmp(&other.name)));
    Ok(list)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_week_is_kept_and_of_what_has_not_come_only_a_day() {
        let now = 1_800_000_000.0;
        assert_eq!(Date::of(now).iso(), "2027-01-15");
        for (day, kept) in [
            ("2027-01-08", false),
            ("2027-01-09", true),
            ("2027-01-15", true),
            ("2027-01-16", true),
            ("2027-01-17", false),
            ("2026-12-31", false),
        ] {
            assert_eq!(is_kept(day, now), kept, "{day}");
        }
    }
}
