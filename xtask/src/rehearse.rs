//! `cargo xtask rehearse`: a new contributor's first commands, each in a new clone of the commit with empty caches.
//!
//! The home folder, cargo's home, the cache and the target folder are empty. Rustup's toolchains and installed packages
//! are kept.

use crate::run::ask_to_finish;
use crate::setup::shows_gpu;
use crate::{say, workspace};
use anyhow::{Context, Result, bail, ensure};
use clap::{Args, ValueEnum};
use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use std::{env, fs, thread};

#[derive(Args)]
pub(crate) struct Options {
    /// Run only these commands
    #[arg(long, value_name = "ACT", value_delimiter = ',')]
    only: Vec<Rehearsed>,
    /// Parent folder of the clone, which needs about 10 GB [default: the system's temporary folder]
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Keep the clone, which is otherwise deleted unless a command fails
    #[arg(long)]
    keep: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Rehearsed {
    /// `cargo run --release -p native-runner`, until it shows the speed
    NativeRunner,
    /// `cargo xtask run`, until the page has Burn, and a second start
    Run,
    /// `cargo xtask test`, twice
    Test,
    /// `cargo xtask test --all`, twice
    TestAll,
}

type Times = Vec<(String, Duration)>;

pub(crate) fn run(top: &Path, options: &Options) -> Result<()> {
    let acts = Rehearsed::value_variants().iter().filter(|act| options.only.is_empty() || options.only.contains(act));
    let mut times = Times::new();
    let result = acts.copied().try_for_each(|act| rehearse(top, act, options, &mut times));
    say::step("Minutes", "of each stage");
    times.iter().for_each(|(stage, time)| say::step("", format!("{:6.1}  {stage}", time.as_secs_f64() / 60.0)));
    result
}

fn rehearse(top: &Path, act: Rehearsed, options: &Options, times: &mut Times) -> Result<()> {
    let parent = std::path::absolute(options.dir.clone().unwrap_or_else(env::temp_dir))?;
    let folder = parent.join(format!("gradmark-rehearsal-{}-{act:?}", std::process::id()));
    fs::create_dir_all(folder.join("home")).with_context(|| format!("cannot create {}", folder.display()))?;
    say::step("Rehearsing", format!("{act:?} with the last commit, in {}", folder.display()));
    let start = Instant::now();
    let mut clone = Command::new("git");
    // No hard links to the objects of this checkout.
    clone.args(["clone", "--quiet", "--no-local"]).arg(top).arg(folder.join("gradmark"));
    let result = workspace::run(&mut clone, "cloning the last commit").and_then(|()| match act {
        Rehearsed::NativeRunner => native_runner(&folder, start, times),
        Rehearsed::Run => page(&folder, start, times),
        Rehearsed::Test => tests(&folder, &["xtask", "test"], start, times),
        Rehearsed::TestAll => tests(&folder, &["xtask", "test", "--all"], start, times),
    });
    if result.is_err() || options.keep {
        say::step("Kept", folder.display().to_string());
        return result;
    }
    fs::remove_dir_all(&folder).with_context(|| format!("cannot remove {}", folder.display()))
}

fn native_runner(folder: &Path, start: Instant, times: &mut Times) -> Result<()> {
    let mut command = cargo(folder, &["run", "--release", "--package", "native-runner"]);
    if cfg!(target_os = "linux") && !shows_gpu(Path::new("/")) {
        // It uses a software adapter only on request.
        command.args(["--", "--adapter", "cpu"]);
    }
    let runner = RunningCommand::start(&mut command, " samples/s")?;
    times.push(("clone to first speed of native-runner".to_owned(), start.elapsed()));
    // Exit status of a canceled run.
    runner.stop(130)
}

fn page(folder: &Path, start: Instant, times: &mut Times) -> Result<()> {
    let address = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
    let mut command = cargo(folder, &["xtask", "run", "--port", &address.port().to_string()]);
    let mut first = RunningCommand::start(&mut command, " Ready http")?;
    times.push(("clone to `Ready` of `cargo xtask run`".to_owned(), start.elapsed()));
    let ready = Instant::now();
    loop {
        let state = fs::read_to_string(folder.join("gradmark/dist/burn.json")).context("cannot read dist/burn.json")?;
        if state.contains("\"ready\"") {
            break;
        }
        // The page lacks Burn before its build begins, and after a failed build.
        let is_missing = ready.elapsed() > Duration::from_secs(60) && state.contains("\"missing\"");
        ensure!(!is_missing, "Burn is not being built for the page: {state}");
        ensure!(first.0.try_wait()?.is_none(), "`cargo xtask run` exited before it built Burn; see its messages above");
        thread::sleep(Duration::from_millis(200));
    }
    times.push(("clone to Burn in the page".to_owned(), start.elapsed()));
    first.stop(0)?;
    let start = Instant::now();
    let second = RunningCommand::start(&mut command, " Ready http")?;
    times.push(("second start to `Ready`".to_owned(), start.elapsed()));
    second.stop(0)
}

fn tests(folder: &Path, arguments: &[&str], mut start: Instant, times: &mut Times) -> Result<()> {
    for state in ["cold, from the clone", "warm"] {
        let name = format!("`cargo {}`, {state}", arguments.join(" "));
        let result = workspace::run(&mut cargo(folder, arguments), &name);
        times.push((name, start.elapsed()));
        result?;
        start = Instant::now();
    }
    Ok(())
}

/// Returns a cargo command in the clone, with a new contributor's environment.
fn cargo(folder: &Path, arguments: &[&str]) -> Command {
    let home = folder.join("home");
    let toolchains = env::var_os("RUSTUP_HOME").map(PathBuf::from).or_else(|| Some(env::home_dir()?.join(".rustup")));
    let mut command = Command::new("cargo");
    command.args(arguments).current_dir(folder.join("gradmark")).env_clear();
    // Variables that locate programs, configure the network, or require tests to run.
    let is_kept = |name: &str| {
        ["PATH", "TERM", "NODE_EXTRA_CA_CERTS"].contains(&name)
            || name.ends_with("_PROXY")
            || ["SSL_CERT_", "REQUIRE_"].iter().any(|start| name.starts_with(start))
    };
    command.envs(env::vars_os().filter(|(name, _)| is_kept(&name.to_string_lossy().to_uppercase())));
    command.envs(toolchains.map(|folder| ("RUSTUP_HOME", folder)));
    command.env("HOME", &home).env("USERPROFILE", &home);
    command.env("CARGO_HOME", home.join(".cargo")).env("XDG_CACHE_HOME", home.join(".cache"));
    command
}

/// Running command, ended on drop.
struct RunningCommand(Child);

impl RunningCommand {
    /// Starts a command, prints its messages with the seconds since the start, and returns when one contains `ready`.
    fn start(command: &mut Command, ready: &str) -> Result<Self> {
        let start = Instant::now();
        let child = command.stdin(Stdio::null()).stderr(Stdio::piped()).spawn();
        let mut running = Self(child.with_context(|| format!("cannot start {command:?}"))?);
        let messages = running.0.stderr.take().context("the messages are not piped")?;
        let show = move |line: &String| say::print(&format!("{:>4} s {line}", start.elapsed().as_secs()));
        let mut lines = BufReader::new(messages).lines().map_while(Result::ok).inspect(show);
        if !lines.any(|line| line.contains(ready)) {
            bail!("{command:?} ended with {} before it printed {ready:?}", running.0.wait()?);
        }
        thread::spawn(move || lines.for_each(drop));
        Ok(running)
    }

    /// Ends the command as Ctrl-C does, and expects this exit status.
    fn stop(mut self, expected: i32) -> Result<()> {
        ask_to_finish(&self.0);
        let status = self.0.wait()?;
        ensure!(status.code() == Some(expected), "a command that was asked to stop exited with {status}");
        Ok(())
    }
}

impl Drop for RunningCommand {
    fn drop(&mut self) {
        if let Ok(None) = self.0.try_wait() {
            ask_to_finish(&self.0);
            // The error that dropped the command is more useful than one from here.
            let _ = self.0.wait();
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn runs_cargo_with_empty_caches_and_the_installed_toolchain() {
        let command = format!("{:?}", cargo(Path::new("/stage"), &["xtask", "run"]));
        for (name, folder) in [("HOME", "home"), ("CARGO_HOME", "home/.cargo"), ("XDG_CACHE_HOME", "home/.cache")] {
            assert!(command.contains(&format!(" {name}=\"/stage/{folder}\"")), "{name} in {command}");
        }
        assert!(command.contains(" PATH=") && command.contains(" RUSTUP_HOME="), "{command}");
        assert!(!command.contains("CARGO_TARGET_DIR") && !command.contains("RUSTUP_HOME=\"/stage"), "{command}");
    }

    #[test]
    fn reports_a_command_that_ends_early_or_badly() {
        let start = |script: &str| RunningCommand::start(Command::new("sh").args(["-c", script]), "Ready");
        let error = start("echo Building >&2; exit 4").err().unwrap().to_string();
        assert!(error.contains("exit status: 4"), "{error}");
        let trap = "trap 'exit 5' TERM; echo Ready >&2; while :; do sleep 0.01; done";
        start(trap).unwrap().stop(5).unwrap();
        assert!(start(trap).unwrap().stop(0).unwrap_err().to_string().contains("exit status: 5"));
    }
}
