//! Firefox, driven over WebDriver BiDi, which it speaks without a driver: commands, answers and events, each a JSON text
//! over one WebSocket. <https://w3c.github.io/webdriver-bidi/>

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command as Program, Stdio};
use std::sync::Mutex as Lock;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use base64::Engine;
use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::net::TcpStream;
use tokio::sync::Mutex;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{WebSocketStream, client_async};

use crate::drive::{Driven, assert_own, on_the_path};
use crate::page::{PATIENCE, selector};
use crate::{Page, Server, Setup};

/// Firefox with one tab on a server's page.
pub struct Firefox {
    session: Mutex<BidiSession>,
    /// Its port.
    port: u16,
    setup: Setup,
    /// The tab's name in the commands of the present session.
    tab: Lock<String>,
    origin: String,
    process: Process,
}

/// Preferences with which Firefox offers WebGPU on Linux, also on a software adapter, and prefers dark pages.
fn preferences(setup: Setup) -> String {
    let preferences = [
        ("dom.webgpu.enabled", json!(setup.webgpu)),
        // Software adapters are on the list of those that are not to be used.
        ("gfx.webgpu.ignore-blocklist", json!(true)),
        // Independent of the machine's language.
        ("intl.accept_languages", json!("en-US")),
        // 0 is dark.
        ("layout.css.prefers-color-scheme.content-override", json!(u8::from(!setup.dark))),
    ];
    preferences.iter().map(|(name, value)| format!("user_pref(\"{name}\", {value});\n")).collect()
}

fn viewport(tab: &str, setup: Setup) -> Value {
    let (width, height) = setup.size;
    json!({ "context": tab, "viewport": { "width": width, "height": height }, "devicePixelRatio": setup.scale })
}

/// Begins a session, and gives the name of the only tab.
async fn attach(port: u16, setup: Setup) -> Result<(BidiSession, String)> {
    let mut session = BidiSession::begin(port).await?;
    let tabs = session.issue("browsingContext.getTree", json!({ "maxDepth": 0 })).await?;
    let tab = tabs["contexts"][0]["context"].as_str().context("Firefox has no tab")?.to_owned();
    session.issue("browsingContext.setViewport", viewport(&tab, setup)).await?;
    session.issue("session.subscribe", json!({ "events": [CONSOLE, REQUESTS] })).await?;
    let bodies = json!({ "dataTypes": ["request"], "maxEncodedDataSize": MAX_BODY_BYTES });
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
    /// A reference for commands.
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
        let element = self.wait_for(role, name).await;
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
        *self.tab.lock().expect("lock is not poisoned") = tab;
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

const CONSOLE: &str = "log.entryAdded";
const REQUESTS: &str = "network.beforeRequestSent";
/// Maximum of the bodies that Firefox stores, bytes.
const MAX_BODY_BYTES: u32 = 10_000_000;

impl Firefox {
    fn tab(&self) -> String {
        self.tab.lock().expect("lock is not poisoned").clone()
    }

    async fn issue(&self, command: &str, parameters: Value) -> Result<Value> {
        self.session.lock().await.issue(command, parameters).await
    }

    /// References to all elements that a locator finds, inside these elements or in the whole page.
    async fn locate(&self, locator: Value, among: &[Value]) -> Result<Vec<Value>> {
        let mut parameters = json!({ "context": self.tab(), "locator": locator });
        if !among.is_empty() {
            parameters["startNodes"] = among.into();
        }
        let found = self.issue("browsingContext.locateNodes", parameters).await?;
        let nodes = found["nodes"].as_array().context("a list of elements")?;
        Ok(nodes.iter().map(|node| json!({ "sharedId": node["sharedId"] })).collect())
    }

    /// Calls a function whose argument and result are JSON.
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

    /// Parameters of all events with this name so far.
    async fn events(&self, name: &str) -> Vec<Value> {
        let mut session = self.session.lock().await;
        // Earlier events arrive before this answer. A crashed browser sends nothing.
        drop(session.issue("session.status", json!({})).await);
        session.events(name).cloned().collect()
    }

    /// Lines logged by the page, each with its level.
    async fn console(&self) -> Vec<String> {
        let line = |entry: &Value| {
            format!("{} {}", entry["level"].as_str().unwrap_or_default(), entry["text"].as_str().unwrap_or_default())
        };
        self.events(CONSOLE).await.iter().map(line).collect()
    }
}

/// A running Firefox, and its files.
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

    /// Reads its port from its profile.
    async fn port(&mut self) -> Result<u16> {
        let file = self.folder.path().join("profile/WebDriverBiDiServer.json");
        let start = Instant::now();
        loop {
            let told = fs::read_to_string(&file).unwrap_or_default();
            // An incomplete file is not JSON.
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

    /// Waits a few seconds until it has ended.
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
        // in another process group they would outlive a test that is ended with Ctrl-C.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// Limit of a command. Compiling a kernel for an emulated GPU may take long on a busy machine.
const COMMAND_TIMEOUT: Duration = Duration::from_secs(300);

/// A session with a browser, which executes one command after another.
pub(crate) struct BidiSession {
    socket: WebSocketStream<TcpStream>,
    /// The number of the latest command; its answer has the same.
    command: u64,
    /// Received events, oldest first.
    events: Vec<Value>,
}

impl BidiSession {
    /// Begins a session with the browser that listens on this port of this machine.
    pub(crate) async fn begin(port: u16) -> Result<Self> {
        let stream = TcpStream::connect(("127.0.0.1", port)).await?;
        let (socket, _) = client_async(format!("ws://127.0.0.1:{port}/session"), stream).await?;
        let mut session = Self { socket, command: 0, events: Vec::new() };
        session.issue("session.new", json!({ "capabilities": {} })).await?;
        Ok(session)
    }

    /// Gives a command, such as `browsingContext.navigate`, and waits for its result.
    pub(crate) async fn issue(&mut self, method: &str, parameters: Value) -> Result<Value> {
        self.command += 1;
        let command = json!({ "id": self.command, "method": method, "params": parameters });
        self.socket.send(Message::text(command.to_string())).await?;
        let answer = timeout(COMMAND_TIMEOUT, self.answer()).await.with_context(|| format!("{method}: no answer"))?;
        let mut answer = answer.with_context(|| format!("{method}: the browser has gone"))?;
        if answer["type"] != "success" {
            bail!("{method}: {}: {}", answer["error"], answer["message"]);
        }
        Ok(answer["result"].take())
    }

    /// Receives the answer to the latest command, and keeps events that come before it.
    async fn answer(&mut self) -> Result<Value> {
        while let Some(message) = self.socket.next().await {
            // Pings are not text; the library answers them while it reads.
            let Message::Text(text) = message? else { continue };
            let message: Value = serde_json::from_str(&text)?;
            if message["type"] == "event" {
                self.events.push(message);
            } else if message["id"] == self.command {
                return Ok(message);
            }
        }
        bail!("it closed the connection");
    }

    /// Takes over the events of an earlier session.
    pub(crate) fn follow(&mut self, earlier: &mut Self) {
        self.events.splice(..0, earlier.events.drain(..));
    }

    /// Parameters of all events with this name so far, oldest first.
    pub(crate) fn events(&self, name: &str) -> impl Iterator<Item = &Value> {
        self.events.iter().filter(move |event| event["method"] == name).map(|event| &event["params"])
    }
}
