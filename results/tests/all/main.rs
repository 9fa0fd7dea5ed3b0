//! Tests of the public API.

mod record;
mod summaries;
