//! Differences between a cheating client and an honest one.

use engine::{StepReport, TestReport, TrainingJob};
use results::RunRecord;

use super::pretended::Plain;
use super::requests::Call;

#[derive(Clone, Copy)]
pub(crate) struct Tricks {
    /// Network that supposedly does not fit on the device.
    pub(crate) lacks: Option<&'static str>,
    /// Changes the training job.
    pub(crate) job: fn(&mut TrainingJob),
    /// Returns the seed with which a segment is trained, from the given seeds of this and all earlier segments.
    pub(crate) seed: fn(&[u32]) -> u32,
    /// Trains a number of steps, or pretends to.
    pub(crate) train: fn(&mut Plain, u32) -> StepReport,
    /// Tests the network, or pretends to.
    pub(crate) test: fn(&mut Plain) -> TestReport,
    /// Changes a request.
    pub(crate) request: fn(&mut Call),
    /// Returns the seconds before a request that pass only on the leaderboard's clock, from the seconds since the
    /// previous request that pass on both clocks.
    pub(crate) hidden_seconds: fn(&Call, f64) -> f64,
    /// Changes the record.
    pub(crate) record: fn(&mut RunRecord),
}

impl Default for Tricks {
    /// Returns an honest client.
    fn default() -> Self {
        Self {
            lacks: None,
            job: |_| {},
            seed: |given| given[given.len() - 1],
            train: Plain::train,
            test: Plain::test,
            request: |_| {},
            hidden_seconds: |_, _| 0.0,
            record: |_| {},
        }
    }
}
