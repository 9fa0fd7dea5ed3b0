//! `cargo xtask check`: formatting, design rules and clippy, from the fastest to the slowest.

use crate::task::Task;
use crate::test::BURN_FEATURES;
use crate::workspace::{WASM, cargo, run};
use crate::{check, say};
use anyhow::Result;
use std::path::Path;

pub(crate) fn all(top: &Path) -> Result<()> {
    format(top)?;
    promises(top)?;
    check::page(top)?;
    host(top)?;
    browser(top)
}

/// Checks the design rules of the sources.
pub(crate) fn promises(top: &Path) -> Result<()> {
    say::step("Checking", "the design rules");
    check::sources(top)
}

pub(crate) fn format(top: &Path) -> Result<()> {
    say::step("Checking", "the formatting");
    run(cargo(top).args(["fmt", "--all", "--check"]), "checking the formatting (`cargo fmt --all` repairs it)")
}

/// Runs clippy for this machine.
pub(crate) fn host(top: &Path) -> Result<()> {
    let features = BURN_FEATURES.iter().flat_map(|(_, features)| ["--features", features]);
    let arguments = ["--release", "--workspace", "--all-targets"].into_iter().chain(features);
    clippy(top, arguments, "all crates with clippy")
}

/// Runs clippy for the browser, where most of the page's code is compiled. The profile is the page's, so that its build
/// reuses the build scripts and macros.
pub(crate) fn browser(top: &Path) -> Result<()> {
    let arguments = ["--profile", "web", "--target", WASM, "--package", "app", "--package", "training-worker"];
    clippy(top, arguments.into_iter(), "the page with clippy, for the browser")
}

fn clippy<'a>(top: &Path, arguments: impl Iterator<Item = &'a str>, what: &str) -> Result<()> {
    let task = Task::new("Checking", what);
    task.follow(cargo(top).arg("clippy").args(arguments).args(["--", "-D", "warnings"]))?;
    task.done("Checked");
    Ok(())
}
