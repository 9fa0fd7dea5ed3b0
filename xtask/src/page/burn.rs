//! The worker with Burn: a bundle of its own beside the page, which a browser fetches when a Burn back end is chosen.
//!
//! Compiling Burn takes minutes, and the page works without it. So the page is served first, `burn.json` in its folder
//! tells it how far the bundle is, and the page offers the choice as soon as that file says where the bundle lies. The
//! bundle is kept in the user's cache under the digest of what it is made from, where every checkout finds it, and a
//! change of the page alone does not make it again.

use super::assemble::{Script, Tools, digest};
use super::{digest_of, empty, folder, stamped};
use crate::files::files_below;
use crate::task::{Running, Task};
use crate::{build, say, workspace};
use anyhow::{Context, Result};
use data_sets::files::write_whole;
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

/// Everything that can change what the bundle is.
pub(super) const SOURCES: [&str; 8] = [
    "Cargo.toml",
    "Cargo.lock",
    "rust-toolchain.toml",
    ".cargo/config.toml",
    "app/worker",
    "engine",
    "results",
    "shaders",
];
/// The script that a worker begins with; it and the two files that wasm-bindgen makes lie in one folder.
const LOADER: &str = "app/worker/burn-loader.js";
const FILES: [&str; 3] = ["loader.js", "worker.js", "worker_bg.wasm"];
/// This many bundles stay in the cache: those of a few branches.
const KEPT: usize = 4;
/// No build takes so long.
const INTERRUPTED: Duration = Duration::from_secs(24 * 3600);
/// How often it is said how far it is.
const BETWEEN_NOTES: Duration = Duration::from_secs(60);
/// What tells the page about the bundle, in the page's folder.
const STATE: &str = "burn.json";
/// How the name of the bundle's folder begins.
const FOLDER: &str = "burn-";
/// Why the page has no bundle when it was not wanted.
pub(crate) const LEFT_OUT: &str = "the page was built without it (--no-burn-page)";

/// What `burn.json` says; the page reads it again while the bundle is being built.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
enum State {
    Ready { folder: String, compressed_bytes: u64, bytes: u64 },
    Building { note: String },
    Missing { note: String },
}

/// Whether a file of the page's folder belongs to the bundle.
pub(super) fn owns(name: &Path) -> bool {
    let first = name.iter().next().unwrap_or_default().to_string_lossy();
    first == STATE || (first.starts_with(FOLDER) && name.iter().count() > 1)
}

/// Tells the page how far the bundle is.
fn tell(top: &Path, state: &State) -> Result<()> {
    let text = serde_json::to_vec(state)?;
    write_whole(&folder(top).join(STATE), |out| Ok(out.write_all(&text)?))
}

/// Puts the bundle into the page where the cache has it. Returns whether it did.
pub(crate) fn from_cache(top: &Path) -> Result<bool> {
    let made = place_in_cache(top)?;
    if !made.is_dir() {
        return Ok(false);
    }
    let state = place(&made, &folder(top))?;
    tell(top, &state)?;
    Ok(true)
}

/// Tells the page that the bundle will come.
pub(crate) fn is_coming(top: &Path) -> Result<()> {
    tell(top, &State::Building { note: "its compilation begins".to_owned() })
}

/// Tells the page that it goes without, and why.
pub(crate) fn is_missing(top: &Path, note: String) -> Result<()> {
    tell(top, &State::Missing { note })
}

/// Builds the bundle and puts it into the page. `tools` gives the program of that name.
pub(super) fn complete(top: &Path, tools: impl FnOnce() -> Result<PathBuf>) -> Result<()> {
    let task = Task::build("Burn for the page");
    make(top, Tools { program: &tools()?, task: &task }, |_| ())?;
    from_cache(top)?;
    task.done("Built");
    Ok(())
}

/// Builds the bundle into the cache; `heard` gets cargo's messages.
fn make(top: &Path, tools: Tools, heard: impl FnMut(&str)) -> Result<()> {
    let made = place_in_cache(top)?;
    let cache = made.parent().context("a bundle lies in the cache")?;
    let aside = cache.join(format!("partial-{}", std::process::id()));
    // Before minutes of building, not after them.
    empty(&aside)?;
    let built = build_into(&aside, top, tools, heard).and_then(|()| keep(&aside, &made));
    // What stays behind is only in the way when it can be removed later.
    let _ = fs::remove_dir_all(&aside);
    built?;
    forget_old(cache, KEPT)
}

fn place_in_cache(top: &Path) -> Result<PathBuf> {
    Ok(workspace::cache()?.join("burn").join(&digest_of(top, &SOURCES)?[..16]))
}

fn build_into(folder: &Path, top: &Path, tools: Tools, heard: impl FnMut(&str)) -> Result<()> {
    let build = &build::BURN_WORKER;
    let mut command = stamped(build, top);
    let module = build.programs_hearing(&mut command, tools.task, heard)?;
    let module = module.into_values().next().context("cargo built no worker with Burn")?;
    tools.bindgen(&module, Script::Classic, "worker", folder)?;
    fs::copy(top.join(LOADER), folder.join("loader.js")).with_context(|| format!("cannot copy {LOADER}"))?;
    tools.compress(folder)
}

/// Gives a finished bundle its name in the cache, unless somebody else was faster.
pub(super) fn keep(aside: &Path, made: &Path) -> Result<()> {
    match fs::rename(aside, made) {
        Err(_) if made.is_dir() => Ok(()),
        moved => moved.with_context(|| format!("cannot put a bundle into {}", made.display())),
    }
}

/// Removes all bundles but the latest ones, and what builds left behind that were interrupted a day ago.
pub(super) fn forget_old(cache: &Path, kept: usize) -> Result<()> {
    let mut made: Vec<(SystemTime, PathBuf)> = Vec::new();
    for entry in fs::read_dir(cache)? {
        let entry = entry?;
        let modified = entry.metadata()?.modified()?;
        if !entry.file_name().to_string_lossy().starts_with("partial-") {
            made.push((modified, entry.path()));
        } else if modified.elapsed().is_ok_and(|age| age > INTERRUPTED) {
            fs::remove_dir_all(entry.path())?;
        }
    }
    made.sort();
    for (_, old) in made.iter().rev().skip(kept) {
        fs::remove_dir_all(old).with_context(|| format!("cannot remove {}", old.display()))?;
    }
    Ok(())
}

/// Copies the bundle into the page, under a name with a digest of what is in it, so that browsers may keep it for
/// ever. Nobody is told of it before it is complete.
fn place(made: &Path, dist: &Path) -> Result<State> {
    let mut compressed_bytes = 0;
    for name in FILES {
        let twin = made.join(format!("{name}.br"));
        compressed_bytes +=
            fs::metadata(&twin).with_context(|| format!("the bundle of Burn lacks {}", twin.display()))?.len();
    }
    let name = format!("{FOLDER}{}", digest(&FILES.map(|name| made.join(name)))?);
    let place = dist.join(&name);
    fs::create_dir_all(&place).with_context(|| format!("cannot make the folder {}", place.display()))?;
    for file in files_below(made)? {
        let copy = place.join(file.file_name().context("a file has a name")?);
        let size = |path: &Path| fs::metadata(path).map(|file| file.len()).ok();
        if size(&copy) != size(&file) {
            fs::copy(&file, &copy).with_context(|| format!("cannot write {}", copy.display()))?;
        }
    }
    let bytes = fs::metadata(place.join(FILES[2]))?.len();
    Ok(State::Ready { folder: name, compressed_bytes, bytes })
}

/// Builds the bundle while the page is served already, at a low priority, and tells the page and the terminal how far
/// it is. What goes wrong costs the bundle only.
pub(crate) fn follow(top: &Path, tools: impl FnOnce() -> Result<PathBuf>, running: &Running) {
    say::step("Next", "comes Burn for the page, at low priority; the page offers it when it is ready");
    let task = Task::build("Burn for the page").gently(running);
    let mut told = (Instant::now(), 0);
    let heard = |line: &str| {
        told.1 += u32::from(line.trim_start().starts_with("Compiling "));
        if told.0.elapsed() >= BETWEEN_NOTES {
            told.0 = Instant::now();
            let note = format!("{} crates of it are compiled", told.1);
            say::step("Building", format!("Burn for the page: {note}, {}", say::duration(task.elapsed())));
            // The next one is told anyway.
            let _ = tell(top, &State::Building { note });
        }
    };
    let built = tools()
        .and_then(|program| make(top, Tools { program: &program, task: &task }, heard))
        .and_then(|()| from_cache(top));
    let note = match built {
        Ok(_) => return task.done("Built"),
        Err(_) if running.is_ended() => "building it was interrupted; the next `cargo xtask run` goes on".to_owned(),
        Err(error) => {
            say::warn(format!("the page goes on without Burn: {error:#}"));
            "building it failed; the terminal that serves the page says why".to_owned()
        }
    };
    if let Err(error) = is_missing(top, note) {
        say::warn(format!("the page cannot be told: {error:#}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bundle_lies_in_the_page_with_its_twins_and_the_page_says_where_and_how_large() {
        let top = tempfile::tempdir().unwrap();
        let (made, dist) = (top.path().join("made"), top.path().join("dist"));
        fs::create_dir_all(&made).unwrap();
        fs::create_dir_all(&dist).unwrap();
        for (name, text) in FILES.iter().zip(["load();", "glue();", "a module"]) {
            fs::write(made.join(name), text.repeat(200)).unwrap();
            for ending in ["gz", "br"] {
                fs::write(made.join(format!("{name}.{ending}")), text).unwrap();
            }
        }
        for _ in 0..2 {
            let State::Ready { folder, compressed_bytes, bytes } = place(&made, &dist).unwrap() else {
                unreachable!("it is there")
            };
            assert_eq!((compressed_bytes, bytes), (7 + 7 + 8, 8 * 200));
            assert_eq!(files_below(&dist.join(&folder)).unwrap().len(), 3 * FILES.len());
            assert!(owns(&Path::new(&folder).join("worker.js")) && !owns(Path::new("worker-0123/worker.js")));
        }
    }

    #[test]
    fn the_oldest_bundles_are_forgotten_and_one_in_the_making_is_left_alone() {
        let cache = tempfile::tempdir().unwrap();
        let mut last = None;
        let make = |name: &str| {
            let folder = cache.path().join(name);
            // Made again until the file system's clock, which may be coarse, has moved on.
            loop {
                fs::create_dir(&folder).unwrap();
                let made = fs::metadata(&folder).unwrap().modified().unwrap();
                if last.is_none_or(|last| made > last) {
                    last = Some(made);
                    return;
                }
                fs::remove_dir(&folder).unwrap();
            }
        };
        ["partial-1", "c", "a", "b"].into_iter().for_each(make);
        forget_old(cache.path(), 2).unwrap();
        let left = |name: &str| cache.path().join(name).is_dir();
        assert!(left("partial-1") && left("a") && left("b") && !left("c"));
    }

    #[test]
    fn the_page_is_told_in_the_words_that_it_reads() {
        let top = tempfile::tempdir().unwrap();
        let said = |state| {
            tell(top.path(), &state).unwrap();
            fs::read_to_string(folder(top.path()).join(STATE)).unwrap()
        };
        let ready = State::Ready { folder: "burn-1".to_owned(), compressed_bytes: 2, bytes: 3 };
        assert_eq!(said(ready), r#"{"state":"ready","folder":"burn-1","compressed_bytes":2,"bytes":3}"#);
        let building = State::Building { note: "soon".to_owned() };
        assert_eq!(said(building), r#"{"state":"building","note":"soon"}"#);
        assert_eq!(
            said(State::Missing { note: LEFT_OUT.to_owned() }),
            format!(r#"{{"state":"missing","note":"{LEFT_OUT}"}}"#)
        );
    }

    #[test]
    fn a_bundle_that_somebody_else_finished_first_is_taken() {
        let cache = tempfile::tempdir().unwrap();
        let (aside, made) = (cache.path().join("partial-1"), cache.path().join("made"));
        for (folder, text) in [(&aside, "ours"), (&made, "theirs")] {
            fs::create_dir(folder).unwrap();
            fs::write(folder.join("worker.js"), text).unwrap();
        }
        keep(&aside, &made).unwrap();
        assert_eq!(fs::read_to_string(made.join("worker.js")).unwrap(), "theirs");
    }
}
