//! `cargo xtask check`: formatting, the design's promises, and clippy, from the fastest to the slowest.

use crate::build::{PAGE, WASM};
use crate::task::Task;
use crate::workspace::{FEATURES, cargo, run};
use crate::{check, say};
use anyhow::Result;
use std::path::Path;
use std::process::Command;

pub(crate) fn all(top: &Path) -> Result<()> {
    format(top)?;
    promises(top)?;
    check::page(top)?;
    say::step("Checking", "all crates with clippy");
    run(&mut clippy(top), "clippy")?;
    say::step("Checking", "the page with clippy, for the browser");
    run(&mut clippy_of_the_page(top), "clippy for the browser")
}

/// The promises of the design that the sources can break.
pub(crate) fn promises(top: &Path) -> Result<()> {
    say::step("Checking", "the promises of the design");
    check::sources(top)
}

pub(crate) fn format(top: &Path) -> Result<()> {
    say::step("Checking", "the format");
    run(cargo(top).args(["fmt", "--all", "--check"]), "checking the format (`cargo fmt --all` repairs it)")
}

/// Clippy for this machine, beside other tasks.
pub(crate) fn host(top: &Path) -> Result<()> {
    beside(&mut clippy(top), "all crates with clippy")
}

/// Clippy for the browser, beside other tasks. Most of the page's code exists only there.
pub(crate) fn browser(top: &Path) -> Result<()> {
    beside(&mut clippy_of_the_page(top), "the page with clippy, for the browser")
}

fn beside(command: &mut Command, what: &str) -> Result<()> {
    let task = Task::new("Checking", what);
    task.follow(command)?;
    task.done("Checked");
    Ok(())
}

fn clippy(top: &Path) -> Command {
    let mut command = cargo(top);
    command.args(["clippy", "--release", "--workspace", "--all-targets"]);
    command.args(FEATURES.iter().flat_map(|(_, features)| ["--features", features]));
    command.args(["--", "-D", "warnings"]);
    command
}

/// In the page's own profile, so that build scripts and macros are shared with the build of the page.
fn clippy_of_the_page(top: &Path) -> Command {
    let mut command = cargo(top);
    command.args(["clippy", "--profile", "web", "--target", WASM]);
    command.args(PAGE.packages.iter().flat_map(|package| ["--package", package]));
    command.args(["--", "-D", "warnings"]);
    command
}
