use std::pin::Pin;

use async_trait::async_trait;
use results::Beacon;
use results::api::{CommittedSegment, PartHashes, ProofWanted};

/// A leaderboard that follows a run while it trains and times it with its own clock. docs/PROOF.md describes the
/// protocol.
///
/// An error is a part of a sentence with the reason why there is no answer. The run then goes on without a witness.
#[async_trait(?Send)]
pub trait Witness {
    /// Begins a lap with segment number `segment` (from 0) of a workload, and returns the beacons of its first two
    /// segments.
    async fn open_lap(&mut self, workload: &str, segment: u32, state_sha256: &str) -> Result<[Beacon; 2], String>;

    /// Sends a commitment. Training goes on while the answer travels.
    fn commit(&mut self, commitment: Commitment) -> PendingAnswer;

    /// Returns the hashes or states that the leaderboard requests of a trained workload. `tested_step` is the step of
    /// the last evaluation, `target_step` the step at which the target accuracy was reached, and `hashes` answers the
    /// last request.
    async fn prove(
        &mut self,
        workload: &str,
        tested_step: u64,
        target_step: Option<u64>,
        hashes: Option<PartHashes>,
    ) -> Result<ProofWanted, String>;

    /// Sends a requested state, as [`results::StateBytes::body`].
    async fn show(&mut self, workload: &str, step: u64, state: Vec<u8>) -> Result<(), String>;
}

/// An answer that may not have arrived yet.
pub type PendingAnswer = Pin<Box<dyn Future<Output = Result<CommittedSegment, String>>>>;

/// Final state of a segment: [`results::api::CommitSegment`] without the nonce.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Commitment {
    pub workload: String,
    pub segment: u32,
    pub step: u64,
    pub state_sha256: String,
    pub losses_sha256: String,
    pub ends_lap: bool,
}
