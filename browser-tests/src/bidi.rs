//! WebDriver BiDi, which Firefox speaks without a driver: commands, answers and events, each a JSON text that goes over
//! one WebSocket. <https://w3c.github.io/webdriver-bidi/>

use std::time::Duration;

use anyhow::{Context, Result, bail};
use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{WebSocketStream, client_async};

/// A kernel on an emulated GPU is compiled first, which may take long on a busy machine.
const LONGEST_COMMAND: Duration = Duration::from_secs(300);

/// A session with a browser, which gets one command after another.
pub(crate) struct Session {
    socket: WebSocketStream<TcpStream>,
    /// The number of the latest command; its answer has the same.
    command: u64,
    /// What the browser has told without being asked, oldest first.
    events: Vec<Value>,
}

impl Session {
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
        let answer = timeout(LONGEST_COMMAND, self.answer()).await.with_context(|| format!("{method}: no answer"))?;
        let mut answer = answer.with_context(|| format!("{method}: the browser has gone"))?;
        if answer["type"] != "success" {
            bail!("{method}: {}: {}", answer["error"], answer["message"]);
        }
        Ok(answer["result"].take())
    }

    /// The answer to the latest command. Events that come before it are kept.
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

    /// Takes over what an earlier session was told.
    pub(crate) fn follow(&mut self, earlier: &mut Self) {
        self.events.splice(..0, earlier.events.drain(..));
    }

    /// The parameters of all events of this name so far, oldest first.
    pub(crate) fn events(&self, name: &str) -> impl Iterator<Item = &Value> {
        self.events.iter().filter(move |event| event["method"] == name).map(|event| &event["params"])
    }
}
