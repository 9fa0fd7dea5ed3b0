//! TensorFlow.js and jax-js for the page: bundles of `app/frameworks`, one for each of their back ends, which a browser
//! fetches when one is chosen.
//!
//! Their packages come from npm, in the versions of a lock file, and no script of theirs is run. The bundles are kept in the
//! user's cache under the digest of what they are made from. Where npm is missing, or its registry does not answer, the page
//! goes without them and says why: `frameworks.json` in its folder tells it.

use super::assemble::digest;
use super::burn::{forget_old, keep};
use super::{empty, folder};
use crate::files::files_below;
use crate::say;
use crate::task::Task;
use crate::workspace::{self, find_program};
use anyhow::{Context, Result, anyhow, bail};
use data_sets::files::{sha256_hex, write_whole};
use serde::{Deserialize, Serialize};
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What they are made from, with a list of them.
const SOURCES: &str = "app/frameworks";
const LIST: &str = "bundles.json";
/// What npm puts beside the sources for whoever works on them.
pub(super) const PACKAGES: &str = "node_modules";
/// What tells the page about them, in the page's folder.
const STATE: &str = "frameworks.json";
/// How the names of their folders begin; the server knows it too.
const FOLDER: &str = "framework-";
/// This many bundles stay in the cache, plain and compressed.
const KEPT: usize = 8;

/// What `frameworks.json` says.
#[derive(Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "state", rename_all = "snake_case")]
enum State {
    Ready { bundles: Vec<Bundle> },
    Missing { note: String },
}

/// A framework with one of its back ends.
#[derive(Debug, PartialEq, Eq, Serialize)]
struct Bundle {
    name: String,
    folder: String,
    /// Of what a browser fetches of it, compressed and as it is.
    compressed_bytes: u64,
    bytes: u64,
}

/// A line of the list.
#[derive(Deserialize)]
struct Listed {
    name: String,
    /// Whether the page has it; the others are for tests.
    #[serde(default = "yes")]
    page: bool,
}

const fn yes() -> bool {
    true
}

/// Whether a file of the page's folder belongs to them.
pub(super) fn owns(name: &Path) -> bool {
    let first = name.iter().next().unwrap_or_default().to_string_lossy();
    first == STATE || (first.starts_with(FOLDER) && name.iter().count() > 1)
}

/// Puts them into the page and tells it where they lie, or why it goes without. `tools` gives the program of that name.
pub(crate) fn put(top: &Path, tools: impl FnOnce() -> Result<PathBuf>) -> Result<()> {
    let dist = folder(top);
    let state = match bundles(top).and_then(|made| compressed(&made, tools)) {
        Ok(made) => State::Ready { bundles: place(&listed(top)?, &made, &dist)? },
        Err(error) => {
            say::warn(format!("the page goes without TensorFlow.js and jax-js: {error:#}"));
            State::Missing { note: format!("{error:#}") }
        }
    };
    let text = serde_json::to_vec(&state)?;
    write_whole(&dist.join(STATE), |out| Ok(out.write_all(&text)?))
}

/// The folder with a folder for each of them, in the cache.
///
/// # Errors
/// npm is missing, or the packages cannot be fetched or bundled.
pub(crate) fn bundles(top: &Path) -> Result<PathBuf> {
    let sources = sources(top)?;
    let made = workspace::cache()?.join("frameworks").join(&digest_of(top, &sources)?);
    if made.is_dir() {
        return Ok(made);
    }
    let path = env::var_os("PATH").unwrap_or_default();
    let program = |name: &str| {
        let found = find_program(name, &path);
        found.with_context(|| format!("there is no {name} on the machine that built it; Node.js brings it"))
    };
    let (npm, node) = (program("npm")?, program("node")?);
    let cache = made.parent().context("bundles lie in the cache")?;
    let aside = cache.join(format!("partial-{}", std::process::id()));
    let task = Task::build("TensorFlow.js and jax-js for the page");
    let built =
        bundle_into(&aside, top, &sources, &npm, &node, &task).and_then(|()| keep(&aside.join("bundles"), &made));
    // What stays behind is only in the way when it can be removed later.
    let _ = fs::remove_dir_all(&aside);
    built?;
    task.done("Built");
    forget_old(cache, KEPT)?;
    Ok(made)
}

fn bundle_into(aside: &Path, top: &Path, sources: &[PathBuf], npm: &Path, node: &Path, task: &Task) -> Result<()> {
    empty(aside)?;
    let copy = aside.join("sources");
    for source in sources {
        let place = copy.join(source.strip_prefix(top.join(SOURCES))?);
        fs::create_dir_all(place.parent().context("a file lies in a folder")?)?;
        fs::copy(source, &place).with_context(|| format!("cannot copy {}", source.display()))?;
    }
    let mut install = Command::new(npm);
    install.current_dir(&copy).args(["ci", "--ignore-scripts", "--prefer-offline", "--no-audit", "--fetch-retries=1"]);
    // What they said was shown on the terminal, which visitors of the page do not see.
    let failed = |what: &str| anyhow!("{what}; the terminal on which the page was built says why");
    task.follow(&mut install).map_err(|_| failed("npm could not fetch their packages"))?;
    let mut build = Command::new(node);
    build.current_dir(&copy).arg("build.mjs").arg(aside.join("bundles"));
    task.follow(&mut build).map(|_| ()).map_err(|_| failed("they could not be bundled"))
}

/// The same with a compressed twin beside each file.
fn compressed(made: &Path, tools: impl FnOnce() -> Result<PathBuf>) -> Result<PathBuf> {
    let mut name = made.file_name().context("bundles have a name")?.to_owned();
    name.push("-compressed");
    let with_twins = made.with_file_name(name);
    if with_twins.is_dir() {
        return Ok(with_twins);
    }
    let aside = made.with_file_name(format!("partial-{}", std::process::id()));
    empty(&aside)?;
    copy_all(made, &aside)?;
    let mut command = Command::new(tools()?);
    workspace::run(command.arg("compress").arg(&aside), "compressing TensorFlow.js and jax-js")?;
    keep(&aside, &with_twins)?;
    Ok(with_twins)
}

fn copy_all(from: &Path, to: &Path) -> Result<()> {
    for file in files_below(from)? {
        let place = to.join(file.strip_prefix(from)?);
        fs::create_dir_all(place.parent().context("a file lies in a folder")?)?;
        fs::copy(&file, &place).with_context(|| format!("cannot write {}", place.display()))?;
    }
    Ok(())
}

fn listed(top: &Path) -> Result<Vec<Listed>> {
    let path = top.join(SOURCES).join(LIST);
    let text = fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
    serde_json::from_slice(&text).with_context(|| format!("{} is no list of bundles", path.display()))
}

/// Copies them into the page, each under a name with a digest of what is in it, so that browsers may keep it for ever.
fn place(listed: &[Listed], made: &Path, dist: &Path) -> Result<Vec<Bundle>> {
    let mut bundles = Vec::new();
    for Listed { name, .. } in listed.iter().filter(|of| of.page) {
        let from = made.join(name);
        let files = files_below(&from)?;
        let fetched: Vec<PathBuf> = files.iter().filter(|file| is_fetched(file)).cloned().collect();
        let folder = format!("{FOLDER}{name}-{}", digest(&fetched)?);
        copy_all(&from, &dist.join(&folder))?;
        let twins: Vec<PathBuf> = fetched.iter().map(|file| with_ending(file, "br")).collect();
        bundles.push(Bundle { name: name.clone(), folder, compressed_bytes: size(&twins)?, bytes: size(&fetched)? });
    }
    Ok(bundles)
}

/// Scripts, and modules of WebAssembly.
fn is_fetched(file: &Path) -> bool {
    file.extension().is_some_and(|ending| ending == "js" || ending == "wasm")
}

fn with_ending(file: &Path, ending: &str) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(format!(".{ending}"));
    name.into()
}

/// Bytes of files of which a browser fetches all scripts and one module: the largest, in which threads share the work.
fn size(files: &[PathBuf]) -> Result<u64> {
    let (mut scripts, mut module) = (0, 0);
    for file in files {
        let bytes = fs::metadata(file).with_context(|| format!("the bundle lacks {}", file.display()))?.len();
        if file.to_string_lossy().contains(".wasm") { module = bytes.max(module) } else { scripts += bytes }
    }
    Ok(scripts + module)
}

/// The files that they are made from.
fn sources(top: &Path) -> Result<Vec<PathBuf>> {
    let folder = top.join(SOURCES);
    let mut files = Vec::new();
    for entry in fs::read_dir(&folder).with_context(|| format!("cannot read {}", folder.display()))? {
        let path = entry?.path();
        match path.file_name() {
            Some(name) if name == PACKAGES => {}
            _ => files.extend(files_below(&path)?),
        }
    }
    if files.is_empty() {
        bail!("{} is empty", folder.display());
    }
    files.sort();
    Ok(files)
}

fn digest_of(top: &Path, sources: &[PathBuf]) -> Result<String> {
    let mut text = String::new();
    for source in sources {
        text += &format!("{} {}\n", source.strip_prefix(top)?.display(), sha256_hex(&fs::read(source)?));
    }
    Ok(sha256_hex(text.as_bytes())[..16].to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bundle_lies_in_the_page_under_its_digest_and_counts_one_of_its_modules() {
        let top = tempfile::tempdir().unwrap();
        let (made, dist) = (top.path().join("made"), top.path().join("dist"));
        let files = [("worker.js", 500), ("loader.js", 30), ("simd.wasm", 70), ("plain.wasm", 90), ("licences.txt", 9)];
        for bundle in ["tfjs-wasm", "tfjs-cpu"] {
            fs::create_dir_all(made.join(bundle)).unwrap();
            for (name, bytes) in files {
                fs::write(made.join(bundle).join(name), vec![b'x'; bytes]).unwrap();
                fs::write(made.join(bundle).join(format!("{name}.br")), vec![b'x'; bytes / 10]).unwrap();
            }
        }
        let listed = [("tfjs-wasm", true), ("tfjs-cpu", false)];
        let listed = listed.map(|(name, page)| Listed { name: name.to_owned(), page });
        let [bundle] = &place(&listed, &made, &dist).unwrap()[..] else { panic!("one is for the page") };
        assert_eq!((bundle.bytes, bundle.compressed_bytes), (500 + 30 + 90, 50 + 3 + 9));
        assert_eq!(files_below(&dist.join(&bundle.folder)).unwrap().len(), 2 * files.len());
        assert!(owns(&Path::new(&bundle.folder).join("worker.js")) && !owns(Path::new("worker-0123/worker.js")));
    }

    #[test]
    fn packages_that_npm_has_put_beside_the_sources_are_none_of_them() {
        let top = tempfile::tempdir().unwrap();
        let folder = top.path().join(SOURCES);
        fs::create_dir_all(folder.join(PACKAGES)).unwrap();
        fs::create_dir_all(folder.join("src")).unwrap();
        fs::write(folder.join("src/jax.js"), "jit()").unwrap();
        let digest = || digest_of(top.path(), &sources(top.path()).unwrap()).unwrap();
        let before = digest();
        fs::write(folder.join(PACKAGES).join("jax.js"), "a package").unwrap();
        assert_eq!(digest(), before);
        fs::write(folder.join("src/jax.js"), "another step").unwrap();
        assert_ne!(digest(), before);
    }

    #[test]
    fn the_lock_file_names_every_package_with_its_hash_and_no_registry() {
        let lock = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../app/frameworks/package-lock.json"));
        let lock: serde_json::Value = serde_json::from_str(&lock.unwrap()).unwrap();
        let packages = lock["packages"].as_object().unwrap();
        assert!(packages.len() > 5);
        for (name, package) in packages.iter().filter(|(name, _)| !name.is_empty()) {
            assert!(package["integrity"].as_str().is_some_and(|hash| hash.starts_with("sha512-")), "{name}");
            assert!(package["resolved"].is_null(), "{name} names a registry");
        }
    }

    #[test]
    fn the_page_is_told_in_the_words_that_it_reads() {
        let missing = State::Missing { note: "no npm".to_owned() };
        assert_eq!(serde_json::to_string(&missing).unwrap(), r#"{"state":"missing","note":"no npm"}"#);
        let (name, folder) = ("jax-js-wasm".to_owned(), "framework-jax-js-wasm-1".to_owned());
        let ready = State::Ready { bundles: vec![Bundle { name, folder, compressed_bytes: 2, bytes: 3 }] };
        let expected = r#"{"state":"ready","bundles":[{"name":"jax-js-wasm","folder":"framework-jax-js-wasm-1","compressed_bytes":2,"bytes":3}]}"#;
        assert_eq!(serde_json::to_string(&ready).unwrap(), expected);
    }
}
