//! The page: built by Trunk when one of its sources has changed, with a compressed twin beside each file.

mod burn;

use crate::files::{files_below, sha256_hex, write_whole};
use crate::setup::Tools;
use crate::workspace::{cargo, run};
use crate::{say, setup};
use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Everything that can change what the page is. Folders count with all that is in them, except tests.
const SOURCES: [&str; 10] = [
    "index.html",
    "Trunk.toml",
    "Cargo.toml",
    "Cargo.lock",
    "rust-toolchain.toml",
    ".cargo/config.toml",
    "app",
    "engine",
    "results",
    "shaders",
];
/// Files outside those folders that crates of the page include.
const INCLUDED: [&str; 1] = ["reference/data-sets.json"];

/// Kinds of files that shrink when compressed.
const COMPRESSIBLE: [&str; 7] = ["html", "js", "wasm", "css", "svg", "json", "txt"];

/// What was built, and from what.
#[derive(PartialEq, Eq, Serialize, Deserialize)]
struct Note {
    /// One digest of all sources.
    sources: String,
    /// Whether the worker with Burn is there.
    burn: bool,
    /// The size in bytes of each built file, compressed twins included.
    built: BTreeMap<PathBuf, u64>,
}

/// Builds the page into `dist/` unless it is there and none of its sources has changed since. With `burn`, the worker
/// with Burn is a part of it; without, a page that has it and is up to date is left as it is.
pub(crate) fn build(top: &Path, burn: bool) -> Result<()> {
    let dist = top.join("dist");
    let note_path = top.join(".cache/page.json");
    let sources = digest_of_sources(top)?;
    let old: Option<Note> = fs::read(&note_path).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
    let is_up_to_date = |note: Note| {
        note.sources == sources && (note.burn || !burn) && sizes_below(&dist).is_ok_and(|sizes| sizes == note.built)
    };
    if old.is_some_and(is_up_to_date) {
        return Ok(());
    }
    let tools = setup::page_tools(top)?;
    say::step("Building", "the page with Trunk (minutes the first time)");
    // Built and compressed aside and then put in place, so that nobody is ever served half a page and two builds at a
    // time do not write into each other's folder.
    let aside = top.join(format!(".cache/page-{}", std::process::id()));
    let built = trunk(top, &tools, &aside)
        .and_then(|()| compress(&aside))
        .and_then(|()| if burn { burn::put_into(&aside, top, &tools) } else { Ok(()) })
        .and_then(|()| put_in_place(&aside, &dist));
    // What stays behind is only in the way when it can be removed later.
    let _ = fs::remove_dir_all(&aside);
    built?;
    let note = serde_json::to_vec_pretty(&Note { sources, burn, built: sizes_below(&dist)? })?;
    write_whole(&note_path, |out| Ok(out.write_all(&note)?))
}

/// Replaces a folder by another one.
fn put_in_place(new: &Path, place: &Path) -> Result<()> {
    let old = new.with_extension("old");
    if place.exists() {
        fs::rename(place, &old).with_context(|| format!("cannot move {} away", place.display()))?;
    }
    fs::rename(new, place).with_context(|| format!("cannot put the page into {}", place.display()))?;
    if old.exists() {
        fs::remove_dir_all(&old).with_context(|| format!("cannot remove {}", old.display()))?;
    }
    Ok(())
}

/// Trunk's `--offline` is passed on to cargo, so everything has to be on the disk before.
fn fetch_dependencies(top: &Path) -> Result<()> {
    run(
        cargo(top).args(["fetch", "--locked", "--quiet", "--target", "wasm32-unknown-unknown"]),
        "fetching the page's dependencies",
    )
}

fn trunk(top: &Path, tools: &Tools, dist: &Path) -> Result<()> {
    fetch_dependencies(top)?;
    let mut command = Command::new(&tools.trunk);
    fs::create_dir_all(dist).with_context(|| format!("cannot make the folder {}", dist.display()))?;
    command.args(["build", "--release", "--offline", "--dist"]).arg(dist).current_dir(top).env("PATH", &tools.path);
    // Every record says which commit made it; the page has no build script that could find out.
    if let Some(commit) = commit(top) {
        command.env("GRADMARK_COMMIT", commit);
    }
    // Trunk takes NO_COLOR for a flag of its own and refuses the usual value 1.
    if std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty()) {
        command.env_remove("NO_COLOR").args(["--color", "never"]);
    }
    command.stdout(std::io::stderr());
    run(&mut command, "building the page")
}

/// The short name of the commit that is checked out, where this is a git checkout.
fn commit(top: &Path) -> Option<String> {
    let output = Command::new("git").args(["rev-parse", "--short", "HEAD"]).current_dir(top).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    Some(text.trim().to_owned()).filter(|text| output.status.success() && !text.is_empty())
}

fn digest_of_sources(top: &Path) -> Result<String> {
    digest_of(top, &SOURCES)
}

/// One digest of these sources and of what they include.
fn digest_of(top: &Path, sources: &[&str]) -> Result<String> {
    let mut files = Vec::new();
    for source in sources.iter().chain(&INCLUDED) {
        let path = top.join(source);
        if path.is_dir() {
            files.extend(files_below(&path)?.into_iter().filter(|file| !is_test(file, &path)));
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

/// Whether a file of a crate is built for its tests only.
fn is_test(file: &Path, crate_folder: &Path) -> bool {
    let is_named_so = |part: &OsStr| part == "tests" || part == "tests.rs";
    file.strip_prefix(crate_folder).is_ok_and(|inside| inside.iter().any(is_named_so))
}

fn sizes_below(dist: &Path) -> Result<BTreeMap<PathBuf, u64>> {
    files_below(dist)?
        .into_iter()
        .map(|file| Ok((file.strip_prefix(dist)?.to_path_buf(), fs::metadata(&file)?.len())))
        .collect()
}

/// Writes `FILE.gz` and `FILE.br` beside each compressible file: the server sends whichever a browser accepts, and
/// compresses nothing itself.
fn compress(dist: &Path) -> Result<()> {
    for file in files_below(dist)? {
        if !file.extension().and_then(|kind| kind.to_str()).is_some_and(|kind| COMPRESSIBLE.contains(&kind)) {
            continue;
        }
        let plain = fs::read(&file)?;
        write_whole(&twin(&file, "gz"), |out| {
            let mut encoder = flate2::GzBuilder::new().write(out, flate2::Compression::best());
            encoder.write_all(&plain)?;
            encoder.finish()?;
            Ok(())
        })?;
        write_whole(&twin(&file, "br"), |out| {
            let mut out = out;
            let best = brotli::enc::BrotliEncoderParams { quality: 11, lgwin: 22, ..Default::default() };
            brotli::BrotliCompress(&mut plain.as_slice(), &mut out, &best)?;
            Ok(())
        })?;
    }
    Ok(())
}

fn twin(file: &Path, ending: &str) -> PathBuf {
    let mut name = file.file_name().unwrap_or_default().to_os_string();
    name.push(".");
    name.push(ending);
    file.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

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

    #[test]
    fn a_changed_source_changes_the_digest_and_a_changed_test_does_not() {
        let top = sources();
        let before = digest_of_sources(top.path()).unwrap();
        fs::create_dir_all(top.path().join("engine/tests")).unwrap();
        fs::write(top.path().join("engine/tests/golden.rs"), "a test").unwrap();
        fs::write(top.path().join("engine/src/tests.rs"), "tests of a module").unwrap();
        assert_eq!(digest_of_sources(top.path()).unwrap(), before);
        fs::write(top.path().join("engine/src/lib.rs"), "something else").unwrap();
        assert_ne!(digest_of_sources(top.path()).unwrap(), before);
    }

    #[test]
    fn a_change_of_the_page_alone_leaves_the_worker_with_burn_as_it_is() {
        let top = sources();
        fs::create_dir_all(top.path().join("app/worker/src")).unwrap();
        fs::write(top.path().join("app/worker/src/lib.rs"), "a worker").unwrap();
        let both = || (digest_of_sources(top.path()).unwrap(), digest_of(top.path(), &burn::SOURCES).unwrap());
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
        let error = format!("{:#}", digest_of_sources(top.path()).unwrap_err());
        assert!(error.contains("index.html is needed to build the page"), "{error}");
    }

    #[test]
    fn a_new_page_takes_the_place_of_the_old_one_with_nothing_left_of_it() {
        let top = tempfile::tempdir().unwrap();
        let (new, place) = (top.path().join("page-1"), top.path().join("dist"));
        for text in ["first", "second"] {
            fs::create_dir(&new).unwrap();
            fs::write(new.join(text), text).unwrap();
            put_in_place(&new, &place).unwrap();
            assert_eq!(files_below(top.path()).unwrap(), [place.join(text)]);
        }
    }

    #[test]
    fn compressed_twins_hold_what_the_file_holds() {
        let dist = tempfile::tempdir().unwrap();
        let text = "a page that repeats itself, ".repeat(100);
        fs::write(dist.path().join("index.html"), &text).unwrap();
        fs::write(dist.path().join("icon.png"), "compressed already").unwrap();
        compress(dist.path()).unwrap();
        assert_eq!(sizes_below(dist.path()).unwrap().len(), 4);
        let mut unpacked = String::new();
        let gz = fs::read(dist.path().join("index.html.gz")).unwrap();
        assert!(gz.len() < text.len() / 10);
        flate2::read::GzDecoder::new(gz.as_slice()).read_to_string(&mut unpacked).unwrap();
        assert_eq!(unpacked, text);
        let br = fs::read(dist.path().join("index.html.br")).unwrap();
        let mut unpacked = Vec::new();
        brotli::BrotliDecompress(&mut br.as_slice(), &mut unpacked).unwrap();
        assert_eq!(unpacked, text.as_bytes());
    }
}
