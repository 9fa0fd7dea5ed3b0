pub(crate) mod client;
pub(crate) mod database;
mod kept;
pub(crate) mod pretended;
pub(crate) mod process;
#[cfg(target_os = "linux")]
mod process_of_rehearsals;
pub(crate) mod record;
pub(crate) mod rehearsal;
pub(crate) mod requests;
pub(crate) mod server;
#[cfg(target_os = "linux")]
#[path = "../../../../engine/src/testing/skipped.rs"]
mod skipped;

pub(crate) use client::{HttpAnswer, TestClient, wait_until, while_attacked};
pub(crate) use database::TestDatabase;
pub(crate) use process::ServerProcess;
#[cfg(target_os = "linux")]
pub(crate) use process_of_rehearsals::ProcessOfRehearsals;
pub(crate) use server::{ANN, BOB, CONNECTIONS_PER_ADDRESS, TestServer, board};
#[cfg(target_os = "linux")]
pub(crate) use skipped::skipped;

/// Change that a test makes before it sends something.
pub(crate) type Edit<T> = fn(&mut T);
