//! `cargo xtask check`: design rules that neither the compiler nor clippy enforces.
//!
//! Each rule of the sources is a function from the top of a checkout to a line for each violation. Rules that clippy
//! can enforce are in clippy.toml.

mod dependencies;
mod page_size;
mod text;

use crate::say;
use crate::workspace::files_below;
use anyhow::{Context, Result, bail};
use cargo_metadata::{MetadataCommand, Package};
pub(crate) use page_size::check as page;
use std::fs;
use std::path::{Path, PathBuf};

/// Function that lists the violations of a rule in a checkout.
type Find = fn(&Path) -> Result<Vec<String>>;

const RULES: [(&str, Find); 6] = [
    ("only engine/src/backends/wgsl/device names wgpu", text::wgpu),
    ("the training loop is the same on every target", text::training_loop),
    ("Burn's backends that clippy does not compile only compute", text::quiet_burn),
    ("crates depend on each other along the arrows of ARCHITECTURE.md", dependencies::find),
    ("the registry in shaders/src includes every WGSL file", text::registered_shaders),
    ("ARCHITECTURE.md is short, and every path in it exists", text::architecture),
];

/// Checks all rules of the sources and prints every violation.
///
/// # Errors
/// When a rule is broken, or a file cannot be read.
pub(crate) fn sources(top: &Path) -> Result<()> {
    let mut broken = 0;
    for (rule, find) in RULES {
        let violations = find(top).with_context(|| format!("cannot check that {rule}"))?;
        say::step(if violations.is_empty() { "Kept" } else { "Broken" }, rule);
        violations.iter().for_each(|violation| say::step("", violation));
        broken += usize::from(!violations.is_empty());
    }
    if broken > 0 {
        bail!("{broken} of {} design rules are broken, see above", RULES.len());
    }
    Ok(())
}

/// Returns the names of the workspace's crates, in the order of the top Cargo.toml.
pub(crate) fn crate_names(top: &Path) -> Result<Vec<String>> {
    Ok(crates(top)?.into_iter().map(|package| package.name.to_string()).collect())
}

/// Reads the manifests of the workspace's crates through cargo, which takes milliseconds.
fn crates(top: &Path) -> Result<Vec<Package>> {
    let mut command = MetadataCommand::new();
    command.manifest_path(top.join("Cargo.toml")).no_deps().other_options(["--offline".to_owned()]);
    Ok(command.exec().context("cargo could not read the manifests of the workspace")?.packages)
}

/// Lists the files below a folder with one of these extensions, relative to the top and sorted; none if the folder does
/// not exist.
fn files(top: &Path, folder: impl AsRef<Path>, extensions: &[&str]) -> Result<Vec<PathBuf>> {
    let folder = top.join(folder);
    if !folder.exists() {
        return Ok(Vec::new());
    }
    let matches =
        |path: &PathBuf| path.extension().is_some_and(|found| extensions.iter().any(|wanted| found == *wanted));
    files_below(&folder)?.into_iter().filter(matches).map(|path| Ok(path.strip_prefix(top)?.to_path_buf())).collect()
}

/// Lists the files with one of these extensions in the folders of crates, which can contain further crates.
fn files_of_crates(top: &Path, extensions: &[&str]) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(top)? {
        let folder = entry?.path();
        if folder.join("Cargo.toml").exists() {
            found.extend(files(top, &folder, extensions)?);
        }
    }
    found.sort();
    Ok(found)
}

fn read(top: &Path, path: impl AsRef<Path>) -> Result<String> {
    let path = top.join(path);
    fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))
}

/// Writes a small tree of files for a test.
#[cfg(test)]
pub(crate) fn tree(files: &[(&str, &str)]) -> tempfile::TempDir {
    let top = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = top.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    top
}
