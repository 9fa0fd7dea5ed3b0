//! Test tools that use the page as a visitor does: a server, browsers, and elements found by role and accessible name.

mod chromium;
mod drive;
mod firefox;
mod page;
mod process;
mod server;
mod tour;

pub use chromium::Chromium;
pub use drive::{drive, drive_firefox, drive_with_server};
pub use firefox::Firefox;
pub use page::{MAX_CANCEL_TIME, MAX_CANCEL_TIME_AT_START, Page, RUN_TIMEOUT, Seen, Setup, TIMEOUT};
pub use server::{PageServer, find_program, read_page_json};
pub use tour::{follow, tour_comparison, tour_run};

#[path = "../../engine/src/testing/skipped.rs"]
mod skipping;

pub fn skipped(why: &str) {
    skipping::skipped(false, why);
}
