use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use results::RunRecord;
use results::api::{ErrorBody, StartRun, StartedRun, Verdict};
use serde::Serialize;
use serde::de::DeserializeOwned;
use ureq::Agent;
use ureq::http::{HeaderMap, Request, Response, StatusCode};

use super::record;

#[derive(Clone)]
pub(crate) struct Client {
    agent: Agent,
    pub(crate) address: SocketAddr,
    /// The client's address, as reported by a proxy.
    forwarded_for: Option<&'static str>,
}

#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
}

impl Client {
    pub(crate) fn new(address: SocketAddr) -> Self {
        // A server that refuses a request without reading its body closes the connection, possibly while the next
        // request is being sent on it.
        Self::with_idle_connections(address, 0)
    }

    /// Returns a client that keeps at most this number of idle connections.
    pub(crate) fn with_idle_connections(address: SocketAddr, number: usize) -> Self {
        Self { agent: agent(number), address, forwarded_for: None }
    }

    /// Returns the same client behind a proxy that reports this address.
    pub(crate) fn seen_at(&self, address: &'static str) -> Self {
        Self { forwarded_for: Some(address), ..self.clone() }
    }

    /// Returns the same client on one connection, opened now.
    #[cfg(target_os = "linux")]
    pub(crate) fn on_one_connection(&self) -> Self {
        let client = Self { agent: agent(1), ..self.clone() };
        assert_eq!(client.get("/api/v1/runs").status, 200);
        client
    }

    pub(crate) fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Answer {
        self.try_send(method, path, headers, body).expect("the server answers")
    }

    pub(crate) fn try_send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Result<Answer, ureq::Error> {
        let mut request = Request::builder().method(method).uri(format!("http://{}{path}", self.address));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        if let Some(address) = self.forwarded_for {
            request = request.header("x-forwarded-for", address);
        }
        let response =
            if body.is_empty() { self.agent.run(request.body(())?)? } else { self.agent.run(request.body(body)?)? };
        Answer::read(response)
    }

    pub(crate) fn json(&self, method: &str, path: &str, body: &impl Serialize) -> Answer {
        self.send(method, path, &[("content-type", "application/json")], &serde_json::to_vec(body).unwrap())
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.send("GET", path, &[], b"")
    }

    #[track_caller]
    pub(crate) fn read<T: DeserializeOwned>(&self, path: &str) -> T {
        self.get(path).with_status(200).parse()
    }

    pub(crate) fn get_accepting(&self, path: &str, encodings: &str) -> Answer {
        self.send("GET", path, &[("accept-encoding", encodings)], b"")
    }

    pub(crate) fn begin(&self) -> StartedRun {
        let start = StartRun { suite: record::suite(), engine_version: record::ENGINE_VERSION.to_owned() };
        self.json("POST", "/api/v1/runs", &start).with_status(201).parse()
    }

    pub(crate) fn upload(&self, run_id: &str, record: &RunRecord) -> Answer {
        self.json("PUT", &format!("/api/v1/runs/{run_id}"), record)
    }

    pub(crate) fn import(&self, record: &RunRecord) -> Answer {
        self.json("POST", "/api/v1/runs/import", record)
    }

    pub(crate) fn delete(&self, run_id: &str, secret: &str) -> Answer {
        self.send("DELETE", &format!("/api/v1/runs/{run_id}"), &[("authorization", &format!("Bearer {secret}"))], b"")
    }

    pub(crate) fn verdict_of(&self, run_id: &str) -> Verdict {
        for _ in 0..30_000 {
            let verdict: Verdict = self.get(&format!("/api/v1/runs/{run_id}/verdict")).parse();
            if !verdict.being_verified {
                return verdict;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        panic!("the run was not verified within ten minutes");
    }

    /// Returns a connection that has been answered once and is kept open.
    pub(crate) fn idle_connection(&self) -> TcpStream {
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        stream.write_all(b"GET /api/v1/runs HTTP/1.1\r\nhost: here\r\n\r\n").unwrap();
        let mut status = [0; 12];
        stream.read_exact(&mut status).unwrap();
        assert_eq!(&status, b"HTTP/1.1 200");
        stream
    }

    /// Returns a connection with these raw bytes sent and nothing read.
    pub(crate) fn half_sent(&self, request: &str) -> TcpStream {
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        stream
    }

    /// Returns the same from another address of this machine, such as any `127.x.x.x`.
    #[cfg(target_os = "linux")]
    pub(crate) fn half_sent_from(&self, address: [u8; 4], request: &str) -> TcpStream {
        let mut stream = super::database::block_on(async {
            let socket = tokio::net::TcpSocket::new_v4().unwrap();
            socket.bind(SocketAddr::from((address, 0))).unwrap();
            socket.connect(self.address).await.unwrap().into_std().unwrap()
        });
        stream.set_nonblocking(false).unwrap();
        // A server at its limit has already closed this connection.
        stream.write_all(request.as_bytes()).ok();
        stream
    }

    /// Sends raw bytes that no client library would send, and reads to the end.
    pub(crate) fn raw(&self, request: &str) -> String {
        let mut stream = self.half_sent(request);
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        String::from_utf8_lossy(&answer).into_owned()
    }
}

/// Returns an agent that keeps this number of idle connections.
fn agent(idle_connections: usize) -> Agent {
    Agent::config_builder()
        .http_status_as_error(false)
        .timeout_global(Some(Duration::from_secs(60)))
        // Methods such as OPTIONS or DELETE with an unusual body are part of the tests.
        .allow_non_standard_methods(true)
        .max_idle_connections(idle_connections)
        .build()
        .into()
}

impl Answer {
    fn read(mut response: Response<ureq::Body>) -> Result<Self, ureq::Error> {
        let body = response.body_mut().with_config().limit(64 << 20).read_to_vec()?;
        Ok(Self { status: response.status(), headers: response.headers().clone(), body })
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub(crate) fn parse<T: DeserializeOwned>(&self) -> T {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error} in {}", self.text()))
    }

    #[track_caller]
    pub(crate) fn with_status(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{}", self.text());
        self
    }

    /// Returns a header's value, or an empty text if it is absent.
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    /// Asserts that the answer has this status, code and field (empty for none).
    #[track_caller]
    pub(crate) fn assert_refused(&self, status: u16, code: &str, field: &str) -> ErrorBody {
        assert_eq!(self.status, status, "{}", self.text());
        assert_eq!(self.header("content-type"), "application/json", "{}", self.text());
        let body: ErrorBody = self.parse();
        assert_eq!((body.code.as_str(), body.field.as_deref().unwrap_or_default()), (code, field), "{}", body.message);
        assert!(body.message.ends_with('.'), "a sentence: {}", body.message);
        body
    }
}

/// Waits until a condition is true, for at most a minute.
#[track_caller]
pub(crate) fn wait_until(condition: impl Fn() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < Duration::from_secs(60), "the condition is still false after a minute");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Repeats each attack on its own thread until `meanwhile` returns.
pub(crate) fn while_attacked(attacks: &[&(dyn Fn() + Sync)], meanwhile: impl FnOnce()) {
    let is_over = &AtomicBool::new(false);
    std::thread::scope(|scope| {
        // A scope waits for its threads, even after a failed assertion.
        let over = Over(is_over);
        for attack in attacks {
            scope.spawn(move || {
                while !is_over.load(Ordering::Relaxed) {
                    attack();
                }
            });
        }
        meanwhile();
        drop(over);
    });
}

struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
