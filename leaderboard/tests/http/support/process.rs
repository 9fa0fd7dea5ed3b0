use std::ffi::OsStr;
use std::io::{BufRead, BufReader};
use std::ops::Deref;
use std::process::{Child, Command, ExitStatus, Output, Stdio};

use super::TestClient;
use super::server::SECRET;

/// The real binary as a child process, killed when dropped.
pub(crate) struct ServerProcess {
    child: Child,
    client: TestClient,
}

impl Deref for ServerProcess {
    type Target = TestClient;

    fn deref(&self) -> &TestClient {
        &self.client
    }
}

impl ServerProcess {
    pub(crate) fn start(database: impl AsRef<OsStr>) -> Self {
        let mut quiet = command();
        quiet.args(["--log", "error"]);
        Self::start_as(quiet, database)
    }

    pub(crate) fn start_as(mut command: Command, database: impl AsRef<OsStr>) -> Self {
        command.args(["--listen", "127.0.0.1:0", "--database"]).arg(database);
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim_end().strip_prefix("listening on http://").expect("one line with the address");
        Self { child, client: TestClient::new(address.parse().unwrap()) }
    }

    /// Ends the process at once (SIGKILL on Unix).
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    #[cfg(target_os = "linux")]
    pub(crate) fn peak_memory_bytes(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
        1024 * line.trim().strip_suffix(" kB").unwrap().parse::<u64>().unwrap()
    }

    #[cfg(unix)]
    pub(crate) fn signal(mut self, name: &str) -> ExitStatus {
        let sent = Command::new("kill").args(["-s", name, &self.child.id().to_string()]).status().unwrap();
        assert!(sent.success());
        self.child.wait().unwrap()
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        // In most tests the process has already ended, and the error only reports that.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

pub(crate) fn command() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_leaderboard"));
    if crate::on_postgres() {
        command.env("GRADMARK_SECRET", SECRET);
    }
    command
}

#[cfg(target_os = "linux")]
pub(crate) fn command_with_descriptors(most: u32) -> Command {
    let program = command();
    let mut limited = Command::new("sh");
    limited.args(["-c", &format!("ulimit -n {most} && exec \"$0\" \"$@\"")]).arg(program.get_program());
    limited.envs(program.get_envs().filter_map(|(name, value)| Some((name, value?))));
    limited
}

/// Runs a task of the command line: its words, then `--database` with this value.
pub(crate) fn run(words: &[&str], database: impl AsRef<OsStr>) -> Output {
    command().args(words).arg("--database").arg(database.as_ref()).output().unwrap()
}

#[track_caller]
pub(crate) fn done(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout.clone()).unwrap()
}

#[track_caller]
pub(crate) fn failed(output: &Output) -> String {
    assert!(!output.status.success() && output.stdout.is_empty(), "{}", String::from_utf8_lossy(&output.stdout));
    String::from_utf8(output.stderr.clone()).unwrap()
}

pub(crate) fn assert_says(said: &str, parts: &[&str]) {
    parts.iter().for_each(|part| assert!(said.contains(part), "{part}: {said}"));
}
