//! The crate as other crates use it.

mod comparison;
mod outcome;
mod regression;
mod regression_of_noise;
mod round_trip;
mod schema;
mod segments;
mod stored;
mod summaries;
mod support;
