//! What a test needs to sit in front of the page as a stranger would: a server, a browser, and
//! elements found by role and accessible name.

mod axe;
mod bidi;
mod browser;
mod commands;
mod drive;
mod driven;
mod firefox;
mod page;
mod patience;
mod server;
mod setup;
mod speak;
mod watch;

pub use axe::{Axe, axe};
pub use browser::Browser;
pub use drive::{drive, drive_firefox, drive_with_server};
pub use firefox::Firefox;
pub use page::Page;
pub use patience::{CANCELLING, CANCELLING_AT_ITS_START, PATIENCE, RUN_PATIENCE};
pub use server::{Server, what_is_said_of_burn, what_is_said_of_frameworks};
pub use setup::Setup;
pub use speak::speak;
pub use watch::{Seen, wait_for_training, watch_to_the_end};

#[path = "../../engine/src/testing/skipped.rs"]
mod skipping;

/// Reports that the current test is skipped.
pub fn skipped(why: &str) {
    skipping::skipped(false, why);
}
