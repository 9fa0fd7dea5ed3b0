//! `cargo xtask check`: the promises of the design that a compiler does not keep, as code.
//!
//! Each check is one file and one line in `CHECKS`. It looks at a tree of files and says where that tree breaks the
//! promise; its tests show it a small tree that does.

mod architecture;
mod bundle;
mod dependencies;
mod kernels;
mod manifest;
mod quiet_engine;
mod rust;
#[cfg(test)]
mod testing;
mod train_loop;
mod wgpu_files;

use crate::say;
use anyhow::{Context, Result, bail};
use std::fs;
use std::path::{Path, PathBuf};

/// A promise and how to see whether a tree keeps it.
pub(crate) struct Check {
    /// A word or two for the terminal.
    pub name: &'static str,
    /// The promise in one sentence, shown when it is broken.
    pub promise: &'static str,
    /// Finds every place where it is broken.
    pub find: fn(&Tree) -> Result<Vec<Violation>>,
}

/// All checks, in the order in which they run.
pub(crate) static CHECKS: &[&Check] = &[
    &wgpu_files::CHECK,
    &train_loop::CHECK,
    &quiet_engine::CHECK,
    &dependencies::CHECK,
    &kernels::CHECK,
    &architecture::CHECK,
    &bundle::FIRST_LOAD,
    &bundle::BURN,
];

/// What a check's `find` ends with when the tree does not have what it looks at, for instance because it is built later.
#[derive(Debug)]
pub(crate) struct NotThere(pub &'static str);

impl std::fmt::Display for NotThere {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "not looked at: {}", self.0)
    }
}

impl std::error::Error for NotThere {}

/// A place where a promise is broken.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Violation {
    /// Relative to the top of the tree.
    pub file: PathBuf,
    /// Counted from 1, where there is one.
    pub line: Option<usize>,
    pub what: String,
}

impl Violation {
    fn at(file: &Path, line: usize, what: impl Into<String>) -> Self {
        Self { file: file.to_path_buf(), line: Some(line), what: what.into() }
    }

    fn of(file: impl Into<PathBuf>, what: impl Into<String>) -> Self {
        Self { file: file.into(), line: None, what: what.into() }
    }
}

impl std::fmt::Display for Violation {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.line {
            Some(line) => write!(out, "{}:{line}: {}", self.file.display(), self.what),
            None => write!(out, "{}: {}", self.file.display(), self.what),
        }
    }
}

/// A checkout, or a small tree that looks like one.
pub(crate) struct Tree {
    top: PathBuf,
}

impl Tree {
    pub(crate) fn new(top: &Path) -> Self {
        Self { top: top.to_path_buf() }
    }

    fn exists(&self, path: impl AsRef<Path>) -> bool {
        self.top.join(path).exists()
    }

    fn read(&self, path: impl AsRef<Path>) -> Result<String> {
        let path = self.top.join(path);
        fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))
    }

    fn bytes(&self, path: impl AsRef<Path>) -> Result<Vec<u8>> {
        let path = self.top.join(path);
        fs::read(&path).with_context(|| format!("cannot read {}", path.display()))
    }

    /// Every file below a folder with one of these endings, relative to the top and sorted. A folder that is not
    /// there holds none.
    fn files(&self, folder: &str, endings: &[&str]) -> Result<Vec<PathBuf>> {
        let folder = self.top.join(folder);
        if !folder.is_dir() {
            return Ok(Vec::new());
        }
        let ends_so = |path: &PathBuf| {
            path.extension().and_then(|ending| ending.to_str()).is_some_and(|ending| endings.contains(&ending))
        };
        crate::files::files_below(&folder)?
            .into_iter()
            .filter(ends_so)
            .map(|path| Ok(path.strip_prefix(&self.top)?.to_path_buf()))
            .collect()
    }

    /// The folders of the workspace's crates, from the list in the top Cargo.toml.
    fn crates(&self) -> Result<Vec<String>> {
        Ok(manifest::members(&self.read("Cargo.toml")?))
    }
}

/// The names of the workspace's crates, in the order of the top Cargo.toml.
pub(crate) fn crate_names(top: &Path) -> Result<Vec<String>> {
    let tree = Tree::new(top);
    let name_of = |folder: String| {
        let manifest = tree.read(format!("{folder}/Cargo.toml"))?;
        manifest::package_name(&manifest).with_context(|| format!("{folder}/Cargo.toml names no package"))
    };
    tree.crates()?.into_iter().map(name_of).collect()
}

/// Runs every check and prints what is broken.
///
/// # Errors
/// When something is broken, or a file cannot be read.
pub(crate) fn all(top: &Path) -> Result<()> {
    let tree = Tree::new(top);
    let mut broken = 0;
    for check in CHECKS {
        let violations = match (check.find)(&tree) {
            Err(error) if error.is::<NotThere>() => {
                say::step("Skipped", format!("{}, {error}", check.name));
                continue;
            }
            found => found.with_context(|| format!("the check `{}` could not look", check.name))?,
        };
        if violations.is_empty() {
            say::step("Kept", check.name);
            continue;
        }
        broken += 1;
        say::step("BROKEN", format!("{}: {}", check.name, check.promise));
        for violation in violations {
            say::step("", violation.to_string());
        }
    }
    if broken > 0 {
        bail!("{broken} of {} checks found the design broken, see above", CHECKS.len());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_check_has_a_name_of_its_own_and_a_promise_in_a_sentence() {
        for (place, check) in CHECKS.iter().enumerate() {
            assert!(CHECKS[..place].iter().all(|other| other.name != check.name), "{}", check.name);
            assert!(check.promise.ends_with('.'), "{}", check.promise);
        }
    }
}
