//! Client of a leaderboard. Errors are one plain sentence, no matter which server answers at the address.

use std::net::IpAddr;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::mpsc::{self, Sender};
use std::time::{Duration, Instant, SystemTime};
use std::{fmt, fs, thread};

use async_trait::async_trait;
use data_sets::files::sha256_hex;
use engine::{PendingAnswer, Registration, Witness};
use futures_channel::oneshot;
use results::api::{
    AcceptedRun, CommitSegment, CommittedSegment, ErrorBody, IDEMPOTENCY_KEY, OpenLap, OpenedLap, ProofWanted,
    ProvePart, StartRun, StartedRun, Verdict,
};
use results::hex;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use ureq::http::{Request, Response, StatusCode, Uri, header, request};
use ureq::tls::{RootCerts, TlsConfig};
use ureq::{Agent, AsSendBody, Body, http};

use crate::failure::LeaderboardError;
use crate::machine::cache;

type Result<T, E = LeaderboardError> = std::result::Result<T, E>;

const MAX_ANSWER_BYTES: u64 = 1 << 20;

#[derive(Clone)]
pub(crate) struct LeaderboardClient {
    pub(crate) address: Address,
    agent: Agent,
    timeout_seconds: f64,
}

impl LeaderboardClient {
    /// `timeout_seconds` bounds each call from name lookup to the last byte; it must be a valid duration.
    pub(crate) fn new(address: Address, timeout_seconds: f64) -> Self {
        // A server that refuses a request without reading its body closes the connection, perhaps while the next
        // request is being sent. Calls are rare, so each one gets a new connection.
        Self::with_connections(address, timeout_seconds, 0)
    }

    /// Returns a client that keeps open connections, which saves round trips. A call that is lost because the server
    /// closed the connection must be repeated.
    fn with_connections(address: Address, timeout_seconds: f64, connections: usize) -> Self {
        let config = Agent::config_builder()
            .timeout_global(Some(Duration::from_secs_f64(timeout_seconds)))
            // A redirect would turn a POST into a GET, or send the record to a place that the user did not choose.
            .max_redirects(0)
            .max_redirects_will_error(false)
            .http_status_as_error(false)
            .max_idle_connections(connections)
            .tls_config(trusted())
            .user_agent(concat!("gradmark-native-runner/", env!("CARGO_PKG_VERSION")));
        // A proxy cannot reach this machine's own addresses.
        let config = if address.is_loopback() { config.proxy(None) } else { config };
        Self { address, agent: config.build().new_agent(), timeout_seconds }
    }

    /// Returns the version of the server, and its clock in whole seconds.
    pub(crate) fn about(&self) -> Result<(String, Option<SystemTime>)> {
        let (response, text) = self.send(Request::get(self.address.join("/api/v1/openapi.json")).body(()))?;
        let date = || httpdate::parse_http_date(response.headers().get(header::DATE)?.to_str().ok()?).ok();
        let time = date();
        let description: Value = self.read_answer(&response, &text)?;
        let version = description["info"]["version"].as_str();
        Ok((clean(version.ok_or_else(|| self.not_a_leaderboard("no API version".to_owned()))?), time))
    }

    pub(crate) fn start(&self, request: &StartRun) -> Result<StartedRun> {
        let started: StartedRun = self.post("/api/v1/runs", request)?;
        // The id becomes part of a URL and of a file name.
        let id_is_plain = (1..=64).contains(&started.run_id.len())
            && started.run_id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_');
        if id_is_plain { Ok(started) } else { Err(self.not_a_leaderboard("an invalid run id".to_owned())) }
    }

    fn show(&self, run: &Registration, workload: &str, step: u64, state: &[u8]) -> Result<()> {
        let path = format!("/api/v1/runs/{}/states/{workload}/{step}", run.run_id);
        let request = Request::put(self.address.join(&path))
            .header(header::CONTENT_TYPE, "application/octet-stream")
            .header(header::AUTHORIZATION, format!("Bearer {}", run.nonce));
        self.send(request.body(state)).map(drop)
    }

    pub(crate) fn verdict(&self, run_id: &str) -> Result<Verdict> {
        let path = format!("/api/v1/runs/{run_id}/verdict");
        let (response, text) = self.send(Request::get(self.address.join(&path)).body(()))?;
        self.read_answer(&response, &text)
    }

    pub(crate) fn submit(&self, run_id: &str, json: String) -> Result<AcceptedRun> {
        self.call(Request::put(self.address.join(&format!("/api/v1/runs/{run_id}"))), json)
    }

    /// Submits a record without a leaderboard's seed, to be marked unverified. The same key returns the same secret.
    pub(crate) fn import(&self, json: String, idempotency_key: &str) -> Result<AcceptedRun> {
        let request = Request::post(self.address.join("/api/v1/runs/import"));
        self.call(request.header(IDEMPOTENCY_KEY, idempotency_key), json)
    }

    pub(crate) fn data_file(&self, name: &str, bytes: u64) -> Result<Vec<u8>> {
        let answer = self.agent.get(self.address.join(&format!("/data/{name}"))).call();
        let mut answer = answer.map_err(|error| self.no_answer(error))?;
        let no_data = || LeaderboardError::NoData { leaderboard: self.address.to_string(), file: name.to_owned() };
        if answer.status() != StatusCode::OK {
            return Err(no_data());
        }
        // Reading to the end needs a limit one byte above the size of the file.
        let content = answer.body_mut().with_config().limit(bytes + 1).read_to_vec();
        content.map_err(|error| match error {
            ureq::Error::BodyExceedsLimit(_) => no_data(),
            error => self.no_answer(error),
        })
    }

    fn post<T: DeserializeOwned>(&self, path: &str, message: &impl Serialize) -> Result<T> {
        self.call(Request::post(self.address.join(path)), to_body(message))
    }

    fn call<T: DeserializeOwned>(&self, request: request::Builder, json: String) -> Result<T> {
        let json_type = "application/json";
        let request = request.header(header::CONTENT_TYPE, json_type).header(header::ACCEPT, json_type);
        let (response, text) = self.send(request.body(json))?;
        self.read_answer(&response, &text)
    }

    fn send<B: AsSendBody>(&self, request: Result<Request<B>, http::Error>) -> Result<(Response<Body>, String)> {
        let request = request.map_err(|error| self.unreachable(&error.to_string()))?;
        let asked = format!("{} {}", request.method(), request.uri());
        let mut response = self.agent.run(request).map_err(|error| self.no_answer(error))?;
        tracing::info!(status = response.status().as_u16(), "{asked}");
        let text = response.body_mut().with_config().limit(MAX_ANSWER_BYTES).read_to_string();
        let text = text.map_err(|error| match error {
            ureq::Error::BodyExceedsLimit(_) => self.not_a_leaderboard("an endless answer".to_owned()),
            ureq::Error::Io(error) if error.kind() == std::io::ErrorKind::InvalidData => {
                self.not_a_leaderboard("an answer that is not text".to_owned())
            }
            error => self.no_answer(error),
        })?;
        if response.status().is_success() { Ok((response, text)) } else { Err(self.refusal(&response, &text)) }
    }

    fn read_answer<T: DeserializeOwned>(&self, response: &Response<Body>, text: &str) -> Result<T> {
        serde_json::from_str(text).map_err(|error| {
            let start = text.trim_start().chars().take(14).collect::<String>().to_lowercase();
            let is_page = start.starts_with("<!doctype html") || start.starts_with("<html");
            let other = format!("something that is not the expected JSON ({error})");
            let found = if is_page { "a web page" } else { &other };
            self.not_a_leaderboard(format!("status {} and {found}", response.status().as_u16()))
        })
    }

    fn refusal(&self, response: &Response<Body>, text: &str) -> LeaderboardError {
        let (leaderboard, status) = (self.address.to_string(), response.status());
        if status.is_redirection() {
            let to = response.headers().get(header::LOCATION).and_then(|value| value.to_str().ok());
            return LeaderboardError::Redirected { leaderboard, to: clean(to.unwrap_or("an unknown address")) };
        }
        if let Ok(body) = serde_json::from_str::<ErrorBody>(text) {
            let (code, status) = (clean(&body.code), status.as_u16());
            let place = body.field.map(|field| format!(" in {}", clean(&field))).unwrap_or_default();
            let message = clean(body.message.trim_end_matches('.'));
            return LeaderboardError::Refused { message, details: format!("{code}{place}, status {status}"), status };
        }
        match status {
            status if status.is_server_error() => LeaderboardError::Broken { leaderboard, status: status.as_u16() },
            StatusCode::PAYLOAD_TOO_LARGE => LeaderboardError::TooLarge { leaderboard },
            status => self.not_a_leaderboard(format!("status {}", status.as_u16())),
        }
    }

    fn no_answer(&self, error: ureq::Error) -> LeaderboardError {
        match error {
            ureq::Error::Timeout(_) => {
                LeaderboardError::TimedOut { leaderboard: self.address.to_string(), seconds: self.timeout_seconds }
            }
            ureq::Error::Protocol(_) => self.not_a_leaderboard("something that is not HTTP".to_owned()),
            ureq::Error::HostNotFound => self.unreachable("host not found"),
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

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Address {
    base: String,
    host: String,
}

impl Address {
    pub(crate) fn join(&self, path: &str) -> String {
        format!("{}{path}", self.base)
    }

    pub(crate) fn is_loopback(&self) -> bool {
        let host = self.host.trim_start_matches('[').trim_end_matches(']');
        host == "localhost" || host.parse().is_ok_and(|ip: IpAddr| ip.is_loopback())
    }
}

impl FromStr for Address {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let uri: Uri = text.parse().map_err(|error| format!("it is not an address ({error})"))?;
        let scheme = uri.scheme_str().unwrap_or_default();
        if scheme != "http" && scheme != "https" {
            return Err("it must begin with http:// or https://".to_owned());
        }
        let host = uri.host().filter(|host| !host.is_empty()).ok_or("it has no host")?.to_owned();
        let authority = uri.authority().map(|authority| authority.as_str()).unwrap_or_default();
        if authority.contains('@') {
            return Err("it must not contain a user name or password".to_owned());
        }
        if uri.query().is_some() || text.contains('#') {
            return Err("it must end with the host or a path, without `?` and `#`".to_owned());
        }
        Ok(Self { host, base: format!("{scheme}://{authority}{}", uri.path().trim_end_matches('/')) })
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.base)
    }
}

/// Makes external text safe for a terminal: no control characters, and a bounded length.
pub(crate) fn clean(text: &str) -> String {
    const MAX_LENGTH: usize = 500;
    let mut visible = text.chars().map(|c| if c.is_control() { ' ' } else { c });
    let shown = visible.by_ref().take(MAX_LENGTH).collect::<String>();
    if visible.next().is_some() { shown + "…" } else { shown }
}

/// Trusts the operating system's certificates, or those in `SSL_CERT_FILE`.
pub(crate) fn trusted() -> TlsConfig {
    TlsConfig::builder().root_certs(RootCerts::PlatformVerifier).build()
}

/// Number of random bytes in a key, too many to guess.
const BYTES: usize = 32;

/// Secret of one record, sent with it.
pub(crate) struct UploadKey {
    pub(crate) word: String,
    /// Absent without a cache; a later process then uses another key.
    file: Option<PathBuf>,
}

impl UploadKey {
    pub(crate) fn of(json: &str) -> Result<Self, getrandom::Error> {
        Self::in_folder(json, cache().map(|cache| cache.join("uploads")))
    }

    fn in_folder(json: &str, folder: Option<PathBuf>) -> Result<Self, getrandom::Error> {
        let file = folder.map(|folder| folder.join(sha256_hex(json.as_bytes())));
        let is_whole = |word: &String| word.len() == 2 * BYTES && word.bytes().all(|byte| byte.is_ascii_hexdigit());
        if let Some(word) = file.as_ref().and_then(|file| fs::read_to_string(file).ok()).filter(is_whole) {
            return Ok(Self { word, file });
        }
        let mut bytes = [0; BYTES];
        getrandom::fill(&mut bytes)?;
        let word = hex(&bytes);
        if let Some(file) = &file {
            // If the key cannot be stored, only repetitions in this process use it.
            let _ = file.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| fs::write(file, &word));
        }
        Ok(Self { word, file })
    }

    pub(crate) fn forget(self) {
        // A leftover key is never used for another record.
        let _ = self.file.map(fs::remove_file);
    }
}

/// Time limit for the answer to a hash. It is short, so that a dead connection is detected soon.
const HASH_TIMEOUT_SECONDS: f64 = 10.0;
/// Pauses before a lost call is repeated. Further repetitions use the last one.
const PAUSES: [Duration; 4] =
    [Duration::from_millis(250), Duration::from_secs(1), Duration::from_secs(4), Duration::from_secs(12)];
/// Time after the first attempt during which hashes are sent again.
const HASH_RETRY_TIME: Duration = Duration::from_secs(25);
/// Time during which a message of the proof after training is sent again, after the time limit of the first attempt.
const PROOF_RETRY_TIME: Duration = Duration::from_mins(10);
/// Slowest supported link.
const MIN_BYTES_PER_SECOND: f64 = 30_000.0;

type Sent = (CommitSegment, oneshot::Sender<Result<CommittedSegment, String>>);

/// Connection to the leaderboard that issued a run's seed and follows the run.
pub(crate) struct LeaderboardWitness {
    leaderboard: LeaderboardClient,
    for_hashes: LeaderboardClient,
    registration: Registration,
    /// Queue of the thread that sends commitments one at a time, so that they arrive in order.
    commitments: Sender<Sent>,
}

impl LeaderboardWitness {
    pub(crate) fn start(leaderboard: &LeaderboardClient, registration: Registration) -> Self {
        let timeout_seconds = HASH_TIMEOUT_SECONDS.min(leaderboard.timeout_seconds);
        let for_hashes = LeaderboardClient::with_connections(leaderboard.address.clone(), timeout_seconds, 1);
        let (commitments, coming) = mpsc::channel::<Sent>();
        let (sender, run_id) = (for_hashes.clone(), registration.run_id.clone());
        thread::spawn(move || {
            for (segment, answer) in coming {
                // A cancelled run does not wait for the answer.
                let path = format!("/api/v1/runs/{run_id}/segments");
                let _ = answer.send(send_hash(|| sender.post(&path, &segment)));
            }
        });
        Self { leaderboard: leaderboard.clone(), for_hashes, registration, commitments }
    }

    /// Makes a call of the proof after training, with a body of `bytes` bytes. Nothing is timed at this point, and an
    /// attempt may take minutes on a slow link.
    fn send_proof<T>(&self, bytes: usize, call: impl Fn(&LeaderboardClient) -> Result<T>) -> Result<T, String> {
        let timeout_seconds = self.leaderboard.timeout_seconds + (bytes as f64 / MIN_BYTES_PER_SECOND).ceil();
        let leaderboard = LeaderboardClient::new(self.leaderboard.address.clone(), timeout_seconds);
        let patience = PROOF_RETRY_TIME.saturating_add(Duration::from_secs_f64(timeout_seconds));
        persist(patience, || call(&leaderboard)).map_err(|error| error.to_string())
    }
}

#[async_trait(?Send)]
impl Witness for LeaderboardWitness {
    async fn open_lap(&mut self, lap: OpenLap) -> Result<OpenedLap, String> {
        let Registration { run_id, nonce } = self.registration.clone();
        let (path, lap) = (format!("/api/v1/runs/{run_id}/laps"), OpenLap { nonce, ..lap });
        send_hash(|| self.for_hashes.post(&path, &lap))
    }

    fn commit(&mut self, commitment: CommitSegment) -> PendingAnswer {
        let message = CommitSegment { nonce: self.registration.nonce.clone(), ..commitment };
        let (sender, answer) = oneshot::channel();
        // If the thread has ended, the answer is cancelled.
        let _ = self.commitments.send((message, sender));
        Box::pin(async { answer.await.unwrap_or_else(|_| Err("the thread that sends hashes has ended".to_owned())) })
    }

    async fn prove(&mut self, part: ProvePart) -> Result<ProofWanted, String> {
        let Registration { run_id, nonce } = self.registration.clone();
        let part = ProvePart { nonce, ..part };
        let path = format!("/api/v1/runs/{run_id}/proof");
        self.send_proof(to_body(&part).len(), |leaderboard| leaderboard.post(&path, &part))
    }

    async fn show(&mut self, workload: &str, step: u64, state: Vec<u8>) -> Result<(), String> {
        self.send_proof(state.len(), |leaderboard| leaderboard.show(&self.registration, workload, step, &state))
    }
}

/// Makes a call during training, which eventually waits for the answer.
fn send_hash<T>(call: impl Fn() -> Result<T>) -> Result<T, String> {
    persist(HASH_RETRY_TIME, call).map_err(|error| match error {
        // The error's own text suggests a longer time limit, which does not apply to hashes.
        LeaderboardError::TimedOut { leaderboard, seconds } => {
            format!("{leaderboard} did not answer within {seconds} s")
        }
        error => error.to_string(),
    })
}

/// Repeats a lost call for at most `patience`. The leaderboard accepts repeated calls.
fn persist<T>(patience: Duration, call: impl Fn() -> Result<T>) -> Result<T> {
    let start = Instant::now();
    let mut pauses = PAUSES.into_iter();
    loop {
        let pause = pauses.next().unwrap_or(PAUSES[PAUSES.len() - 1]);
        match call() {
            Err(error) if error.may_pass() && start.elapsed() + pause < patience => thread::sleep(pause),
            result => return result,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn address_takes_paths_and_may_be_of_this_machine() {
        for (given, joined, is_loopback) in [
            ("http://127.0.0.1:8080", "http://127.0.0.1:8080/runs/1", true),
            ("http://localhost:8080/", "http://localhost:8080/runs/1", true),
            ("http://[::1]:80", "http://[::1]:80/runs/1", true),
            ("https://gradmark.example/board/", "https://gradmark.example/board/runs/1", false),
            ("http://10.0.0.1", "http://10.0.0.1/runs/1", false),
        ] {
            let address = given.parse::<Address>().unwrap();
            assert_eq!((address.join("/runs/1").as_str(), address.is_loopback()), (joined, is_loopback));
        }
    }

    #[test]
    fn what_is_not_an_address_says_why() {
        for (given, part) in [
            ("localhost:8080", "http://"),
            ("gradmark.example", "http://"),
            ("ftp://gradmark.example", "http://"),
            ("https://me:secret@gradmark.example", "user name"),
            ("https://gradmark.example/?a=b", "without `?`"),
            ("https://", "address"),
            ("", "address"),
        ] {
            let error = given.parse::<Address>().unwrap_err();
            assert!(error.contains(part), "{given}: {error}");
        }
    }

    #[test]
    fn a_server_cannot_send_commands_to_the_terminal() {
        assert_eq!(clean("\u{1b}[2Jgone\n"), " [2Jgone ");
        assert_eq!(clean(&"a".repeat(10_000)).chars().count(), 501);
    }

    #[test]
    fn a_word_is_the_same_until_there_is_an_answer() {
        let folder = tempfile::tempdir().unwrap();
        let of = |json| UploadKey::in_folder(json, Some(folder.path().join("uploads"))).unwrap();
        let first = of("a record");
        assert!(results::api::IDEMPOTENCY_KEY_LENGTHS.contains(&first.word.len()));
        assert_eq!(of("a record").word, first.word);
        assert_ne!(of("another").word, first.word);
        fs::write(first.file.as_ref().unwrap(), "half").unwrap();
        assert_ne!(of("a record").word, first.word);
        let again = of("a record");
        let word = again.word.clone();
        again.forget();
        assert_ne!(of("a record").word, word);
        // A key exists without a cache as well.
        assert_eq!(UploadKey::in_folder("a record", None).unwrap().word.len(), 2 * BYTES);
    }

    #[test]
    fn lost_calls_are_made_again_and_refusals_are_final() {
        let broken = || LeaderboardError::Broken { leaderboard: "https://gradmark.example".to_owned(), status: 502 };
        let refused = |status| LeaderboardError::Refused { message: "no".to_owned(), details: "no".to_owned(), status };
        for (patience, errors, result, count) in [
            (HASH_RETRY_TIME, vec![broken(), refused(503)], Ok(()), 3),
            (Duration::from_millis(100), vec![broken()], Err(broken()), 1),
            (HASH_RETRY_TIME, vec![refused(409)], Err(refused(409)), 1),
            (HASH_RETRY_TIME, vec![refused(429)], Err(refused(429)), 1),
        ] {
            let calls = Cell::new(0);
            let call = || errors.get(calls.replace(calls.get() + 1)).map_or(Ok(()), |error| Err(error.clone()));
            assert_eq!((persist(patience, call), calls.get()), (result, count), "{errors:?}");
        }
    }
}
