//! `cargo xtask run`: the page and the leaderboard on this machine.

use crate::page;
use crate::setup::{self, Wanted};
use crate::workspace;
use crate::{data, say};
use anyhow::{Context, Result, anyhow, bail};
use clap::Args;
use data_sets::{Store, Trust};
use std::io::{ErrorKind, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

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
/// Time limit for the server to answer.
const PATIENCE: Duration = Duration::from_secs(30);
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
    command.arg("--page").arg(page::folder(top)).arg("--data").arg(store.folder());
    let server = Server::start(&mut command)?;
    // Started before a request can ask about Burn.
    let _burn = if options.no_burn_page { None } else { Some(Background::start(page::burn(top, &hooks))?) };
    let reachable = loopback(address);
    server.wait_until_it_answers(reachable)?;
    let url = format!("http://{reachable}");
    say::step("Ready", format!("{url} (press Ctrl-C to stop)"));
    if options.open {
        open(&url);
    }
    server.wait_for_its_end()
}

/// Prints the slow steps with their expected times.
fn announce(store: &Store, top: &Path, options: &Options) {
    let builds = !page::is_up_to_date(top);
    let mut steps = Vec::new();
    steps.extend(store.needs_download().then_some("fetch MNIST and CIFAR-10 (190 MB)"));
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
    if let Err(error) = data::prepare(store, Trust::Stamped) {
        say::warn(format!("{error:#}"));
        say::warn("serving the page without it; the page shows which networks have no data");
        // The server detects data that arrives later.
        if let Err(error) = std::fs::create_dir_all(store.folder()) {
            say::warn(format!("cannot create {}: {error}", store.folder().display()));
        }
    }
}

/// # Errors
/// Another program listens on this address, or this user may not.
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

/// Returns the address at which this machine reaches its own server.
fn loopback(address: SocketAddr) -> SocketAddr {
    match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => SocketAddr::new([127, 0, 0, 1].into(), address.port()),
        IpAddr::V6(ip) if ip.is_unspecified() => SocketAddr::new(std::net::Ipv6Addr::LOCALHOST.into(), address.port()),
        _ => address,
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

/// The server as a child process.
struct Server {
    child: std::cell::RefCell<Child>,
    /// Number of requests to stop: the first one asks the server to finish, the second one ends it.
    stops: Arc<AtomicU32>,
}

impl Server {
    /// Starts the server. From now on Ctrl-C and SIGTERM stop it, and this program ends after it.
    fn start(command: &mut Command) -> Result<Self> {
        let stops = Arc::new(AtomicU32::new(0));
        let counter = Arc::clone(&stops);
        ctrlc::set_handler(move || _ = counter.fetch_add(1, Ordering::SeqCst)).context("cannot handle Ctrl-C")?;
        let program = command.get_program().to_string_lossy().into_owned();
        // The first line of output is its address, which `Ready` announces.
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).spawn();
        Ok(Self { child: child.with_context(|| format!("cannot start {program}"))?.into(), stops })
    }

    fn wait_until_it_answers(&self, address: SocketAddr) -> Result<()> {
        let start = Instant::now();
        while start.elapsed() < PATIENCE {
            if let Some(status) = self.child.borrow_mut().try_wait()? {
                bail!("the server exited with {status} before it responded; see its messages above");
            }
            if self.stops.load(Ordering::SeqCst) > 0 || is_healthy(address) {
                return Ok(());
            }
            thread::sleep(PAUSE);
        }
        bail!("the server did not respond on {address} within {} seconds", PATIENCE.as_secs())
    }

    /// # Errors
    /// The server ended without a request, or badly.
    fn wait_for_its_end(&self) -> Result<()> {
        let mut seen = 0;
        let status = loop {
            if let Some(status) = self.child.borrow_mut().try_wait()? {
                break status;
            }
            let stops = self.stops.load(Ordering::SeqCst);
            if stops > seen && stops == 1 {
                say::step("Stopping", "the server (press Ctrl-C again to end it at once)");
                ask_to_finish(&self.child.borrow());
            } else if stops > seen {
                // Fails only if the server has just ended.
                let _ = self.child.borrow_mut().kill();
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

impl Drop for Server {
    /// Ends the server even after an error.
    fn drop(&mut self) {
        let _ = self.child.borrow_mut().kill();
        let _ = self.child.borrow_mut().wait();
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

/// Returns true if `GET /healthz` is answered with a 2xx status.
pub(crate) fn is_healthy(address: SocketAddr) -> bool {
    let answer = || -> std::io::Result<Vec<u8>> {
        let mut stream = TcpStream::connect_timeout(&address, Duration::from_secs(1))?;
        stream.set_read_timeout(Some(Duration::from_secs(1)))?;
        write!(stream, "GET /healthz HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n")?;
        let mut start = vec![0; "HTTP/1.1 2".len()];
        stream.read_exact(&mut start)?;
        Ok(start)
    };
    answer().is_ok_and(|start| start.starts_with(b"HTTP/1.") && start.ends_with(b" 2"))
}

/// Low-priority program that is ended on drop, with all its child processes.
struct Background(Child);

impl Background {
    fn start(command: Command) -> Result<Self> {
        say::step("Next", "building Burn for the page at low priority; the page offers it once it is ready");
        #[cfg(unix)]
        let mut command = {
            let mut nice = Command::new("nice");
            nice.args(["-n", "19"]).arg(command.get_program()).args(command.get_args());
            for (name, value) in command.get_envs() {
                match value {
                    Some(value) => nice.env(name, value),
                    None => nice.env_remove(name),
                };
            }
            nice.current_dir(command.get_current_dir().unwrap_or(Path::new(".")));
            std::os::unix::process::CommandExt::process_group(&mut nice, 0);
            nice
        };
        #[cfg(not(unix))]
        let mut command = command;
        Ok(Self(command.stdin(Stdio::null()).spawn().context("cannot start the build of Burn")?))
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

    fn shell(script: &str) -> Server {
        let child = Command::new("sh").args(["-c", script]).spawn().unwrap();
        Server { child: child.into(), stops: Arc::default() }
    }

    #[test]
    fn a_port_in_use_is_an_error_with_the_option() {
        let taken = TcpListener::bind("127.0.0.1:0").unwrap();
        let error = check_free(taken.local_addr().unwrap()).unwrap_err().to_string();
        assert!(error.contains("--port"), "{error}");
    }

    #[test]
    fn server_that_exits_early_is_an_error() {
        let unused = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let error = shell("exit 7").wait_until_it_answers(unused).unwrap_err().to_string();
        assert!(error.contains("7 before it responded"), "{error}");
        assert!(shell("exit 0").wait_for_its_end().is_err());
    }

    #[test]
    fn the_second_request_to_stop_ends_the_server() {
        let server = shell("trap '' TERM; while :; do sleep 0.05; done");
        server.stops.store(2, Ordering::SeqCst);
        server.wait_for_its_end().unwrap();
    }
}
