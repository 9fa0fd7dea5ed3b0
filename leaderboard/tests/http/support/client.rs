use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

use results::RunRecord;
use results::api::{ErrorBody, RunList, StartRun, StartedRun, StoredRun, Verdict};
use serde::Serialize;
use serde::de::DeserializeOwned;
use ureq::Agent;
use ureq::http::{HeaderMap, Request, StatusCode};

use super::record;

#[derive(Clone)]
pub(crate) struct TestClient {
    agent: Agent,
    pub(crate) address: SocketAddr,
    /// The client's address, as reported by a proxy.
    forwarded_for: Option<&'static str>,
}

#[derive(Debug)]
pub(crate) struct HttpAnswer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
}

type Headers<'a> = &'a [(&'a str, &'a str)];
type HttpResult = Result<HttpAnswer, ureq::Error>;

impl TestClient {
    /// Returns a client that uses each connection once, because a server that refuses a request without reading its
    /// body closes the connection, possibly while the next request is being sent on it.
    pub(crate) fn new(address: SocketAddr) -> Self {
        Self::with_idle_connections(address, 0)
    }

    pub(crate) fn with_idle_connections(address: SocketAddr, number: usize) -> Self {
        let agent = Agent::config_builder()
            .http_status_as_error(false)
            // A global timeout would start a thread for each request.
            .timeout_recv_response(Some(Duration::from_secs(60)))
            // Methods such as OPTIONS or DELETE with an unusual body are part of the tests.
            .allow_non_standard_methods(true)
            .max_idle_connections(number)
            .max_idle_connections_per_host(number)
            .build();
        Self { agent: agent.into(), address, forwarded_for: None }
    }

    /// Returns the same client behind a proxy that reports this address.
    pub(crate) fn seen_at(&self, address: impl Into<Option<&'static str>>) -> Self {
        Self { forwarded_for: address.into(), ..self.clone() }
    }

    pub(crate) fn send(&self, method: &str, path: &str, headers: Headers<'_>, body: &[u8]) -> HttpAnswer {
        self.try_send(method, path, headers, body).expect("the server answers")
    }

    pub(crate) fn try_send(&self, method: &str, path: &str, headers: Headers<'_>, body: &[u8]) -> HttpResult {
        let mut request = Request::builder().method(method).uri(format!("http://{}{path}", self.address));
        let forwarded = self.forwarded_for.map(|address| ("x-forwarded-for", address));
        for (name, value) in headers.iter().copied().chain(forwarded) {
            request = request.header(name, value);
        }
        let mut response =
            if body.is_empty() { self.agent.run(request.body(())?)? } else { self.agent.run(request.body(body)?)? };
        let body = response.body_mut().with_config().limit(64 << 20).read_to_vec()?;
        Ok(HttpAnswer { status: response.status(), headers: response.headers().clone(), body })
    }

    pub(crate) fn json(&self, method: &str, path: &str, body: &impl Serialize) -> HttpAnswer {
        self.try_json(method, path, body).expect("the server answers")
    }

    pub(crate) fn try_json(&self, method: &str, path: &str, body: &impl Serialize) -> HttpResult {
        self.try_send(method, path, &[("content-type", "application/json")], &serde_json::to_vec(body).unwrap())
    }

    pub(crate) fn get(&self, path: &str) -> HttpAnswer {
        self.send("GET", path, &[], b"")
    }

    pub(crate) fn get_with(&self, path: &str, header: &str, value: &str) -> HttpAnswer {
        self.send("GET", path, &[(header, value)], b"")
    }

    #[track_caller]
    pub(crate) fn read<T: DeserializeOwned>(&self, path: &str) -> T {
        self.get(path).with_status(200).parse()
    }

    /// Returns the list for this query, which begins with `?` or is empty.
    #[track_caller]
    pub(crate) fn list(&self, query: &str) -> RunList {
        self.read(&format!("/api/v1/runs{query}"))
    }

    /// Requests a run, or a path below it that begins with `/`.
    pub(crate) fn get_run(&self, run_id: &str, below: &str) -> HttpAnswer {
        self.get(&format!("/api/v1/runs/{run_id}{below}"))
    }

    #[track_caller]
    pub(crate) fn stored(&self, run_id: &str) -> StoredRun {
        self.get_run(run_id, "").with_status(200).parse()
    }

    #[track_caller]
    pub(crate) fn verdict(&self, run_id: &str) -> Verdict {
        self.get_run(run_id, "/verdict").with_status(200).parse()
    }

    #[track_caller]
    pub(crate) fn assert_unknown(&self, run_id: &str) {
        self.get_run(run_id, "").assert_refused(404, "unknown_run", "");
    }

    pub(crate) fn begin(&self) -> StartedRun {
        self.begin_suite(&record::start())
    }

    pub(crate) fn begin_suite(&self, start: &StartRun) -> StartedRun {
        self.json("POST", "/api/v1/runs", start).with_status(201).parse()
    }

    pub(crate) fn upload(&self, run_id: &str, record: &RunRecord) -> HttpAnswer {
        self.json("PUT", &format!("/api/v1/runs/{run_id}"), record)
    }

    pub(crate) fn import(&self, record: &RunRecord) -> HttpAnswer {
        self.json("POST", "/api/v1/runs/import", record)
    }

    #[track_caller]
    pub(crate) fn imported(&self, seed: u32) -> String {
        self.import(&record::unregistered(seed)).with_status(201).parse::<results::api::AcceptedRun>().run_id
    }

    pub(crate) fn delete(&self, run_id: &str, secret: &str) -> HttpAnswer {
        self.send("DELETE", &format!("/api/v1/runs/{run_id}"), &[("authorization", &format!("Bearer {secret}"))], b"")
    }

    #[track_caller]
    pub(crate) fn verdict_of(&self, run_id: &str) -> Verdict {
        wait_until(|| !self.verdict(run_id).being_verified);
        self.verdict(run_id)
    }

    /// Returns a connection that has been answered once and is kept open.
    pub(crate) fn idle_connection(&self) -> TcpStream {
        let mut stream = self.half_sent("GET /api/v1/runs HTTP/1.1\r\nhost: here\r\n\r\n");
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

    pub(crate) fn raw(&self, request: &str) -> String {
        let mut answer = Vec::new();
        self.half_sent(request).read_to_end(&mut answer).unwrap();
        String::from_utf8_lossy(&answer).into_owned()
    }
}

impl HttpAnswer {
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

    /// Asserts the values of these headers. An empty value means that a header is absent.
    #[track_caller]
    pub(crate) fn assert_headers(&self, expected: &[(&str, &str)]) {
        for (name, value) in expected {
            assert_eq!(self.header(name), *value, "{name}");
        }
    }

    /// Asserts that the answer has this status, code and field (empty for none), and returns its message.
    #[track_caller]
    pub(crate) fn assert_refused(&self, status: u16, code: &str, field: &str) -> String {
        assert_eq!(self.status, status, "{}", self.text());
        assert_eq!(self.header("content-type"), "application/json", "{}", self.text());
        let body: ErrorBody = self.parse();
        assert_eq!((body.code.as_str(), body.field.as_deref().unwrap_or_default()), (code, field), "{}", body.message);
        assert!(body.message.ends_with('.'), "a sentence: {}", body.message);
        body.message
    }

    pub(crate) fn unpacked(&self) -> Vec<u8> {
        assert_eq!(self.header("content-encoding"), "gzip");
        unpacked(&self.body)
    }
}

pub(crate) fn unpacked(gzip: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    flate2::read::GzDecoder::new(gzip).read_to_end(&mut bytes).unwrap();
    bytes
}

/// Waits until a condition is true, for at most ten minutes.
#[track_caller]
pub(crate) fn wait_until(condition: impl Fn() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < Duration::from_secs(600), "the condition is still false");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Repeats each attack on its own thread until `meanwhile` returns.
pub(crate) fn while_attacked(attacks: &[&(dyn Fn() + Sync)], meanwhile: impl FnOnce()) {
    std::thread::scope(|scope| {
        // Dropped at the end of `meanwhile`, even if it panics.
        let lasts = Arc::new(());
        for attack in attacks {
            let lasts = Arc::downgrade(&lasts);
            scope.spawn(move || {
                while lasts.strong_count() > 0 {
                    attack();
                }
            });
        }
        meanwhile();
    });
}
