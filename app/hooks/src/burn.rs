//! Worker with Burn: a separate bundle, downloaded when a Burn backend is selected.
//!
//! Compiling Burn takes minutes, and the page works without it, so `cargo xtask run` serves the page first. `burn.json`
//! in the page's folder has the state of the bundle. The page enables the backend once the state is `ready`.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::bindgen::{BindgenTarget, generate};
use crate::bundle::{self, StateFile};

const SOURCES: [&str; 9] = [
    "Cargo.toml",
    "Cargo.lock",
    "rust-toolchain.toml",
    ".cargo/config.toml",
    "app/worker",
    "engine",
    "native-runner/build.rs",
    "results",
    "shaders",
];
/// Arguments of cargo.
const BUILD: &str = "build --locked --profile web --target wasm32-unknown-unknown --package training-worker \
                     --bin burn-worker --features=burn --message-format=json-render-diagnostics";
const NOTE_INTERVAL: Duration = Duration::from_secs(60);

fn write_state(page: &Path, state: &StateFile) -> Result<()> {
    bundle::replace(&page.join("burn.json"), state)
}

/// Adds the bundle to a page that may be served already. If it is not cached, builds it if `may_build`.
pub(crate) fn place(top: &Path, page: &Path, may_build: bool) -> Result<()> {
    let made = bundle::in_cache("burn", top, &SOURCES)?;
    let missing = |note: &str| write_state(page, &StateFile::Missing { note: note.to_owned() });
    if !made.is_dir() && !may_build {
        return missing("it is not built yet, which `cargo xtask run` does");
    }
    if !made.is_dir() {
        write_state(page, &StateFile::Building { note: "its compilation begins".to_owned() })?;
        if let Err(error) = bundle::make(&made, |folder| build_into(folder, top, page)) {
            missing("building it failed; the terminal that serves the page says why")?;
            return Err(error.context("the page has no Burn"));
        }
    }
    write_state(page, &StateFile::Ready { bundles: vec![bundle::place(&made, "burn", page)?] })
}

fn build_into(folder: &Path, top: &Path, page: &Path) -> Result<()> {
    let module = compile(top, page)?;
    generate(&module, BindgenTarget::NoModules, folder, "worker")?;
    fs::copy(top.join("app/worker/burn-loader.js"), folder.join("loader.js")).context("cannot copy burn-loader.js")?;
    bundle::compress(folder)
}

/// Compiles the worker, and reports the number of compiled crates to the page every minute. Returns the module.
fn compile(top: &Path, page: &Path) -> Result<PathBuf> {
    let mut cargo = Command::new("cargo");
    cargo.args(BUILD.split(' ')).current_dir(top);
    let mut child = cargo.stdout(Stdio::piped()).stderr(Stdio::inherit()).spawn().context("cannot start cargo")?;
    let (mut crates, mut last_note, mut module) = (0, Instant::now(), None);
    for line in BufReader::new(child.stdout.take().context("cargo's output is piped")?).lines() {
        let message: serde_json::Value = serde_json::from_str(&line?).unwrap_or_default();
        crates += u32::from(message["fresh"] == false);
        if let Some(path) = message["filenames"][0].as_str().filter(|path| path.ends_with("burn-worker.wasm")) {
            module = Some(PathBuf::from(path));
        }
        if last_note.elapsed() >= NOTE_INTERVAL {
            last_note = Instant::now();
            write_state(page, &StateFile::Building { note: format!("{crates} crates of it are compiled") })?;
        }
    }
    if !child.wait()?.success() {
        bail!("cargo could not build the worker with Burn, see its messages above");
    }
    module.context("cargo built no burn-worker.wasm")
}
