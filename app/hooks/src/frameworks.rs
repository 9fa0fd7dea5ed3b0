//! TensorFlow.js and jax-js for the page: bundles of `app/frameworks`, one per backend, downloaded when selected.
//!
//! The packages come from npm in the versions of a lock file, and no install scripts run. If npm is missing or its
//! registry does not respond, the page is built without them, and `frameworks.json` in its folder has the reason.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use crate::bundle::{self, PlacedBundle, StateFile};

const SOURCES: &str = "app/frameworks";

#[derive(Deserialize)]
struct ListedBundle {
    name: String,
    /// False for bundles that only tests use.
    page: Option<bool>,
}

/// Adds the bundles to the page, and writes `frameworks.json`. Builds them if `may_build`.
pub(crate) fn place(top: &Path, page: &Path, may_build: bool) -> Result<()> {
    let made = bundle::in_cache("frameworks", top, &[SOURCES])?;
    let found = match may_build || made.is_dir() {
        true => bundles(top),
        false => Err(anyhow::anyhow!("they are not built yet, which `trunk build --release` does")),
    };
    let state = match found {
        Ok(made) => StateFile::Ready { bundles: place_all(top, &made, page)? },
        Err(error) => {
            eprintln!("The page goes without TensorFlow.js and jax-js: {error:#}");
            StateFile::Missing { note: format!("{error:#}") }
        }
    };
    bundle::replace(&page.join("frameworks.json"), &state)
}

fn place_all(top: &Path, made: &Path, page: &Path) -> Result<Vec<PlacedBundle>> {
    let list = fs::read(top.join(SOURCES).join("bundles.json")).context("cannot read bundles.json")?;
    let list: Vec<ListedBundle> = serde_json::from_slice(&list).context("bundles.json is not a list of bundles")?;
    let mut bundles = Vec::new();
    for ListedBundle { name, .. } in list.into_iter().filter(|listed| listed.page != Some(false)) {
        let placed = bundle::place(&made.join(&name), &format!("framework-{name}"), page)?;
        bundles.push(PlacedBundle { name, bytes: placed.bytes + placed.script_bytes, ..placed });
    }
    Ok(bundles)
}

/// Returns the cache folder with one folder per bundle, building it if needed.
pub(crate) fn bundles(top: &Path) -> Result<PathBuf> {
    let made = bundle::in_cache("frameworks", top, &[SOURCES])?;
    if !made.is_dir() {
        eprintln!("Bundling TensorFlow.js and jax-js");
        bundle::make(&made, |folder| build_into(folder, &top.join(SOURCES)))?;
    }
    Ok(made)
}

fn build_into(folder: &Path, sources: &Path) -> Result<()> {
    let npm = ["ci", "--ignore-scripts", "--prefer-offline", "--no-audit", "--fetch-retries=1"];
    run(Command::new("npm").args(npm).current_dir(sources), "npm could not fetch their packages")?;
    run(Command::new("node").arg("build.mjs").arg(folder).current_dir(sources), "they could not be bundled")?;
    bundle::compress(folder)
}

/// Runs a Node.js program. The error is for visitors of the page, who do not see the terminal.
fn run(command: &mut Command, failure: &str) -> Result<()> {
    match command.stdin(Stdio::null()).stdout(Stdio::null()).status() {
        Ok(status) if status.success() => Ok(()),
        Ok(_) => bail!("{failure}; the terminal on which the page was built says why"),
        Err(_) => bail!(
            "there is no {} on the machine that built it; Node.js brings it",
            command.get_program().to_string_lossy()
        ),
    }
}
