//! Archives: read in memory, never unpacked to disk.

use crate::sources::Source;
use anyhow::{Context, Result, bail};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

/// The needed files of an archive, by their path in it.
#[derive(Debug)]
pub(crate) struct Entries(BTreeMap<String, Vec<u8>>);

impl Entries {
    pub(crate) fn get(&self, path: &str) -> Result<&[u8]> {
        self.0.get(path).map(Vec::as_slice).with_context(|| format!("{path} is not in the archive"))
    }

    pub(crate) fn labels(&self, path: &str) -> Result<Vec<u8>> {
        serde_json::from_slice(self.get(path)?).with_context(|| format!("{path} is not a list of labels"))
    }
}

/// Reads the files that a source needs from its gzipped tar archive.
pub(crate) fn unpack(archive: &Path, source: &Source) -> Result<Entries> {
    let wanted = source.paths();
    let file = File::open(archive).with_context(|| format!("cannot open {}", archive.display()))?;
    let mut tar = tar::Archive::new(flate2::read::GzDecoder::new(BufReader::new(file)));
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
        None => Ok(Entries(entries)),
    }
}
