use results::{Phase, Stretch};

use super::{Edges, Event};

/// Position of a workload in its run, and its progress.
pub(super) struct Progress {
    workload: &'static str,
    /// Zero-based index, out of `count`.
    pub(super) index: u32,
    pub(super) count: u32,
    /// Completed fraction of this workload. Never decreases.
    fraction: f64,
    timeline: Vec<Stretch>,
    now: Option<(Phase, f64)>,
    pub(super) paused_seconds: f64,
}

impl Progress {
    pub(super) fn new(workload: &'static str, index: usize, count: usize) -> Self {
        let [index, count] = [index, count].map(|number| u32::try_from(number).unwrap_or(u32::MAX));
        Self { workload, index, count, fraction: 0.0, timeline: Vec::new(), now: None, paused_seconds: 0.0 }
    }

    pub(super) fn workload(&self) -> String {
        self.workload.to_owned()
    }

    pub(super) fn phase(&mut self, edges: &mut Edges<'_>, phase: Phase) {
        if self.now.is_some_and(|(now, _)| now == phase) {
            return;
        }
        let start = edges.clock.now_seconds();
        self.end_phase(start);
        self.now = Some((phase, start));
        edges.observer.event(&Event::PhaseStarted { workload: self.workload(), phase });
    }

    pub(super) fn now(&self) -> Option<Phase> {
        self.now.map(|(phase, _)| phase)
    }

    /// Waits, in a separate phase, while the observer pauses the run. Returns true if it waited.
    pub(super) async fn pause(&mut self, edges: &mut Edges<'_>) -> bool {
        let Some(resumed) = edges.observer.pause() else { return false };
        let before = self.now();
        self.phase(edges, Phase::Paused);
        let start = edges.clock.now_seconds();
        resumed.await;
        self.paused_seconds += edges.clock.now_seconds() - start;
        if let Some(before) = before {
            self.phase(edges, before);
        }
        true
    }

    fn end_phase(&mut self, end: f64) {
        if let Some((phase, start)) = self.now.take() {
            self.timeline.push(Stretch { phase, seconds: end - start });
        }
    }

    /// Ends the last phase and returns all of them.
    pub(super) fn timeline(&mut self, edges: &Edges<'_>) -> Vec<Stretch> {
        self.end_phase(edges.clock.now_seconds());
        std::mem::take(&mut self.timeline)
    }

    /// Advances to this fraction of the workload and returns the completed fraction of the run.
    pub(super) fn advance(&mut self, fraction: f64) -> f64 {
        self.fraction = self.fraction.max(fraction.clamp(0.0, 1.0));
        (f64::from(self.index) + self.fraction) / f64::from(self.count)
    }
}
