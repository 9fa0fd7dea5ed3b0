//! A compressed tar archive whose bytes follow from its contents alone.

use super::files_below;
use crate::say;
use anyhow::{Context, Result};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

const PROGRAM: u32 = 0o755;
const PLAIN: u32 = 0o644;

/// What is to be packed, by path inside the archive's one top folder, which has the archive's name.
pub(super) struct Archive {
    name: String,
    /// Sorted, so that the order is always the same.
    entries: BTreeMap<String, (u32, Content)>,
}

enum Content {
    File(PathBuf),
    Bytes(Vec<u8>),
}

impl Archive {
    pub(super) fn new(name: String) -> Self {
        Self { name, entries: BTreeMap::new() }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// A program, with the ending that programs have here.
    pub(super) fn program(&mut self, name: &str, bytes: Vec<u8>) {
        self.entries.insert(format!("{name}{}", std::env::consts::EXE_SUFFIX), (PROGRAM, Content::Bytes(bytes)));
    }

    pub(super) fn text(&mut self, place: &str, bytes: impl Into<Vec<u8>>) {
        self.entries.insert(place.to_owned(), (PLAIN, Content::Bytes(bytes.into())));
    }

    pub(super) fn file(&mut self, place: &str, file: &Path) {
        self.entries.insert(place.to_owned(), (PLAIN, Content::File(file.to_owned())));
    }

    /// Every file below a folder, except notes of tools, whose names begin with a point.
    pub(super) fn folder(&mut self, place: &str, folder: &Path) -> Result<()> {
        for file in files_below(folder)? {
            let inside = file.strip_prefix(folder)?;
            let parts: Vec<_> = inside.iter().map(|part| part.to_string_lossy()).collect();
            if parts.iter().any(|part| part.starts_with('.')) {
                continue;
            }
            let below = parts.join("/");
            let place = if place.is_empty() { below } else { format!("{place}/{below}") };
            self.file(&place, &file);
        }
        Ok(())
    }

    /// Every entry has the same owner, which is nobody of this machine, and the same time.
    pub(super) fn write(&self, out: &mut dyn Write, unix_seconds: u64) -> Result<()> {
        // The header's own time stays 0.
        let compressed = flate2::GzBuilder::new().write(out, flate2::Compression::default());
        let mut tar = tar::Builder::new(compressed);
        for (place, (mode, content)) in &self.entries {
            let mut header = tar::Header::new_gnu();
            header.set_entry_type(tar::EntryType::Regular);
            header.set_mode(*mode);
            header.set_mtime(unix_seconds);
            header.set_uid(0);
            header.set_gid(0);
            let path = format!("{}/{place}", self.name);
            match content {
                Content::Bytes(bytes) => {
                    header.set_size(u64::try_from(bytes.len())?);
                    tar.append_data(&mut header, path, bytes.as_slice())?;
                }
                Content::File(file) => {
                    let unreadable = || format!("cannot pack {}", file.display());
                    let opened = File::open(file).with_context(unreadable)?;
                    header.set_size(opened.metadata().with_context(unreadable)?.len());
                    tar.append_data(&mut header, path, opened).with_context(unreadable)?;
                }
            }
        }
        tar.into_inner()?.finish()?;
        Ok(())
    }
}

/// The time that all entries get: that of the commit, so that the same commit gives the same archive.
pub(super) fn time_of_commit(top: &Path) -> u64 {
    let output = Command::new("git").args(["log", "-1", "--format=%ct"]).current_dir(top).output();
    let said = output.ok().and_then(|output| String::from_utf8(output.stdout).ok());
    said.and_then(|text| text.trim().parse().ok()).unwrap_or_else(|| {
        say::warn("this is no git checkout with a commit, so that the files in the archives are from 1970");
        0
    })
}
