//! The note of what was verified, so that a second start need not read hundreds of megabytes again.
//!
//! A file is trusted without reading it when it has the size and the time of change that it had when its SHA-256 was
//! found to be the registered one. A stamp that cannot be read is no stamp: everything is then verified.

use crate::files::{outside_look, write_whole};
use crate::registry::DataFile;
use anyhow::Result;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

#[derive(Default, Serialize, Deserialize)]
pub(crate) struct Stamp {
    verified: BTreeMap<String, Look>,
}

/// How a file looked when it was verified, and what it was verified against.
#[derive(PartialEq, Eq, Serialize, Deserialize)]
struct Look {
    bytes: u64,
    modified_nanoseconds: u64,
    sha256: String,
}

impl Look {
    fn at(path: &Path, file: &DataFile) -> Option<Self> {
        let (bytes, modified_nanoseconds) = outside_look(path)?;
        Some(Self { bytes, modified_nanoseconds, sha256: file.sha256.clone() })
    }
}

impl Stamp {
    pub(crate) fn path(folder: &Path) -> PathBuf {
        folder.join(".verified.json")
    }

    pub(crate) fn read(folder: &Path) -> Self {
        fs::read(Self::path(folder)).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default()
    }

    pub(crate) fn write(&self, folder: &Path) -> Result<()> {
        let text = serde_json::to_string_pretty(self)?;
        if fs::read_to_string(Self::path(folder)).is_ok_and(|old| old == text) {
            return Ok(());
        }
        write_whole(&Self::path(folder), |out| Ok(out.write_all(text.as_bytes())?))
    }

    /// Notes how a verified file and its compressed twin look now.
    pub(crate) fn record(&mut self, folder: &Path, file: &DataFile) {
        for name in [file.file.clone(), file.compressed_name()] {
            match Look::at(&folder.join(&name), file) {
                Some(look) => self.verified.insert(name, look),
                None => self.verified.remove(&name),
            };
        }
    }

    /// Whether the named file (a registered one or its twin) looks as it did when it was verified.
    pub(crate) fn knows(&self, folder: &Path, file: &DataFile, name: &str) -> bool {
        let known = self.verified.get(name);
        known.is_some() && known == Look::at(&folder.join(name), file).as_ref()
    }
}
