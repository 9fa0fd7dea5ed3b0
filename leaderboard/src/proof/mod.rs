//! Proof of learning: what the server gives a run while it trains, what it has seen of it, and what it wants to be shown.
//! docs/PROOF.md describes the protocol.
//!
//! [`key`] makes what only this server can have made, and [`beacons`] what a training needs of it. [`seen`] is what storage
//! has of a workload. [`draws`] and [`time`] follow from that and from nothing else, so that every answer is the same when it
//! is asked for again. The module `validation` compares a record with what was seen, and `verification` computes.

mod beacons;
pub(crate) mod draws;
mod key;
mod seen;
mod states;
mod time;

pub(crate) use beacons::TrainingKey;
pub use key::KeyError;
pub(crate) use key::{Announcement, Key};
pub(crate) use seen::{BegunProof, SeenLap, SeenSegment, SeenWorkload, SurroundingSegments};
pub(crate) use states::StateSize;
pub(crate) use time::limited_summary;

/// Returns false for a network whose training no leaderboard can prove.
pub(crate) fn is_provable(workload: &str) -> bool {
    engine::workload(workload).is_none_or(|workload| workload.is_provable())
}
