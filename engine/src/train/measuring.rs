use std::ptr;

use results::summary::{self, MINIMUM_WINDOWS};

use super::Edges;
use super::learning::{Learning, TRAINING_SHARE};
use crate::error::EngineError;
use crate::measure::{Peaks, Phase};

/// At most four times the minimum number of windows …
const MAXIMUM_WINDOWS: usize = 4 * MINIMUM_WINDOWS;
/// … and at most so long.
const BUDGET_SECONDS: f64 = 30.0;

impl Learning<'_> {
    /// Trains on, without looking at the test set, until the throughput has settled, and measures the peak of the device
    /// in turns with that.
    ///
    /// A fast device finishes its epochs before it has filled five windows of a second.
    pub(super) async fn measure(&mut self, peaks: &mut Peaks<'_>, edges: &mut Edges<'_>) -> Result<(), EngineError> {
        if !self.going() {
            return Ok(());
        }
        self.end_lap(edges).await?;
        self.progress.phase(edges, Phase::MeasuringPeak);
        peaks.open().await;
        let start = edges.clock.now_seconds() - self.progress.paused_seconds();
        let mut is_over = false;
        while self.going() && !is_over {
            // A leaderboard cannot distinguish the time of measuring the peak from training, so it is measured rarely.
            for _ in 0..MINIMUM_WINDOWS {
                let elapsed = edges.clock.now_seconds() - self.progress.paused_seconds() - start;
                is_over = !self.going() || self.settled() || elapsed >= BUDGET_SECONDS;
                if is_over {
                    break;
                }
                let windows = self.measured_windows() as f64 / MINIMUM_WINDOWS as f64;
                let done = windows.min(1.0).max(elapsed / BUDGET_SECONDS);
                self.progress.phase(edges, Phase::Measuring);
                // The end of an epoch only changes the order of the samples, so it need not end a window.
                self.window(u64::MAX, f64::INFINITY, TRAINING_SHARE + (1.0 - TRAINING_SHARE) * done, edges).await?;
                self.pause(edges).await;
            }
            self.end_lap(edges).await?;
            self.progress.phase(edges, Phase::MeasuringPeak);
            self.measure_last_peak(peaks).await;
        }
        Ok(())
    }

    /// Measures the peak of the device after training that ended where it was told to, for the last window that counts.
    pub(super) async fn measure_after_training(
        &mut self,
        peaks: &mut Peaks<'_>,
        edges: &mut Edges<'_>,
    ) -> Result<(), EngineError> {
        if self.going() && self.measured_windows() > 0 {
            self.end_lap(edges).await?;
            self.progress.phase(edges, Phase::MeasuringPeak);
            self.measure_last_peak(peaks).await;
        }
        Ok(())
    }

    /// Measures the peak once, for the last window that counts.
    async fn measure_last_peak(&mut self, peaks: &mut Peaks<'_>) {
        let windows = &self.record.windows;
        let last = summary::counted_windows(windows).last();
        let place = last.and_then(|last| windows.iter().position(|window| ptr::eq(window, last)));
        let is_measured = |place: usize| self.record.peaks.last().is_some_and(|peak| peak.window as usize == place);
        if let Some(place) = place.filter(|&place| self.going() && !is_measured(place)) {
            self.record.peaks.extend(peaks.measure(place).await);
        }
    }

    fn measured_windows(&self) -> usize {
        summary::counted_windows(&self.record.windows).count()
    }

    fn settled(&self) -> bool {
        self.measured_windows() >= MAXIMUM_WINDOWS || summary::summarise(self.record).stable
    }
}
