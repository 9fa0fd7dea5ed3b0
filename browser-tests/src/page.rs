//! The page in a browser's tab: what a person does and sees there, in any browser.

use std::time::{Duration, Instant};

use anyhow::Result;
use serde_json::Value;

/// Setup of browser and server.
#[derive(Clone, Copy, Debug)]
pub struct Setup {
    /// True if the browser offers WebGPU: Chromium on SwiftShader, Firefox on the machine's Vulkan driver.
    pub webgpu: bool,
    /// True if its owner prefers dark pages.
    pub dark: bool,
    /// Width and height of the page, CSS pixels.
    pub size: (u32, u32),
    /// Device pixels per CSS pixel.
    pub scale: u32,
    /// Files of the page that the server does not have.
    pub missing: &'static [&'static str],
    /// Data files that the server does not have.
    pub missing_data: &'static [&'static str],
    /// Content of `burn.json`, if not the built page's.
    pub burn: Option<&'static str>,
    /// A script that the training worker runs first, as if the browser itself were so.
    pub in_worker: Option<&'static str>,
}

impl Setup {
    pub const USUAL: Self = Self {
        webgpu: true,
        dark: false,
        size: (1280, 900),
        scale: 1,
        missing: &[],
        missing_data: &[],
        burn: None,
        in_worker: None,
    };
    /// Without WebGPU, for tests that train nothing.
    pub const NO_GPU: Self = Self { webgpu: false, ..Self::USUAL };
    /// As narrow as phones come, and as WCAG asks for (1.4.10), which is 400 % of a screen.
    pub const PHONE: Self = Self { size: (320, 640), ..Self::USUAL };
}

/// Limit for what a page shows at once on an idle machine.
pub const PATIENCE: Duration = Duration::from_secs(60);
/// Limit for a cancelled run to end while it trains: its worker has three seconds to stop.
const MAX_CANCEL_TIME: Duration = Duration::from_secs(5);
/// Limit for a run that is cancelled before it trains: its worker is still starting and does not hear of it, so the page
/// waits the three seconds and then stops it.
pub const MAX_CANCEL_TIME_AT_START: Duration = Duration::from_secs(20);
/// Limit for a small run on an emulated GPU, which takes half a minute on an idle machine.
pub const RUN_PATIENCE: Duration = Duration::from_secs(600);

const PAUSE: Duration = Duration::from_millis(100);

/// The page in a browser's tab.
#[expect(async_fn_in_trait, reason = "tests have one thread, so the futures need not be `Send`")]
pub trait Page {
    /// A reference to an element of the page.
    type Element;

    /// Opens a path of the server, such as `/?steps=5`.
    async fn open(&self, path: &str);

    /// Returns the visible element with this role and accessible name; any name when empty.
    async fn by_role(&self, role: &str, name: &str) -> Option<Self::Element>;

    /// Clicks a button or follows a link as soon as it exists.
    async fn click(&self, role: &str, name: &str);

    /// Text of the first element that fits a CSS selector, hidden parts included.
    async fn text(&self, css: &str) -> Option<String>;

    /// An attribute of the first element that fits a CSS selector.
    async fn attribute(&self, css: &str, attribute: &str) -> Option<String>;

    /// Calls a function of JavaScript, which may be `async`, in the page, and returns its result.
    async fn call(&self, function: &str, argument: Value) -> Value;

    /// Sets the size of the page, and its owner's preference for dark pages. Firefox takes no preference while it runs:
    /// there the page's own choice is made, which the browser keeps.
    async fn set_appearance(&self, setup: Setup) -> Result<()>;

    /// The whole page as PNG, as far as it can be scrolled.
    async fn screenshot(&self) -> Result<Vec<u8>>;

    /// Waits without looking. Firefox has no session meanwhile: while it has one, `new Worker` in a worker may never return
    /// (docs/BROWSERS.md). The bodies that the page has sent are forgotten.
    async fn leave_alone(&self, time: Duration) {
        tokio::time::sleep(time).await;
    }

    /// Bodies of all requests that the page has sent with `method`.
    async fn sent_bodies(&self, method: &str) -> Vec<String>;

    /// The number in an attribute of the first element that fits a CSS selector.
    async fn number(&self, css: &str, attribute: &str) -> Option<f64> {
        self.attribute(css, attribute).await?.parse().ok()
    }

    /// Calls a function of JavaScript without an argument.
    async fn ask(&self, function: &str) -> Value {
        self.call(function, Value::Null).await
    }

    /// Waits for an element with this role and accessible name.
    async fn wait_for(&self, role: &str, name: &str) -> Self::Element {
        let start = Instant::now();
        loop {
            if let Some(element) = self.by_role(role, name).await {
                return element;
            }
            assert!(start.elapsed() < PATIENCE, "no {role} “{name}” within {PATIENCE:?}");
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// Waits until the first element that fits `css` contains `part`, and returns its text.
    async fn wait_for_text(&self, css: &str, part: &str) -> String {
        self.wait_until_it_says(css, PATIENCE, |text| text.contains(part)).await
    }

    /// Waits until the text of the status region fulfills `expected`, and returns it.
    async fn wait_for_status(&self, patience: Duration, expected: impl Fn(&str) -> bool) -> String {
        self.wait_until_it_says("[role=status]", patience, expected).await
    }

    /// Waits until the text of the first element that fits `css` fulfills `expected`, and returns it.
    async fn wait_until_it_says(&self, css: &str, patience: Duration, expected: impl Fn(&str) -> bool) -> String {
        let start = Instant::now();
        loop {
            let text = self.text(css).await.unwrap_or_default();
            if expected(&text) {
                return text;
            }
            assert!(start.elapsed() < patience, "{css} still says “{text}” after {patience:?}");
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// Opens a path and starts a run there.
    async fn start(&self, path: &str) {
        self.open(path).await;
        self.click("button", "Benchmark").await;
    }

    /// Opens a path, and waits for an element there.
    async fn open_to(&self, path: &str, role: &str, name: &str) {
        self.open(path).await;
        self.wait_for(role, name).await;
    }

    /// Starts a run, and waits until it trains.
    async fn start_training(&self, path: &str) {
        self.start(path).await;
        self.wait_for_training().await;
    }

    /// Uploads the result.
    async fn upload(&self) {
        self.click("button", "Upload").await;
        self.wait_for("link", "Permalink").await;
    }

    /// Starts a run and watches it to its end.
    async fn train(&self, path: &str) -> Seen {
        self.start(path).await;
        self.watch_to_the_end().await
    }

    /// Watches a run until its results are there, and opens their details.
    async fn watch_to_the_end(&self) -> Seen {
        let start = Instant::now();
        let mut seen = Seen::default();
        while self.text("#result-title").await.is_none() {
            Seen::note(&mut seen.progress, self.number("[role=progressbar]", "aria-valuenow").await);
            Seen::note(&mut seen.losses, self.number("[data-figure=loss]", "data-value").await);
            let status = self.text("[role=status]").await.unwrap_or_default();
            assert!(start.elapsed() < RUN_PATIENCE, "no results after {RUN_PATIENCE:?}; the status is “{status}”");
            tokio::time::sleep(PAUSE).await;
        }
        self.ask("() => { document.querySelector('.particulars').open = true; }").await;
        seen
    }

    /// Waits until a run shows this step, or a later one.
    async fn wait_for_step(&self, step: f64) {
        let start = Instant::now();
        while self.number("[data-figure=step]", "data-value").await.is_none_or(|now| now < step) {
            assert!(start.elapsed() < RUN_PATIENCE, "step {step} is not trained after {RUN_PATIENCE:?}");
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// Waits until a run shows its first loss.
    async fn wait_for_training(&self) {
        let start = Instant::now();
        while self.number("[data-figure=loss]", "data-value").await.is_none() {
            assert!(start.elapsed() < RUN_PATIENCE, "nothing is trained after {RUN_PATIENCE:?}");
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// Cancels a run that trains.
    async fn cancel(&self) {
        self.click("button", "Cancel").await;
        self.wait_for_status(MAX_CANCEL_TIME, |text| text.starts_with("Cancelled")).await;
    }

    /// The record that the page shows.
    async fn record(&self) -> Value {
        let json = self.text("details.json pre").await.expect("the page shows a record");
        serde_json::from_str(&json).expect("a record is JSON")
    }

    /// Chooses a language, such as `de`, as a visitor does.
    async fn speak(&self, code: &str) {
        let choose = "async (code) => {
            const choice = document.querySelector('select#language');
            choice.value = code;
            choice.dispatchEvent(new Event('change', { bubbles: true }));
            while (document.documentElement.lang !== code) await new Promise((later) => setTimeout(later, 20));
        }";
        self.call(choose, code.into()).await;
    }
}

/// Selector of the elements that may have a role; the browser is asked which of them do.
pub(crate) fn selector(role: &str) -> &'static str {
    match role {
        "button" => "button, [role=button], summary",
        "link" => "a[href]",
        "table" => "table",
        "progressbar" => "progress, [role=progressbar]",
        "checkbox" => "input[type=checkbox]",
        "heading" => "h1, h2, h3",
        other => panic!("add the elements that may be a {other}"),
    }
}

/// Observations during a run.
#[derive(Debug, Default)]
pub struct Seen {
    /// Percent, each once.
    pub progress: Vec<f64>,
    /// Training losses, each once.
    pub losses: Vec<f64>,
}

impl Seen {
    fn note(list: &mut Vec<f64>, value: Option<f64>) {
        if let Some(value) = value.filter(|value| list.last() != Some(value)) {
            list.push(value);
        }
    }
}
