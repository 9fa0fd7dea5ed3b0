//! What a list shows, as an export: the same results in the same order, with everything that their runs have of them.

use std::collections::VecDeque;
use std::mem;

use results::api::StoredRun;

use super::runs::RUNS_AT_ONCE;
use crate::storage::{Storage, StorageError, Wanted};

/// Leaves the workloads of these names, in their order.
fn keep(run: &mut StoredRun, names: &[String]) {
    let mut all = mem::take(&mut run.record.workloads);
    let mut listed = mem::take(&mut run.listed);
    for name in names {
        if let Some(place) = all.iter().position(|of| of.workload == *name) {
            run.record.workloads.push(all.swap_remove(place));
            if place < listed.len() {
                run.listed.push(listed.swap_remove(place));
            }
        }
    }
}

/// The runs of a list, each with those of its workloads that the list has.
///
/// Each portion is a query of its own, as it is for all runs. In every order the results of a run follow each other: orders
/// by figures have one workload.
pub(crate) struct ListedRuns {
    storage: Storage,
    /// The next page of the list; absent behind the last one.
    wanted: Option<Wanted>,
    /// Runs of pages that were read, with the names of their workloads.
    waiting: VecDeque<(String, Vec<String>)>,
    ended: bool,
    runs: u64,
    left_out: u64,
}

impl ListedRuns {
    pub(crate) fn new(storage: Storage, wanted: Wanted) -> Self {
        Self { storage, wanted: Some(wanted), waiting: VecDeque::new(), ended: false, runs: 0, left_out: 0 }
    }

    /// The next runs, of which a portion may have none; nothing behind the last one.
    pub(crate) async fn next(&mut self) -> Result<Option<Vec<StoredRun>>, StorageError> {
        if self.ended {
            return Ok(None);
        }
        // One more than are taken: the next page may go on with the last run.
        while self.waiting.len() <= RUNS_AT_ONCE as usize
            && let Some(wanted) = self.wanted.take()
        {
            self.read_page(wanted).await?;
        }
        let taken = self.waiting.len().min(RUNS_AT_ONCE as usize);
        let named: Vec<_> = self.waiting.drain(..taken).collect();
        self.ended = self.wanted.is_none() && self.waiting.is_empty();
        let ids: Vec<&str> = named.iter().map(|(run_id, _)| run_id.as_str()).collect();
        let (mut found, left_out) = self.storage.visible_runs_named(&ids).await?;
        for run in &mut found {
            let shown = named.iter().find(|(run_id, _)| *run_id == run.run_id);
            keep(run, shown.map_or(&[], |(_, names)| names));
        }
        self.runs += found.len() as u64;
        self.left_out += left_out;
        Ok(Some(found))
    }

    async fn read_page(&mut self, wanted: Wanted) -> Result<(), StorageError> {
        let mut found = self.storage.list(&wanted).await?;
        self.wanted = found.next.map(|(after, skip)| Wanted { after: Some(after), skip, ..wanted });
        for row in &mut found.rows {
            let workload = mem::take(&mut row.workload);
            match self.waiting.back_mut() {
                Some((run_id, names)) if *run_id == row.run_id => names.push(workload),
                _ => self.waiting.push_back((mem::take(&mut row.run_id), vec![workload])),
            }
        }
        Ok(())
    }

    pub(crate) fn ended(&self) -> bool {
        self.ended
    }

    pub(crate) fn runs(&self) -> u64 {
        self.runs
    }

    pub(crate) fn left_out(&self) -> u64 {
        self.left_out
    }
}
