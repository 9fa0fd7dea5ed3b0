//! Bundles that are cached per user under a digest of their sources, and compressed copies of the page's files.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use std::{fs, thread};

use anyhow::{Context, Result, anyhow};
use serde::Serialize;
use sha2::{Digest, Sha256};
use walkdir::WalkDir;

/// Number of hexadecimal digits of a digest in file names.
const DIGITS: usize = 16;
/// Maximum number of cached bundles of each kind, enough for a few branches.
const MAX_KEPT: usize = 4;

pub(crate) fn files_below(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = WalkDir::new(folder).sort_by_file_name().into_iter();
    let files = entries.filter(|entry| entry.as_ref().map_or(true, |entry| !entry.file_type().is_dir()));
    files.map(|entry| Ok(entry?.into_path())).collect()
}

pub(crate) fn digest(files: &[PathBuf]) -> Result<String> {
    let mut all = Sha256::new();
    for file in files {
        all.update(Sha256::digest(fs::read(file).with_context(|| format!("cannot read {}", file.display()))?));
    }
    let hex: String = all.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(hex[..DIGITS].to_owned())
}

/// Returns the cache folder of the bundle built from these files and folders of the checkout. It may not exist yet.
pub(crate) fn in_cache(kind: &str, top: &Path, sources: &[&str]) -> Result<PathBuf> {
    let mut files = Vec::new();
    for source in sources {
        files.extend(files_below(&top.join(source))?);
    }
    // Tests, and packages that npm installed next to the sources, do not affect bundles.
    let ignored = |part: &std::ffi::OsStr| part == "tests" || part == "tests.rs" || part == "node_modules";
    files.retain(|file| !file.strip_prefix(top).is_ok_and(|inside| inside.iter().any(ignored)));
    let cache = dirs::cache_dir().context("no home folder is known: set HOME and run this again")?;
    Ok(cache.join("gradmark").join(kind).join(digest(&files)?))
}

/// Builds a bundle in a temporary folder and moves it to `made` when it is complete.
pub(crate) fn make(made: &Path, build: impl FnOnce(&Path) -> Result<()>) -> Result<()> {
    let cache = made.parent().context("a bundle is in a folder of the cache")?;
    fs::create_dir_all(cache).with_context(|| format!("cannot create {}", cache.display()))?;
    let partial = cache.join(format!("partial-{}", std::process::id()));
    fs::create_dir_all(&partial).with_context(|| format!("cannot create {}", partial.display()))?;
    let built = build(&partial).and_then(|()| match fs::rename(&partial, made) {
        // Another process built it first.
        Err(_) if made.is_dir() => Ok(()),
        moved => moved.with_context(|| format!("cannot create {}", made.display())),
    });
    // The folder no longer exists if it became the bundle.
    let _ = fs::remove_dir_all(&partial);
    built?;
    remove_old(cache)
}

/// Removes all but the [`MAX_KEPT`] latest bundles.
fn remove_old(cache: &Path) -> Result<()> {
    let mut bundles: Vec<(SystemTime, PathBuf)> = Vec::new();
    for entry in fs::read_dir(cache)? {
        let entry = entry?;
        if !entry.file_name().to_string_lossy().starts_with("partial-") {
            bundles.push((entry.metadata()?.modified()?, entry.path()));
        }
    }
    bundles.sort();
    for (_, old) in bundles.iter().rev().skip(MAX_KEPT) {
        fs::remove_dir_all(old).with_context(|| format!("cannot remove {}", old.display()))?;
    }
    Ok(())
}

/// Content of `burn.json` and `frameworks.json`.
#[derive(Serialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub(crate) enum StateFile {
    Ready { bundles: Vec<PlacedBundle> },
    Building { note: String },
    Missing { note: String },
}

/// Bundle in the folder of the page.
#[derive(Serialize)]
pub(crate) struct PlacedBundle {
    /// `burn`, or the name of a framework's backend.
    pub(crate) name: String,
    pub(crate) folder: String,
    /// Download size in bytes: all scripts, and the largest module, which is the one with threads.
    pub(crate) compressed_bytes: u64,
    /// Uncompressed size of the largest module.
    pub(crate) bytes: u64,
    #[serde(skip)]
    pub(crate) script_bytes: u64,
}

/// Copies a compressed bundle into the page. Its name has a digest, so that browsers may cache it forever.
pub(crate) fn place(made: &Path, name: &str, page: &Path) -> Result<PlacedBundle> {
    let files = files_below(made)?;
    let (mut fetched, mut module, mut scripts) = (Vec::new(), (0, 0), (0, 0));
    for file in &files {
        let kind = file.extension().and_then(|kind| kind.to_str()).unwrap_or_default();
        if kind != "js" && kind != "wasm" {
            continue;
        }
        let sizes = (fs::metadata(file)?.len(), fs::metadata(with_ending(file, "br"))?.len());
        if kind == "wasm" {
            module = sizes.max(module);
        } else {
            scripts = (scripts.0 + sizes.0, scripts.1 + sizes.1);
        }
        fetched.push(file.clone());
    }
    let folder = format!("{name}-{}", digest(&fetched)?);
    fs::create_dir_all(page.join(&folder))?;
    for file in &files {
        let copy = page.join(&folder).join(file.file_name().context("a file has a name")?);
        fs::copy(file, &copy).with_context(|| format!("cannot write {}", copy.display()))?;
    }
    let compressed_bytes = scripts.1 + module.1;
    Ok(PlacedBundle { name: name.to_owned(), folder, compressed_bytes, bytes: module.0, script_bytes: scripts.0 })
}

pub(crate) fn with_ending(file: &Path, ending: &str) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(format!(".{ending}"));
    name.into()
}

/// Replaces a file of the page atomically: the page may already be served.
pub(crate) fn replace(file: &Path, json: &StateFile) -> Result<()> {
    let new = with_ending(file, "new");
    fs::write(&new, serde_json::to_vec(json)?)
        .and_then(|()| fs::rename(&new, file))
        .with_context(|| format!("cannot write {}", file.display()))
}

const COMPRESSIBLE: [&str; 7] = ["html", "js", "wasm", "css", "svg", "json", "txt"];

/// Writes `FILE.gz` and `FILE.br` next to each compressible file below a folder, in parallel: few files are large.
pub(crate) fn compress(folder: &Path) -> Result<()> {
    let mut files = files_below(folder)?;
    files.retain(|file| file.extension().is_some_and(|kind| COMPRESSIBLE.iter().any(|known| kind == *known)));
    thread::scope(|scope| {
        let running: Vec<_> = files.iter().map(|file| scope.spawn(|| compress_file(file))).collect();
        running.into_iter().try_for_each(|one| one.join().map_err(|_| anyhow!("compressing panicked"))?)
    })
}

fn compress_file(file: &Path) -> Result<()> {
    let plain = fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
    // The header has no timestamp, so the bytes only depend on the content.
    let mut encoder = flate2::GzBuilder::new().write(Vec::new(), flate2::Compression::best());
    encoder.write_all(&plain)?;
    let write = |ending, bytes: &[u8]| {
        let path = with_ending(file, ending);
        fs::write(&path, bytes).with_context(|| format!("cannot write {}", path.display()))
    };
    write("gz", &encoder.finish()?)?;
    let best = brotli::enc::BrotliEncoderParams { quality: 11, lgwin: 22, ..Default::default() };
    let mut compressed = Vec::new();
    brotli::BrotliCompress(&mut plain.as_slice(), &mut compressed, &best)?;
    write("br", &compressed)
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    #[test]
    fn download_size_includes_scripts_and_largest_module() {
        let (made, page) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        for (name, bytes) in [("worker.js", 500), ("loader.js", 30), ("simd.wasm", 70), ("plain.wasm", 90)] {
            fs::write(made.path().join(name), vec![b'x'; bytes]).unwrap();
            fs::write(made.path().join(format!("{name}.br")), vec![b'x'; bytes / 10]).unwrap();
        }
        fs::write(made.path().join("licences.txt"), "not fetched").unwrap();
        let placed = place(made.path(), "burn", page.path()).unwrap();
        assert_eq!((placed.compressed_bytes, placed.script_bytes, placed.bytes), (50 + 3 + 9, 530, 90));
        assert_eq!(files_below(&page.path().join(&placed.folder)).unwrap().len(), 9);
    }

    #[test]
    fn failed_build_leaves_nothing_behind() {
        let cache = tempfile::tempdir().unwrap();
        let failed = make(&cache.path().join("a"), |_| anyhow::bail!("no network"));
        assert_eq!(failed.unwrap_err().to_string(), "no network");
        assert_eq!(fs::read_dir(cache.path()).unwrap().count(), 0);
        for name in ["a", "b", "c", "d", "e"] {
            make(&cache.path().join(name), |folder| Ok(fs::write(folder.join("worker.js"), name)?)).unwrap();
        }
        assert_eq!(fs::read_dir(cache.path()).unwrap().count(), MAX_KEPT);
        assert!(cache.path().join("e").is_dir());
    }

    #[test]
    fn tests_do_not_change_the_digest_of_sources() {
        let top = tempfile::tempdir().unwrap();
        fs::create_dir_all(top.path().join("engine/tests")).unwrap();
        fs::write(top.path().join("engine/lib.rs"), "one").unwrap();
        let place = || in_cache("burn", top.path(), &["engine"]).unwrap();
        let before = place();
        fs::write(top.path().join("engine/tests/golden.rs"), "a test").unwrap();
        assert_eq!(place(), before);
        fs::write(top.path().join("engine/lib.rs"), "another").unwrap();
        assert_ne!(place(), before);
    }

    #[test]
    fn compressed_copies_match_original() {
        let dist = tempfile::tempdir().unwrap();
        let text = "a page that repeats itself, ".repeat(100);
        let worker = dist.path().join("worker");
        fs::create_dir(&worker).unwrap();
        fs::write(worker.join("worker.js"), &text).unwrap();
        fs::write(dist.path().join("icon.png"), "compressed already").unwrap();
        compress(dist.path()).unwrap();
        assert_eq!((fs::read_dir(&worker).unwrap().count(), fs::read_dir(dist.path()).unwrap().count()), (3, 2));
        let mut unpacked = String::new();
        let gz = fs::read(worker.join("worker.js.gz")).unwrap();
        assert!(gz.len() < text.len() / 10);
        flate2::read::GzDecoder::new(gz.as_slice()).read_to_string(&mut unpacked).unwrap();
        assert_eq!(unpacked, text);
        let br = fs::read(worker.join("worker.js.br")).unwrap();
        let mut unpacked = Vec::new();
        brotli::BrotliDecompress(&mut br.as_slice(), &mut unpacked).unwrap();
        assert_eq!(unpacked, text.as_bytes());
    }
}
