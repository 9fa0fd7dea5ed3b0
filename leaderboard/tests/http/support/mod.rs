mod attack;
pub(crate) mod cheat;
pub(crate) mod client;
pub(crate) mod database;
pub(crate) mod invented;
mod kept;
pub(crate) mod people;
pub(crate) mod postgres;
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
pub(crate) mod tricks;

pub(crate) use attack::while_attacked;
pub(crate) use client::{Answer, Client};
pub(crate) use database::TestDatabase;
pub(crate) use process::ServerProcess;
#[cfg(target_os = "linux")]
pub(crate) use process_of_rehearsals::ProcessOfRehearsals;
pub(crate) use server::{CONNECTIONS_PER_ADDRESS, TestServer};
#[cfg(target_os = "linux")]
pub(crate) use skipped::skipped;
