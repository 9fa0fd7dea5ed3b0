//! The leaderboard: registers runs, checks what comes back, keeps it, lists it, and serves the page.
//!
//! The binary is a thin shell around [`Server`], so that tests start the same server in their own
//! process, with a clock of their own. The wire format is `results::api`.

mod api;
mod badge;
mod card;
mod clock;
mod comparing;
mod config;
mod data_sets;
pub mod devices;
mod error;
mod etag;
mod figures;
mod fingerprint;
#[doc(hidden)]
pub mod fuzzing;
mod guard;
mod headers;
mod limits;
#[doc(hidden)]
pub mod load;
mod markup;
mod metrics;
mod open_data;
mod pages;
mod proof;
mod protection;
mod public_url;
pub mod ranking;
mod reason;
mod receiving;
mod router;
mod secrets;
mod server;
mod snapshots;
mod standings;
mod storage;
pub mod upkeep;
mod validation;
mod verification;
mod whole_file;

pub use clock::Clock;
pub use config::{Arguments, CommandLine, Config, ExistingDatabase, Moderation, OfDevice, OfRuns, Replay, Task};
pub use limits::ProxyHeader;
pub use proof::KeyError;
pub use protection::Protection;
pub use public_url::{PublicUrl, PublicUrlError};
pub use reason::Reason;
pub use server::{Server, StartError};
pub use storage::{AddressError, AddressParser, DatabaseAddress, PostgresAddress};
