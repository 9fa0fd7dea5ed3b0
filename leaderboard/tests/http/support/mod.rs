mod client;
mod database;
pub(crate) mod pretended;
mod process;
#[path = "../../../../engine/src/testing/real_data.rs"]
mod real_data;
pub(crate) mod record;
pub(crate) mod rehearsal;
pub(crate) mod requests;
mod server;
#[cfg(target_os = "linux")]
#[path = "../../../../engine/src/testing/skipped.rs"]
mod skipped;

pub(crate) use client::*;
pub(crate) use database::*;
pub(crate) use process::*;
pub(crate) use record::{LARGE, SMALL, in_browser, in_software, on};
pub(crate) use rehearsal::{HONEST, Rehearsal, SEED, assert_tier, light, prove_honest_run, verdict_on};
pub(crate) use requests::RunCall;
pub(crate) use results::api::{AcceptedRun, ErrorBody, StartedRun, StoredRun, Tier, Verdict};
pub(crate) use results::{ClientKind, Precision, RunRecord, WorkloadRecord};
pub(crate) use server::*;
#[cfg(target_os = "linux")]
pub(crate) use skipped::skipped;
pub(crate) use std::process::Output;
pub(crate) use std::time::Duration;

/// Change that a test makes before it sends something.
pub(crate) type Edit<T> = fn(&mut T);
