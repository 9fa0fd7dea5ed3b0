use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command as Program, Stdio};
use std::sync::Mutex as Lock;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use base64::Engine;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::Mutex;

use crate::bidi::Session;
use crate::driven::{Driven, assert_own, on_the_path};
use crate::page::selector;
use crate::patience::PATIENCE;
use crate::{Page, Server, Setup};

/// Firefox with one tab on a server's page.
pub struct Firefox {
    session: Mutex<Session>,
    /// Where it listens.
    port: u16,
    setup: Setup,
    /// The tab's name in the commands of the present session.
    tab: Lock<String>,
    origin: String,
    process: Process,
}

/// What makes Firefox offer WebGPU on Linux, also on a software adapter, and makes its owner one who likes dark pages.
fn preferences(setup: Setup) -> String {
    let preferences = [
        ("dom.webgpu.enabled", json!(setup.webgpu)),
        // Software adapters are on the list of those that are not to be used.
        ("gfx.webgpu.ignore-blocklist", json!(true)),
        // Whatever the machine's own language is.
        ("intl.accept_languages", json!("en-US")),
        // 0 is dark.
        ("layout.css.prefers-color-scheme.content-override", json!(u8::from(!setup.dark))),
    ];
    preferences.iter().map(|(name, value)| format!("user_pref(\"{name}\", {value});\n")).collect()
}

/// What makes a tab so large.
fn viewport(tab: &str, setup: Setup) -> Value {
    let (width, height) = setup.size;
    json!({ "context": tab, "viewport": { "width": width, "height": height }, "devicePixelRatio": setup.scale })
}

/// Begins a session, and gives the name of the only tab.
async fn attach(port: u16, setup: Setup) -> Result<(Session, String)> {
    let mut session = Session::begin(port).await?;
    let tabs = session.issue("browsingContext.getTree", json!({ "maxDepth": 0 })).await?;
    let tab = tabs["contexts"][0]["context"].as_str().context("Firefox has no tab")?.to_owned();
    session.issue("browsingContext.setViewport", viewport(&tab, setup)).await?;
    session.issue("session.subscribe", json!({ "events": [CONSOLE, REQUESTS] })).await?;
    let bodies = json!({ "dataTypes": ["request"], "maxEncodedDataSize": LARGEST_BODY });
    session.issue("network.addDataCollector", bodies).await?;
    Ok((session, tab))
}

impl Driven for Firefox {
    const MISSING: &'static str = "Firefox is not on the PATH (Debian: apt-get install firefox-esr)";

    fn find() -> Option<PathBuf> {
        let on_a_mac = PathBuf::from("/Applications/Firefox.app/Contents/MacOS/firefox");
        on_the_path(&["firefox-esr", "firefox"]).or_else(|| on_a_mac.is_file().then_some(on_a_mac))
    }

    async fn start(program: &Path, server: &Server, setup: Setup) -> Result<Self> {
        let mut process = Process::start(program, &preferences(setup))?;
        let port = process.port().await?;
        let (session, tab) = attach(port, setup).await.context("Firefox gives no session")?;
        Ok(Self {
            session: Mutex::new(session),
            port,
            setup,
            tab: tab.into(),
            origin: server.address().to_owned(),
            process,
        })
    }

    async fn assert_well_behaved(&self) {
        self.issue("session.status", json!({})).await.expect("Firefox is still there");
        let bad: Vec<String> = self.console().await.into_iter().filter(|line| line.starts_with("error")).collect();
        assert!(bad.is_empty(), "the console says: {bad:#?}");
        let requests = self.events(REQUESTS).await;
        let address = |event: &Value| event["request"]["url"].as_str().unwrap_or_default().to_owned();
        assert_own(&requests.iter().map(address).collect::<Vec<_>>(), &self.origin);
    }

    async fn describe(&self) -> String {
        let text = self.text("body").await.unwrap_or_default();
        format!("--- the page says:\n{text}\n--- the console says:\n{}", self.console().await.join("\n"))
    }

    async fn close(mut self) {
        // A browser that has crashed cannot be closed; its process is ended all the same.
        if self.issue("browser.close", json!({})).await.is_ok() {
            self.process.finish().await;
        }
    }
}

impl Page for Firefox {
    /// A reference to it, as commands take it.
    type Element = Value;

    async fn open(&self, path: &str) {
        let url = format!("{}{path}", self.origin);
        let parameters = json!({ "context": self.tab(), "url": url, "wait": "complete" });
        self.issue("browsingContext.navigate", parameters).await.expect("the page opens");
    }

    async fn by_role(&self, role: &str, name: &str) -> Option<Value> {
        let mut wanted = json!({ "role": role });
        if !name.is_empty() {
            wanted["name"] = name.into();
        }
        // Only those that may have the role are asked for it: to ask every element takes a fifth of a second.
        let candidates = self.locate(json!({ "type": "css", "value": selector(role) }), &[]).await.ok()?;
        if candidates.is_empty() {
            return None;
        }
        let fitting = self.locate(json!({ "type": "accessibility", "value": wanted }), &candidates).await.ok()?;
        fitting.into_iter().next()
    }

    async fn click(&self, role: &str, name: &str) {
        let element = self.wait_for(role, name, PATIENCE).await;
        let scroll = "(element) => element.scrollIntoView({ block: 'center' })";
        self.call_with(scroll, element.clone()).await.expect("it can be scrolled to");
        let actions = json!([
            { "type": "pointerMove", "x": 0, "y": 0, "origin": { "type": "element", "element": element } },
            { "type": "pointerDown", "button": 0 },
            { "type": "pointerUp", "button": 0 },
        ]);
        let mouse = json!({ "type": "pointer", "id": "mouse", "actions": actions });
        let parameters = json!({ "context": self.tab(), "actions": [mouse] });
        self.issue("input.performActions", parameters).await.expect("it can be clicked");
    }

    async fn text(&self, css: &str) -> Option<String> {
        let text = self.try_call("(css) => document.querySelector(css)?.textContent", css.into()).await.ok()?;
        Some(text.as_str()?.to_owned())
    }

    async fn attribute(&self, css: &str, attribute: &str) -> Option<String> {
        let function = "([css, attribute]) => document.querySelector(css)?.getAttribute(attribute)";
        Some(self.try_call(function, json!([css, attribute])).await.ok()?.as_str()?.to_owned())
    }

    async fn call(&self, function: &str, argument: Value) -> Value {
        self.try_call(function, argument).await.expect("the script ends well")
    }

    async fn set_appearance(&self, setup: Setup) -> Result<()> {
        self.issue("browsingContext.setViewport", viewport(&self.tab(), setup)).await?;
        let choose = "(dark) => {
            const choice = document.querySelector('#theme select');
            choice.selectedIndex = dark ? 2 : 1;
            choice.dispatchEvent(new Event('change', { bubbles: true }));
        }";
        self.try_call(choose, setup.dark.into()).await?;
        Ok(())
    }

    async fn screenshot(&self) -> Result<Vec<u8>> {
        let parameters = json!({ "context": self.tab(), "origin": "document" });
        let answer = self.issue("browsingContext.captureScreenshot", parameters).await?;
        let text = answer["data"].as_str().context("an image")?;
        Ok(base64::engine::general_purpose::STANDARD.decode(text)?)
    }

    async fn leave_alone(&self, time: Duration) {
        let mut session = self.session.lock().await;
        session.issue("session.end", json!({})).await.expect("the session ends");
        tokio::time::sleep(time).await;
        let (mut next, tab) = attach(self.port, self.setup).await.expect("Firefox gives another session");
        next.follow(&mut session);
        *session = next;
        *self.tab.lock().expect("nobody panics with it") = tab;
    }

    async fn sent_bodies(&self, method: &str) -> Vec<String> {
        let mut bodies = Vec::new();
        for event in self.events(REQUESTS).await.iter().filter(|event| event["request"]["method"] == method) {
            let parameters = json!({ "dataType": "request", "request": event["request"]["request"] });
            let body = self.issue("network.getData", parameters).await.expect("Firefox kept the body");
            bodies.push(body["bytes"]["value"].as_str().expect("the body is text").to_owned());
        }
        bodies
    }
}

/// Names of events.
const CONSOLE: &str = "log.entryAdded";
const REQUESTS: &str = "network.beforeRequestSent";
/// Of a request, in bytes; Firefox keeps no larger one.
const LARGEST_BODY: u32 = 10_000_000;

impl Firefox {
    fn tab(&self) -> String {
        self.tab.lock().expect("nobody panics with it").clone()
    }

    async fn issue(&self, command: &str, parameters: Value) -> Result<Value> {
        self.session.lock().await.issue(command, parameters).await
    }

    /// References to all elements that are located so, among these and what is in them, or in the whole page.
    async fn locate(&self, locator: Value, among: &[Value]) -> Result<Vec<Value>> {
        let mut parameters = json!({ "context": self.tab(), "locator": locator });
        if !among.is_empty() {
            parameters["startNodes"] = among.into();
        }
        let found = self.issue("browsingContext.locateNodes", parameters).await?;
        let nodes = found["nodes"].as_array().context("a list of elements")?;
        Ok(nodes.iter().map(|node| json!({ "sharedId": node["sharedId"] })).collect())
    }

    /// Calls a function with something that is given and returned as JSON; what is no JSON becomes null.
    async fn try_call(&self, function: &str, argument: Value) -> Result<Value> {
        let function = format!("async (text) => JSON.stringify(await ({function})(JSON.parse(text))) ?? 'null'");
        let text = self.call_with(&function, json!({ "type": "string", "value": argument.to_string() })).await?;
        Ok(serde_json::from_str(text["value"].as_str().context("a text")?)?)
    }

    /// Calls a function; argument and result are in BiDi's own form.
    async fn call_with(&self, function: &str, argument: Value) -> Result<Value> {
        let parameters = json!({
            "functionDeclaration": function, "arguments": [argument], "target": { "context": self.tab() },
            "awaitPromise": true,
        });
        let mut outcome = self.issue("script.callFunction", parameters).await?;
        if outcome["type"] != "success" {
            bail!("the script ended with {}", outcome["exceptionDetails"]["text"]);
        }
        Ok(outcome["result"].take())
    }

    /// The parameters of all events of a kind so far.
    async fn events(&self, name: &str) -> Vec<Value> {
        let mut session = self.session.lock().await;
        // What happened until now is told before this is answered. A browser that has crashed tells no more.
        drop(session.issue("session.status", json!({})).await);
        session.events(name).cloned().collect()
    }

    /// What the page logged so far, one line each, which begins with its level.
    async fn console(&self) -> Vec<String> {
        let line = |entry: &Value| {
            format!("{} {}", entry["level"].as_str().unwrap_or_default(), entry["text"].as_str().unwrap_or_default())
        };
        self.events(CONSOLE).await.iter().map(line).collect()
    }
}

/// A running Firefox, and everything that it writes.
struct Process {
    child: Child,
    folder: TempDir,
}

impl Process {
    fn start(program: &Path, preferences: &str) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let profile = folder.path().join("profile");
        fs::create_dir(&profile)?;
        fs::write(profile.join("user.js"), preferences)?;
        let child = Program::new(program)
            .args(["--headless", "--new-instance", "--remote-debugging-port=0", "--profile"])
            .arg(profile)
            // It writes there, too; and as root it refuses to start in the home of another user.
            .env("HOME", folder.path())
            .env("TMPDIR", folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(File::create(folder.path().join("log"))?)
            .spawn()
            .context("Firefox cannot be started")?;
        Ok(Self { child, folder })
    }

    /// Where it listens, which it writes into its profile.
    async fn port(&mut self) -> Result<u16> {
        let file = self.folder.path().join("profile/WebDriverBiDiServer.json");
        let start = Instant::now();
        loop {
            let told = fs::read_to_string(&file).unwrap_or_default();
            // What is not yet complete is no JSON.
            if let Ok(told) = serde_json::from_str::<Value>(&told) {
                return Ok(u16::try_from(told["ws_port"].as_u64().context("Firefox tells no port")?)?);
            }
            if self.child.try_wait()?.is_some() || start.elapsed() > PATIENCE {
                let log = fs::read_to_string(self.folder.path().join("log")).unwrap_or_default();
                bail!("Firefox does not listen (a snap's cannot: it sees no temporary folder of ours). It says: {log}");
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    /// Waits until it has ended as it was told to, though not for long.
    async fn finish(&mut self) {
        let start = Instant::now();
        while start.elapsed() < Duration::from_secs(10) && matches!(self.child.try_wait(), Ok(None)) {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // One that has ended already is what is wanted. The processes that it has started end without it, in seconds;
        // in a group of their own they would outlive a test that is ended with Ctrl-C.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
