//! The crate as other crates use it.

mod checkpoints;
mod comparison;
mod outcome;
mod regression;
mod regression_of_noise;
mod round_trip;
mod schema;
mod summaries;
mod support;
