//! The page, built by Trunk (`Trunk.toml`), and the tools that Trunk needs.

use crate::say;
use crate::workspace::{self, WASM, cargo, output_of};
use anyhow::{Context, Result, anyhow};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;
use std::{env, fs, thread};
use walkdir::WalkDir;

const TRUNK: &str = "0.21.14";
/// Versions that support `Trunk.toml`.
const SUITABLE_TRUNK: &str = "trunk 0.21.";
const SOURCES: [&str; 18] = [
    ".cargo/config.toml",
    "Cargo.lock",
    "Cargo.toml",
    "Trunk.toml",
    "app",
    "docs",
    "engine/Cargo.toml",
    "engine/src",
    "index.html",
    "reference/data-sets.json",
    "reference/published-results.json",
    "results/src",
    "rust-toolchain.toml",
    "shaders",
    "view/Cargo.toml",
    "view/src/chart",
    "view/src/comparison",
    "view/src/text.rs",
];

pub(crate) fn folder(top: &Path) -> PathBuf {
    top.join("dist")
}

/// Returns true if the page was built after the last change of its sources. Builds of `trunk serve` lack compressed
/// copies and do not count.
pub(crate) fn is_up_to_date(top: &Path) -> bool {
    let Ok(built) = fs::metadata(folder(top).join("index.html.br")).and_then(|file| file.modified()) else {
        return false;
    };
    let is_older = |source: &&str| last_change(&top.join(source)).is_ok_and(|changed| changed < built);
    SOURCES.iter().all(is_older)
}

/// Returns the time of the last change below a path. Includes folders, which change when a file is removed.
fn last_change(path: &Path) -> Result<SystemTime> {
    let entries = WalkDir::new(path).into_iter().filter_entry(|entry| entry.file_name() != "node_modules");
    let mut times = entries.map(|entry| Ok(entry?.metadata()?.modified()?));
    times.try_fold(SystemTime::UNIX_EPOCH, |last, time: Result<_>| Ok(last.max(time?)))
}

pub(crate) fn hooks(top: &Path) -> Result<PathBuf> {
    workspace::build(top, "tools", "page-hooks", &[], "the page's hooks")
}

/// Builds the page with `trunk build --release`, unless it is up to date.
pub(crate) fn build(top: &Path, hooks: &Path) -> Result<()> {
    let _turn = workspace::wait_for_turn(top)?;
    if is_up_to_date(top) {
        return Ok(());
    }
    // Cargo compiles the page while Trunk may still be installing. Trunk then finds it compiled.
    let (trunk, compiled) = thread::scope(|scope| {
        let compiled = scope.spawn(|| {
            let mut compile = cargo(top);
            compile.args(["build", "--locked", "--profile", "web", "--target", WASM, "--package", "app", "--bins"]);
            say::follow(["Compiling", "Compiled"], "the page", &mut compile)
        });
        (trunk(), compiled.join())
    });
    compiled.map_err(|_| anyhow!("compiling the page panicked"))??;
    // The hooks act as `wasm-bindgen` when called by that name.
    let folder = top.join(".cache/tools");
    let wasm_bindgen = folder.join(format!("wasm-bindgen{}", env::consts::EXE_SUFFIX));
    fs::create_dir_all(&folder)
        .and_then(|()| fs::copy(hooks, &wasm_bindgen))
        .with_context(|| format!("cannot write {}", wasm_bindgen.display()))?;
    let old = env::var_os("PATH").unwrap_or_default();
    let path = env::join_paths([folder].into_iter().chain(env::split_paths(&old)))?;
    let mut build = workspace::command(top, trunk?);
    build.args(["build", "--release"]).env("PATH", path);
    say::follow(["Building", "Built"], "the page with Trunk", &mut build)
}

/// Returns the `trunk` on the PATH if its version is suitable, or else the one in the cache, installed if necessary.
fn trunk() -> Result<PathBuf> {
    let on_path = which::which("trunk").ok();
    let version = on_path.as_ref().and_then(|trunk| output_of(Command::new(trunk).arg("--version")).ok());
    let is_suitable = version.is_some_and(|version| version.starts_with(SUITABLE_TRUNK));
    if let Some(trunk) = on_path.filter(|_| is_suitable) {
        return Ok(trunk);
    }
    let root = workspace::cache()?.join(format!("trunk-{TRUNK}"));
    let trunk = root.join("bin").join(format!("trunk{}", env::consts::EXE_SUFFIX));
    if !trunk.is_file() {
        let mut install = cargo(&env::temp_dir());
        // Unoptimized and without download features, because it only starts the tools and copies files.
        install.args(["install", "trunk", "--version", TRUNK, "--locked", "--debug", "--no-default-features"]);
        install.arg("--root").arg(&root).env("CARGO_PROFILE_DEV_DEBUG", "0").env("CARGO_INCREMENTAL", "0");
        // A target folder of the checkout does not help, because it contains neither Trunk's versions nor its profile.
        let what = format!("Trunk {TRUNK} into {}", root.display());
        say::follow(["Installing", "Installed"], &what, install.env_remove("CARGO_TARGET_DIR"))?;
    }
    Ok(trunk)
}

/// Adds the arguments with which the hooks build the worker with Burn and add it to the page.
pub(crate) fn add_burn<'a>(top: &Path, command: &'a mut Command) -> &'a mut Command {
    command.arg("burn").arg(folder(top))
}

/// Builds the page with Burn, for callers that need it complete.
pub(crate) fn build_with_burn(top: &Path, hooks: &Path) -> Result<()> {
    build(top, hooks)?;
    let mut command = workspace::command(top, hooks);
    say::follow(["Building", "Built"], "Burn for the page", add_burn(top, &mut command))
}

/// Returns the folder with the bundles of TensorFlow.js and jax-js for tests.
pub(crate) fn frameworks(top: &Path, hooks: &Path) -> Result<PathBuf> {
    let folder = PathBuf::from(output_of(workspace::command(top, hooks).arg("frameworks"))?.trim());
    say::step("Bundled", format!("TensorFlow.js and jax-js: {}", folder.display()));
    Ok(folder)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::tree;

    #[test]
    fn page_is_stale_after_any_source_change() {
        let top = tree(&SOURCES.map(|source| (source, "")));
        let set_time = |path: &str, seconds: u64| {
            let file = fs::File::open(top.path().join(path)).unwrap();
            file.set_modified(SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(seconds)).unwrap();
        };
        assert!(!is_up_to_date(top.path()), "nothing is built");
        fs::create_dir(top.path().join("dist")).unwrap();
        fs::write(top.path().join("dist/index.html.br"), "").unwrap();
        SOURCES.iter().for_each(|source| set_time(source, 1));
        set_time("dist/index.html.br", 2);
        assert!(is_up_to_date(top.path()));
        set_time("docs", 3);
        assert!(!is_up_to_date(top.path()));
    }
}
