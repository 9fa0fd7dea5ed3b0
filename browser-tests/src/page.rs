//! Operations on the page in any browser: a person's actions, waits and queries.

use std::time::{Duration, Instant};

use anyhow::Result;
use serde_json::{Value, json};

/// Configuration of the browser and the server.
#[derive(Clone, Copy, Debug)]
pub struct Setup {
    /// True if the browser offers WebGPU: Chromium on SwiftShader, Firefox on the machine's Vulkan driver.
    pub webgpu: bool,
    /// True for a visible Chromium on the machine's GPU. `GRADMARK_TEST_GPU=1` runs these tests and skips all others.
    pub gpu: bool,
    pub dark: bool,
    /// Width and height of the viewport in CSS pixels.
    pub size: (u32, u32),
    pub scale: u32,
    /// Page files to omit from the server.
    pub missing: &'static [&'static str],
    /// Data files to omit from the server.
    pub missing_data: &'static [&'static str],
    /// Replacement for the content of `burn.json`.
    pub burn: Option<&'static str>,
    /// Script that runs first in the training worker, such as one that simulates a device fault.
    pub worker_script: Option<&'static str>,
}

impl Setup {
    pub const USUAL: Self = Self {
        webgpu: true,
        gpu: false,
        dark: false,
        size: (1280, 900),
        scale: 1,
        missing: &[],
        missing_data: &[],
        burn: None,
        worker_script: None,
    };
    pub const NO_GPU: Self = Self { webgpu: false, ..Self::USUAL };
    pub const GPU: Self = Self { gpu: true, ..Self::USUAL };
    /// Phone, with the narrowest width that WCAG requires (1.4.10): 1280 pixels at 400 % zoom.
    pub const PHONE: Self = Self { size: (320, 640), ..Self::USUAL };
}

/// Timeout for updates that the page shows at once on an idle machine.
pub const TIMEOUT: Duration = Duration::from_secs(60);
/// Timeout for cancelling a run during training. The page gives its worker three seconds to stop.
pub const MAX_CANCEL_TIME: Duration = Duration::from_secs(5);
/// Timeout for cancelling a run before training starts. A worker that is still starting cannot respond, so the page
/// terminates it after three seconds.
pub const MAX_CANCEL_TIME_AT_START: Duration = Duration::from_secs(20);
/// Timeout for a small run on an emulated GPU, which takes half a minute on an idle machine.
pub const RUN_TIMEOUT: Duration = Duration::from_secs(600);

const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// A browser tab that shows the page.
#[expect(async_fn_in_trait, reason = "tests have one thread, so the futures need not be `Send`")]
pub trait Page {
    /// Reference to an element of the page.
    type Element;

    async fn open(&self, path: &str);

    /// Returns the visible element with this role and accessible name, or with any name if `name` is empty.
    async fn by_role(&self, role: &str, name: &str) -> Option<Self::Element>;

    /// Waits for an element with this role and accessible name, and clicks it.
    async fn click(&self, role: &str, name: &str);

    /// Calls a JavaScript function in the page, which may be `async`, and returns its result.
    async fn try_call(&self, function: &str, argument: Value) -> Result<Value>;

    /// Applies the size, scale and theme of `setup`.
    ///
    /// Firefox cannot change its preferred theme while it runs, so there the page's theme setting changes. The browser
    /// stores it.
    async fn set_appearance(&self, setup: Setup) -> Result<()>;

    async fn screenshot(&self) -> Result<Vec<u8>>;

    /// Sleeps without sending commands to the browser.
    ///
    /// Firefox has no session meanwhile, because `new Worker` in a worker may never return during a session
    /// (docs/BROWSERS.md). The bodies of earlier requests are no longer available afterwards.
    async fn leave_alone(&self, time: Duration) {
        tokio::time::sleep(time).await;
    }

    /// Returns the bodies of all requests that the page has sent with `method`.
    async fn sent_bodies(&self, method: &str) -> Vec<String>;

    async fn call(&self, function: &str, argument: Value) -> Value {
        self.try_call(function, argument).await.expect("the script succeeds")
    }

    /// Returns the text of the first element that matches a CSS selector, including hidden parts.
    async fn text(&self, css: &str) -> Option<String> {
        let text = self.try_call("(css) => document.querySelector(css)?.textContent", css.into()).await.ok()?;
        Some(text.as_str()?.to_owned())
    }

    async fn attribute(&self, css: &str, attribute: &str) -> Option<String> {
        let function = "([css, attribute]) => document.querySelector(css)?.getAttribute(attribute)";
        Some(self.try_call(function, json!([css, attribute])).await.ok()?.as_str()?.to_owned())
    }

    async fn number(&self, css: &str, attribute: &str) -> Option<f64> {
        self.attribute(css, attribute).await?.parse().ok()
    }

    async fn ask(&self, function: &str) -> Value {
        self.call(function, Value::Null).await
    }

    /// Waits until `check` returns a value instead of a description of the state.
    async fn wait_until<T>(&self, timeout: Duration, check: impl AsyncFn() -> Result<T, String>) -> T {
        let start = Instant::now();
        loop {
            match check().await {
                Ok(found) => return found,
                Err(state) => assert!(start.elapsed() < timeout, "{state} after {timeout:?}"),
            }
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    }

    async fn wait_for(&self, role: &str, name: &str) -> Self::Element {
        let find = async || self.by_role(role, name).await.ok_or_else(|| format!("no {role} “{name}”"));
        self.wait_until(TIMEOUT, find).await
    }

    /// Waits until a live metric of the run is at least `least`.
    async fn wait_for_figure(&self, name: &str, least: f64) {
        let read = async || {
            let now = self.number(&format!("[data-figure={name}]"), "data-value").await;
            now.filter(|now| *now >= least).ok_or_else(|| format!("{name} is {now:?}, not {least}"))
        };
        self.wait_until(RUN_TIMEOUT, read).await;
    }

    async fn wait_for_text(&self, css: &str, part: &str) -> String {
        self.wait_until_text(css, TIMEOUT, |text| text.contains(part)).await
    }

    /// Waits until the text of the status region satisfies `expected`, and returns it.
    async fn wait_for_status(&self, timeout: Duration, expected: impl Fn(&str) -> bool) -> String {
        self.wait_until_text("[role=status]", timeout, expected).await
    }

    /// Waits until the text of the first element that matches `css` satisfies `expected`, and returns it.
    async fn wait_until_text(&self, css: &str, timeout: Duration, expected: impl Fn(&str) -> bool) -> String {
        let read = async || {
            let text = self.text(css).await.unwrap_or_default();
            if expected(&text) { Ok(text) } else { Err(format!("{css} still says “{text}”")) }
        };
        self.wait_until(timeout, read).await
    }

    /// Opens a path and starts a run there.
    async fn start(&self, path: &str) {
        self.open(path).await;
        self.click("button", "Benchmark").await;
    }

    async fn open_to(&self, path: &str, role: &str, name: &str) {
        self.open(path).await;
        self.wait_for(role, name).await;
    }

    /// Starts a run and waits until it trains.
    async fn start_training(&self, path: &str) {
        self.start(path).await;
        self.wait_for_training().await;
    }

    async fn upload(&self) {
        self.click("button", "Upload").await;
        self.wait_for("link", "Permalink").await;
    }

    async fn train(&self, path: &str) -> Seen {
        self.start(path).await;
        self.watch_to_the_end().await
    }

    /// Watches a run until its results appear, and expands their details.
    async fn watch_to_the_end(&self) -> Seen {
        let start = Instant::now();
        let mut seen = Seen::default();
        while self.text("#result-title").await.is_none() {
            seen.progress.extend(self.number("[role=progressbar]", "aria-valuenow").await);
            seen.losses.extend(self.number("[data-figure=loss]", "data-value").await);
            let status = self.text("[role=status]").await.unwrap_or_default();
            assert!(start.elapsed() < RUN_TIMEOUT, "no results after {RUN_TIMEOUT:?}; the status is “{status}”");
            tokio::time::sleep(POLL_INTERVAL).await;
        }
        self.ask("() => { document.querySelector('.particulars').open = true; }").await;
        seen.progress.dedup();
        seen.losses.dedup();
        seen
    }

    async fn wait_for_training(&self) {
        self.wait_for_figure("loss", f64::MIN).await;
    }

    /// Cancels a run during training, and waits until it has ended.
    async fn cancel(&self) {
        self.click("button", "Cancel").await;
        self.wait_for_status(MAX_CANCEL_TIME, |text| text.starts_with("Cancelled")).await;
    }

    async fn record(&self) -> Value {
        let json = self.text("details.json pre").await.expect("the page shows a record");
        serde_json::from_str(&json).expect("a record is JSON")
    }

    /// Selects a language, such as `de`, as a visitor does.
    async fn set_language(&self, code: &str) {
        let choose = "async (code) => {
            const choice = document.querySelector('select#language');
            choice.value = code;
            choice.dispatchEvent(new Event('change', { bubbles: true }));
            while (document.documentElement.lang !== code) await new Promise((later) => setTimeout(later, 20));
        }";
        self.call(choose, code.into()).await;
    }
}

/// Returns a selector of all elements that may have a role. The browser computes their actual roles.
pub(crate) fn selector(role: &str) -> &'static str {
    match role {
        "button" => "button, [role=button], summary",
        "link" => "a[href]",
        "table" => "table",
        "progressbar" => "progress, [role=progressbar]",
        "checkbox" => "input[type=checkbox]",
        "heading" => "h1, h2, h3",
        other => panic!("add a selector for the role {other}"),
    }
}

/// Observations during a run.
#[derive(Debug, Default)]
pub struct Seen {
    /// Progress in percent, without consecutive duplicates.
    pub progress: Vec<f64>,
    /// Training losses, without consecutive duplicates.
    pub losses: Vec<f64>,
}
