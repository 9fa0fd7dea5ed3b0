//! `cargo xtask run`: the page and the leaderboard on this machine.

use crate::server::Server;
use crate::setup::{self, Wanted};
use crate::task::{Running, Task};
use crate::{build, data, fetch, page, say};
use anyhow::{Context, Result, anyhow, bail};
use clap::Args;
use data_sets::{Store, Trust};
use std::io::ErrorKind;
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;

#[derive(Args)]
pub(crate) struct Options {
    /// Port to listen on
    #[arg(long, default_value_t = 8080, value_parser = clap::value_parser!(u16).range(1..))]
    port: u16,
    /// Address to listen on; 0.0.0.0 lets other machines in (browsers offer WebGPU only on localhost or over HTTPS)
    #[arg(long, default_value = "127.0.0.1")]
    host: IpAddr,
    /// Open the page in the default browser when it answers
    #[arg(long)]
    open: bool,
    /// Do not build Burn for the page, which takes minutes when the engine has changed; it is built after the page is
    /// served, at low priority
    #[arg(long)]
    no_burn_page: bool,
}

/// Minutes on two cores with nothing cached; `cargo xtask rehearse` measures them.
const MINUTES_TO_THE_PAGE: u32 = 7;
const MINUTES_OF_BURN: u32 = 12;
const MINUTES_OF_FETCHING: u32 = 1;

pub(crate) fn run(top: &Path, options: &Options) -> Result<()> {
    let address = SocketAddr::new(options.host, options.port);
    // Before minutes of building, not after them.
    expect_free(address)?;
    let store = data::store(top, None)?;
    announce(top, &store, options)?;
    setup::system(Wanted::default())?;
    setup::wasm_target(top)?;
    let program = prepare(top, &store)?;
    let burn = burn_is_to_be_built(top, options.no_burn_page);

    let mut command = Command::new(program);
    command
        .current_dir(top)
        .arg("--listen")
        .arg(address.to_string())
        .arg("--database")
        .arg(top.join("gradmark.sqlite"))
        .arg("--page")
        .arg(page::folder(top))
        .arg("--data")
        .arg(store.folder());
    say::step("Starting", "the server");
    let server = Server::start(&mut command)?;
    let reachable = reachable_form(address);
    server.wait_until_it_answers(reachable)?;
    let url = format!("http://{reachable}");
    say::step("Ready", format!("{url} (Ctrl-C stops it)"));
    if options.open {
        open(&url)?;
    }
    let running = Running::default();
    thread::scope(|scope| {
        if burn {
            scope.spawn(|| page::burn::follow(top, || page::tools(top), &running));
        }
        let ended = server.wait_for_its_end();
        running.end();
        ended
    })
}

/// Says what will be done and how long that takes, where it takes long.
fn announce(top: &Path, store: &Store, options: &Options) -> Result<()> {
    let builds = !page::is_up_to_date(top)?;
    let mut todo = Vec::new();
    todo.extend(store.needs_download().then_some("fetch MNIST and CIFAR-10 (190 MB)"));
    todo.extend(builds.then_some("build the page and the server"));
    if todo.is_empty() {
        return Ok(());
    }
    let minutes = if builds { MINUTES_TO_THE_PAGE } else { MINUTES_OF_FETCHING };
    let then = if options.no_burn_page || !builds {
        String::new()
    } else {
        format!("; then Burn for the page, while it is served ({MINUTES_OF_BURN} min more)")
    };
    say::step("Plan", format!("{}: about {minutes} min on two cores with nothing cached{then}", todo.join(", ")));
    Ok(())
}

/// Builds the page and the server and fetches the data sets, side by side; returns the server's program. Without data
/// the page is served all the same: networks of made-up stories need none.
fn prepare(top: &Path, store: &Store) -> Result<PathBuf> {
    fetch::dependencies(top);
    thread::scope(|scope| {
        let data = scope.spawn(|| fetch_data(store));
        let (sender, receiver) = mpsc::channel();
        let server = scope.spawn(move || {
            // The page waits for this one. Its other end is gone when the page needed none.
            let _ = sender.send(page::tools(top)?);
            let task = Task::build("the server");
            let server = build::SERVER.program(top, &task)?;
            task.done("Built");
            Ok(server)
        });
        let page = page::build(top, || receiver.recv().map_err(|_| anyhow!("the page needs wasm-bindgen")));
        let server: Result<PathBuf> = server.join().map_err(|_| anyhow!("building the server panicked"))?;
        data.join().map_err(|_| anyhow!("fetching the data sets panicked"))?;
        // The cause first: without wasm-bindgen there is no page either.
        let server = server?;
        page?;
        page::frameworks::put(top, || page::tools(top))?;
        Ok(server)
    })
}

fn fetch_data(store: &Store) {
    if let Err(error) = data::prepare(store, Trust::Stamped) {
        say::warn(format!("{error:#}"));
        say::warn("the page is served without that; it says which networks have no data");
        // The server looks into the folder for what comes later.
        if let Err(error) = std::fs::create_dir_all(store.folder()) {
            say::warn(format!("cannot make the folder {}: {error}", store.folder().display()));
        }
    }
}

/// Whether Burn is to be built for the page, which is told. What is in the cache is put into the page at once.
fn burn_is_to_be_built(top: &Path, left_out: bool) -> bool {
    let (told, is_coming) = match page::burn::from_cache(top) {
        Ok(true) => return false,
        Ok(false) if left_out => (page::burn::is_missing(top, page::burn::LEFT_OUT.to_owned()), false),
        Ok(false) => (page::burn::is_coming(top), true),
        // Where there is no cache there is nowhere to keep it.
        Err(error) => {
            let note = format!("it cannot be put into the page: {error:#}");
            say::warn(format!("the page goes without Burn: {note}"));
            (page::burn::is_missing(top, note), false)
        }
    };
    match told {
        Ok(()) => is_coming,
        Err(error) => {
            say::warn(format!("the page cannot be told about Burn: {error:#}"));
            false
        }
    }
}

/// # Errors
/// When another program listens there, or nobody may.
fn expect_free(address: SocketAddr) -> Result<()> {
    match TcpListener::bind(address) {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == ErrorKind::AddrInUse => bail!(
            "another program already listens on {address}: stop it, or take another port with `cargo xtask run --port \
             {}`",
            address.port().checked_add(1).unwrap_or(8080)
        ),
        Err(error) => Err(error).with_context(|| format!("cannot listen on {address}")),
    }
}

/// The address under which this machine itself reaches a server that listens there.
fn reachable_form(address: SocketAddr) -> SocketAddr {
    match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => SocketAddr::new([127, 0, 0, 1].into(), address.port()),
        IpAddr::V6(ip) if ip.is_unspecified() => SocketAddr::new(std::net::Ipv6Addr::LOCALHOST.into(), address.port()),
        _ => address,
    }
}

fn open(url: &str) -> Result<()> {
    let mut command = if cfg!(windows) {
        let mut command = Command::new("cmd");
        command.args(["/C", "start", ""]);
        command
    } else if cfg!(target_os = "macos") {
        Command::new("open")
    } else {
        Command::new("xdg-open")
    };
    let opened = command.arg(url).stdin(Stdio::null()).stdout(Stdio::null()).spawn();
    if opened.is_err() {
        say::warn(format!("no program to open a browser with was found: open {url} yourself"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_in_use_is_said_before_anything_is_built() {
        let taken = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = taken.local_addr().unwrap();
        let error = expect_free(address).unwrap_err().to_string();
        assert!(error.contains(&address.to_string()) && error.contains("--port"), "{error}");
        drop(taken);
        expect_free(address).unwrap();
    }

    #[test]
    fn a_server_that_listens_everywhere_is_reached_on_the_loopback_address() {
        for (everywhere, here) in
            [("0.0.0.0:80", "127.0.0.1:80"), ("[::]:80", "[::1]:80"), ("10.0.0.1:80", "10.0.0.1:80")]
        {
            assert_eq!(reachable_form(everywhere.parse().unwrap()), here.parse().unwrap());
        }
    }
}
