//! Proof of learning: what the server gives a run, what it is told while the run trains, and what it makes of it.
//!
//! The method is that of proof-of-learning (Jia et al., *Proof-of-Learning: Definitions and Practice*, IEEE S&P 2021), in
//! which a trainer commits to checkpoints and a verifier computes parts of the training again; the commitments here are
//! timed by the server as well. [`key`] makes what only this server can have made, and [`challenge`] draws the checkpoint
//! whose weights are asked for. The module `validation` holds a record to what was told before it was finished, and
//! `verification` computes.

pub(crate) mod challenge;
mod key;
pub(crate) mod told;

pub use key::KeyError;
pub(crate) use key::{Announcement, Key};
