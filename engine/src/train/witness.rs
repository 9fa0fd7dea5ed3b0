use std::pin::Pin;

use async_trait::async_trait;
use results::Beacon;
use results::api::{PartHashes, ProofWanted};

/// A leaderboard that sees a run while it trains, and whose clock vouches for the times. docs/PROOF.md describes the protocol.
///
/// An error is a part of a sentence that says why there is no answer. The run goes on then, without a witness.
#[async_trait(?Send)]
pub trait Witness {
    /// Begins a lap with segment number `segment` (from 0) of a workload; returns the beacons of its first two segments.
    async fn open_lap(&mut self, workload: &str, segment: u32, state_sha256: &str) -> Result<[Beacon; 2], String>;

    /// Sends a commitment. The answer is awaited while training goes on: the beacon of the segment after the next one,
    /// unless the lap ends.
    fn commit(&mut self, commitment: Commitment) -> PendingBeacon;

    /// Returns what the leaderboard wants to see of a workload that has been trained. `tested_step` is when it was evaluated
    /// last, `target_step` when the target accuracy was reached, and `hashes` are those that the leaderboard wanted last.
    async fn prove(
        &mut self,
        workload: &str,
        tested_step: u64,
        target_step: Option<u64>,
        hashes: Option<PartHashes>,
    ) -> Result<ProofWanted, String>;

    /// Sends a state that is wanted, as [`results::StateBytes::body`].
    async fn show(&mut self, workload: &str, step: u64, state: Vec<u8>) -> Result<(), String>;
}

/// An answer that may still be under way.
pub type PendingBeacon = Pin<Box<dyn Future<Output = Result<Option<Beacon>, String>>>>;

/// The state with which a segment ended: [`results::api::CommitSegment`] without the nonce.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Commitment {
    pub workload: String,
    pub segment: u32,
    pub step: u64,
    pub state_sha256: String,
    pub losses_sha256: String,
    pub ends_lap: bool,
}
