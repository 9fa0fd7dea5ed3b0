//! `cargo xtask run`: the page and the leaderboard on this machine.

use crate::setup::{self, Wanted};
use crate::{data, page, say, workspace};
use anyhow::{Context, Result, anyhow, bail};
use clap::Args;
use data_sets::Store;
use std::io::{BufRead, BufReader, ErrorKind};
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

#[derive(Args)]
pub(crate) struct Options {
    /// Port to listen on
    #[arg(long, default_value_t = 8080, value_parser = clap::value_parser!(u16).range(1..))]
    port: u16,
    /// Address to listen on; 0.0.0.0 accepts other machines (browsers offer WebGPU only on localhost or over HTTPS)
    #[arg(long, default_value = "127.0.0.1")]
    host: IpAddr,
    /// Open the page in the default browser when it is ready
    #[arg(long)]
    open: bool,
    /// Skip building Burn for the page. The build runs at low priority while the page is served, and takes minutes when
    /// the engine has changed
    #[arg(long)]
    no_burn_page: bool,
}

/// Build time in minutes on two cores with empty caches, measured by `cargo xtask rehearse`.
const PAGE_MINUTES: u32 = 11;
const BURN_MINUTES: u32 = 12;
const PAUSE: Duration = Duration::from_millis(50);

pub(crate) fn run(top: &Path, options: &Options) -> Result<()> {
    let address = SocketAddr::new(options.host, options.port);
    // Checked before minutes of building, not after.
    check_free(address)?;
    let store = data::store(top, None)?;
    announce(&store, top, options);
    setup::system(Wanted::default())?;
    setup::wasm_target(top)?;
    workspace::fetch_dependencies(top);
    let hooks = page::hooks(top)?;
    let program = prepare(top, &store, &hooks)?;
    say::step("Starting", "the server");
    let mut command = Command::new(program);
    command.current_dir(top).arg("--listen").arg(address.to_string());
    command.arg("--database").arg(top.join("gradmark.sqlite"));
    command.arg("--page").arg(page::folder(top)).arg("--data").arg(&store.folder);
    let mut server = LocalServer::start(&mut command)?;
    // Started before a request can ask about Burn.
    let _burn = if options.no_burn_page { None } else { Some(Background::start(top, &hooks)?) };
    server.wait_until_it_listens()?;
    let url = match options.host.is_unspecified() {
        true => format!("http://localhost:{}", options.port),
        false => format!("http://{address}"),
    };
    say::step("Ready", format!("{url} (press Ctrl-C to stop)"));
    if options.open {
        open(&url);
    }
    server.wait_for_its_end()
}

fn announce(store: &Store, top: &Path, options: &Options) {
    let builds = !page::is_up_to_date(top);
    let mut steps = Vec::new();
    steps.extend(store.needs_download().then_some("fetch MNIST, CIFAR-10 and Moby-Dick (190 MB)"));
    steps.extend(builds.then_some("build the page and the server"));
    if steps.is_empty() {
        return;
    }
    let minutes = if builds { PAGE_MINUTES } else { 1 };
    let mut plan = format!("{}: about {minutes} min on two cores with nothing cached", steps.join(", "));
    if builds && !options.no_burn_page {
        plan += &format!("; then build Burn for the page while it is served ({BURN_MINUTES} min more)");
    }
    say::step("Plan", plan);
}

/// Builds the page and the server and fetches the data sets, in parallel. Returns the server's program. The page is
/// served without data too, because networks that train on generated stories need none.
fn prepare(top: &Path, store: &Store, hooks: &Path) -> Result<PathBuf> {
    thread::scope(|scope| {
        let data = scope.spawn(|| fetch_data(store));
        let server = scope.spawn(|| workspace::build(top, "release", "leaderboard", &[], "the server"));
        let page = page::build(top, hooks);
        let server = server.join().map_err(|_| anyhow!("building the server panicked"))?;
        data.join().map_err(|_| anyhow!("fetching the data sets panicked"))?;
        page.and(server)
    })
}

fn fetch_data(store: &Store) {
    if let Err(error) = data::prepare(store, false) {
        say::warn(format!("{error:#}"));
        say::warn("serving the page without it; the page shows which networks have no data");
        // The server detects data that arrives later.
        if let Err(error) = std::fs::create_dir_all(&store.folder) {
            say::warn(format!("cannot create {}: {error}", store.folder.display()));
        }
    }
}

/// Fails if another program listens on this address, or this user may not.
fn check_free(address: SocketAddr) -> Result<()> {
    match TcpListener::bind(address) {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == ErrorKind::AddrInUse => bail!(
            "another program already listens on {address}: stop it, or choose another port with `cargo xtask run \
             --port {}`",
            address.port().checked_add(1).unwrap_or(8080)
        ),
        Err(error) => Err(error).with_context(|| format!("cannot listen on {address}")),
    }
}

fn open(url: &str) {
    let (program, arguments): (_, &[&str]) = match std::env::consts::OS {
        "windows" => ("cmd", &["/C", "start", ""]),
        "macos" => ("open", &[]),
        _ => ("xdg-open", &[]),
    };
    if Command::new(program).args(arguments).arg(url).stdin(Stdio::null()).stdout(Stdio::null()).spawn().is_err() {
        say::warn(format!("found no program to open a browser: open {url} yourself"));
    }
}

struct LocalServer {
    child: Child,
    /// Number of requests to stop: the first one asks the server to finish, the second one ends it.
    stops: Arc<AtomicU32>,
}

impl LocalServer {
    /// Starts the server. From now on Ctrl-C and SIGTERM stop it, and this program ends after it.
    fn start(command: &mut Command) -> Result<Self> {
        let stops = Arc::new(AtomicU32::new(0));
        let counter = Arc::clone(&stops);
        ctrlc::set_handler(move || _ = counter.fetch_add(1, Ordering::SeqCst)).context("cannot handle Ctrl-C")?;
        let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn();
        Ok(Self { child: child.with_context(|| format!("cannot start {}", command.get_program().display()))?, stops })
    }

    /// Waits for the first line of output, which is the server's address.
    fn wait_until_it_listens(&mut self) -> Result<()> {
        let output = self.child.stdout.take().context("the output of the server is not piped")?;
        if BufReader::new(output).read_line(&mut String::new())? == 0 && self.stops.load(Ordering::SeqCst) == 0 {
            bail!("the server exited with {} before it listened; see its messages above", self.child.wait()?);
        }
        Ok(())
    }

    /// Fails if the server ends without a request, or badly.
    fn wait_for_its_end(&mut self) -> Result<()> {
        let mut seen = 0;
        let status = loop {
            if let Some(status) = self.child.try_wait()? {
                break status;
            }
            let stops = self.stops.load(Ordering::SeqCst);
            if stops > seen && stops == 1 {
                say::step("Stopping", "the server (press Ctrl-C again to end it at once)");
                ask_to_finish(&self.child);
            } else if stops > seen {
                // Fails only if the server has just ended.
                let _ = self.child.kill();
            }
            seen = stops;
            thread::sleep(PAUSE);
        };
        if seen > 1 || (seen == 1 && status.success()) {
            return Ok(());
        }
        bail!("the server exited with {status}; see its messages above")
    }
}

impl Drop for LocalServer {
    /// Ends the server even after an error.
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Asks a program to finish. On Windows, Ctrl-C reaches every program of the console.
pub(crate) fn ask_to_finish(child: &Child) {
    #[cfg(unix)]
    if let Ok(id) = i32::try_from(child.id()) {
        // Fails only if the program has just ended.
        let _ = nix::sys::signal::kill(nix::unistd::Pid::from_raw(id), nix::sys::signal::Signal::SIGTERM);
    }
    #[cfg(not(unix))]
    let _ = child;
}

/// Low-priority program that is ended on drop, with all its child processes.
struct Background(Child);

impl Background {
    fn start(top: &Path, hooks: &Path) -> Result<Self> {
        say::step("Next", "building Burn for the page at low priority; the page offers it once it is ready");
        let mut command = workspace::command(top, if cfg!(unix) { Path::new("nice") } else { hooks });
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(command.args(["-n", "19"]).arg(hooks), 0);
        let child = page::add_burn(top, &mut command).stdin(Stdio::null()).spawn();
        Ok(Self(child.context("cannot start the build of Burn")?))
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        #[cfg(unix)]
        if let Ok(group) = i32::try_from(self.0.id()) {
            let _ = nix::sys::signal::killpg(nix::unistd::Pid::from_raw(group), nix::sys::signal::Signal::SIGTERM);
        }
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn shell(script: &str) -> LocalServer {
        let child = Command::new("sh").args(["-c", script]).stdout(Stdio::piped()).spawn().unwrap();
        LocalServer { child, stops: Arc::default() }
    }

    #[test]
    fn a_port_in_use_is_an_error_with_the_option() {
        let taken = TcpListener::bind("127.0.0.1:0").unwrap();
        let error = check_free(taken.local_addr().unwrap()).unwrap_err().to_string();
        assert!(error.contains("--port"), "{error}");
    }

    #[test]
    fn server_that_exits_early_is_an_error() {
        let error = shell("exit 7").wait_until_it_listens().unwrap_err().to_string();
        assert!(error.contains("7 before it listened"), "{error}");
        assert!(shell("exit 0").wait_for_its_end().is_err());
    }

    #[test]
    fn the_second_request_to_stop_ends_the_server() {
        let mut server = shell("trap '' TERM; while :; do sleep 0.05; done");
        server.stops.store(2, Ordering::SeqCst);
        server.wait_for_its_end().unwrap();
    }
}
