//! Talks to a leaderboard. Whatever may answer at an address, the user gets one plain sentence.

mod address;
mod error;
mod witness;

use std::time::{Duration, SystemTime};

use engine::Registration;
use results::api::{
    AcceptedRun, CommitSegment, CommittedSegment, ErrorBody, IDEMPOTENCY_KEY, OpenLap, OpenedLap, ProofWanted,
    ProvePart, StartRun, StartedRun, Verdict,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use ureq::http::{HeaderValue, Method, Request, Response, StatusCode, header};
use ureq::{Agent, Body};

use crate::tls;

pub(crate) use address::Address;
pub(crate) use error::{LeaderboardError, clean};
pub(crate) use witness::LeaderboardWitness;

/// No answer of a leaderboard comes near this; anything longer is something else.
const LONGEST_ANSWER_BYTES: u64 = 1 << 20;

/// What a leaderboard says of itself.
pub(crate) struct About {
    pub(crate) version: String,
    /// By its clock, in whole seconds.
    pub(crate) time: Option<SystemTime>,
}

/// As much of the description of its calls as names the program.
#[derive(Deserialize)]
struct OpenApi {
    info: OpenApiInfo,
}

#[derive(Deserialize)]
struct OpenApiInfo {
    version: String,
}

/// One leaderboard, and how long to wait for it.
#[derive(Clone)]
pub(crate) struct Leaderboard {
    address: Address,
    agent: Agent,
    timeout_seconds: f64,
}

impl Leaderboard {
    /// `timeout_seconds` bounds each call from name look-up to the last byte; it must be a valid duration.
    pub(crate) fn new(address: Address, timeout_seconds: f64) -> Self {
        // A server that refuses a request without reading its body closes the connection, perhaps while the next
        // request is being sent. Calls are rare, so each one gets a new connection.
        Self::with_open_connections(address, timeout_seconds, 0)
    }

    /// Returns the same leaderboard for frequent calls. The connection stays open between them, which saves round
    /// trips. A call that is lost because the server closed the connection must be repeated.
    fn for_frequent_calls(&self, timeout_seconds: f64) -> Self {
        Self::with_open_connections(self.address.clone(), timeout_seconds.min(self.timeout_seconds), 1)
    }

    fn with_open_connections(address: Address, timeout_seconds: f64, connections: usize) -> Self {
        let config = Agent::config_builder()
            .timeout_global(Some(Duration::from_secs_f64(timeout_seconds)))
            // A redirect would turn our POST into a GET, or carry the record to another place than was asked for.
            .max_redirects(0)
            .max_redirects_will_error(false)
            .http_status_as_error(false)
            .max_idle_connections(connections)
            .tls_config(tls::trusted())
            .user_agent(concat!("gradmark-native-runner/", env!("CARGO_PKG_VERSION")));
        // A proxy cannot reach this machine's own addresses.
        let config = if address.is_loopback() { config.proxy(None) } else { config };
        Self { address, agent: config.build().new_agent(), timeout_seconds }
    }

    pub(crate) fn address(&self) -> &Address {
        &self.address
    }

    /// What it says of itself.
    ///
    /// # Errors
    /// No leaderboard answers there, or it refuses.
    pub(crate) fn about(&self) -> Result<About, LeaderboardError> {
        let answer = self.agent.get(self.address.join("/api/v1/openapi.json")).call();
        let mut response = answer.map_err(|error| self.no_answer(error))?;
        let date = response.headers().get(header::DATE).and_then(|date| date.to_str().ok());
        let time = date.and_then(|date| httpdate::parse_http_date(date).ok());
        let text = self.text_of(&mut response)?;
        let document: OpenApi = self.read_answer(&response, &text)?;
        Ok(About { version: clean(&document.info.version), time })
    }

    /// Registers a run before it starts.
    ///
    /// # Errors
    /// No leaderboard answers there, or it refuses.
    pub(crate) fn start(&self, request: &StartRun) -> Result<StartedRun, LeaderboardError> {
        let started: StartedRun = self.call(Method::POST, "/api/v1/runs", to_body(request))?;
        // The id becomes a part of an address and of a file name.
        let id_is_plain = !started.run_id.is_empty()
            && started.run_id.len() <= 64
            && started.run_id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_');
        if id_is_plain { Ok(started) } else { Err(self.not_a_leaderboard("a run id that is not one".to_owned())) }
    }

    /// Begins a lap of a registered run.
    ///
    /// # Errors
    /// No leaderboard answers there, or it refuses.
    pub(crate) fn open_lap(&self, run_id: &str, lap: &OpenLap) -> Result<OpenedLap, LeaderboardError> {
        self.call(Method::POST, &format!("/api/v1/runs/{run_id}/laps"), to_body(lap))
    }

    /// Commits to the final state of a segment.
    ///
    /// # Errors
    /// No leaderboard answers there, or it refuses.
    pub(crate) fn commit(&self, run_id: &str, segment: &CommitSegment) -> Result<CommittedSegment, LeaderboardError> {
        self.call(Method::POST, &format!("/api/v1/runs/{run_id}/segments"), to_body(segment))
    }

    /// Answers the leaderboard's last request about a workload, and returns its next one.
    ///
    /// # Errors
    /// No leaderboard answers there, or it refuses.
    pub(crate) fn prove(&self, run_id: &str, part: &ProvePart) -> Result<ProofWanted, LeaderboardError> {
        self.call(Method::POST, &format!("/api/v1/runs/{run_id}/proof"), to_body(part))
    }

    /// Sends a state that the leaderboard requested.
    ///
    /// # Errors
    /// No leaderboard answers there, or it refuses.
    pub(crate) fn show(
        &self,
        run: &Registration,
        workload: &str,
        step: u64,
        state: &[u8],
    ) -> Result<(), LeaderboardError> {
        let path = format!("/api/v1/runs/{}/states/{workload}/{step}", run.run_id);
        let bearer = HeaderValue::from_str(&format!("Bearer {}", run.nonce));
        let request = Request::builder()
            .method(Method::PUT)
            .uri(self.address.join(&path))
            .header(header::CONTENT_TYPE, "application/octet-stream")
            .header(header::AUTHORIZATION, bearer.map_err(|error| self.unreachable(&error.to_string()))?)
            .body(state)
            .map_err(|error| self.unreachable(&error.to_string()))?;
        let mut response = self.agent.run(request).map_err(|error| self.no_answer(error))?;
        let text = self.text_of(&mut response)?;
        if response.status().is_success() { Ok(()) } else { Err(self.refusal(&response, &text)) }
    }

    /// What has become of a run.
    ///
    /// # Errors
    /// No leaderboard answers there, or it refuses.
    pub(crate) fn verdict(&self, run_id: &str) -> Result<Verdict, LeaderboardError> {
        let answer = self.agent.get(self.address.join(&format!("/api/v1/runs/{run_id}/verdict"))).call();
        let mut response = answer.map_err(|error| self.no_answer(error))?;
        let text = self.text_of(&mut response)?;
        self.read_answer(&response, &text)
    }

    /// Submits the record of a registered run, exactly as it was shown.
    ///
    /// # Errors
    /// No leaderboard answers there, or it refuses.
    pub(crate) fn submit(&self, run_id: &str, json: String) -> Result<AcceptedRun, LeaderboardError> {
        self.call(Method::PUT, &format!("/api/v1/runs/{run_id}"), json)
    }

    /// Submits a record that no leaderboard gave a seed for; it will be marked unverified. Sent again with the same key, it
    /// is answered with the same secret.
    ///
    /// # Errors
    /// No leaderboard answers there, or it refuses.
    pub(crate) fn import(&self, json: String, idempotency_key: &str) -> Result<AcceptedRun, LeaderboardError> {
        self.call_with(Method::POST, "/api/v1/runs/import", json, Some((IDEMPOTENCY_KEY, idempotency_key)))
    }

    /// A data file of this size that the leaderboard serves beside its page.
    ///
    /// # Errors
    /// No leaderboard answers there, or it serves no such file.
    pub(crate) fn data_file(&self, name: &str, bytes: u64) -> Result<Vec<u8>, LeaderboardError> {
        let answer = self.agent.get(self.address.join(&format!("/data/{name}"))).call();
        let mut answer = answer.map_err(|error| self.no_answer(error))?;
        let no_data = || LeaderboardError::NoData { leaderboard: self.address.to_string(), file: name.to_owned() };
        if answer.status() != StatusCode::OK {
            return Err(no_data());
        }
        // The end is found by reading on, which a limit of just so many bytes would take for too many.
        let content = answer.body_mut().with_config().limit(bytes + 1).read_to_vec();
        content.map_err(|error| match error {
            ureq::Error::BodyExceedsLimit(_) => no_data(),
            error => self.no_answer(error),
        })
    }

    fn call<T: DeserializeOwned>(&self, method: Method, path: &str, json: String) -> Result<T, LeaderboardError> {
        self.call_with(method, path, json, None)
    }

    fn call_with<T: DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
        json: String,
        header: Option<(&str, &str)>,
    ) -> Result<T, LeaderboardError> {
        let asked = format!("{method} {path}");
        let request = Request::builder()
            .method(method)
            .uri(self.address.join(path))
            .header(header::CONTENT_TYPE, "application/json")
            .header(header::ACCEPT, "application/json");
        let request = header.into_iter().fold(request, |request, (name, value)| request.header(name, value));
        let request = request.body(json).map_err(|error| self.unreachable(&error.to_string()))?;
        let mut response = self.agent.run(request).map_err(|error| self.no_answer(error))?;
        tracing::info!(status = response.status().as_u16(), "{asked} of {}", self.address);
        let text = self.text_of(&mut response)?;
        self.read_answer(&response, &text)
    }

    fn text_of(&self, response: &mut Response<Body>) -> Result<String, LeaderboardError> {
        let text = response.body_mut().with_config().limit(LONGEST_ANSWER_BYTES).read_to_string();
        text.map_err(|error| match error {
            ureq::Error::BodyExceedsLimit(_) => self.not_a_leaderboard("an answer that does not end".to_owned()),
            ureq::Error::Io(error) if error.kind() == std::io::ErrorKind::InvalidData => {
                self.not_a_leaderboard("an answer that is not text".to_owned())
            }
            error => self.no_answer(error),
        })
    }

    fn read_answer<T: DeserializeOwned>(&self, response: &Response<Body>, text: &str) -> Result<T, LeaderboardError> {
        let status = response.status();
        if status.is_success() {
            return serde_json::from_str(text).map_err(|error| {
                self.not_a_leaderboard(if looks_like_html(text) {
                    format!("status {} and a web page", status.as_u16())
                } else {
                    format!("status {} and something that is not the expected JSON ({error})", status.as_u16())
                })
            });
        }
        Err(self.refusal(response, text))
    }

    /// What an answer says that is no success.
    fn refusal(&self, response: &Response<Body>, text: &str) -> LeaderboardError {
        let status = response.status();
        if status.is_redirection() {
            let to = response.headers().get(header::LOCATION).and_then(|value| value.to_str().ok());
            let to = clean(to.unwrap_or("an address that it does not give"));
            return LeaderboardError::Redirected { leaderboard: self.address.to_string(), to };
        }
        if let Ok(body) = serde_json::from_str::<ErrorBody>(text) {
            return LeaderboardError::refused(&body, status.as_u16());
        }
        match status {
            status if status.is_server_error() => {
                LeaderboardError::Broken { leaderboard: self.address.to_string(), status: status.as_u16() }
            }
            StatusCode::PAYLOAD_TOO_LARGE => LeaderboardError::TooLarge { leaderboard: self.address.to_string() },
            status => self.not_a_leaderboard(format!("status {}", status.as_u16())),
        }
    }

    /// The call ended without an answer that could be read.
    fn no_answer(&self, error: ureq::Error) -> LeaderboardError {
        match error {
            ureq::Error::Timeout(_) => {
                LeaderboardError::TimedOut { leaderboard: self.address.to_string(), seconds: self.timeout_seconds }
            }
            ureq::Error::Protocol(_) => self.not_a_leaderboard("something that is not HTTP".to_owned()),
            ureq::Error::HostNotFound => self.unreachable("no machine with this name was found"),
            ureq::Error::Io(error) => self.unreachable(&error.to_string()),
            error => self.unreachable(&error.to_string()),
        }
    }

    fn unreachable(&self, reason: &str) -> LeaderboardError {
        LeaderboardError::Unreachable { leaderboard: self.address.to_string(), reason: clean(reason) }
    }

    fn not_a_leaderboard(&self, found: String) -> LeaderboardError {
        LeaderboardError::NotALeaderboard { leaderboard: self.address.to_string(), found: clean(&found) }
    }
}

fn to_body(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("text and numbers are always JSON")
}

fn looks_like_html(text: &str) -> bool {
    let start: String = text.trim_start().chars().take(14).collect::<String>().to_lowercase();
    start.starts_with("<!doctype html") || start.starts_with("<html")
}
