//! Where things are: the checkout, cargo's target folder, the user's cache.

use anyhow::{Context, Result, bail};
use std::env;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use which::which_in_global;

/// Crates whose tests want features that are off otherwise: Burn, which takes minutes to build.
pub(crate) const FEATURES: [(&str, &str); 2] =
    [("engine", "engine/burn-flex"), ("native-runner", "native-runner/burn-flex,native-runner/burn-remote")];

/// The top folder of the checkout: that of the `cargo run` which started us, or the one around the current folder.
///
/// Never the one we were compiled in: checkouts can share a target folder, and then run each other's xtask.
pub(crate) fn top() -> Result<PathBuf> {
    let of_cargo = env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
    let around = env::current_dir().context("the current folder is gone")?;
    top_from(of_cargo.as_deref(), &around)
}

fn top_from(manifest_folder: Option<&Path>, around: &Path) -> Result<PathBuf> {
    let is_top = |folder: &&Path| folder.join("xtask/Cargo.toml").is_file() && folder.join("Cargo.lock").is_file();
    let of_cargo = manifest_folder.filter(|folder| folder.ends_with("xtask")).and_then(Path::parent).filter(is_top);
    let top = of_cargo.or_else(|| around.ancestors().find(is_top)).context("run this inside the Gradmark checkout")?;
    Ok(top.to_path_buf())
}

/// Gradmark's folder in the user's cache: downloaded archives and build tools. Shared by all checkouts.
pub(crate) fn cache() -> Result<PathBuf> {
    let base = dirs::cache_dir();
    Ok(base.context("no home folder is known: set HOME (or XDG_CACHE_HOME) and run this again")?.join("gradmark"))
}

/// Waits until no other xtask builds in this checkout. The turn ends when the file is dropped, whatever happens to us.
pub(crate) fn wait_for_turn(top: &Path) -> Result<File> {
    let path = top.join(".cache/lock");
    let open = || {
        fs::create_dir_all(top.join(".cache"))?;
        File::create(&path)
    };
    let file = open().with_context(|| format!("cannot write {}", path.display()))?;
    if file.try_lock().is_err() {
        crate::say::step("Waiting", "for another `cargo xtask` that builds in this checkout");
        file.lock().with_context(|| format!("cannot lock {}", path.display()))?;
    }
    Ok(file)
}

/// A `cargo` command in the checkout, with the same cargo that runs us.
///
/// `cargo run` tells its child about xtask's own package through the environment; a nested cargo must not inherit
/// that, or build scripts and `env!` would see xtask's name and see it change from one way of calling to another.
pub(crate) fn cargo(top: &Path) -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
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

/// Runs a command to its end with our own terminal; a failure names what was being done.
pub(crate) fn run(command: &mut Command, doing: &str) -> Result<()> {
    let program = command.get_program().to_string_lossy().into_owned();
    let status = command.status().with_context(|| format!("{doing}: cannot start `{program}`"))?;
    if !status.success() {
        bail!("{doing} failed: `{program}` ended with {status}, see its messages above");
    }
    Ok(())
}

/// The first program of this name in a PATH-like list of folders.
pub(crate) fn find_program(name: &str, path: &OsStr) -> Option<PathBuf> {
    which_in_global(name, Some(path)).ok()?.next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_top_folder_is_that_of_the_calling_cargo_or_the_one_around_us() {
        let [one, other] = [(); 2].map(|()| {
            let top = tempfile::tempdir().unwrap();
            std::fs::create_dir_all(top.path().join("xtask/src")).unwrap();
            std::fs::write(top.path().join("xtask/Cargo.toml"), "").unwrap();
            std::fs::write(top.path().join("Cargo.lock"), "").unwrap();
            top
        });
        let inside = other.path().join("xtask/src");
        assert_eq!(top_from(Some(&one.path().join("xtask")), &inside).unwrap(), one.path());
        assert_eq!(top_from(None, &inside).unwrap(), other.path());
        assert_eq!(top_from(Some(&one.path().join("another")), &inside).unwrap(), other.path());
        let nowhere = tempfile::tempdir().unwrap();
        assert!(top_from(None, nowhere.path()).unwrap_err().to_string().contains("Gradmark checkout"));
    }

    #[test]
    fn a_program_is_found_only_on_the_path_it_is_on() {
        let empty = tempfile::tempdir().unwrap();
        assert_eq!(find_program("cargo", empty.path().as_os_str()), None);
        assert!(find_program("cargo", &env::var_os("PATH").unwrap()).is_some());
    }
}
