//! What a test needs to sit in front of the page as a stranger would: a server, a browser, and
//! elements found by role and accessible name.

mod browser;
mod commands;
mod server;

pub use browser::{Browser, Setup};
pub use server::Server;

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Mutex, PoisonError};

/// One browser at a time: two that emulate a GPU on the same processor would only wait for each other.
static TURN: Mutex<()> = Mutex::new(());

/// Runs `body` with a fresh server and a fresh browser, and afterwards looks at what the browser logged.
///
/// Where no browser can be driven this prints that the test is skipped, or fails when `REQUIRE_GPU=1`.
///
/// # Panics
/// The body does; the page logged an error; it broke its content security policy; or it asked
/// another server than its own for anything.
pub fn drive(setup: Setup, body: impl AsyncFnOnce(&Browser)) {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(chromedriver) = browser::find_driver() else {
        let required = std::env::var("REQUIRE_GPU").is_ok_and(|value| value == "1");
        let reason = "chromedriver is not on the PATH (Debian: apt-get install chromium chromium-driver)";
        assert!(!required, "{reason}");
        eprintln!("skipped: {reason}");
        return;
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let server = Server::start(setup.missing).expect("the leaderboard starts");
    let browser = runtime.block_on(Browser::start(&chromedriver, &server, setup)).expect("the browser starts");
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        runtime.block_on(async {
            body(&browser).await;
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
