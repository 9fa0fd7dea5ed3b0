//! Test harness with a fresh server and a fresh browser.

use std::env;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use anyhow::{Context, Result};
use base64::Engine;
use serde_json::Value;

use crate::{Chromium, Firefox, Page, PageServer, Setup, skipped};

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
        let text = runtime.block_on(browser.text("body")).unwrap_or_default();
        let console = runtime.block_on(browser.console()).join("\n");
        eprintln!("--- the page says:\n{text}\n--- the console says:\n{console}");
    }
    runtime.block_on(browser.close());
    if let Err(panic) = outcome {
        resume_unwind(panic);
    }
}

fn is_set(variable: &str) -> bool {
    env::var(variable).is_ok_and(|value| value == "1")
}

/// Life cycle of a browser.
pub(crate) trait Driven: Page + Sized {
    /// Message for machines on which [`Self::find`] finds nothing.
    const MISSING: &'static str;

    fn find() -> Option<PathBuf>;

    async fn start(program: &Path, server: &PageServer, setup: Setup) -> Result<Self>;

    /// Fails if the console has an error or a violation of the content security policy, or if the page sent a request
    /// to another server.
    async fn assert_well_behaved(&self);

    /// Returns new lines that the page has logged, each with its level.
    async fn console(&self) -> Vec<String>;

    async fn close(self);
}

/// Decodes the image in a response.
pub(crate) fn decode_image(response: &Value) -> Result<Vec<u8>> {
    let text = response["data"].as_str().context("an image")?;
    Ok(base64::engine::general_purpose::STANDARD.decode(text)?)
}

/// Returns a line of a browser's console with its level, of an entry with the text in this field.
pub(crate) fn console_line(entry: &Value, text: &str) -> String {
    format!("{} {}", entry["level"].as_str().unwrap_or_default(), entry[text].as_str().unwrap_or_default())
}

/// Fails if a logged network event is a request to another server, or if none was logged.
pub(crate) fn assert_same_origin<'a>(events: impl Iterator<Item = &'a Value>, origin: &str) {
    let addresses = events.filter_map(|event| event["request"]["url"].as_str());
    let addresses = addresses.filter(|address| address.starts_with("http"));
    let (own, foreign): (Vec<_>, Vec<_>) = addresses.partition(|address| address.starts_with(origin));
    assert!(!own.is_empty(), "the network log is empty, so requests to other servers would go unnoticed");
    assert!(foreign.is_empty(), "the page sent requests to other servers: {foreign:#?}");
}
