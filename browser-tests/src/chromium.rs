//! Chromium, controlled through chromedriver.

use std::cell::{Cell, RefCell};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use fantoccini::elements::Element;
use fantoccini::wd::WebDriverCompatibleCommand;
use fantoccini::{Client, ClientBuilder, Locator};
use http::Method;
use hyper_util::client::legacy::connect::HttpConnector;
use serde_json::{Value, json};
use tempfile::TempDir;
use url::{ParseError, Url};

use crate::drive::{Driven, assert_same_origin, console_line, decode_image};
use crate::page::{TIMEOUT, selector};
use crate::process::StartedProgram;
use crate::{Page, PageServer, Setup};

/// Chromium with one tab that shows a server's page.
pub struct Chromium {
    client: Client,
    _driver: StartedProgram,
    origin: String,
    /// Substrings of console lines that a test expects.
    tolerated: Cell<&'static [&'static str]>,
    /// Network events so far. Chromedriver returns each of them only once.
    network: RefCell<Vec<Value>>,
    _profile: TempDir,
}

/// Returns flags for a Chromium without background requests. It is headless and offers WebGPU without a GPU, unless
/// `setup` asks for one.
fn flags(setup: Setup, profile: &Path) -> Vec<String> {
    let mut flags = vec![
        "--no-sandbox".to_owned(),
        "--no-first-run".to_owned(),
        "--disable-background-networking".to_owned(),
        "--disable-component-update".to_owned(),
        "--disable-sync".to_owned(),
        "--disable-quic".to_owned(),
        "--disable-dev-shm-usage".to_owned(),
        // Do not depend on the machine's language.
        "--accept-lang=en-US".to_owned(),
        "--hide-scrollbars".to_owned(),
        format!("--user-data-dir={}", profile.display()),
        format!("--window-size={},{}", setup.size.0, setup.size.1),
    ];
    let more: &[&str] = match setup {
        // Headless Chromium may ignore the GPU.
        Setup { gpu: true, .. } => &[],
        // The first one is for WebGL without a GPU, for TensorFlow.js.
        Setup { webgpu: true, .. } => &[
            "--enable-unsafe-swiftshader",
            "--headless=new",
            "--enable-unsafe-webgpu",
            "--use-webgpu-adapter=swiftshader",
        ],
        _ => &["--enable-unsafe-swiftshader", "--headless=new", "--disable-features=WebGPU"],
    };
    flags.extend(more.iter().map(|&flag| flag.to_owned()));
    flags
}

impl Driven for Chromium {
    const MISSING: &'static str = "chromedriver is not on the PATH (Debian: apt-get install chromium chromium-driver)";

    fn find() -> Option<PathBuf> {
        which::which("chromedriver").ok()
    }

    async fn start(chromedriver: &Path, server: &PageServer, setup: Setup) -> Result<Self> {
        let profile = tempfile::tempdir()?;
        let mut command = Command::new(chromedriver);
        let (driver, port) =
            StartedProgram::start(command.arg("--port=0").stderr(Stdio::null()), "successfully on port ")?;
        let capabilities = json!({
            "goog:chromeOptions": { "args": flags(setup, profile.path()) },
            // Compiling a kernel for an emulated GPU may take long on a busy machine.
            "timeouts": { "script": 300_000 },
            "goog:loggingPrefs": { "browser": "ALL", "performance": "ALL" },
        });
        let client = ClientBuilder::new(HttpConnector::new())
            .capabilities(capabilities.as_object().cloned().unwrap_or_default())
            .connect(&format!("http://127.0.0.1:{}", port.trim_end_matches('.')))
            .await
            .context("the browser cannot be started")?;
        let browser = Self {
            client,
            _driver: driver,
            origin: server.origin.clone(),
            tolerated: Cell::new(setup.missing),
            network: RefCell::default(),
            _profile: profile,
        };
        browser.set_appearance(setup).await?;
        Ok(browser)
    }

    async fn assert_well_behaved(&self) {
        let mut console = self.console().await;
        console.retain(|line| !self.tolerated.get().iter().any(|text| line.contains(text)));
        let bad: Vec<&String> = console
            .iter()
            .filter(|line| line.starts_with("SEVERE") || line.contains("Content Security Policy"))
            .collect();
        assert!(bad.is_empty(), "the console says: {bad:#?}");
        self.collect_network_events().await;
        let events = self.network.borrow();
        assert_same_origin(events.iter().map(|event| &event["params"]), &self.origin);
    }

    async fn console(&self) -> Vec<String> {
        let entries = self.log("browser").await.unwrap_or_default();
        entries.as_array().into_iter().flatten().map(|entry| console_line(entry, "message")).collect()
    }

    async fn close(self) {
        // Closing a crashed browser fails.
        drop(self.client.clone().close().await);
    }
}

impl Page for Chromium {
    type Element = Element;

    async fn open(&self, path: &str) {
        self.client.goto(&format!("{}{path}", self.origin)).await.expect("the page opens");
    }

    async fn by_role(&self, role: &str, name: &str) -> Option<Element> {
        for element in self.client.find_all(Locator::Css(selector(role))).await.ok()? {
            let matches = async |property: &str, expected: &str| {
                let path = format!("element/{}/computed{property}", element.element_id().as_ref());
                expected.is_empty()
                    || self.client.issue_cmd(DriverCommand(path, None)).await.is_ok_and(|value| value == expected)
            };
            if element.is_displayed().await.unwrap_or(false)
                && matches("role", role).await
                && matches("label", name).await
            {
                return Some(element);
            }
        }
        None
    }

    async fn click(&self, role: &str, name: &str) {
        self.wait_for(role, name).await.click().await.expect("it can be clicked");
    }

    async fn try_call(&self, function: &str, argument: Value) -> Result<Value> {
        let script = format!(
            "const [argument, done] = arguments;
            (async () => ({function})(argument))()
                .then((value) => done({{ value }}), (error) => done({{ error: String(error) }}));"
        );
        let mut answer = self.client.execute_async(&script, vec![argument]).await?;
        ensure!(answer["error"].is_null(), "the script failed: {}", answer["error"]);
        Ok(answer["value"].take())
    }

    async fn set_appearance(&self, setup: Setup) -> Result<()> {
        let scheme = if setup.dark { "dark" } else { "light" };
        let media = json!({ "features": [{ "name": "prefers-color-scheme", "value": scheme }] });
        self.devtools("Emulation.setEmulatedMedia", media).await?;
        let metrics = json!({
            "width": setup.size.0, "height": setup.size.1, "deviceScaleFactor": setup.scale, "mobile": setup.size.0 < 600,
        });
        self.devtools("Emulation.setDeviceMetricsOverride", metrics).await.map(drop)
    }

    async fn screenshot(&self) -> Result<Vec<u8>> {
        let parameters = json!({ "format": "png", "captureBeyondViewport": true });
        decode_image(&self.devtools("Page.captureScreenshot", parameters).await?)
    }

    async fn sent_bodies(&self, method: &str) -> Vec<String> {
        self.collect_network_events().await;
        let events = self.network.borrow();
        let requests = events.iter().map(|event| &event["params"]["request"]);
        requests
            .filter(|request| request["method"] == method)
            .filter_map(|request| request["postData"].as_str().map(str::to_owned))
            .collect()
    }
}

impl Chromium {
    /// Blocks requests to URLs that match these patterns, such as `*/api/*`. An empty list unblocks all.
    pub async fn block(&self, patterns: &[&str]) {
        self.devtools("Network.enable", json!({})).await.expect("the browser observes requests");
        let blocked = self.devtools("Network.setBlockedURLs", json!({ "urls": patterns })).await;
        blocked.expect("the browser blocks requests");
        self.tolerate(&["net::ERR_BLOCKED_BY_CLIENT"]);
    }

    /// Fails if the page scrolls sideways. Wide tables must scroll inside their own frames.
    pub async fn assert_never_scrolls_sideways(&self) {
        // On a phone, content that does not fit widens the window, but the root element stays as wide as the screen.
        let widths = "() => [document.documentElement.scrollWidth, document.documentElement.clientWidth]";
        let widths = self.ask(widths).await;
        assert_eq!(widths[0].as_u64(), widths[1].as_u64(), "{widths}");
    }

    /// Fails if the page scrolls sideways on a phone.
    pub async fn assert_fits_phones(&self) {
        self.set_appearance(Setup::PHONE).await.expect("the appearance changes");
        self.assert_never_scrolls_sideways().await;
        self.set_appearance(Setup::USUAL).await.expect("the appearance changes");
    }

    pub async fn choose(&self, label: &str, option: &str) {
        let list = self.find(Locator::XPath(&format!("//label[span='{label}']/select"))).await;
        list.select_by_label(option).await.expect("the option is in the list");
    }

    pub async fn find(&self, locator: Locator<'_>) -> Element {
        self.client.wait().at_most(TIMEOUT).for_element(locator).await.expect("the element appears")
    }

    pub async fn click_css(&self, css: &str) {
        self.find(Locator::Css(css)).await.click().await.expect("it can be clicked");
    }

    pub async fn is_enabled(&self, button: &str) -> bool {
        self.wait_for("button", button).await.is_enabled().await.expect("the button has a state")
    }

    /// Runs a script at the start of every page opened from now on, such as one that simulates a browser fault.
    pub async fn add_init_script(&self, script: &str) {
        let parameters = json!({ "source": script });
        let taken = self.devtools("Page.addScriptToEvaluateOnNewDocument", parameters).await;
        taken.expect("the browser takes a script");
    }

    pub async fn crash_gpu(&self) {
        let crashed = self.devtools("Browser.crashGpuProcess", json!({})).await;
        crashed.expect("the browser crashes its GPU process");
    }

    /// Tolerates console lines that contain one of these substrings, instead of the ones given earlier.
    pub fn tolerate(&self, parts: &'static [&'static str]) {
        self.tolerated.set(parts);
    }

    pub fn client(&self) -> &Client {
        &self.client
    }

    /// Sends a command of the Chrome DevTools Protocol.
    async fn devtools(&self, command: &str, parameters: Value) -> Result<Value> {
        let body = json!({ "cmd": command, "params": parameters });
        Ok(self.client.issue_cmd(DriverCommand("goog/cdp/execute".to_owned(), Some(body))).await?)
    }

    /// Returns new entries of a log: `browser` (console lines) or `performance` (network events).
    async fn log(&self, kind: &str) -> Result<Value> {
        Ok(self.client.issue_cmd(DriverCommand("se/log".to_owned(), Some(json!({ "type": kind })))).await?)
    }

    async fn collect_network_events(&self) {
        let entries = self.log("performance").await.expect("a network log");
        let message = |entry: &Value| -> Option<Value> {
            let mut message: Value = serde_json::from_str(entry["message"].as_str()?).ok()?;
            (message["message"]["method"] == "Network.requestWillBeSent").then(|| message["message"].take())
        };
        let new = entries.as_array().into_iter().flatten().filter_map(message);
        self.network.borrow_mut().extend(new);
    }
}

/// Command that fantoccini lacks: its path below the session's, and its body if it is not a GET.
#[derive(Clone, Debug)]
pub(crate) struct DriverCommand(String, Option<Value>);

impl WebDriverCompatibleCommand for DriverCommand {
    fn endpoint(&self, base: &Url, session: Option<&str>) -> Result<Url, ParseError> {
        base.join(&format!("session/{}/{}", session.unwrap_or_default(), self.0))
    }

    fn method_and_body(&self, _url: &Url) -> (Method, Option<String>) {
        (if self.1.is_some() { Method::POST } else { Method::GET }, self.1.as_ref().map(Value::to_string))
    }
}
