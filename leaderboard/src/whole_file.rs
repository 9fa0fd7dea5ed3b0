//! Files that exist only when complete. A partial file has a hidden name, and is deleted unless it is finished or the
//! process is killed.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use results::hex;
use sha2::{Digest, Sha256};
use tempfile::NamedTempFile;

const PREFIX: &str = ".gradmark-";
const SUFFIX: &str = ".partial";

/// A public file with its SHA-256 next to it.
pub(crate) struct WholeFile {
    to: PathBuf,
    file: NamedTempFile,
    digest: Sha256,
}

impl WholeFile {
    pub(crate) fn create(to: &Path) -> io::Result<Self> {
        Ok(Self { to: to.to_owned(), file: public_partial(to)?, digest: Sha256::new() })
    }

    /// Gives the file its name. The checksum comes first, so that a finished file always has one.
    pub(crate) fn finish(self) -> io::Result<()> {
        let sum = with_ending(&self.to, "sha256");
        let name = self.to.file_name().unwrap_or_default().to_string_lossy();
        let mut partial = public_partial(&sum)?;
        writeln!(partial, "{}  {name}", hex(&self.digest.finalize()))?;
        put_in_place(partial, &sum)?;
        // A checksum without its file would block the next attempt.
        put_in_place(self.file, &self.to).inspect_err(|_| drop(fs::remove_file(&sum)))
    }
}

impl Write for WholeFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.digest.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Creates an empty file that only its owner may read, in the folder of `to`. Its name differs from a snapshot's.
pub(crate) fn partial(to: &Path) -> io::Result<NamedTempFile> {
    tempfile::Builder::new().prefix(".leaderboard-").suffix(SUFFIX).tempfile_in(folder_of(to))
}

fn public_partial(to: &Path) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder.prefix(PREFIX).suffix(SUFFIX).tempfile_in(folder_of(to))
}

fn folder_of(file: &Path) -> &Path {
    file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Returns true if a file is the partial output of a killed process.
pub(crate) fn is_partial(name: &str) -> bool {
    name.starts_with(PREFIX) && name.ends_with(SUFFIX)
}

/// Syncs a complete file and gives it its name.
pub(crate) fn put_in_place(partial: NamedTempFile, to: &Path) -> io::Result<()> {
    partial.as_file().sync_all()?;
    partial.persist(to)?;
    Ok(())
}

pub(crate) fn with_ending(file: &Path, ending: &str) -> PathBuf {
    let mut name = file.file_name().unwrap_or_default().to_os_string();
    name.push(".");
    name.push(ending);
    file.with_file_name(name)
}
