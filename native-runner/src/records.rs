//! Stored records: one per file, several in the document of a comparison, or a folder of such files.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::{fs, io};

use results::kernels::{KERNELS_SCHEMA_VERSION, KernelRecord};
use results::{RunRecord, SCHEMA_VERSION};
use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use walkdir::WalkDir;

use crate::failure::{Failure, Result};
use crate::json_output::cannot_read;

const STANDARD_INPUT: &str = "-";
const HOW_TO_MAKE_ONE: &str = "records are written by `native-runner --json FILE` and `--output FOLDER`";

#[derive(Clone, Debug)]
pub(crate) struct KeptRecord {
    pub(crate) record: RunRecord,
    /// File, and the position in it if it holds several records.
    pub(crate) place: String,
    /// True if only its folder was named.
    pub(crate) is_of_folder: bool,
}

#[derive(Default)]
pub(crate) struct FoundRecords {
    pub(crate) records: Vec<KeptRecord>,
    pub(crate) kernels: Vec<(String, KernelRecord)>,
    /// Other JSON files of the folder.
    pub(crate) others: Vec<String>,
}

pub(crate) fn read_one(path: &Path) -> Result<RunRecord> {
    RecordSource::read(path)?.record()
}

/// Reads the records of a file, of every `.json` file below a folder, or of standard input.
pub(crate) fn read(path: &Path) -> Result<FoundRecords> {
    let mut found = FoundRecords::default();
    let is_folder = path.is_dir();
    for file in if is_folder { files_below(path)? } else { vec![path.to_owned()] } {
        let source = RecordSource::read(&file)?;
        let is_json = || serde_json::from_str::<IgnoredAny>(&source.text).is_ok();
        let has_none = |shape: &DocumentShape| shape.workloads.is_none() && shape.records.is_none();
        match source.kernels() {
            Some(kernels) => found.kernels.push((source.name, kernels)),
            None if is_folder && is_json() && source.shape.as_ref().is_none_or(has_none) => {
                found.others.push(source.name)
            }
            None => found.records.extend(source.records(is_folder)?),
        }
    }
    Ok(found)
}

/// Lists each `.json` file below a folder once, following links.
fn files_below(folder: &Path) -> Result<Vec<PathBuf>> {
    let is_json = |path: &Path| path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("json"));
    let (mut files, mut seen) = (Vec::new(), BTreeSet::new());
    for entry in WalkDir::new(folder).follow_links(true).sort_by_file_name() {
        let entry = match entry {
            Ok(entry) => entry,
            // A folder above the link is read anyway.
            Err(error) if error.loop_ancestor().is_some() => continue,
            // A broken link that was never a record.
            Err(error) if error.path().is_some_and(|path| path.is_symlink() && !is_json(path)) => continue,
            Err(error) => {
                let path = error.path().unwrap_or(folder).to_owned();
                let source = error.into_io_error().unwrap_or_else(|| io::ErrorKind::Other.into());
                return Err(cannot_read(&path, source));
            }
        };
        if entry.file_type().is_file() && is_json(entry.path()) {
            let place = fs::canonicalize(entry.path()).map_err(|source| cannot_read(entry.path(), source))?;
            if seen.insert(place) {
                files.push(entry.into_path());
            }
        }
    }
    Ok(files)
}

struct RecordSource {
    name: String,
    text: String,
    shape: Option<DocumentShape>,
}

/// Fields that identify a kind of document.
#[derive(Deserialize)]
struct DocumentShape {
    schema_version: Option<u64>,
    workloads: Option<IgnoredAny>,
    records: Option<IgnoredAny>,
}

/// Records in the output of `--backend all --json`; other fields are ignored.
#[derive(Deserialize)]
struct Several {
    records: Vec<RunRecord>,
}

impl RecordSource {
    fn read(path: &Path) -> Result<Self> {
        let is_input = path.as_os_str() == STANDARD_INPUT;
        let name = if is_input { "standard input".to_owned() } else { path.display().to_string() };
        let mut content = Vec::new();
        let read = if is_input {
            io::stdin().lock().read_to_end(&mut content)
        } else {
            File::open(path).and_then(|mut file| file.read_to_end(&mut content))
        };
        match read.and_then(|_| results::decode(&content).map_err(io::Error::other)) {
            Ok(text) => Ok(Self { name, text: text.to_owned(), shape: serde_json::from_str(text).ok() }),
            Err(source) => Err(Failure::File { what: format!("cannot read {name}"), source }),
        }
    }

    fn kernels(&self) -> Option<KernelRecord> {
        let record: KernelRecord = serde_json::from_str(&self.text).ok()?;
        (record.report.schema_version == KERNELS_SCHEMA_VERSION).then_some(record)
    }

    fn record(&self) -> Result<RunRecord> {
        let record: RunRecord = self.parse()?;
        self.check_version(&record, "")?;
        Ok(record)
    }

    fn records(&self, is_of_folder: bool) -> Result<Vec<KeptRecord>> {
        let kept = |record, place| KeptRecord { record, place, is_of_folder };
        if self.shape.as_ref().is_none_or(|shape| shape.records.is_none()) {
            return Ok(vec![kept(self.record()?, self.name.clone())]);
        }
        let several: Several = self.parse()?;
        let checked = several.records.into_iter().enumerate().map(|(number, record)| {
            self.check_version(&record, &format!(" in records[{number}]"))?;
            Ok(kept(record, format!("{}, records[{number}]", self.name)))
        });
        checked.collect()
    }

    /// Parses the text. An error contains its position.
    fn parse<T: DeserializeOwned>(&self) -> Result<T> {
        let mut json = serde_json::Deserializer::from_str(&self.text);
        let value = serde_path_to_error::deserialize(&mut json).map_err(|error| {
            let path = error.path().to_string();
            let place = if path == "." { String::new() } else { format!(" in {path}") };
            self.unusable(&format!("{}{place}", error.inner()))
        })?;
        let rest = |error: serde_json::Error| self.unusable(&format!("{error}; a file must have a single document"));
        json.end().map_err(rest)?;
        Ok(value)
    }

    fn check_version(&self, record: &RunRecord, place: &str) -> Result<()> {
        if record.schema_version == SCHEMA_VERSION {
            return Ok(());
        }
        Err(self.unusable(&format!("{}{place}", versions(record.schema_version.into()))))
    }

    fn unusable(&self, reason: &str) -> Failure {
        let layout = self.shape.as_ref().filter(|shape| shape.records.is_none()).and_then(|shape| shape.schema_version);
        // A different layout explains missing or unknown fields.
        let layout = layout.filter(|version| *version != u64::from(SCHEMA_VERSION) && !reason.contains("its layout"));
        let layout = layout.map_or_else(String::new, |version| format!("; {}", versions(version)));
        Failure::Usage(format!("{} is not a record: {reason}{layout}; {HOW_TO_MAKE_ONE}", self.name))
    }
}

fn versions(found: u64) -> String {
    format!("its layout has version {found}, but this program supports version {SCHEMA_VERSION}")
}
