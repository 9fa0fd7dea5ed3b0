use std::env;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Mutex, PoisonError};

use crate::driven::Driven;
use crate::{Browser, Firefox, Server, Setup, skipped};

/// One browser at a time: two that emulate a GPU on the same processor would only wait for each other.
static TURN: Mutex<()> = Mutex::new(());

/// Runs `body` with a fresh server and a fresh Chromium, and afterwards looks at what the browser logged.
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
    drive_any::<Browser>(setup, body);
}

/// As [`drive`], in Firefox.
///
/// # Panics
/// As [`drive`] does.
pub fn drive_firefox(setup: Setup, body: impl AsyncFnOnce(&Firefox)) {
    drive_any::<Firefox>(setup, async |page, _| body(page).await);
}

fn drive_any<B: Driven>(setup: Setup, body: impl AsyncFnOnce(&B, &Server)) {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(program) = B::find() else {
        let required = env::var("REQUIRE_GPU").is_ok_and(|value| value == "1");
        assert!(!required, "{}", B::MISSING);
        return skipped(B::MISSING);
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let server = Server::start(&setup).expect("the leaderboard starts");
    let browser = runtime.block_on(B::start(&program, &server, setup)).expect("the browser starts");
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
