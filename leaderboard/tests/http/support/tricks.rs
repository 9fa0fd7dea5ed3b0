//! What a client does otherwise than an honest one.

use engine::{StepReport, TestReport, TrainingJob};
use results::RunRecord;

use super::pretended::Plain;
use super::requests::Call;

#[derive(Clone, Copy)]
pub(crate) struct Tricks {
    /// Network that the device is said not to hold.
    pub(crate) lacks: Option<&'static str>,
    /// Changes what is trained.
    pub(crate) job: fn(&mut TrainingJob),
    /// Returns the seed with which a segment is trained, from those that were given for it and all before.
    pub(crate) seed: fn(&[u32]) -> u32,
    /// Trains so many steps, or seems to.
    pub(crate) train: fn(&mut Plain, u32) -> StepReport,
    /// Tests the network, or seems to.
    pub(crate) test: fn(&mut Plain) -> TestReport,
    /// Changes what is sent.
    pub(crate) request: fn(&mut Call),
    /// Returns the seconds before a request that pass on the leaderboard's clock alone, from those since the one before
    /// that pass on both.
    pub(crate) hidden_seconds: fn(&Call, f64) -> f64,
    /// Changes the record.
    pub(crate) record: fn(&mut RunRecord),
}

impl Default for Tricks {
    /// None.
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
