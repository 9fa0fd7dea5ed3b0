use super::{Edges, Event};
use crate::measure::Phase;

/// Place of a workload in its run, and how much of the whole is done.
pub(super) struct Progress {
    workload: &'static str,
    index: usize,
    count: usize,
    /// Of this workload; never falls.
    fraction: f64,
}

impl Progress {
    pub(super) fn new(workload: &'static str, index: usize, count: usize) -> Self {
        Self { workload, index, count, fraction: 0.0 }
    }

    pub(super) fn workload(&self) -> String {
        self.workload.to_owned()
    }

    pub(super) fn index(&self) -> u32 {
        u32::try_from(self.index).unwrap_or(u32::MAX)
    }

    pub(super) fn count(&self) -> u32 {
        u32::try_from(self.count).unwrap_or(u32::MAX)
    }

    pub(super) fn phase(&self, edges: &mut Edges<'_>, phase: Phase) {
        edges.observer.event(&Event::PhaseStarted { workload: self.workload(), phase });
    }

    /// Notes that `fraction` of this workload is done and returns the share of the whole run.
    pub(super) fn advance(&mut self, fraction: f64) -> f64 {
        self.fraction = self.fraction.max(fraction.clamp(0.0, 1.0));
        (self.index as f64 + self.fraction) / self.count as f64
    }
}
