//! The crate as other crates use it.

mod comparison;
mod record;
mod regression;
mod summaries;
mod support;
