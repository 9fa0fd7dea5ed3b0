//! Compressed copies of the page's files, which the server sends to browsers that accept them.

use crate::bundle::with_ending;
use anyhow::{Context, Result, anyhow};
use std::fs;
use std::io::Write;
use std::path::Path;
use std::thread;
use walkdir::WalkDir;

/// Extensions of files that shrink.
const COMPRESSIBLE: [&str; 7] = ["html", "js", "wasm", "css", "svg", "json", "txt"];

/// Writes `FILE.gz` and `FILE.br` next to each file below a folder that shrinks. All at once: few files are large.
pub(crate) fn compress(folder: &Path) -> Result<()> {
    let mut files = Vec::new();
    for entry in WalkDir::new(folder) {
        let path = entry?.into_path();
        if path.extension().and_then(|kind| kind.to_str()).is_some_and(|kind| COMPRESSIBLE.contains(&kind)) {
            files.push(path);
        }
    }
    thread::scope(|scope| {
        let running: Vec<_> = files.iter().map(|file| scope.spawn(|| compress_file(file))).collect();
        running.into_iter().try_for_each(|one| one.join().map_err(|_| anyhow!("compressing panicked"))?)
    })
}

fn compress_file(file: &Path) -> Result<()> {
    let plain = fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
    // The header has no time, so the bytes depend on the content alone.
    let mut encoder = flate2::GzBuilder::new().write(Vec::new(), flate2::Compression::best());
    encoder.write_all(&plain)?;
    write(&with_ending(file, "gz"), &encoder.finish()?)?;
    let best = brotli::enc::BrotliEncoderParams { quality: 11, lgwin: 22, ..Default::default() };
    let mut compressed = Vec::new();
    brotli::BrotliCompress(&mut plain.as_slice(), &mut compressed, &best)?;
    write(&with_ending(file, "br"), &compressed)
}

fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    fs::write(path, bytes).with_context(|| format!("cannot write {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    #[test]
    fn compressed_copies_have_the_content_of_the_file() {
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
