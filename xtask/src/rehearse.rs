//! `cargo xtask rehearse`: what happens on a newcomer's machine.
//!
//! The commit is cloned into an empty folder, and both commands run there with nothing cached: the home, cargo's
//! home, the cache and the target folder are empty. Only rustup's toolchain, and what is installed in the system, stay.

use crate::server::is_healthy;
use crate::{say, workspace};
use anyhow::{Context, Result, bail};
use clap::Args;
use std::ffi::OsString;
use std::io::{BufRead, BufReader};
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};
use std::{env, fs};

#[derive(Args)]
pub(crate) struct Options {
    /// Rehearse in a new folder in this one, which needs about 15 GB, and not in the folder for temporary files
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Keep what the rehearsal made; after a failure it is kept anyway
    #[arg(long)]
    keep: bool,
}

/// What a newcomer's environment has, too: how programs are found, and how the network is reached.
const KEPT: [&str; 13] = [
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
];
const PAUSE: Duration = Duration::from_millis(200);

pub(crate) fn run(top: &Path, options: &Options) -> Result<()> {
    let stage = Stage::set_up(options)?;
    say::step("Rehearsing", format!("in {}", stage.folder.display()));
    let mut times = Vec::new();
    let performed = perform(top, &stage, &mut times);
    for (what, time) in &times {
        say::step("Took", format!("{:>13}  {what}", say::duration(*time)));
    }
    if performed.is_ok() && !options.keep {
        fs::remove_dir_all(&stage.folder).with_context(|| format!("cannot remove {}", stage.folder.display()))?;
    } else {
        say::step("Kept", stage.folder.display().to_string());
    }
    performed?;
    say::step("Passed", "both commands work with nothing cached");
    Ok(())
}

type Times = Vec<(&'static str, Duration)>;

fn perform(top: &Path, stage: &Stage, times: &mut Times) -> Result<()> {
    let began = Instant::now();
    stage.clone(top)?;
    times.push(("git clone", began.elapsed()));

    let mut first = stage.start()?;
    first.wait_until_ready()?;
    times.push(("from the clone to `Ready` of `cargo xtask run`", began.elapsed()));
    first.wait_for_burn(stage)?;
    times.push(("from the clone to Burn in the page's chooser", began.elapsed()));
    first.stop()?;

    let again = Instant::now();
    let mut second = stage.start()?;
    second.wait_until_ready()?;
    times.push(("second start, to `Ready`", again.elapsed()));
    second.stop()?;

    let tests = Instant::now();
    let mut command = stage.cargo(&["xtask", "test"]);
    let status = command.status().context("cannot start cargo")?;
    times.push(("`cargo xtask test` after that", tests.elapsed()));
    times.push(("everything", began.elapsed()));
    if !status.success() {
        bail!("`cargo xtask test` ended with {status}, see its messages above");
    }
    Ok(())
}

/// The empty machine, as far as environment variables make one.
struct Stage {
    folder: PathBuf,
}

impl Stage {
    fn set_up(options: &Options) -> Result<Self> {
        let above = options.dir.clone().unwrap_or_else(env::temp_dir);
        let above = std::path::absolute(&above).with_context(|| format!("{} is no folder", above.display()))?;
        let folder = above.join(format!("gradmark-rehearsal-{}", std::process::id()));
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

    /// `cargo xtask run` on a free port.
    fn start(&self) -> Result<Running> {
        let address = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
        let mut command = self.cargo(&["xtask", "run", "--port", &address.port().to_string()]);
        let mut child = command.stdin(Stdio::null()).stderr(Stdio::piped()).spawn().context("cannot start cargo")?;
        let messages = child.stderr.take().context("its messages were not piped")?;
        let began = Instant::now();
        let (sender, ready) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            for line in BufReader::new(messages).lines().map_while(Result::ok) {
                say::quote(&format!("{:>4} s {line}", began.elapsed().as_secs()));
                if line.trim_start().starts_with("Ready ") {
                    // Nobody waits for it a second time.
                    let _ = sender.send(());
                }
            }
        });
        Ok(Running { child, address, ready })
    }
}

/// A `cargo xtask run` of the rehearsal.
struct Running {
    child: Child,
    address: SocketAddr,
    ready: std::sync::mpsc::Receiver<()>,
}

impl Running {
    fn wait_until_ready(&mut self) -> Result<()> {
        if self.ready.recv().is_err() {
            bail!("`cargo xtask run` ended with {} and was never ready, see its messages above", self.child.wait()?);
        }
        if !is_healthy(self.address) {
            bail!("`cargo xtask run` says that it is ready, and nobody answers on {}", self.address);
        }
        Ok(())
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
                bail!("`cargo xtask run` ended with {status} while it built Burn, see its messages above");
            }
            sleep(PAUSE);
        }
    }

    /// Ends it as Ctrl-C does, and expects that to be a good end.
    fn stop(mut self) -> Result<()> {
        crate::server::ask_to_finish(&self.child);
        let status = self.child.wait()?;
        if !status.success() {
            bail!("`cargo xtask run` was asked to stop and ended with {status}");
        }
        Ok(())
    }
}

impl Drop for Running {
    /// An error on the way must not leave a server behind.
    fn drop(&mut self) {
        if let Ok(None) = self.child.try_wait() {
            crate::server::ask_to_finish(&self.child);
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
        let stage = Stage::set_up(&Options { dir: Some(above.path().to_path_buf()), keep: false }).unwrap();
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
    fn a_run_that_ends_before_it_is_ready_fails_the_rehearsal() {
        let child = Command::new("sh").args(["-c", "exit 4"]).spawn().unwrap();
        let (_, ready) = std::sync::mpsc::channel();
        let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let error = Running { child, address, ready }.wait_until_ready().unwrap_err().to_string();
        assert!(error.contains("exit status: 4") && error.contains("never ready"), "{error}");
    }
}
