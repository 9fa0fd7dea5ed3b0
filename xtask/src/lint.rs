//! `cargo xtask check`: formatting, the design's promises, and clippy, from the fastest to the slowest.

use crate::workspace::{FEATURES, cargo, run};
use crate::{check, say};
use anyhow::Result;
use std::path::Path;

/// The crates of the page. Most of their code exists only when compiled for the browser.
const PAGE: [&str; 2] = ["app", "training-worker"];

pub(crate) fn all(top: &Path) -> Result<()> {
    say::step("Checking", "the format");
    run(cargo(top).args(["fmt", "--all", "--check"]), "checking the format (`cargo fmt --all` repairs it)")?;
    say::step("Checking", "the promises of the design");
    check::all(top)?;
    say::step("Checking", "all crates with clippy");
    let mut command = cargo(top);
    command.args(["clippy", "--release", "--workspace", "--all-targets"]);
    command.args(FEATURES.iter().flat_map(|(_, features)| ["--features", features]));
    run(command.args(["--", "-D", "warnings"]), "clippy")?;
    say::step("Checking", "the page with clippy, for the browser");
    // In the page's own profile, so that build scripts and macros are shared with the build of the page.
    let mut command = cargo(top);
    command.args(["clippy", "--profile", "web", "--target", "wasm32-unknown-unknown"]);
    for name in PAGE {
        command.args(["--package", name]);
    }
    run(command.args(["--", "-D", "warnings"]), "clippy for the browser")
}
