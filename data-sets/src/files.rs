//! Digests of files, unpacking, and writing through a temporary name.

use anyhow::{Context, Result, bail};
use sha2::Digest as _;
use std::collections::BTreeMap;
use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Part of an unfinished file's name, before the id of the writing process.
const PARTIAL: &str = ".partial-";
const PARTIAL_FILE_LIFETIME: Duration = Duration::from_secs(3600);

/// Writes a file under a temporary name in the same folder, and renames it once it is complete and on disk. No partial
/// file is ever visible under its name.
///
/// # Errors
/// The error of `fill`, or of writing; the old file is then unchanged.
pub fn write_whole(path: &Path, fill: impl FnOnce(&mut dyn Write) -> Result<()>) -> Result<()> {
    let folder = path.parent().context("the path of a file to write needs a folder")?;
    fs::create_dir_all(folder).with_context(|| format!("cannot create the folder {}", folder.display()))?;
    let temporary = temporary_name(path);
    let written: Result<()> = (|| {
        let file = fs::File::create(&temporary)?;
        let mut writer = std::io::BufWriter::new(file);
        fill(&mut writer)?;
        writer.into_inner().map_err(std::io::IntoInnerError::into_error)?.sync_all()?;
        fs::rename(&temporary, path)?;
        Ok(())
    })();
    if written.is_err() {
        // The write has already failed, so a failed removal changes nothing.
        let _ = fs::remove_file(&temporary);
    }
    written.with_context(|| format!("cannot write {}", path.display()))
}

/// Removes partial files of interrupted writers, unchanged for an hour.
pub fn remove_abandoned(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let age = entry.metadata().ok().and_then(|about| about.modified().ok()?.elapsed().ok());
        let is_partial = entry.file_name().to_string_lossy().contains(PARTIAL);
        if is_partial && age.is_some_and(|age| age > PARTIAL_FILE_LIFETIME) {
            // A partial file that cannot be removed does no harm.
            let _ = fs::remove_file(entry.path()).or_else(|_| fs::remove_dir_all(entry.path()));
        }
    }
}

/// Returns the temporary name of a file until it is complete.
pub fn temporary_name(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    name.push(format!("{PARTIAL}{}", std::process::id()));
    path.with_file_name(name)
}

/// Returns the wanted files of a gzipped tar archive, by path in the archive.
///
/// # Errors
/// If the archive cannot be read or lacks a file.
pub fn unpack(archive: &Path, wanted: &[&str]) -> Result<BTreeMap<String, Vec<u8>>> {
    let file = fs::File::open(archive).with_context(|| format!("cannot open {}", archive.display()))?;
    let mut tar = tar::Archive::new(flate2::read::GzDecoder::new(std::io::BufReader::new(file)));
    let mut entries = BTreeMap::new();
    for entry in tar.entries()? {
        let mut entry = entry?;
        let path = entry.path()?.to_string_lossy().into_owned();
        if wanted.contains(&path.as_str()) {
            let mut bytes = Vec::new();
            entry.read_to_end(&mut bytes).with_context(|| format!("{path} ends early"))?;
            entries.insert(path, bytes);
        }
    }
    match wanted.iter().find(|path| !entries.contains_key(**path)) {
        Some(missing) => bail!("{missing} is not in the archive"),
        None => Ok(entries),
    }
}

/// Returns the MD5 sum in lowercase hexadecimal.
pub fn md5_hex(bytes: &[u8]) -> String {
    hex(&md5::Md5::digest(bytes))
}

/// Returns the SHA-256 in lowercase hexadecimal.
pub fn sha256_hex(bytes: &[u8]) -> String {
    hex(&sha2::Sha256::digest(bytes))
}

/// Returns the SHA-256 of all bytes from a reader, in lowercase hexadecimal.
///
/// # Errors
/// If the reader fails.
pub fn sha256_of(mut reader: impl Read) -> std::io::Result<String> {
    let mut digest = sha2::Sha256::new();
    let mut chunk = vec![0; 1 << 20];
    while let taken @ 1.. = reader.read(&mut chunk)? {
        digest.update(&chunk[..taken]);
    }
    Ok(hex(&digest.finalize()))
}

/// Returns the bytes in lowercase hexadecimal.
fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_agree_with_the_published_test_vectors() {
        assert_eq!(md5_hex(b"abc"), "900150983cd24fb0d6963f7d28e17f72");
        assert_eq!(sha256_hex(b"abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assert_eq!(sha256_of(&b"abc"[..]).unwrap(), sha256_hex(b"abc"));
    }

    #[test]
    fn partial_files_are_removed_after_an_hour() {
        let folder = tempfile::tempdir().unwrap();
        let hours_ago = std::time::SystemTime::now() - 2 * PARTIAL_FILE_LIFETIME;
        for (name, changed) in [("a.bin", Some(hours_ago)), ("a.bin.partial-1", Some(hours_ago)), ("b.partial-2", None)]
        {
            let file = fs::File::create(folder.path().join(name)).unwrap();
            changed.map_or(Ok(()), |changed| file.set_modified(changed)).unwrap();
        }
        remove_abandoned(folder.path());
        let left = |name: &str| folder.path().join(name).exists();
        assert!(left("a.bin") && left("b.partial-2") && !left("a.bin.partial-1"));
    }

    #[test]
    fn failed_writes_leave_the_old_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.bin");
        write_whole(&path, |out| Ok(out.write_all(b"old")?)).unwrap();
        let failed = write_whole(&path, |out| {
            out.write_all(b"half of the n")?;
            anyhow::bail!("the disk is full")
        });
        assert!(format!("{:#}", failed.unwrap_err()).contains("the disk is full"));
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
