//! `cargo xtask check`: formatting, the design's promises, and clippy, from the fastest to the slowest.

use crate::workspace::{FEATURES, cargo, run};
use crate::{check, say};
use anyhow::Result;
use std::path::Path;

/// The crates of the page. Most of their code exists only when compiled for the browser.
const PAGE: [&str; 4] = ["--package", "app", "--package", "training-worker"];
const STRICTLY: [&str; 3] = ["--", "-D", "warnings"];

pub(crate) fn all(top: &Path) -> Result<()> {
    say::step("Checking", "the format");
    run(cargo(top).args(["fmt", "--all", "--check"]), "checking the format (`cargo fmt --all` repairs it)")?;
    say::step("Checking", "the promises of the design");
    check::all(top)?;
    say::step("Checking", "all crates with clippy");
    let features = FEATURES.iter().flat_map(|(_, features)| ["--features", features]);
    let everything = ["clippy", "--release", "--workspace", "--all-targets"].into_iter().chain(features);
    run(cargo(top).args(everything).args(STRICTLY), "clippy")?;
    say::step("Checking", "the page with clippy, for the browser");
    // In the page's own profile, so that build scripts and macros are shared with the build of the page.
    let page = ["clippy", "--profile", "web", "--target", "wasm32-unknown-unknown"].into_iter().chain(PAGE);
    run(cargo(top).args(page).args(STRICTLY), "clippy for the browser")
}
