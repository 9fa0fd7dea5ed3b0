//! The page: built when one of its sources has changed, with a compressed twin beside each file; and beside it the
//! worker with Burn, which may come later, and other frameworks.

mod assemble;
pub(crate) mod burn;
pub(crate) mod frameworks;

use crate::build::{self, Build};
use crate::files::files_below;
use crate::task::Task;
use crate::workspace;
use anyhow::{Context, Result};
use assemble::{Modules, Tools};
use data_sets::files::{sha256_hex, write_whole};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Everything that can change what the page is. Folders count with all that is in them, except tests.
const SOURCES: [&str; 12] = [
    "index.html",
    "Cargo.toml",
    "Cargo.lock",
    "rust-toolchain.toml",
    ".cargo/config.toml",
    "app",
    "docs",
    "engine",
    "results",
    "shaders",
    "xtask/page-tools",
    "xtask/src/page",
];
/// Files outside those folders that crates of the page include.
const INCLUDED: [&str; 1] = ["reference/data-sets.json"];

/// What was built, and from what.
#[derive(PartialEq, Eq, Serialize, Deserialize)]
struct Note {
    /// One digest of all sources.
    sources: String,
    /// The size in bytes of each built file, compressed twins included and what belongs to frameworks left out.
    built: BTreeMap<PathBuf, u64>,
}

/// Where the page lies.
pub(crate) fn folder(top: &Path) -> PathBuf {
    top.join("dist")
}

fn note_path(top: &Path) -> PathBuf {
    top.join(".cache/page.json")
}

/// Whether the page is there and none of its sources has changed since it was built.
pub(crate) fn is_up_to_date(top: &Path) -> Result<bool> {
    let note: Option<Note> = fs::read(note_path(top)).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
    let Some(note) = note else { return Ok(false) };
    Ok(note.sources == digest_of(top, &SOURCES)? && sizes_below(&folder(top)).is_ok_and(|sizes| sizes == note.built))
}

/// Builds the page into `dist/` unless it is up to date. `tools` gives the program of that name; the page's crates
/// are compiled meanwhile.
pub(crate) fn build(top: &Path, tools: impl FnOnce() -> Result<PathBuf>) -> Result<()> {
    let _turn = workspace::wait_for_turn(top)?;
    if is_up_to_date(top)? {
        return Ok(());
    }
    let sources = digest_of(top, &SOURCES)?;
    let task = Task::build("the page");
    let mut built = build::PAGE.programs_of(&mut stamped(&build::PAGE, top), &task)?;
    let mut module = |name| built.remove(name).with_context(|| format!("cargo built no module {name}"));
    let modules = Modules { page: module("page")?, worker: module("worker")? };
    // Made aside and then put in place, so that nobody is ever served half a page.
    let aside = top.join(".cache/page");
    empty(&aside)?;
    assemble::assemble(top, &modules, Tools { program: &tools()?, task: &task }, &aside)?;
    put_in_place(&aside, &folder(top))?;
    let note = serde_json::to_vec_pretty(&Note { sources, built: sizes_below(&folder(top))? })?;
    write_whole(&note_path(top), |out| Ok(out.write_all(&note)?))?;
    task.done("Built");
    Ok(())
}

/// The page with all that belongs to it, one after the other, for callers that need it complete. `tools` gives the program
/// of that name.
pub(crate) fn build_complete(top: &Path, with_burn: bool, tools: impl FnOnce() -> Result<PathBuf>) -> Result<()> {
    let mut program = None;
    build(top, || Ok(program.insert(tools()?).clone()))?;
    let tools = |program: Option<PathBuf>| program.map_or_else(|| self::tools(top), Ok);
    frameworks::put(top, || tools(program.clone()))?;
    if burn::from_cache(top)? {
        Ok(())
    } else if with_burn {
        burn::complete(top, || tools(program))
    } else {
        burn::is_missing(top, burn::LEFT_OUT.to_owned())
    }
}

/// Builds the program that makes what cargo built fit for a browser.
pub(crate) fn tools(top: &Path) -> Result<PathBuf> {
    let task = Task::build("wasm-bindgen and what compresses the page");
    let program = build::PAGE_TOOLS.program(top, &task)?;
    task.done("Built");
    Ok(program)
}

/// The command of a build whose programs say which commit made them: every record holds that.
fn stamped(build: &Build, top: &Path) -> Command {
    let mut command = build.command(top);
    if let Some(commit) = commit(top) {
        command.env("GRADMARK_COMMIT", commit);
    }
    command
}

/// Makes an empty folder; what an interrupted build left in it goes.
fn empty(folder: &Path) -> Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder).with_context(|| format!("cannot remove {}", folder.display()))?;
    }
    fs::create_dir_all(folder).with_context(|| format!("cannot make the folder {}", folder.display()))
}

/// Replaces a folder by another one.
fn put_in_place(new: &Path, place: &Path) -> Result<()> {
    let old = new.with_extension("old");
    if old.exists() {
        fs::remove_dir_all(&old).with_context(|| format!("cannot remove {}", old.display()))?;
    }
    if place.exists() {
        fs::rename(place, &old).with_context(|| format!("cannot move {} away", place.display()))?;
    }
    fs::rename(new, place).with_context(|| format!("cannot put the page into {}", place.display()))?;
    if old.exists() {
        fs::remove_dir_all(&old).with_context(|| format!("cannot remove {}", old.display()))?;
    }
    Ok(())
}

/// The short name of the commit that is checked out, where this is a git checkout.
fn commit(top: &Path) -> Option<String> {
    let output = Command::new("git").args(["rev-parse", "--short", "HEAD"]).current_dir(top).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    Some(text.trim().to_owned()).filter(|text| output.status.success() && !text.is_empty())
}

/// One digest of these sources and of what they include.
fn digest_of(top: &Path, sources: &[&str]) -> Result<String> {
    let mut files = Vec::new();
    for source in sources.iter().chain(&INCLUDED) {
        let path = top.join(source);
        if path.is_dir() {
            files.extend(files_below(&path)?.into_iter().filter(|file| !is_no_source(file, &path)));
        } else {
            files.push(path);
        }
    }
    let mut text = String::new();
    for file in files {
        let bytes = fs::read(&file).with_context(|| format!("{} is needed to build the page", file.display()))?;
        text += &format!("{} {}\n", file.strip_prefix(top)?.display(), sha256_hex(&bytes));
    }
    Ok(sha256_hex(text.as_bytes()))
}

/// Whether a file of a crate is built for its tests only, or belongs to npm.
fn is_no_source(file: &Path, crate_folder: &Path) -> bool {
    let is_named_so = |part: &OsStr| part == "tests" || part == "tests.rs" || part == frameworks::PACKAGES;
    file.strip_prefix(crate_folder).is_ok_and(|inside| inside.iter().any(is_named_so))
}

/// The sizes of a page's files; Burn and other frameworks come and go beside them.
fn sizes_below(dist: &Path) -> Result<BTreeMap<PathBuf, u64>> {
    let mut sizes = BTreeMap::new();
    for file in files_below(dist)? {
        let name = file.strip_prefix(dist)?.to_path_buf();
        if !burn::owns(&name) && !frameworks::owns(&name) {
            sizes.insert(name, fs::metadata(&file)?.len());
        }
    }
    Ok(sizes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sources() -> tempfile::TempDir {
        let top = tempfile::tempdir().unwrap();
        for source in SOURCES.iter().chain(&INCLUDED) {
            let is_folder = !source.contains('.');
            let path = if is_folder { top.path().join(source).join("src/lib.rs") } else { top.path().join(source) };
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "something").unwrap();
        }
        top
    }

    fn digest(top: &Path) -> String {
        digest_of(top, &SOURCES).unwrap()
    }

    #[test]
    fn a_changed_source_changes_the_digest_and_a_changed_test_does_not() {
        let top = sources();
        let before = digest(top.path());
        fs::create_dir_all(top.path().join("engine/tests")).unwrap();
        fs::write(top.path().join("engine/tests/golden.rs"), "a test").unwrap();
        fs::write(top.path().join("engine/src/tests.rs"), "tests of a module").unwrap();
        assert_eq!(digest(top.path()), before);
        fs::write(top.path().join("engine/src/lib.rs"), "something else").unwrap();
        assert_ne!(digest(top.path()), before);
    }

    #[test]
    fn a_change_of_the_page_alone_leaves_the_worker_with_burn_as_it_is() {
        let top = sources();
        fs::create_dir_all(top.path().join("app/worker/src")).unwrap();
        fs::write(top.path().join("app/worker/src/lib.rs"), "a worker").unwrap();
        let both = || (digest(top.path()), digest_of(top.path(), &burn::SOURCES).unwrap());
        let before = both();
        fs::write(top.path().join("app/src/lib.rs"), "another page").unwrap();
        let after = both();
        assert!(after.0 != before.0 && after.1 == before.1);
        fs::write(top.path().join("engine/src/lib.rs"), "another engine").unwrap();
        assert_ne!(both().1, before.1);
    }

    #[test]
    fn a_missing_source_is_named() {
        let top = sources();
        fs::remove_file(top.path().join("index.html")).unwrap();
        let error = format!("{:#}", digest_of(top.path(), &SOURCES).unwrap_err());
        assert!(error.contains("index.html is needed to build the page"), "{error}");
    }

    #[test]
    fn a_page_is_up_to_date_until_a_file_of_it_changes_and_burn_is_none_of_them() {
        let top = sources();
        let dist = folder(top.path());
        fs::create_dir_all(dist.join("burn-0123")).unwrap();
        fs::write(dist.join("index.html"), "<html>").unwrap();
        assert!(!is_up_to_date(top.path()).unwrap(), "nothing says what it was made from");
        let note = Note { sources: digest(top.path()), built: sizes_below(&dist).unwrap() };
        fs::create_dir_all(note_path(top.path()).parent().unwrap()).unwrap();
        fs::write(note_path(top.path()), serde_json::to_vec(&note).unwrap()).unwrap();
        fs::write(dist.join("burn-0123/worker.js"), "Burn").unwrap();
        fs::write(dist.join("burn.json"), "{}").unwrap();
        assert!(is_up_to_date(top.path()).unwrap());
        fs::write(dist.join("index.html"), "<html> that was cut").unwrap();
        assert!(!is_up_to_date(top.path()).unwrap());
    }

    #[test]
    fn a_new_page_takes_the_place_of_the_old_one_with_nothing_left_of_it() {
        let top = tempfile::tempdir().unwrap();
        let (new, place) = (top.path().join("page"), top.path().join("dist"));
        // The last time, somebody was interrupted just after the old page was moved away.
        fs::create_dir(top.path().join("page.old")).unwrap();
        for text in ["first", "second"] {
            fs::create_dir(&new).unwrap();
            fs::write(new.join(text), text).unwrap();
            put_in_place(&new, &place).unwrap();
            assert_eq!(files_below(top.path()).unwrap(), [place.join(text)]);
        }
    }
}
