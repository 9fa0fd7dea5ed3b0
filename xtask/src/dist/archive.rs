//! Compressed tar archives whose bytes depend on their contents alone.

use crate::say;
use crate::workspace::files_below;
use anyhow::{Context, Result};
use data_sets::files::{sha256_hex, write_whole};
use flate2::{Compression, GzBuilder};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

/// Files to pack, all in one folder with the name of the archive.
pub(super) struct Archive {
    name: String,
    /// Mode and content by path, sorted so that the order is always the same.
    entries: BTreeMap<String, (u32, Vec<u8>)>,
}

impl Archive {
    /// Starts an archive with the files of a folder of the checkout, and the licenses of Gradmark.
    pub(super) fn new(top: &Path, name: String, folder: &str) -> Result<Self> {
        let mut archive = Self { name, entries: BTreeMap::new() };
        archive.add_folder("", &top.join(folder))?;
        for license in ["LICENSE-APACHE", "LICENSE-MIT"] {
            archive.add_file(license, &top.join(license))?;
        }
        Ok(archive)
    }

    /// Adds a program, with the extension of programs on this platform.
    pub(super) fn add_program(&mut self, name: &str, bytes: Vec<u8>) {
        self.entries.insert(format!("{name}{}", std::env::consts::EXE_SUFFIX), (0o755, bytes));
    }

    pub(super) fn add_text(&mut self, path: &str, bytes: impl Into<Vec<u8>>) {
        self.entries.insert(path.to_owned(), (0o644, bytes.into()));
    }

    pub(super) fn add_file(&mut self, path: &str, file: &Path) -> Result<()> {
        self.add_text(path, fs::read(file).with_context(|| format!("cannot pack {}", file.display()))?);
        Ok(())
    }

    /// Adds every file below a folder, except those that tools keep in names with a leading dot.
    pub(super) fn add_folder(&mut self, path: &str, folder: &Path) -> Result<()> {
        for file in files_below(folder)? {
            let parts: Vec<_> = file.strip_prefix(folder)?.iter().map(|part| part.to_string_lossy()).collect();
            if !parts.iter().any(|part| part.starts_with('.')) {
                self.add_file(format!("{path}/{}", parts.join("/")).trim_start_matches('/'), &file)?;
            }
        }
        Ok(())
    }

    /// Writes the archive, and its SHA-256 in the format of `sha256sum`, into a folder.
    pub(super) fn save(&self, out: &Path, unix_seconds: u64) -> Result<()> {
        let name = format!("{}.tar.gz", self.name);
        say::step("Packing", out.join(&name).display().to_string());
        let bytes = self.to_bytes(unix_seconds)?;
        let digest = sha256_hex(&bytes);
        write_whole(&out.join(&name), |to| Ok(to.write_all(&bytes)?))?;
        write_whole(&out.join(format!("{name}.sha256")), |to| Ok(writeln!(to, "{digest}  {name}")?))?;
        say::step("Packed", format!("{name}: {} kB, SHA-256 {digest}", bytes.len() / 1000));
        Ok(())
    }

    /// Packs all entries with the same owner and the same time; the time in the gzip header is 0.
    fn to_bytes(&self, unix_seconds: u64) -> Result<Vec<u8>> {
        let mut tar = tar::Builder::new(GzBuilder::new().write(Vec::new(), Compression::default()));
        for (path, (mode, bytes)) in &self.entries {
            let mut header = tar::Header::new_gnu();
            header.set_entry_type(tar::EntryType::Regular);
            header.set_mode(*mode);
            header.set_mtime(unix_seconds);
            header.set_uid(0);
            header.set_gid(0);
            header.set_size(u64::try_from(bytes.len())?);
            tar.append_data(&mut header, format!("{}/{path}", self.name), bytes.as_slice())?;
        }
        Ok(tar.into_inner()?.finish()?)
    }
}

/// Returns the time of the commit, so that the same commit gives the same archive.
pub(super) fn commit_time(top: &Path) -> u64 {
    let output = Command::new("git").args(["log", "-1", "--format=%ct"]).current_dir(top).output();
    let text = output.ok().and_then(|output| String::from_utf8(output.stdout).ok());
    text.and_then(|text| text.trim().parse().ok()).unwrap_or_else(|| {
        say::warn("this is not a git checkout with a commit: the files in the archives are dated 1970");
        0
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Packs a checkout whose files have this text.
    fn pack(text: &str) -> Archive {
        let files = ["LICENSE-APACHE", "LICENSE-MIT", "packaging/README.md", "page/js/b.js", "page/.verified.json"];
        let top = crate::check::tree(&files.map(|file| (file, text)));
        let mut archive = Archive::new(top.path(), "server-1.2.3".to_owned(), "packaging").unwrap();
        archive.add_program("leaderboard", b"a program".to_vec());
        archive.add_folder("page", &top.path().join("page")).unwrap();
        archive
    }

    #[test]
    fn bytes_follow_from_the_contents() {
        let bytes = |text| pack(text).to_bytes(7).unwrap();
        assert_eq!(bytes("a page"), bytes("a page"));
        assert_ne!(bytes("a page"), bytes("another"));
    }

    #[test]
    fn a_missing_file_is_named() {
        let error = Archive::new(Path::new("/nowhere"), String::new(), "packaging").err().unwrap().to_string();
        assert!(error.contains("/nowhere/packaging"), "{error}");
        let error = pack("").add_file("LICENSE-MIT", Path::new("/nowhere/LICENSE-MIT")).unwrap_err().to_string();
        assert_eq!(error, "cannot pack /nowhere/LICENSE-MIT");
    }

    #[test]
    fn saves_every_file_below_one_folder_and_the_digest() {
        let out = tempfile::tempdir().unwrap();
        pack("a page").save(out.path(), 7).unwrap();
        let read = |name: &str| fs::read(out.path().join(name)).unwrap();
        let bytes = read("server-1.2.3.tar.gz");
        let digest = format!("{}  server-1.2.3.tar.gz\n", sha256_hex(&bytes));
        assert_eq!(read("server-1.2.3.tar.gz.sha256"), digest.as_bytes());
        let mut tar = tar::Archive::new(flate2::read::GzDecoder::new(bytes.as_slice()));
        let found = tar.entries().unwrap().map(|entry| {
            let entry = entry.unwrap();
            format!("{} {:o}", entry.path().unwrap().display(), entry.header().mode().unwrap())
        });
        let program = format!("leaderboard{} 755", std::env::consts::EXE_SUFFIX);
        let expected = ["LICENSE-APACHE 644", "LICENSE-MIT 644", "README.md 644", &program, "page/js/b.js 644"];
        assert_eq!(found.collect::<Vec<_>>(), expected.map(|line| format!("server-1.2.3/{line}")));
    }
}
