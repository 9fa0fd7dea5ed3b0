//! Files that exist only when complete, with their SHA-256 next to them.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::secrets::hex;

/// A file that is written under another name, which is removed unless the file is finished.
pub(crate) struct WholeFile {
    to: PathBuf,
    partial: PathBuf,
    file: File,
    digest: Sha256,
}

impl WholeFile {
    /// Begins writing the file `to`. `partial` must not exist and must be in the same folder.
    pub(crate) fn create(to: &Path, partial: PathBuf) -> io::Result<Self> {
        let file = File::create_new(&partial)?;
        Ok(Self { to: to.to_owned(), partial, file, digest: Sha256::new() })
    }

    /// Gives the file its name after it is on the disk. The checksum comes first, so that a finished file always has
    /// one.
    pub(crate) fn finish(self) -> io::Result<()> {
        self.file.sync_all()?;
        let sum = sum_of(&self.to);
        let name = self.to.file_name().unwrap_or_default().to_string_lossy();
        let line = format!("{}  {name}\n", hex(&self.digest.clone().finalize()));
        let named = write_sum(&sum, &line).and_then(|()| fs::rename(&self.partial, &self.to));
        if named.is_err() {
            // A checksum without its file would block the next attempt.
            let _ = fs::remove_file(&sum);
        }
        named
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

impl Drop for WholeFile {
    fn drop(&mut self) {
        // After a success this file no longer exists. Otherwise it would block the next attempt.
        let _ = fs::remove_file(&self.partial);
    }
}

/// Returns the path of a file's checksum.
pub(crate) fn sum_of(file: &Path) -> PathBuf {
    with_ending(file, "sha256")
}

/// Returns the path with an additional extension.
pub(crate) fn with_ending(file: &Path, ending: &str) -> PathBuf {
    let mut name = file.file_name().unwrap_or_default().to_os_string();
    name.push(".");
    name.push(ending);
    file.with_file_name(name)
}

fn write_sum(sum: &Path, line: &str) -> io::Result<()> {
    let mut file = File::create(sum)?;
    file.write_all(line.as_bytes())?;
    file.sync_all()
}
