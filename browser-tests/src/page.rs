use std::time::{Duration, Instant};

use anyhow::Result;
use serde_json::Value;

use crate::Setup;
use crate::patience::PATIENCE;

const PAUSE: Duration = Duration::from_millis(100);

/// The page in a browser's tab: what a person does and sees there, whichever browser it is.
#[expect(async_fn_in_trait, reason = "a test is one thread, so that nobody asks whether its futures can change it")]
pub trait Page {
    /// What the browser calls an element of the page by.
    type Element;

    /// Opens a path of the server, such as `/?steps=5`.
    async fn open(&self, path: &str);

    /// The visible element with this role and accessible name; any name when empty.
    async fn by_role(&self, role: &str, name: &str) -> Option<Self::Element>;

    /// Clicks a button or follows a link as soon as it is there.
    async fn click(&self, role: &str, name: &str);

    /// Text of the first element that fits a CSS selector, hidden parts included.
    async fn text(&self, css: &str) -> Option<String>;

    /// An attribute of the first element that fits a CSS selector.
    async fn attribute(&self, css: &str, attribute: &str) -> Option<String>;

    /// Calls a function of JavaScript, which may be `async`, in the page, and gives what it returns.
    ///
    /// # Panics
    /// The function throws.
    async fn call(&self, function: &str, argument: Value) -> Value;

    /// Size of the page, and whether its owner likes dark ones. Firefox cannot be told so once it runs: there the page's
    /// own choice is made, which this browser keeps.
    ///
    /// # Errors
    /// The browser refuses.
    async fn set_appearance(&self, setup: Setup) -> Result<()>;

    /// The whole page as PNG, as far as it can be scrolled.
    ///
    /// # Errors
    /// The browser refuses.
    async fn screenshot(&self) -> Result<Vec<u8>>;

    /// Lets the page be for so long. Firefox has no session meanwhile: while it has one, `new Worker` in a worker may never
    /// return (docs/BROWSERS.md). The bodies that the page sent until then are forgotten.
    async fn leave_alone(&self, time: Duration) {
        tokio::time::sleep(time).await;
    }

    /// The bodies of all requests that the page sent with `method` so far.
    async fn sent_bodies(&self, method: &str) -> Vec<String>;

    /// The number in the attribute of the first element that fits a CSS selector.
    async fn number(&self, css: &str, attribute: &str) -> Option<f64> {
        self.attribute(css, attribute).await?.parse().ok()
    }

    /// Waits for an element with this role and accessible name.
    ///
    /// # Panics
    /// It does not appear in time.
    async fn wait_for(&self, role: &str, name: &str, patience: Duration) -> Self::Element {
        let start = Instant::now();
        loop {
            if let Some(element) = self.by_role(role, name).await {
                return element;
            }
            assert!(start.elapsed() < patience, "no {role} “{name}” within {patience:?}");
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// Waits until the first element that fits `css` says `part`, and gives all that it says.
    ///
    /// # Panics
    /// It does not in time.
    async fn wait_for_text(&self, css: &str, part: &str) -> String {
        self.wait_until_it_says(css, PATIENCE, |text| text.contains(part)).await
    }

    /// Waits until the status region's text fulfils `expected`, and gives it.
    ///
    /// # Panics
    /// It does not in time.
    async fn wait_for_status(&self, patience: Duration, expected: impl Fn(&str) -> bool) -> String {
        self.wait_until_it_says("[role=status]", patience, expected).await
    }

    /// Waits until the text of the first element that fits `css` fulfils `expected`, and gives it.
    ///
    /// # Panics
    /// It does not in time.
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
}

/// Elements that may have a role; the browser is asked which of them do.
pub(crate) fn selector(role: &str) -> &'static str {
    match role {
        "button" => "button, [role=button], summary",
        "link" => "a[href]",
        "table" => "table",
        "progressbar" => "progress, [role=progressbar]",
        "status" => "output, [role=status]",
        "radio" => "input[type=radio]",
        "checkbox" => "input[type=checkbox]",
        "textbox" => "input, textarea",
        "heading" => "h1, h2, h3",
        other => panic!("say here which elements may be a {other}"),
    }
}
