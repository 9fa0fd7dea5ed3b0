//! Proof of learning: beacons for a run while it trains, commitments received from it, and the parts that the server
//! requests afterwards. docs/PROOF.md describes the protocol.
//!
//! [`key`] makes words that only this server can make, and [`beacons`] derives the random words of a training from it.
//! [`seen`] is the stored history of a workload. [`draws`] and [`time`] are functions of this history alone, so a
//! repeated request gets the same answer. The module `validation` compares a record with the history, and
//! `verification` computes parts of the training again.

pub(crate) mod draws;
mod key;
mod seen;
mod time;

pub use key::KeyError;
pub(crate) use key::{Announcement, Key, TrainingKey};
pub(crate) use seen::{BegunProof, SeenLap, SeenSegment, SeenWorkload, StateSize, SurroundingSegments};
pub(crate) use time::limited_summaries;

/// Returns true if a leaderboard can prove the training of this network.
pub(crate) fn is_provable(workload: &str) -> bool {
    engine::workload(workload).is_none_or(|workload| workload.is_provable())
}
