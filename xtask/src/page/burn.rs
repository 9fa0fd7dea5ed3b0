//! The worker with Burn: a bundle of its own beside the page, which a browser fetches when a Burn back end is chosen.
//!
//! Compiling Burn takes minutes. So the bundle is kept in the user's cache under the digest of what it is made from,
//! where every checkout finds it, and a change of the page alone does not make it again.

use super::{commit, compress, digest_of, fetch_dependencies, twin};
use crate::files::{files_below, sha256_hex};
use crate::setup::Tools;
use crate::workspace::{self, cargo, find_program, run};
use crate::{build, say};
use anyhow::{Context, Result, bail};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

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
/// Name of the program of the crate `training-worker`, and of the feature that it needs.
const PROGRAM: &str = "burn-worker";
const FEATURE: &str = "burn";
/// So many bundles stay in the cache: those of a few branches.
const KEPT: usize = 4;
/// What the page's index.html holds until a bundle is put beside it.
const UNSAID: &str = "name=\"gradmark-burn\" content=\"\"";

/// Puts the bundle into the folder of a page that is ready otherwise; builds it where the cache has none.
pub(super) fn put_into(dist: &Path, top: &Path, tools: &Tools) -> Result<()> {
    let cache = workspace::cache()?.join("burn");
    let made = cache.join(&digest_of(top, &SOURCES)?[..16]);
    if !made.is_dir() {
        let aside = cache.join(format!("partial-{}", std::process::id()));
        let built = build_into(&aside, top, tools).and_then(|()| keep(&aside, &made));
        // What stays behind is only in the way when it can be removed later.
        let _ = fs::remove_dir_all(&aside);
        built?;
        forget_old(&cache, KEPT)?;
    }
    let content = place(&made, dist)?;
    let index = dist.join("index.html");
    let html = fs::read_to_string(&index).context("the page has no index.html")?;
    fs::write(&index, announce(&html, &content)?).context("cannot write the page's index.html")
}

fn build_into(folder: &Path, top: &Path, tools: &Tools) -> Result<()> {
    say::step("Building", "Burn for the page (ten minutes and more the first time, then when the engine changes)");
    fetch_dependencies(top)?;
    let mut command = cargo(top);
    command.args(["build", "--locked", "--offline", "--profile", "web", "--target", "wasm32-unknown-unknown"]).args([
        "--package",
        "training-worker",
        "--bin",
        PROGRAM,
        "--features",
        FEATURE,
    ]);
    // Every record says which commit made it.
    if let Some(commit) = commit(top) {
        command.env("GRADMARK_COMMIT", commit);
    }
    let module = build::programs(&mut command)?.remove(PROGRAM).context("cargo built no worker with Burn")?;
    fs::create_dir_all(folder).with_context(|| format!("cannot make the folder {}", folder.display()))?;
    let bindgen = find_program("wasm-bindgen", &tools.path).context("wasm-bindgen is gone")?;
    let mut command = Command::new(bindgen);
    command.args(["--target", "no-modules", "--no-typescript", "--out-name", "worker", "--out-dir"]);
    run(command.arg(folder).arg(module), "making the worker with Burn fit for a browser")?;
    fs::copy(top.join(LOADER), folder.join("loader.js")).with_context(|| format!("cannot copy {LOADER}"))?;
    compress(folder)
}

/// Gives a finished bundle its name in the cache, unless somebody else was faster.
fn keep(aside: &Path, made: &Path) -> Result<()> {
    match fs::rename(aside, made) {
        Err(_) if made.is_dir() => Ok(()),
        moved => moved.with_context(|| format!("cannot put Burn into {}", made.display())),
    }
}

/// Removes all bundles but the latest ones.
fn forget_old(cache: &Path, kept: usize) -> Result<()> {
    let mut made: Vec<(SystemTime, PathBuf)> = Vec::new();
    for entry in fs::read_dir(cache)? {
        let entry = entry?;
        if !entry.file_name().to_string_lossy().starts_with("partial-") {
            made.push((entry.metadata()?.modified()?, entry.path()));
        }
    }
    made.sort();
    for (_, old) in made.iter().rev().skip(kept) {
        fs::remove_dir_all(old).with_context(|| format!("cannot remove {}", old.display()))?;
    }
    Ok(())
}

/// Copies the bundle into the page, under a name with a digest of what is in it, so that browsers may keep it for
/// ever. Returns what the page has to know: that name, and bytes compressed and not.
fn place(made: &Path, dist: &Path) -> Result<String> {
    let mut digests = String::new();
    let mut compressed = 0;
    for name in FILES {
        let file = made.join(name);
        let bytes = fs::read(&file).with_context(|| format!("the bundle of Burn lacks {}", file.display()))?;
        digests += &sha256_hex(&bytes);
        compressed += fs::metadata(twin(&file, "br"))?.len();
    }
    let name = format!("burn-{}", &sha256_hex(digests.as_bytes())[..16]);
    let folder = dist.join(&name);
    fs::create_dir_all(&folder)?;
    for file in files_below(made)? {
        fs::copy(&file, folder.join(file.file_name().context("a file has a name")?))?;
    }
    let bytes = fs::metadata(folder.join(FILES[2]))?.len();
    Ok(format!("{name} {compressed} {bytes}"))
}

/// Writes the note into the page's index.html.
fn announce(html: &str, content: &str) -> Result<String> {
    if html.matches(UNSAID).count() != 1 {
        bail!("the page's index.html should hold `{UNSAID}` once");
    }
    Ok(html.replace(UNSAID, &UNSAID.replace("\"\"", &format!("\"{content}\""))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_bundle_lies_in_the_page_with_its_twins_and_the_page_says_where_and_how_large() {
        let top = tempfile::tempdir().unwrap();
        let (made, dist) = (top.path().join("made"), top.path().join("dist"));
        fs::create_dir_all(&made).unwrap();
        fs::create_dir_all(&dist).unwrap();
        for (name, text) in FILES.iter().zip(["load();", "glue();", "a module"]) {
            fs::write(made.join(name), text.repeat(200)).unwrap();
        }
        compress(&made).unwrap();
        let content = place(&made, &dist).unwrap();
        let words: Vec<&str> = content.split(' ').collect();
        let compressed: u64 =
            FILES.iter().map(|name| fs::metadata(made.join(format!("{name}.br"))).unwrap().len()).sum();
        assert_eq!(words[1..], [compressed.to_string(), (8 * 200).to_string()]);
        assert_eq!(files_below(&dist.join(words[0])).unwrap().len(), 3 * FILES.len());

        let html = announce(&format!("<meta {UNSAID} />"), &content).unwrap();
        assert_eq!(html, format!("<meta name=\"gradmark-burn\" content=\"{content}\" />"));
        assert!(announce(&html, &content).is_err(), "it is said once");
    }

    #[test]
    fn the_oldest_bundles_are_forgotten_and_one_in_the_making_is_left_alone() {
        let cache = tempfile::tempdir().unwrap();
        let make = |name: &str| {
            fs::create_dir(cache.path().join(name)).unwrap();
            std::thread::sleep(Duration::from_millis(20));
        };
        ["partial-1", "c", "a", "b"].into_iter().for_each(make);
        forget_old(cache.path(), 2).unwrap();
        let left = |name: &str| cache.path().join(name).is_dir();
        assert!(left("partial-1") && left("a") && left("b") && !left("c"));
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
