//! Tests of the public API.

mod comparison;
#[path = "../../src/normal.rs"]
mod normal;
mod record;
mod regression;
mod summaries;
mod support;
