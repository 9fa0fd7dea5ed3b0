use std::ffi::OsStr;
use std::io::{BufRead, BufReader};
use std::ops::Deref;
use std::process::{Child, Command, ExitStatus, Stdio};

use super::Client;
use super::server::SECRET;

/// The real binary as a child process, killed when dropped.
pub(crate) struct ServerProcess {
    child: Child,
    client: Client,
}

impl Deref for ServerProcess {
    type Target = Client;

    fn deref(&self) -> &Client {
        &self.client
    }
}

impl ServerProcess {
    /// `database` is what `--database` takes.
    pub(crate) fn start(database: impl AsRef<OsStr>) -> Self {
        let mut quiet = command();
        quiet.args(["--log", "error"]);
        Self::start_as(quiet, database)
    }

    /// The same, with more words on its command line.
    pub(crate) fn start_as(mut command: Command, database: impl AsRef<OsStr>) -> Self {
        command.args(["--listen", "127.0.0.1:0", "--database"]).arg(database);
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim_end().strip_prefix("listening on http://").expect("one line with the address");
        let client = Client::new(address.parse().unwrap());
        Self { child, client }
    }

    /// Ends the process in the middle of whatever it does (SIGKILL on Unix).
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// The most memory that the process has had so far.
    #[cfg(target_os = "linux")]
    pub(crate) fn peak_memory_bytes(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
        1024 * line.trim().strip_suffix(" kB").unwrap().parse::<u64>().unwrap()
    }

    /// Sends a signal by name and waits for the end.
    #[cfg(unix)]
    pub(crate) fn signal(mut self, name: &str) -> ExitStatus {
        let sent = Command::new("kill").args(["-s", name, &self.child.id().to_string()]).status().unwrap();
        assert!(sent.success());
        self.child.wait().unwrap()
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        // Already ended in most tests; an error then says just that.
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

/// The same where it may have so many files and connections open.
#[cfg(target_os = "linux")]
pub(crate) fn command_with_descriptors(most: u32) -> Command {
    let program = command();
    let mut limited = Command::new("sh");
    limited.args(["-c", &format!("ulimit -n {most} && exec \"$0\" \"$@\"")]).arg(program.get_program());
    limited.envs(program.get_envs().filter_map(|(name, value)| Some((name, value?))));
    limited
}
