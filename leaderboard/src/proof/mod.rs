//! Proof of learning: beacons and commitments of a run while it trains, and parts that the server requests afterwards.
//! docs/PROOF.md describes the protocol.
//!
//! [`key`] makes the random words of a training. [`seen`] is the stored history of a workload. [`draws`] and [`time`]
//! depend only on this history, so a repeated request gets the same answer.

pub(crate) mod draws;
mod key;
mod seen;
#[cfg(test)]
pub(crate) mod testing;
mod time;

pub(crate) use key::{ServerKey, Started, TrainingKey};
pub(crate) use seen::{BegunProof, MAX_HASHES, SeenLap, SeenSegment, SeenWorkload, StateSize, SurroundingSegments};
pub(crate) use time::limited_summaries;

use engine::ProofObstacle;

/// Returns the reason that a network cannot be proven; `None` for unknown ones.
pub(crate) fn proof_obstacle(workload: &str) -> Option<ProofObstacle> {
    engine::workload(workload)?.proof_obstacle()
}
