//! `cargo xtask rehearse`: what happens on a newcomer's machine.
//!
//! For each of the commands that a newcomer types first, the commit is cloned into an empty folder, and the command runs
//! there with nothing cached: the home, cargo's home, the cache and the target folder are empty. Only rustup's
//! toolchain, and what is installed in the system, stay.

use crate::server::{ask_to_finish, is_healthy};
use crate::setup::vulkan::shows_gpu;
use crate::{say, workspace};
use anyhow::{Context, Result, bail};
use clap::{Args, ValueEnum};
use std::ffi::OsString;
use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread::sleep;
use std::time::{Duration, Instant};
use std::{env, fs};

#[derive(Args)]
pub(crate) struct Options {
    /// Rehearse only these
    #[arg(long, value_name = "ACT", value_delimiter = ',')]
    only: Vec<Act>,
    /// Rehearse in a new folder in this one, which needs about 10 GB, and not in the folder for temporary files
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Keep what the rehearsal made; after a failure it is kept anyway
    #[arg(long)]
    keep: bool,
}

/// A command that a newcomer types first, each from nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Act {
    /// `cargo run --release -p native-runner`, until it shows figures
    NativeRunner,
    /// `cargo xtask run`, until the page has all it can have; and a second time
    Run,
    /// `cargo xtask test`, twice
    Test,
}

/// What a newcomer's environment has, too: how programs are found, and how the network is reached.
const KEPT: [&str; 14] = [
    "PATH",
    "TERM",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
    "REQUIRE_GPU",
    "REQUIRE_NETWORK",
    "REQUIRE_POSTGRES",
];
const PAUSE: Duration = Duration::from_millis(200);

impl Act {
    /// As it is typed.
    fn name(self) -> String {
        self.to_possible_value().expect("none is skipped").get_name().to_owned()
    }
}

pub(crate) fn run(top: &Path, options: &Options) -> Result<()> {
    let mut times = Times::default();
    let mut performed = Ok(());
    for act in Act::value_variants().iter().filter(|act| options.only.is_empty() || options.only.contains(act)) {
        performed = rehearse(top, *act, options, &mut times);
        if performed.is_err() {
            break;
        }
    }
    say::step("Times", "of all stages");
    times.0.iter().for_each(|(what, time)| Times::show(what, *time));
    performed?;
    say::step("Passed", "everything works with nothing cached");
    Ok(())
}

/// How long each stage took; said at once and, at the end, together.
#[derive(Default)]
struct Times(Vec<(&'static str, Duration)>);

impl Times {
    fn took(&mut self, what: &'static str, time: Duration) {
        self.0.push((what, time));
        Self::show(what, time);
    }

    fn show(what: &str, time: Duration) {
        say::step("Took", format!("{:>13}  {what}", say::duration(time)));
    }
}

fn rehearse(top: &Path, act: Act, options: &Options, times: &mut Times) -> Result<()> {
    let stage = Stage::set_up(options, act)?;
    say::step("Rehearsing", format!("{} in {}", act.name(), stage.folder.display()));
    let began = Instant::now();
    let performed = stage.clone(top).and_then(|()| match act {
        Act::NativeRunner => native_runner(&stage, began, times),
        Act::Run => page(&stage, began, times),
        Act::Test => tests(&stage, began, times),
    });
    if performed.is_ok() && !options.keep {
        fs::remove_dir_all(&stage.folder).with_context(|| format!("cannot remove {}", stage.folder.display()))?;
    } else {
        say::step("Kept", stage.folder.display().to_string());
    }
    performed
}

fn native_runner(stage: &Stage, began: Instant, times: &mut Times) -> Result<()> {
    let mut command = stage.cargo(&["run", "--release", "--package", "native-runner"]);
    if cfg!(target_os = "linux") && !shows_gpu(Path::new("/")) {
        // It never takes a software adapter unasked.
        command.args(["--", "--adapter", "cpu"]);
    }
    let mut runner = Running::start(&mut command)?;
    runner.wait_for(|line| line.contains(" samples/s"))?;
    times.took("from the clone to the first figures of `cargo run --release -p native-runner`", began.elapsed());
    // It says that it was cancelled.
    runner.stop(|status| status.code() == Some(130))
}

fn page(stage: &Stage, began: Instant, times: &mut Times) -> Result<()> {
    let mut first = start(stage)?;
    times.took("from the clone to `Ready` of `cargo xtask run`", began.elapsed());
    first.wait_for_burn(stage)?;
    times.took("from the clone to Burn in the page's chooser", began.elapsed());
    first.stop(|status| status.success())?;

    let again = Instant::now();
    let second = start(stage)?;
    times.took("a second start, to `Ready`", again.elapsed());
    second.stop(|status| status.success())
}

/// `cargo xtask run` on a free port, once it answers.
fn start(stage: &Stage) -> Result<Running> {
    let address = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
    let mut run = Running::start(&mut stage.cargo(&["xtask", "run", "--port", &address.port().to_string()]))?;
    run.wait_for(|line| line.trim_start().starts_with("Ready "))?;
    if !is_healthy(address) {
        bail!("`cargo xtask run` says that it is ready, and nobody answers on {address}");
    }
    Ok(run)
}

fn tests(stage: &Stage, began: Instant, times: &mut Times) -> Result<()> {
    let mut since = began;
    for what in ["from the clone to the end of `cargo xtask test`", "the same again, with nothing changed"] {
        let status = stage.cargo(&["xtask", "test"]).status().context("cannot start cargo")?;
        times.took(what, since.elapsed());
        if !status.success() {
            bail!("`cargo xtask test` ended with {status}, see its messages above");
        }
        since = Instant::now();
    }
    Ok(())
}

/// The empty machine, as far as environment variables make one.
struct Stage {
    folder: PathBuf,
}

impl Stage {
    fn set_up(options: &Options, act: Act) -> Result<Self> {
        let above = options.dir.clone().unwrap_or_else(env::temp_dir);
        let above = std::path::absolute(&above).with_context(|| format!("{} is no folder", above.display()))?;
        let folder = above.join(format!("gradmark-rehearsal-{}-{}", std::process::id(), act.name()));
        let make = |path: PathBuf| fs::create_dir(&path).with_context(|| format!("cannot make {}", path.display()));
        make(folder.clone())?;
        make(folder.join("home"))?;
        Ok(Self { folder })
    }

    fn checkout(&self) -> PathBuf {
        self.folder.join("gradmark")
    }

    /// What is committed, as others get it.
    fn clone(&self, top: &Path) -> Result<()> {
        let mut changes = Command::new("git");
        changes.args(["status", "--porcelain"]).current_dir(top);
        if !changes.output().context("cannot start git")?.stdout.is_empty() {
            say::warn("changes that are not committed take no part in this");
        }
        let mut command = Command::new("git");
        command.args(["clone", "--quiet", "--no-local"]).arg(top).arg(self.checkout());
        workspace::run(&mut command, "cloning the checkout")
    }

    /// A cargo command in the clone, in an environment of its own.
    fn cargo(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new("cargo");
        command.args(arguments).current_dir(self.checkout()).env_clear().envs(self.environment());
        command
    }

    fn environment(&self) -> Vec<(String, OsString)> {
        let home = self.folder.join("home");
        let toolchain =
            env::var_os("RUSTUP_HOME").map(PathBuf::from).or_else(|| Some(env::home_dir()?.join(".rustup")));
        let mut environment: Vec<(String, OsString)> =
            KEPT.iter().filter_map(|name| Some(((*name).to_owned(), env::var_os(name)?))).collect();
        environment.extend(toolchain.map(|toolchain| ("RUSTUP_HOME".to_owned(), toolchain.into())));
        for (name, folder) in
            [("HOME", ""), ("USERPROFILE", ""), ("CARGO_HOME", ".cargo"), ("XDG_CACHE_HOME", ".cache")]
        {
            environment.push((name.to_owned(), home.join(folder).into()));
        }
        environment
    }
}

/// A command of the rehearsal whose messages are shown with the seconds since its start.
struct Running {
    child: Child,
    name: String,
    lines: Receiver<String>,
}

impl Running {
    fn start(command: &mut Command) -> Result<Self> {
        let arguments: Vec<_> = command.get_args().map(|word| word.to_string_lossy().into_owned()).collect();
        let name = format!("cargo {}", arguments.join(" "));
        let mut child = command.stdin(Stdio::null()).stderr(Stdio::piped()).spawn().context("cannot start cargo")?;
        let messages = child.stderr.take().context("its messages were not piped")?;
        let began = Instant::now();
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(messages).lines().map_while(Result::ok) {
                say::quote(&format!("{:>4} s {line}", began.elapsed().as_secs()));
                // Later lines are only shown.
                let _ = sender.send(line);
            }
        });
        Ok(Self { child, name, lines })
    }

    fn wait_for(&mut self, is_it: impl Fn(&str) -> bool) -> Result<()> {
        if self.lines.iter().any(|line| is_it(&line)) {
            return Ok(());
        }
        bail!("`{}` ended with {} before it got so far, see its messages above", self.name, self.child.wait()?)
    }

    fn wait_for_burn(&mut self, stage: &Stage) -> Result<()> {
        let path = stage.checkout().join("dist/burn.json");
        loop {
            let state = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
            if state.contains("\"ready\"") {
                return Ok(());
            }
            if state.contains("\"missing\"") {
                bail!("Burn did not get into the page: {state}");
            }
            if let Some(status) = self.child.try_wait()? {
                bail!("`{}` ended with {status} while it built Burn, see its messages above", self.name);
            }
            sleep(PAUSE);
        }
    }

    /// Ends it as Ctrl-C does, and expects that to be a good end.
    fn stop(mut self, is_good: impl Fn(std::process::ExitStatus) -> bool) -> Result<()> {
        ask_to_finish(&self.child);
        let status = self.child.wait()?;
        if !is_good(status) {
            bail!("`{}` was asked to stop and ended with {status}", self.name);
        }
        Ok(())
    }
}

impl Drop for Running {
    /// An error on the way must not leave a program behind.
    fn drop(&mut self) {
        if let Ok(None) = self.child.try_wait() {
            ask_to_finish(&self.child);
            // It was asked, and cargo ends with it.
            let _ = self.child.wait();
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn on_the_stage_every_cache_is_empty_and_the_toolchain_is_there() {
        let above = tempfile::tempdir().unwrap();
        let stage =
            Stage::set_up(&Options { only: Vec::new(), dir: Some(above.path().to_path_buf()), keep: false }, Act::Run)
                .unwrap();
        let environment = stage.environment();
        let value = |name: &str| {
            PathBuf::from(&environment.iter().find(|(other, _)| other == name).unwrap_or_else(|| panic!("no {name}")).1)
        };
        for name in ["HOME", "CARGO_HOME", "XDG_CACHE_HOME"] {
            assert!(value(name).starts_with(&stage.folder), "{name}");
            assert!(fs::read_dir(value(name)).map_or(true, |mut entries| entries.next().is_none()), "{name}");
        }
        assert!(!environment.iter().any(|(name, _)| name == "CARGO_TARGET_DIR"));
        assert!(!value("RUSTUP_HOME").starts_with(&stage.folder) && !value("PATH").as_os_str().is_empty());
    }

    #[test]
    fn a_command_that_ends_too_early_fails_the_rehearsal_with_its_status() {
        let shell = |script: &str| Running::start(Command::new("sh").args(["-c", script])).unwrap();
        let error = shell("echo Building >&2; exit 4").wait_for(|line| line == "Ready").unwrap_err().to_string();
        assert!(error.contains("exit status: 4"), "{error}");
        shell("echo Ready >&2; exec sleep 600").wait_for(|line| line == "Ready").unwrap();
    }

    #[test]
    fn a_bad_end_after_the_request_to_stop_fails_the_rehearsal() {
        let mut running = Running::start(
            Command::new("sh").args(["-c", "trap 'exit 5' TERM; echo Ready >&2; while :; do sleep 0.01; done"]),
        )
        .unwrap();
        running.wait_for(|line| line == "Ready").unwrap();
        let error = running.stop(|status| status.success()).unwrap_err().to_string();
        assert!(error.contains("exit status: 5"), "{error}");
    }
}
