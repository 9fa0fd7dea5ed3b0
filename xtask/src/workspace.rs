//! Paths of the checkout, cargo's target folder and the user's cache; and cargo commands in the checkout.

use crate::say;
use anyhow::{Context, Result, bail, ensure};
use cargo_metadata::{Metadata, MetadataCommand};
use std::env;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use walkdir::WalkDir;

/// Target triple of the page's crates.
pub(crate) const WASM: &str = "wasm32-unknown-unknown";
/// Non-default features that tests need, by crate: Burn, which takes minutes to build.
pub(crate) const BURN_FEATURES: [(&str, &str); 2] =
    [("engine", "engine/burn-flex"), ("native-runner", "native-runner/burn-flex,native-runner/burn-remote")];

/// Returns the top of the checkout of the `cargo run` that started this program, or of the one around the current
/// folder. Ignores the checkout where it was compiled, because checkouts can share a target folder.
pub(crate) fn top() -> Result<PathBuf> {
    let of_cargo = env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
    let around = env::current_dir().context("the current folder does not exist")?;
    let is_top = |folder: &&Path| folder.join("xtask/Cargo.toml").is_file() && folder.join("Cargo.lock").is_file();
    let of_cargo = of_cargo.as_deref().filter(|folder| folder.ends_with("xtask")).and_then(Path::parent).filter(is_top);
    let top = of_cargo.or_else(|| around.ancestors().find(is_top)).context("run this inside the Gradmark checkout")?;
    Ok(top.to_path_buf())
}

/// Returns Gradmark's folder in the user's cache, which all checkouts share.
pub(crate) fn cache() -> Result<PathBuf> {
    let base = dirs::cache_dir();
    Ok(base.context("no home folder: set HOME (or XDG_CACHE_HOME) and run this again")?.join("gradmark"))
}

/// Waits until no other xtask builds in this checkout. Dropping the file ends the turn.
pub(crate) fn wait_for_turn(top: &Path) -> Result<File> {
    let path = top.join(".cache/lock");
    fs::create_dir_all(top.join(".cache"))
        .and_then(|()| File::create(&path))
        .and_then(|file| {
            if file.try_lock().is_err() {
                say::step("Waiting", "for another `cargo xtask` that builds in this checkout");
                file.lock()?;
            }
            Ok(file)
        })
        .with_context(|| format!("cannot lock {}", path.display()))
}

/// Returns a command in the checkout for the cargo that runs this program.
pub(crate) fn cargo(top: &Path) -> Command {
    command(top, env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// Returns a command in the checkout that may call cargo.
///
/// `cargo run` describes xtask's own package in the environment. A nested cargo must not inherit that, because build
/// scripts and `env!` would see xtask's name.
pub(crate) fn command(top: &Path, program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    for (name, _) in env::vars_os() {
        let text = name.to_string_lossy();
        let ours = ["CARGO_PKG_", "CARGO_MANIFEST_", "CARGO_BIN_", "CARGO_CRATE_", "CARGO_PRIMARY_"];
        if ours.iter().any(|prefix| text.starts_with(prefix)) {
            command.env_remove(&name);
        }
    }
    command.current_dir(top);
    command
}

/// Returns cargo's description of the workspace, without its libraries.
pub(crate) fn metadata(top: &Path) -> Result<Metadata> {
    let mut command = MetadataCommand::new();
    command.manifest_path(top.join("Cargo.toml")).no_deps().other_options(["--offline".to_owned()]);
    command.exec().context("cargo could not read the manifests of the workspace")
}

pub(crate) fn program(top: &Path, profile: &str, name: &str) -> Result<PathBuf> {
    Ok(metadata(top)?
        .target_directory
        .into_std_path_buf()
        .join(profile)
        .join(format!("{name}{}", env::consts::EXE_SUFFIX)))
}

/// Runs `cargo build -p PACKAGE` in this profile with these options as a step, and returns the path of the program.
pub(crate) fn build(top: &Path, profile: &str, package: &str, options: &[&str], what: &str) -> Result<PathBuf> {
    let mut command = cargo(top);
    command.args(["build", "--locked", "--profile", profile, "--package", package]);
    say::follow(["Building", "Built"], what, command.args(options))?;
    program(top, profile, package)
}

/// Runs a command on this terminal until it ends. A failure names the task.
pub(crate) fn run(command: &mut Command, doing: &str) -> Result<()> {
    let program = command.get_program().to_string_lossy().into_owned();
    let status = command.status().with_context(|| format!("{doing}: cannot start `{program}`"))?;
    if !status.success() {
        bail!("{doing} failed: `{program}` exited with {status}; see its messages above");
    }
    Ok(())
}

/// Returns the standard output of a command. The error of a failure contains its messages.
pub(crate) fn output_of(command: &mut Command) -> Result<String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command.stdin(Stdio::null()).output().with_context(|| format!("cannot start `{program}`"))?;
    let messages = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "`{program}` ended with {}: {}", output.status, messages.trim());
    Ok(String::from_utf8(output.stdout)?)
}

/// Returns every file below a folder, sorted by path.
pub(crate) fn files_below(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = WalkDir::new(folder).follow_links(true).sort_by_file_name().into_iter();
    let files = entries.filter(|entry| entry.as_ref().map_or(true, |entry| !entry.file_type().is_dir()));
    files.map(|entry| Ok(entry?.into_path())).collect()
}

/// Downloads missing libraries for this machine, which also runs the page's build scripts and macros, and for the
/// browser. Builds are not `--offline`: after a failure here, they download what they need, or report what is missing.
pub(crate) fn fetch_dependencies(top: &Path) {
    let mut fetch = cargo(top);
    fetch.args(["fetch", "--locked", "--target", "host-tuple", "--target", WASM]);
    if say::follow(["Fetching", "Fetched"], "the libraries in Cargo.lock", &mut fetch).is_err() {
        say::warn("cannot download all libraries; continuing with those already downloaded");
    }
}
