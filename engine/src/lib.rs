//! Engine that trains the same networks on every backend and measures them.
//!
//! Models and workloads are data ([`Model`], [`WORKLOADS`]). A [`Backend`] turns one into a [`Trainer`]. [`run`] drives
//! trainers through the correctness check, warm-up, training and measurement, announces [`Event`]s and returns a
//! [`results::RunRecord`]. The engine never prints, opens files, fetches or blocks: the caller provides the [`Edges`].

// Tests are exempt from the restrictions in clippy.toml.
#![cfg_attr(
    not(test),
    warn(clippy::disallowed_methods, clippy::disallowed_types, clippy::print_stderr, clippy::print_stdout)
)]

pub mod backends;
mod clock;
mod data;
mod error;
pub mod measure;
mod model;
mod norm;
mod preprocessing;
mod random;
mod score;
pub mod steps;
#[cfg(test)]
mod testing;
mod trace;
mod train;
mod trainer;
mod training;
mod workload;

pub use backends::reference::{Classifier, Examiner, TestedState, TrainedPart, Writer};
pub use backends::{AdapterChoice, BACKENDS, BackendDefinition, BackendState, KNOWN_BACKENDS};
pub use clock::Clock;
pub use data::*;
pub use error::EngineError;
pub use measure::{Observer, Phase, WantedTexts};
pub use model::*;
pub use random::{Generator, stream};
pub use score::{mean_arithmetic, score, score_of};
pub use trace::{Trace, TraceRequest, trace};
pub use train::{
    Edges, Event, NoMeter, PendingAnswer, Registration, ResourceMeter, RunRequest, Stopped, Witness, check_workload,
    departures, run,
};
pub use trainer::*;
pub use training::*;
pub use workload::*;
