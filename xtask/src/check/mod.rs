//! `cargo xtask check`: the promises of the design that neither a compiler nor clippy keeps, as code.
//!
//! Each check is a line in `OF_SOURCES` or `OF_THE_PAGE`. It looks at a tree of files and says where that tree breaks the promise; its tests
//! show it a small tree that does. What clippy can be told stands in clippy.toml.

mod architecture;
mod bundle;
mod dependencies;
mod kernels;
#[cfg(test)]
mod testing;
mod words;

use crate::files::files_below;
use crate::say;
use anyhow::{Context, Result, bail};
use cargo_metadata::{MetadataCommand, Package};
use std::fs;
use std::path::{Path, PathBuf};

/// A promise and how to see whether the tree of files below a folder keeps it.
struct Check {
    /// A word or two for the terminal.
    name: &'static str,
    /// The promise in one sentence, shown when it is broken.
    promise: &'static str,
    /// Finds every place where it is broken, and says what is wrong there.
    find: fn(&Path) -> Result<Vec<String>>,
}

/// What the sources promise: looked at before anything is built from them.
const OF_SOURCES: [Check; 6] =
    [words::WGPU, words::TRAINING_LOOP, words::QUIET_BURN, dependencies::CHECK, kernels::CHECK, architecture::CHECK];
/// What the page promises, once it is built.
const OF_THE_PAGE: [Check; 2] = [bundle::FIRST_LOAD, bundle::BURN];

/// What a check's `find` ends with when the tree does not have what it looks at, for instance because it is built later.
#[derive(Debug, thiserror::Error)]
#[error("not looked at: {0}")]
struct NotThere(&'static str);

/// Every file below a folder with one of these endings, relative to the top and sorted. A folder that is not there
/// holds none.
fn files(top: &Path, folder: impl AsRef<Path>, endings: &[&str]) -> Result<Vec<PathBuf>> {
    let folder = top.join(folder);
    if !folder.exists() {
        return Ok(Vec::new());
    }
    let ends_so = |path: &PathBuf| path.extension().is_some_and(|of| endings.iter().any(|ending| of == *ending));
    let found = files_below(&folder)?.into_iter().filter(ends_so);
    found.map(|path| Ok(path.strip_prefix(top)?.to_path_buf())).collect()
}

/// Every file with one of these endings in the folders of the workspace's crates, once.
fn files_of_crates(top: &Path, endings: &[&str]) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for one in crates(top)? {
        found.extend(files(top, one.manifest_path.with_file_name(""), endings)?);
    }
    found.sort();
    // One crate's folder can lie in another's.
    found.dedup();
    Ok(found)
}

fn read(top: &Path, path: impl AsRef<Path>) -> Result<String> {
    let path = top.join(path);
    fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))
}

/// The lines of Rust source with their numbers, without `//` comments. Good enough for looking for words.
fn code(source: &str) -> impl Iterator<Item = (usize, &str)> {
    (1..).zip(source.lines().map(|line| line.split("//").next().unwrap_or_default()))
}

/// The workspace's crates in the order of the top Cargo.toml, as cargo understands their manifests. It takes
/// milliseconds.
fn crates(top: &Path) -> Result<Vec<Package>> {
    let mut command = MetadataCommand::new();
    command.manifest_path(top.join("Cargo.toml")).no_deps().other_options(["--offline".to_owned()]);
    Ok(command.exec().context("cargo could not read the manifests of the workspace")?.packages)
}

/// The names of the workspace's crates, in the order of the top Cargo.toml.
pub(crate) fn crate_names(top: &Path) -> Result<Vec<String>> {
    Ok(crates(top)?.into_iter().map(|one| one.name.to_string()).collect())
}

/// Checks what the sources promise.
///
/// # Errors
/// When something is broken, or a file cannot be read.
pub(crate) fn sources(top: &Path) -> Result<()> {
    hold(top, &OF_SOURCES)
}

/// Checks what the page promises; nothing where it is not built.
///
/// # Errors
/// When something is broken, or a file cannot be read.
pub(crate) fn page(top: &Path) -> Result<()> {
    hold(top, &OF_THE_PAGE)
}

/// Runs checks and prints what is broken.
fn hold(top: &Path, checks: &[Check]) -> Result<()> {
    let mut broken = 0;
    for check in checks {
        let violations = match (check.find)(top) {
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
        violations.iter().for_each(|violation| say::step("", violation));
    }
    if broken > 0 {
        bail!("{broken} of {} checks found the design broken, see above", checks.len());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_check_has_a_name_of_its_own_and_a_promise_in_a_sentence() {
        let checks: Vec<&Check> = OF_SOURCES.iter().chain(&OF_THE_PAGE).collect();
        for (place, check) in checks.iter().enumerate() {
            assert!(checks[..place].iter().all(|other| other.name != check.name), "{}", check.name);
            assert!(check.promise.ends_with('.'), "{}", check.promise);
        }
    }
}
