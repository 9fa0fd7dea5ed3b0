//! What is exported, a portion at a time.

use results::api::StoredRun;

use crate::storage::{Place, Storage, StorageError};

/// Runs that are in memory at once. Each has at most the size of an upload, and mostly a hundredth of that.
pub(super) const RUNS_AT_ONCE: u32 = 16;

/// All visible runs from the first to the last that came.
///
/// Each portion is a query of its own, so that an export that takes minutes holds up nobody. A run that is deleted
/// meanwhile is absent from what follows, and one that comes meanwhile is at the end.
pub(crate) struct VisibleRuns {
    storage: Storage,
    /// Behind what the next portion begins; absent when there is none.
    place: Option<Place>,
    runs: u64,
    left_out: u64,
}

impl VisibleRuns {
    pub(crate) fn new(storage: Storage) -> Self {
        Self { storage, place: Some(Place::BEGINNING), runs: 0, left_out: 0 }
    }

    /// The next runs, of which the last portion may have none; nothing behind that.
    pub(crate) async fn next(&mut self) -> Result<Option<Vec<StoredRun>>, StorageError> {
        let Some(place) = &self.place else { return Ok(None) };
        let portion = self.storage.visible_runs_after(place, RUNS_AT_ONCE).await?;
        self.place = portion.next;
        self.runs += portion.runs.len() as u64;
        self.left_out += portion.left_out;
        if self.ended() && self.left_out > 0 {
            tracing::warn!(left_out = self.left_out, "an export left out runs that cannot be read");
        }
        Ok(Some(portion.runs))
    }

    /// Whether the last portion was read.
    pub(crate) fn ended(&self) -> bool {
        self.place.is_none()
    }

    /// Runs that were read so far.
    pub(crate) fn runs(&self) -> u64 {
        self.runs
    }

    /// Runs so far that are stored and cannot be read.
    pub(crate) fn left_out(&self) -> u64 {
        self.left_out
    }
}
