//! `cargo xtask run`: the page and the leaderboard on this machine.

use crate::data::{self, Store, Trust};
use crate::server::Server;
use crate::setup::{self, Wanted};
use crate::{build, page, say};
use anyhow::{Context, Result, bail};
use clap::Args;
use std::io::ErrorKind;
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::path::Path;
use std::process::{Command, Stdio};

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
    /// Build the page without Burn, which takes minutes to compile when the engine has changed
    #[arg(long)]
    no_burn_page: bool,
}

pub(crate) fn run(top: &Path, options: &Options) -> Result<()> {
    let address = SocketAddr::new(options.host, options.port);
    // Before minutes of building, not after them.
    expect_free(address)?;
    let store = Store::of_checkout(top, None)?;
    setup::system(Wanted { npm: store.needs_download(), ..Wanted::default() })?;
    data::prepare(&store, Trust::Stamped)?;
    page::build(top, !options.no_burn_page)?;
    say::step("Building", "the server (nothing to do when it is up to date)");
    let program = build::program(top, "leaderboard")?;

    let mut command = Command::new(program);
    command
        .current_dir(top)
        .arg("--listen")
        .arg(address.to_string())
        .arg("--database")
        .arg(top.join("gradmark.sqlite"))
        .arg("--page")
        .arg(top.join("dist"))
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
    server.wait_for_its_end()
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
