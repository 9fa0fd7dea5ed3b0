//! The leaderboard: registers runs, validates and stores their records, lists them, and serves the page.
//!
//! The binary is a thin wrapper around [`Server`], so that tests can start the same server in their process, with
//! another clock. The wire format is `results::api`.

mod api;
mod badge;
mod card;
mod client_address;
mod config;
mod counted_event;
mod data_sets;
pub mod devices;
mod embed;
mod error;
mod etag;
mod figures;
mod limits;
#[doc(hidden)]
pub mod load;
mod metrics;
mod open_data;
mod pages;
mod proof;
mod public_url;
mod ranking;
mod receiving;
mod router;
mod secrets;
mod server;
mod snapshots;
mod static_files;
mod storage;
pub mod upkeep;
mod validation;
mod verification;
mod whole_file;

pub use client_address::ProxyHeader;
pub use config::{CommandLine, Config, Moderation, OfRuns, Protection, Replay, ServerClock, Task};
pub use public_url::PublicUrl;
pub use server::Server;
pub use storage::{AddressError, AddressParser, DatabaseAddress};
