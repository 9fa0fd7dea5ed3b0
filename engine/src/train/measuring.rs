use results::summary::{self, MINIMUM_WINDOWS};

use super::Edges;
use super::learning::{Learning, TRAINING_SHARE};
use crate::error::EngineError;
use crate::observer::Phase;

/// At most four times the minimum number of windows …
const MAXIMUM_WINDOWS: usize = 4 * MINIMUM_WINDOWS;
/// … and at most so long.
const BUDGET_SECONDS: f64 = 30.0;

impl Learning<'_> {
    /// Trains on, without looking at the test set, until the throughput has settled.
    ///
    /// A fast device finishes its epochs before it has filled five windows of a second.
    pub(super) async fn measure(&mut self, edges: &mut Edges<'_>) -> Result<(), EngineError> {
        if self.going() && !self.settled() {
            self.progress.phase(edges, Phase::Measuring);
        }
        let start = edges.clock.now_seconds();
        while self.going() && !self.settled() {
            let elapsed = edges.clock.now_seconds() - start;
            if elapsed >= BUDGET_SECONDS {
                break;
            }
            let windows = self.measured_windows() as f64 / MINIMUM_WINDOWS as f64;
            let done = windows.min(1.0).max(elapsed / BUDGET_SECONDS);
            // An epoch's end only brings a new order of the samples: it need not end a window.
            self.window(u64::MAX, f64::INFINITY, TRAINING_SHARE + (1.0 - TRAINING_SHARE) * done, edges).await?;
        }
        Ok(())
    }

    fn measured_windows(&self) -> usize {
        summary::counted_windows(&self.record.windows).count()
    }

    fn settled(&self) -> bool {
        self.measured_windows() >= MAXIMUM_WINDOWS || summary::summarise(self.record).stable
    }
}
