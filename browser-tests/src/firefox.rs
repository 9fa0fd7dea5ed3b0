//! Firefox, controlled over WebDriver BiDi, which needs no driver: commands, responses and events are JSON messages on
//! one WebSocket. <https://w3c.github.io/webdriver-bidi/>

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::net::TcpStream;
use tokio::sync::Mutex;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{WebSocketStream, client_async};

use crate::drive::{Driven, assert_same_origin, console_line, decode_image};
use crate::page::{TIMEOUT, selector};
use crate::process::StartedProgram;
use crate::{Page, PageServer, Setup};

/// Firefox with one tab that shows a server's page.
pub struct Firefox {
    session: Mutex<BidiSession>,
    /// Port of Firefox's BiDi server.
    port: u16,
    setup: Setup,
    origin: String,
    process: StartedProgram,
    _folder: TempDir,
}

/// Returns a `user.js` that enables WebGPU on Linux, also on software adapters, and sets the preferred theme.
fn preferences(setup: Setup) -> String {
    let preferences = [
        ("dom.webgpu.enabled", json!(setup.webgpu)),
        // Firefox's blocklist includes software adapters.
        ("gfx.webgpu.ignore-blocklist", json!(true)),
        // Do not depend on the machine's language.
        ("intl.accept_languages", json!("en-US")),
        // 0 is dark, and 1 is light.
        ("layout.css.prefers-color-scheme.content-override", json!(u8::from(!setup.dark))),
    ];
    preferences.iter().map(|(name, value)| format!("user_pref(\"{name}\", {value});\n")).collect()
}

fn viewport(setup: Setup) -> Value {
    let (width, height) = setup.size;
    json!({ "viewport": { "width": width, "height": height }, "devicePixelRatio": setup.scale })
}

/// Begins a session with the only tab.
async fn attach(port: u16, setup: Setup) -> Result<BidiSession> {
    let mut session = BidiSession::begin(port).await?;
    let tabs = session.issue("browsingContext.getTree", json!({ "maxDepth": 0 })).await?;
    session.tab = tabs["contexts"][0]["context"].clone();
    session.issue_in_tab("browsingContext.setViewport", viewport(setup)).await?;
    session.issue("session.subscribe", json!({ "events": [CONSOLE, REQUESTS] })).await?;
    // The size is in bytes. Larger bodies are not stored.
    let bodies = json!({ "dataTypes": ["request"], "maxEncodedDataSize": 10_000_000 });
    session.issue("network.addDataCollector", bodies).await?;
    Ok(session)
}

impl Driven for Firefox {
    const MISSING: &'static str = "Firefox is not on the PATH (Debian: apt-get install firefox-esr)";

    fn find() -> Option<PathBuf> {
        let on_a_mac = PathBuf::from("/Applications/Firefox.app/Contents/MacOS/firefox");
        let on_path = ["firefox-esr", "firefox"].iter().find_map(|name| which::which(name).ok());
        on_path.or_else(|| on_a_mac.is_file().then_some(on_a_mac))
    }

    async fn start(program: &Path, server: &PageServer, setup: Setup) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let (process, port) = launch(program, folder.path(), setup).await?;
        let session = attach(port, setup).await.context("Firefox cannot begin a session")?;
        let (session, origin) = (Mutex::new(session), server.origin.clone());
        Ok(Self { session, port, setup, origin, process, _folder: folder })
    }

    async fn assert_well_behaved(&self) {
        self.issue("session.status", json!({})).await.expect("Firefox is still running");
        let bad: Vec<String> = self.console().await.into_iter().filter(|line| line.starts_with("error")).collect();
        assert!(bad.is_empty(), "the console says: {bad:#?}");
        assert_same_origin(self.events(REQUESTS).await.iter(), &self.origin);
    }

    async fn console(&self) -> Vec<String> {
        self.events(CONSOLE).await.iter().map(|entry| console_line(entry, "text")).collect()
    }

    async fn close(mut self) {
        // Closing a crashed browser fails. Dropping its process kills it.
        if self.issue("browser.close", json!({})).await.is_ok() {
            let start = Instant::now();
            while start.elapsed() < Duration::from_secs(10) && matches!(self.process.0.try_wait(), Ok(None)) {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        }
    }
}

impl Page for Firefox {
    /// Reference to an element, as BiDi commands take it.
    type Element = Value;

    async fn open(&self, path: &str) {
        let url = format!("{}{path}", self.origin);
        let parameters = json!({ "url": url, "wait": "complete" });
        self.issue_in_tab("browsingContext.navigate", parameters).await.expect("the page opens");
    }

    async fn by_role(&self, role: &str, name: &str) -> Option<Value> {
        let mut wanted = json!({ "role": role });
        if !name.is_empty() {
            wanted["name"] = name.into();
        }
        // Computing the role of every element would take a fifth of a second.
        let candidates = self.locate(json!({ "type": "css", "value": selector(role) }), &[]).await.ok()?;
        if candidates.is_empty() {
            return None;
        }
        let matching = self.locate(json!({ "type": "accessibility", "value": wanted }), &candidates).await.ok()?;
        matching.into_iter().next()
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
        self.issue_in_tab("input.performActions", json!({ "actions": [mouse] })).await.expect("it can be clicked");
    }

    async fn try_call(&self, function: &str, argument: Value) -> Result<Value> {
        let function = format!("async (text) => JSON.stringify(await ({function})(JSON.parse(text))) ?? 'null'");
        let text = self.call_with(&function, json!({ "type": "string", "value": argument.to_string() })).await?;
        Ok(serde_json::from_str(text["value"].as_str().context("a text")?)?)
    }

    async fn set_appearance(&self, setup: Setup) -> Result<()> {
        self.issue_in_tab("browsingContext.setViewport", viewport(setup)).await?;
        let choose = "(dark) => {
            const choice = document.querySelector('#theme select');
            choice.selectedIndex = dark ? 2 : 1;
            choice.dispatchEvent(new Event('change', { bubbles: true }));
        }";
        self.try_call(choose, setup.dark.into()).await?;
        Ok(())
    }

    async fn screenshot(&self) -> Result<Vec<u8>> {
        let parameters = json!({ "origin": "document" });
        decode_image(&self.issue_in_tab("browsingContext.captureScreenshot", parameters).await?)
    }

    async fn leave_alone(&self, time: Duration) {
        let mut session = self.session.lock().await;
        session.issue("session.end", json!({})).await.expect("the session ends");
        tokio::time::sleep(time).await;
        let mut next = attach(self.port, self.setup).await.expect("Firefox begins another session");
        next.events.splice(..0, session.events.drain(..));
        *session = next;
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

impl Firefox {
    async fn issue(&self, command: &str, parameters: Value) -> Result<Value> {
        self.session.lock().await.issue(command, parameters).await
    }

    async fn issue_in_tab(&self, command: &str, parameters: Value) -> Result<Value> {
        self.session.lock().await.issue_in_tab(command, parameters).await
    }

    /// Returns references to all elements that match a locator, within `among` or, if that is empty, in the whole page.
    async fn locate(&self, locator: Value, among: &[Value]) -> Result<Vec<Value>> {
        let mut parameters = json!({ "locator": locator });
        if !among.is_empty() {
            parameters["startNodes"] = among.into();
        }
        let found = self.issue_in_tab("browsingContext.locateNodes", parameters).await?;
        let nodes = found["nodes"].as_array().context("a list of elements")?;
        Ok(nodes.iter().map(|node| json!({ "sharedId": node["sharedId"] })).collect())
    }

    /// Calls a function whose argument and result are BiDi values.
    async fn call_with(&self, function: &str, argument: Value) -> Result<Value> {
        let mut session = self.session.lock().await;
        let parameters = json!({
            "functionDeclaration": function, "arguments": [argument], "awaitPromise": true,
            "target": { "context": session.tab },
        });
        let mut outcome = session.issue("script.callFunction", parameters).await?;
        if outcome["type"] != "success" {
            bail!("the script failed: {}", outcome["exceptionDetails"]["text"]);
        }
        Ok(outcome["result"].take())
    }

    /// Returns the parameters of all events with this name so far, oldest first.
    async fn events(&self, name: &str) -> Vec<Value> {
        let mut session = self.session.lock().await;
        // Earlier events arrive before this response. After a crash, the command fails.
        drop(session.issue("session.status", json!({})).await);
        let named = session.events.iter().filter(|event| event["method"] == name);
        named.map(|event| event["params"].clone()).collect()
    }
}

/// Starts Firefox with a profile in this folder, and returns the port of its BiDi server.
async fn launch(program: &Path, folder: &Path, setup: Setup) -> Result<(StartedProgram, u16)> {
    let (profile, log) = (folder.join("profile"), folder.join("log"));
    fs::create_dir(&profile)?;
    fs::write(profile.join("user.js"), preferences(setup))?;
    // Its child processes exit soon after it. Ctrl-C ends them, too, because they share the test's process group.
    let child = Command::new(program)
        .args(["--headless", "--new-instance", "--remote-debugging-port=0", "--profile"])
        .arg(&profile)
        // Firefox writes to HOME, too. As root, it refuses to start in another user's HOME.
        .env("HOME", folder)
        .env("TMPDIR", folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(File::create(&log)?)
        .spawn()
        .context("Firefox cannot be started")?;
    let mut process = StartedProgram(child);
    let start = Instant::now();
    loop {
        let text = fs::read_to_string(profile.join("WebDriverBiDiServer.json")).unwrap_or_default();
        // A file that is still being written is not valid JSON.
        if let Ok(server) = serde_json::from_str::<Value>(&text) {
            return Ok((process, u16::try_from(server["ws_port"].as_u64().context("Firefox wrote no port")?)?));
        }
        if process.0.try_wait()?.is_some() || start.elapsed() > TIMEOUT {
            let log = fs::read_to_string(log).unwrap_or_default();
            bail!("Firefox does not listen (a snap cannot, because it has no access to /tmp). Its log: {log}");
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// Timeout of a command. Compiling a kernel for an emulated GPU may take long on a busy machine.
const COMMAND_TIMEOUT: Duration = Duration::from_secs(300);

/// BiDi session, which runs one command at a time.
struct BidiSession {
    socket: WebSocketStream<TcpStream>,
    /// ID of the latest command, which its response repeats.
    command: u64,
    /// Received events, oldest first.
    events: Vec<Value>,
    /// ID of the tab.
    tab: Value,
}

impl BidiSession {
    async fn begin(port: u16) -> Result<Self> {
        let stream = TcpStream::connect(("127.0.0.1", port)).await?;
        let (socket, _) = client_async(format!("ws://127.0.0.1:{port}/session"), stream).await?;
        let mut session = Self { socket, command: 0, events: Vec::new(), tab: Value::Null };
        session.issue("session.new", json!({ "capabilities": {} })).await?;
        Ok(session)
    }

    /// Sends a command, such as `browsingContext.navigate`, and waits for its result.
    async fn issue(&mut self, method: &str, parameters: Value) -> Result<Value> {
        self.command += 1;
        let command = json!({ "id": self.command, "method": method, "params": parameters });
        self.socket.send(Message::text(command.to_string())).await?;
        let answer =
            timeout(COMMAND_TIMEOUT, self.receive()).await.with_context(|| format!("{method}: no response"))?;
        let mut answer = answer.with_context(|| format!("{method}: the connection to the browser failed"))?;
        if answer["type"] != "success" {
            bail!("{method}: {}: {}", answer["error"], answer["message"]);
        }
        Ok(answer["result"].take())
    }

    async fn issue_in_tab(&mut self, method: &str, mut parameters: Value) -> Result<Value> {
        parameters["context"] = self.tab.clone();
        self.issue(method, parameters).await
    }

    /// Receives the response to the latest command, and stores the events that arrive before it.
    async fn receive(&mut self) -> Result<Value> {
        while let Some(message) = self.socket.next().await {
            // The library answers pings while it reads.
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
}
