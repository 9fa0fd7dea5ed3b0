//! Tests of the public API.

mod comparison;
mod record;
mod regression;
mod summaries;
mod support;
