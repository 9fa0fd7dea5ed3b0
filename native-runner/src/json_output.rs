use std::convert::Infallible;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use serde::Serialize;

use crate::failure::Failure;
use crate::screen::Screen;

/// A file, or standard output.
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
    /// Finds out before anything is trained whether the file can be written.
    ///
    /// # Errors
    /// It cannot, and why.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        let Self::File(path) = self else { return Ok(()) };
        let is_new = !path.exists();
        OpenOptions::new().append(true).create(true).open(path).map_err(|source| cannot_write(path, source))?;
        if is_new {
            fs::remove_file(path).map_err(|source| cannot_write(path, source))?;
        }
        Ok(())
    }

    /// Writes the text and a line end.
    ///
    /// # Errors
    /// The file cannot be written, or standard output is closed.
    pub(crate) fn write(&self, json: &str) -> Result<(), Failure> {
        match self {
            Self::StandardOutput => writeln!(io::stdout().lock(), "{json}").map_err(Failure::Output),
            Self::File(path) => fs::write(path, format!("{json}\n")).map_err(|source| cannot_write(path, source)),
        }
    }

    /// Where everything that is not JSON goes.
    pub(crate) fn screen_beside(target: Option<&Self>) -> Screen {
        match target {
            Some(Self::StandardOutput) => Screen::Error,
            Some(Self::File(_)) | None => Screen::Output,
        }
    }
}

/// Indented JSON, as written, shown and uploaded.
///
/// # Errors
/// A value that JSON cannot hold; the records have none.
pub(crate) fn to_json(value: &impl Serialize) -> Result<String, Failure> {
    serde_json::to_string_pretty(value).map_err(|error| Failure::File { what: "JSON".to_owned(), source: error.into() })
}

/// Writes the text and a line end to a file, which is there as a whole or as it was before: it is written under another name
/// and renamed once it is on the disc.
///
/// # Errors
/// The file cannot be written.
pub(crate) fn replace(path: &Path, json: &str) -> Result<(), Failure> {
    let mut name = path.as_os_str().to_owned();
    name.push(".partial");
    let partial = PathBuf::from(name);
    let write = || {
        let mut file = File::create(&partial)?;
        file.write_all(format!("{json}\n").as_bytes())?;
        file.sync_all()?;
        fs::rename(&partial, path)
    };
    write().map_err(|source| cannot_write(path, source))
}

pub(crate) fn cannot_write(path: &Path, source: io::Error) -> Failure {
    Failure::File { what: format!("cannot write {}", path.display()), source }
}
