use std::convert::Infallible;
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::{env, fs, io};

use serde::Serialize;
use tempfile::NamedTempFile;

use crate::failure::{Failure, Result};
use crate::machine::provenance;
use crate::screen::Screen;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum JsonTarget {
    StandardOutput,
    File(PathBuf),
}

impl FromStr for JsonTarget {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(if text == "-" { Self::StandardOutput } else { Self::File(text.into()) })
    }
}

impl JsonTarget {
    /// Checks before any training that the file can be written.
    pub(crate) fn check(&self) -> Result<()> {
        let Self::File(path) = self else { return Ok(()) };
        let check = || -> io::Result<()> {
            let Some(file) = regular(path)? else { return Ok(()) };
            if file.exists() {
                OpenOptions::new().append(true).open(&file)?;
            }
            temporary_beside(&file).map(drop)
        };
        check().map_err(|source| cannot_write(path, source))
    }

    pub(crate) fn write(&self, text: &str) -> Result<()> {
        match self {
            Self::StandardOutput => writeln!(io::stdout().lock(), "{text}").map_err(Failure::Output),
            Self::File(path) => replace(path, format!("{text}\n").as_bytes()),
        }
    }

    /// Returns the screen for everything that is not JSON.
    pub(crate) fn screen_beside(target: Option<&Self>) -> Screen {
        if target == Some(&Self::StandardOutput) { Screen::Error } else { Screen::Output }
    }
}

pub(crate) fn to_json(value: &impl Serialize) -> Result<String> {
    serde_json::to_string_pretty(value).map_err(cannot_be_json)
}

pub(crate) fn cannot_be_json(error: serde_json::Error) -> Failure {
    Failure::File { what: "JSON".to_owned(), source: error.into() }
}

/// Writes results after showing them. If either fails, a copy is kept.
pub(crate) fn deliver(shown: Result<()>, target: Option<&JsonTarget>, json: &str) -> Result<()> {
    let written = target.map_or(Ok(()), |target| target.write(json));
    // The reader has closed the pipe, as `head` does.
    let shown = shown.or_else(|failure| if failure.is_closed_pipe() { Ok(()) } else { Err(failure) });
    let Err(failure) = shown.and(written) else { return Ok(()) };
    match keep(&format!("gradmark-{:.0}", provenance().started_unix_seconds), json) {
        Ok(file) => Err(failure.with_advice(format!("A copy of the results is in {}", file.display()))),
        // Neither folder can be written to.
        Err(_) => Err(failure),
    }
}

/// Writes results to a new file `NAME.json`, and returns its path.
pub(crate) fn keep(name: &str, json: &str) -> Result<PathBuf> {
    keep_in(Path::new(""), name, json).or_else(|source| {
        keep_in(&env::temp_dir(), name, json).map_err(|_| cannot_write(Path::new(&format!("{name}.json")), source))
    })
}

/// Appends a number to the name if it is taken.
fn keep_in(folder: &Path, name: &str, json: &str) -> io::Result<PathBuf> {
    let (mut path, mut number) = (folder.join(format!("{name}.json")), 1);
    let mut file = loop {
        match File::create_new(&path) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => number += 1,
            created => break created?,
        }
        path = folder.join(format!("{name}-{number}.json"));
    };
    let written = file.write_all(json.as_bytes()).and_then(|()| file.sync_all());
    if written.is_err() {
        // A partial record is useless.
        let _ = fs::remove_file(&path);
    }
    written.map(|()| path)
}

pub(crate) fn replace(path: &Path, content: &[u8]) -> Result<()> {
    replace_file(path, content).map_err(|source| cannot_write(path, source))
}

/// Replaces a file atomically, once its content is on the disk. Keeps links; writes pipes and devices directly.
pub(crate) fn replace_file(path: &Path, content: &[u8]) -> io::Result<()> {
    let Some(file) = regular(path)? else {
        return OpenOptions::new().write(true).open(path)?.write_all(content);
    };
    let mut partial = temporary_beside(&file)?;
    partial.as_file_mut().write_all(content)?;
    partial.as_file().sync_all()?;
    partial.persist(file)?;
    Ok(())
}

pub(crate) fn holds_something(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|found| found.is_file() && found.len() > 0)
}

/// Returns the regular file that a path leads to, existing or not; `None` for a pipe or a device.
fn regular(path: &Path) -> io::Result<Option<PathBuf>> {
    match fs::metadata(path) {
        Ok(found) if found.is_dir() => return Err(ErrorKind::IsADirectory.into()),
        Ok(found) if !found.is_file() => return Ok(None),
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
        Ok(_) | Err(_) => {}
    }
    let mut file = path.to_owned();
    // `canonicalize` refuses a link to a file that does not exist yet.
    while file.is_symlink() {
        file = folder_of(&file).join(fs::read_link(&file)?);
    }
    Ok(Some(folder_of(&file).join(file.file_name().ok_or(ErrorKind::NotFound)?)))
}

fn temporary_beside(file: &Path) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".gradmark-").suffix(".partial");
    // The user's umask decides who may read the file, as usual.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder.tempfile_in(folder_of(file))
}

fn folder_of(file: &Path) -> &Path {
    file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

pub(crate) fn cannot_write(path: &Path, source: io::Error) -> Failure {
    Failure::File { what: format!("cannot write {}", path.display()), source }
}

pub(crate) fn cannot_read(path: &Path, source: io::Error) -> Failure {
    Failure::File { what: format!("cannot read {}", path.display()), source }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(path: &Path) -> JsonTarget {
        JsonTarget::File(path.to_owned())
    }

    #[test]
    fn copies_never_take_each_others_place() {
        let folder = tempfile::tempdir().unwrap();
        let kept = ["one", "two"].map(|json| keep_in(folder.path(), "run", json).unwrap());
        assert_eq!(kept, ["run.json", "run-2.json"].map(|name| folder.path().join(name)));
        assert_eq!(kept.map(|file| fs::read_to_string(file).unwrap()), ["one", "two"]);
    }

    #[test]
    fn failed_write_leaves_the_old_file_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.json");
        target(&file).check().unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        target(&file).write("old").unwrap();
        for wrong in [folder.path().to_owned(), file.join("b.json"), PathBuf::new()] {
            assert!(target(&wrong).check().is_err() && target(&wrong).write("new").is_err(), "{}", wrong.display());
        }
        assert_eq!(fs::read_to_string(&file).unwrap(), "old\n");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn link_stays_a_link_and_its_target_is_written() {
        let folder = tempfile::tempdir().unwrap();
        let (link, file) = (folder.path().join("link.json"), folder.path().join("new.json"));
        std::os::unix::fs::symlink("new.json", &link).unwrap();
        target(&link).check().unwrap();
        assert!(!file.exists());
        for text in ["one", "two"] {
            target(&link).write(text).unwrap();
            assert_eq!((link.is_symlink(), fs::read_to_string(&file).unwrap()), (true, format!("{text}\n")));
        }
    }

    #[cfg(unix)]
    #[test]
    fn pipe_is_opened_once_and_stays() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        // Opening the pipe would wait for a reader.
        target(&pipe).check().unwrap();
        let reading = pipe.clone();
        let reader = std::thread::spawn(move || fs::read_to_string(reading).unwrap());
        target(&pipe).write("whole").unwrap();
        assert_eq!(reader.join().unwrap(), "whole\n");
        assert!(!fs::metadata(&pipe).unwrap().is_file());
    }
}
