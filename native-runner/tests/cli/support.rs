//! Runs the binary, and a server with configurable answers.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, LazyLock, Mutex};
use std::time::Duration;
use std::{env, fs, thread};

#[cfg(unix)]
use nix::sys::signal::Signal;
use results::api::{
    AcceptedRun, CommitSegment, CommittedSegment, ErrorBody, OpenLap, OpenedLap, ProofWanted, StartedRun, Tier, Verdict,
};
use results::{Adapter, Beacon, RunRecord};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use tempfile::TempDir;

/// Network of two small layers, named `tiny`, which every backend trains and evaluates in less than half a second.
pub(crate) const TINY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cli/tiny.toml");

/// Record of three steps of [`TINY`], as if the suite's own network had been trained.
pub(crate) static RECORD: LazyLock<RunRecord> = LazyLock::new(|| {
    let line = "--backend reference --steps 3 --batch-size 16 --seed 1 --json -";
    claim_suite_network(Runner::new(line).tiny().run().expect_status(0).json())
});

/// Changes the record as if the suite's own network had been trained, because no other can be uploaded.
pub(crate) fn claim_suite_network(mut record: RunRecord) -> RunRecord {
    for workload in &mut record.workloads {
        (workload.workload, workload.network) = ("keras-mnist-mlp".to_owned(), None);
    }
    record
}

/// Call of the binary in a new empty folder.
pub(crate) struct Runner {
    command: Command,
    pub(crate) folder: TempDir,
}

pub(crate) struct RunnerOutput {
    pub(crate) status: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    /// Folder with the files that the program may have written.
    pub(crate) folder: TempDir,
}

impl Runner {
    pub(crate) fn new(line: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_native-runner"));
        command
            .current_dir(&folder)
            .env_remove("NO_COLOR")
            .env_remove("GRADMARK_BABI")
            .env("GRADMARK_DATA", data_folder());
        command.args(line.split_whitespace()).stdin(Stdio::null());
        Self { command, folder }
    }

    pub(crate) fn tiny(self) -> Self {
        self.arg("--workload-file").arg(TINY)
    }

    pub(crate) fn arg(mut self, argument: impl AsRef<std::ffi::OsStr>) -> Self {
        self.command.arg(argument);
        self
    }

    pub(crate) fn args(mut self, line: &str) -> Self {
        self.command.args(line.split_whitespace());
        self
    }

    pub(crate) fn env(mut self, name: &str, value: impl AsRef<std::ffi::OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    pub(crate) fn command(&mut self) -> &mut Command {
        &mut self.command
    }

    pub(crate) fn run(mut self) -> RunnerOutput {
        let output = self.command.output().unwrap();
        RunnerOutput {
            status: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
            folder: self.folder,
        }
    }

    #[cfg(unix)]
    pub(crate) fn interrupt_after(self, part: &str) -> RunnerOutput {
        let mut running = self.start();
        running.wait_for(part);
        running.signal(Signal::SIGINT);
        running.end()
    }

    pub(crate) fn start(mut self) -> Running {
        let mut child = self.command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (stdout, stderr) = (lines_of(child.stdout.take().unwrap()), lines_of(child.stderr.take().unwrap()));
        Running { process: Process(child), stdout, stderr, folder: self.folder, said: Vec::new() }
    }
}

/// Reads lines in a thread, so that the program never blocks on the test.
fn lines_of(stream: impl Read + Send + 'static) -> Receiver<String> {
    let (sender, lines) = channel();
    thread::spawn(move || BufReader::new(stream).lines().try_for_each(|line| sender.send(line.unwrap())));
    lines
}

/// Process that ends with the test.
pub(crate) struct Process(pub(crate) Child);

impl Drop for Process {
    fn drop(&mut self) {
        // It may have exited already, which the test has then detected.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

pub(crate) struct Running {
    pub(crate) process: Process,
    pub(crate) stdout: Receiver<String>,
    stderr: Receiver<String>,
    /// Received lines of standard error.
    said: Vec<String>,
    folder: TempDir,
}

impl Running {
    /// Time without output after which a program counts as hanging.
    pub(crate) const SILENCE: Duration = Duration::from_secs(300);

    /// Receives a line of standard error. Returns false at its end.
    #[track_caller]
    fn hear(&mut self) -> bool {
        match self.stderr.recv_timeout(Self::SILENCE) {
            Ok(line) => self.said.push(line),
            Err(RecvTimeoutError::Disconnected) => return false,
            Err(RecvTimeoutError::Timeout) => panic!("it hangs:\n{}", self.said.join("\n")),
        }
        true
    }

    #[track_caller]
    pub(crate) fn wait_for(&mut self, part: &str) {
        while !self.said.last().is_some_and(|line| line.contains(part)) {
            assert!(self.hear(), "`{part}` was never said:\n{}", self.said.join("\n"));
        }
    }

    pub(crate) fn pid(&self) -> i32 {
        self.process.0.id().try_into().unwrap()
    }

    #[cfg(unix)]
    pub(crate) fn signal(&self, signal: Signal) {
        nix::sys::signal::kill(nix::unistd::Pid::from_raw(self.pid()), signal).unwrap();
    }

    #[track_caller]
    pub(crate) fn end(mut self) -> RunnerOutput {
        while self.hear() {}
        let stdout = self.stdout.iter().collect::<Vec<_>>().join("\n");
        let status = self.process.0.wait().unwrap().code();
        RunnerOutput { status, stdout, stderr: self.said.join("\n"), folder: self.folder }
    }
}

impl RunnerOutput {
    #[track_caller]
    pub(crate) fn expect_status(self, status: i32) -> Self {
        assert_eq!(self.status, Some(status), "standard output:\n{}\nstandard error:\n{}", self.stdout, self.stderr);
        self
    }

    /// Fails unless standard error contains all of these parts, regardless of line breaks.
    #[track_caller]
    pub(crate) fn expect_errors(self, parts: &[&str]) -> Self {
        expect_parts(&self.stderr, parts);
        self
    }

    #[track_caller]
    pub(crate) fn expect_output(self, parts: &[&str]) -> Self {
        expect_parts(&self.stdout, parts);
        self
    }

    #[track_caller]
    pub(crate) fn json<T: DeserializeOwned>(&self) -> T {
        serde_json::from_str(&self.stdout).expect("standard output holds one document")
    }

    #[track_caller]
    pub(crate) fn json_file<T: DeserializeOwned>(&self, name: &str) -> T {
        read_json(&self.folder.path().join(name))
    }
}

#[track_caller]
pub(crate) fn read_json<T: DeserializeOwned>(path: &Path) -> T {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

#[track_caller]
pub(crate) fn expect_parts(text: &str, parts: &[&str]) {
    let line = one_line(text);
    for part in parts {
        assert!(line.contains(part), "`{part}` is missing in:\n{text}");
    }
}

#[track_caller]
pub(crate) fn run(line: &str, expected_status: i32) -> RunnerOutput {
    Runner::new(line).run().expect_status(expected_status)
}

/// Runs the call that `make` creates from each line. Expects the exit status, the parts on standard error, and that
/// nothing was trained or printed.
#[track_caller]
pub(crate) fn expect_refusals_of(make: impl Fn(&str) -> Runner, cases: &[(&str, i32, &[&str])]) {
    for (line, status, parts) in cases {
        let finished = make(line).run();
        assert!(finished.stdout.is_empty() && !finished.stderr.contains("(1 of 1)"), "{line}: {}", finished.stderr);
        assert_eq!(finished.status, Some(*status), "{line}: {}", finished.stderr);
        finished.expect_errors(parts);
    }
}

/// Does the same with the words of each line as arguments.
#[track_caller]
pub(crate) fn expect_refusals(cases: &[(&str, i32, &[&str])]) {
    expect_refusals_of(Runner::new, cases);
}

/// The text with every run of spaces and line breaks as one space, because prose is wrapped.
pub(crate) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

pub(crate) fn data_folder() -> PathBuf {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let folder = env::var_os("GRADMARK_DATA").map_or_else(|| workspace.join("data"), |folder| workspace.join(folder));
    assert!(folder.join("mnist-train.bin").exists(), "no data in {}: run `cargo xtask data`", folder.display());
    folder
}

/// Returns a copy of the MNIST files after `change` of `file`.
pub(crate) fn damaged_data(file: &str, change: impl FnOnce(&mut Vec<u8>)) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for name in ["mnist-train.bin", "mnist-test.bin"] {
        fs::copy(data_folder().join(name), folder.path().join(name)).unwrap();
    }
    let path = folder.path().join(file);
    let mut bytes = fs::read(&path).unwrap();
    change(&mut bytes);
    fs::write(&path, bytes).unwrap();
    folder
}

#[derive(Deserialize)]
pub(crate) struct ListedAdapter {
    pub(crate) index: usize,
    pub(crate) default: bool,
    #[serde(flatten)]
    pub(crate) adapter: Adapter,
    pub(crate) features: serde_json::Value,
}

pub(crate) fn adapters() -> Vec<ListedAdapter> {
    run("adapters --json", 0).json()
}

/// Returns the arguments that choose an adapter for tests: a software one if available, so that every test run uses the
/// same device. Without any adapter, returns `None` and reports it; with `REQUIRE_GPU=1` that is a failure.
pub(crate) fn any_adapter() -> Option<String> {
    let adapters = adapters();
    let choice = adapters.iter().find(|listed| listed.adapter.software).or(adapters.first());
    if choice.is_none() {
        skipping::skipped(true, "this machine offers no adapter");
    }
    choice.map(|listed| format!("--adapter {}", listed.index))
}

/// Returns true if there is a software adapter, which provides any number of logical devices. Otherwise reports that
/// the test is skipped.
pub(crate) fn has_software() -> bool {
    let found = adapters().iter().any(|listed| listed.adapter.software);
    if !found {
        skipped("there is no software adapter");
    }
    found
}

#[path = "../../../engine/src/testing/skipped.rs"]
mod skipping;

/// Reports that a test, or part of it, is skipped.
pub(crate) fn skipped(why: impl std::fmt::Display) {
    skipping::skipped(false, why);
}

/// Types `typed` on a pseudo-terminal with this number of columns, made by util-linux' `script`, and returns the output
/// of the binary. Without `script`, returns `None` and reports it.
pub(crate) fn on_a_terminal(arguments: &str, columns: u16, environment: &str, typed: &str) -> Option<String> {
    let program = env!("CARGO_BIN_EXE_native-runner");
    let line = format!("stty rows 24 cols {columns}; {environment} {program} {arguments}");
    let mut command = Command::new("script");
    command.args(["-qec", &line, "/dev/null"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    command.env("TERM", "xterm").env_remove("NO_COLOR").env("GRADMARK_DATA", data_folder());
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) => {
            skipped(format_args!("`script` cannot be started ({error})"));
            return None;
        }
    };
    child.stdin.take().unwrap().write_all(typed.as_bytes()).unwrap();
    Some(String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap())
}

#[derive(Clone, Debug)]
pub(crate) struct ReceivedCall {
    /// Method and path.
    pub(crate) call: String,
    pub(crate) body: Vec<u8>,
}

impl ReceivedCall {
    #[track_caller]
    pub(crate) fn json<T: DeserializeOwned>(&self) -> T {
        serde_json::from_slice(&self.body).unwrap()
    }
}

#[derive(Clone)]
pub(crate) enum FakeAnswer {
    Raw(Vec<u8>),
    /// Keeps the connection open and sends nothing.
    Silence,
}

impl FakeAnswer {
    pub(crate) fn http(status: u16, header: &str, body: impl AsRef<[u8]>) -> Self {
        let length = body.as_ref().len();
        let head = format!("HTTP/1.1 {status} Status\r\nconnection: close\r\ncontent-length: {length}\r\n");
        Self::Raw([head.as_bytes(), header.as_bytes(), b"\r\n", body.as_ref()].concat())
    }

    pub(crate) fn json(status: u16, value: &impl serde::Serialize) -> Self {
        Self::http(status, "content-type: application/json\r\n", serde_json::to_vec(value).unwrap())
    }
}

/// Server on a free port of this machine, which ends with the test program.
pub(crate) struct FakeServer {
    pub(crate) url: String,
    received: Arc<Mutex<Vec<ReceivedCall>>>,
}

impl FakeServer {
    pub(crate) fn start(answer: impl Fn(&ReceivedCall) -> FakeAnswer + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let received = Arc::new(Mutex::new(Vec::new()));
        let (log, answer) = (Arc::clone(&received), Arc::new(answer));
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (log, answer) = (Arc::clone(&log), Arc::clone(&answer));
                thread::spawn(move || serve(stream, &log, answer.as_ref()));
            }
        });
        Self { url, received }
    }

    pub(crate) fn received(&self) -> Vec<ReceivedCall> {
        self.received.lock().unwrap().clone()
    }
}

fn serve(mut stream: TcpStream, log: &Mutex<Vec<ReceivedCall>>, answer: &dyn Fn(&ReceivedCall) -> FakeAnswer) {
    let request = read_request(&stream);
    log.lock().unwrap().push(request.clone());
    match answer(&request) {
        // The program may have closed the connection already, which is allowed.
        FakeAnswer::Raw(bytes) => drop(stream.write_all(&bytes)),
        FakeAnswer::Silence => thread::sleep(Running::SILENCE),
    }
}

fn read_request(stream: &TcpStream) -> ReceivedCall {
    let mut reader = BufReader::new(stream);
    let lines = reader.by_ref().lines().map(Result::unwrap);
    let head: Vec<String> = lines.take_while(|line| !line.is_empty()).collect();
    let length = |line: &String| Some(line.to_lowercase().strip_prefix("content-length:")?.trim().parse().unwrap());
    let mut body = vec![0; head.iter().find_map(length).unwrap_or(0)];
    reader.read_exact(&mut body).unwrap();
    let (call, _) = head[0].rsplit_once(' ').unwrap();
    ReceivedCall { call: call.to_owned(), body }
}

pub(crate) fn refusal(code: &str, message: &str) -> ErrorBody {
    ErrorBody { code: code.to_owned(), message: message.to_owned(), field: Some("suite.version".to_owned()) }
}

pub(crate) fn leaderboard() -> FakeServer {
    FakeServer::start(answer_like_a_leaderboard)
}

/// Accepts runs and records, and requests nothing after a run.
pub(crate) fn answer_like_a_leaderboard(request: &ReceivedCall) -> FakeAnswer {
    match request.call.as_str() {
        "POST /api/v1/runs" => FakeAnswer::json(201, &started()),
        "POST /api/v1/runs/run-1/laps" => {
            let OpenLap { segment, .. } = request.json();
            FakeAnswer::json(200, &OpenedLap { beacons: [beacon(segment), beacon(segment + 1)] })
        }
        "POST /api/v1/runs/run-1/segments" => {
            let CommitSegment { segment, ends_lap, .. } = request.json();
            FakeAnswer::json(
                200,
                &CommittedSegment { beacon: (!ends_lap).then(|| beacon(segment + 2)), draws: Vec::new() },
            )
        }
        "POST /api/v1/runs/run-1/proof" => FakeAnswer::json(200, &ProofWanted::default()),
        "PUT /api/v1/runs/run-1" => FakeAnswer::json(200, &accepted("run-1", Tier::Checked)),
        "POST /api/v1/runs/import" => FakeAnswer::json(201, &accepted("run-2", Tier::Unverified)),
        _ => FakeAnswer::json(404, &refusal("not_found", "There is nothing here.")),
    }
}

pub(crate) fn beacon(segment: u32) -> Beacon {
    Beacon(u128::from(segment).to_be_bytes())
}

pub(crate) fn started() -> StartedRun {
    StartedRun { run_id: "run-1".to_owned(), nonce: "once".to_owned(), seed: 987_654_321, expires_unix_seconds: 4e9 }
}

pub(crate) fn accepted(run_id: &str, tier: Tier) -> AcceptedRun {
    AcceptedRun {
        run_id: run_id.to_owned(),
        verdict: Verdict { tier, notes: vec![results::api::Note::finding("Not reviewed yet.")], being_verified: false },
        permalink: format!("/runs/{run_id}"),
        deletion_secret: "secret".to_owned(),
        deletion_link: format!("/runs/{run_id}/delete#secret"),
    }
}

/// Real leaderboard in a process on a free port.
pub(crate) struct RealLeaderboard {
    _process: Process,
    pub(crate) url: String,
}

impl RealLeaderboard {
    pub(crate) fn start(command: &mut Command) -> Self {
        let mut process = Process(command.args(["--listen", "127.0.0.1:0"]).stdout(Stdio::piped()).spawn().unwrap());
        let mut line = String::new();
        BufReader::new(process.0.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let url = line.trim().strip_prefix("listening on ").expect("the address is the first line").to_owned();
        Self { _process: process, url }
    }
}

pub(crate) fn paths(received: &[ReceivedCall]) -> Vec<String> {
    received.iter().map(|request| request.call.clone()).collect()
}
