//! Test harness with a fresh server and a fresh browser.

use std::env;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Mutex, PoisonError};

use crate::driven::Driven;
use crate::{Chromium, Firefox, PageServer, Setup, skipped};

/// Lock that admits one browser at a time in this process, because two emulated GPUs would compete for the CPU.
static BROWSER_LOCK: Mutex<()> = Mutex::new(());

/// Runs `body` with a fresh server and a fresh Chromium.
///
/// Without a browser, the test is skipped, or fails if `REQUIRE_GPU=1`. It is also skipped if the environment selects
/// other tests (see [`Setup::gpu`]).
///
/// # Panics
/// If `body` panics, or if the page logs an error, violates its content security policy or sends a request to another
/// server.
pub fn drive(setup: Setup, body: impl AsyncFnOnce(&Chromium)) {
    drive_with_server(setup, async |page, _| body(page).await);
}

/// Like [`drive`], with access to the server.
pub fn drive_with_server(setup: Setup, body: impl AsyncFnOnce(&Chromium, &PageServer)) {
    drive_any::<Chromium>(setup, body);
}

/// Like [`drive`], in Firefox.
pub fn drive_firefox(setup: Setup, body: impl AsyncFnOnce(&Firefox)) {
    drive_any::<Firefox>(setup, async |page, _| body(page).await);
}

fn drive_any<B: Driven>(setup: Setup, body: impl AsyncFnOnce(&B, &PageServer)) {
    if setup.gpu != is_set("GRADMARK_TEST_GPU") {
        let why = if setup.gpu { "GRADMARK_TEST_GPU is not 1" } else { "GRADMARK_TEST_GPU selects tests of a GPU" };
        return skipped(why);
    }
    let _guard = BROWSER_LOCK.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(program) = B::find() else {
        assert!(!is_set("REQUIRE_GPU"), "{}", B::MISSING);
        return skipped(B::MISSING);
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let server = PageServer::start(&setup).expect("the leaderboard starts");
    let browser = runtime.block_on(<B as Driven>::start(&program, &server, setup)).expect("the browser starts");
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

fn is_set(variable: &str) -> bool {
    env::var(variable).is_ok_and(|value| value == "1")
}
