//! What a test needs to sit in front of the page as a stranger would: a server, a browser, and
//! elements found by role and accessible name.

mod browser;
mod commands;
mod server;
mod watch;

pub use browser::{Browser, Setup};
pub use server::{Server, what_is_said_of_burn};
pub use watch::{CANCELLING, CANCELLING_AT_ITS_START, PATIENCE, RUN_PATIENCE, Seen, watch_to_the_end};

use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Mutex, PoisonError};

/// One browser at a time: two that emulate a GPU on the same processor would only wait for each other.
static TURN: Mutex<()> = Mutex::new(());

/// Runs `body` with a fresh server and a fresh browser, and afterwards looks at what the browser logged.
///
/// Where no browser can be driven this says that the test is skipped, or fails when `REQUIRE_GPU=1`.
///
/// # Panics
/// The body does; the page logged an error; it broke its content security policy; or it asked
/// another server than its own for anything.
pub fn drive(setup: Setup, body: impl AsyncFnOnce(&Browser)) {
    drive_with_server(setup, async |page, _| body(page).await);
}

/// As [`drive`], for a `body` that has something to do to the server.
///
/// # Panics
/// As [`drive`] does.
pub fn drive_with_server(setup: Setup, body: impl AsyncFnOnce(&Browser, &Server)) {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(chromedriver) = browser::find_driver() else {
        let required = std::env::var("REQUIRE_GPU").is_ok_and(|value| value == "1");
        let reason = "chromedriver is not on the PATH (Debian: apt-get install chromium chromium-driver)";
        assert!(!required, "{reason}");
        return skipped(reason);
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let server = Server::start(&setup).expect("the leaderboard starts");
    let browser = runtime.block_on(Browser::start(&chromedriver, &server, setup)).expect("the browser starts");
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        runtime.block_on(async {
            body(&browser, &server).await;
            browser.assert_well_behaved().await;
        });
    }));
    if outcome.is_err() {
        eprintln!("{}", runtime.block_on(browser.describe()));
    }
    runtime.block_on(browser.close());
    if let Err(panic) = outcome {
        resume_unwind(panic);
    }
}

/// Reports that the present test was not made, past the test harness, which swallows what passing tests print.
pub fn skipped(why: &str) {
    let thread = std::thread::current();
    let line = format!("SKIPPED {}: {why}\n", thread.name().unwrap_or("a test"));
    // Where nobody listens there is nobody to tell.
    drop(std::io::stderr().write_all(line.as_bytes()));
}
