//! Data sets loaded from files.

use std::collections::HashMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use std::{env, fs, io};

use async_trait::async_trait;
use data_sets::{Package, Store, StoreHost};
use engine::{DataError, DataSet, DataSetDefinition, DataSource, Origin, Workload};
use serde::Serialize;
use ureq::Agent;

use crate::arguments::DataArgs;
use crate::failure::{Failure, Result};
use crate::leaderboard;
use crate::machine::cache;
use crate::progress::bar;
use crate::screen::Screen;
use crate::text;

/// Reads each data set once, from the first folder that has it.
pub(crate) struct LocalData {
    places: Vec<PathBuf>,
    /// Folder of the published stories; if absent, stories are generated.
    stories: Option<PathBuf>,
    /// True if noise replaces the sets with files.
    noise: bool,
    loaded: HashMap<String, Arc<DataSet>>,
    repairs: Vec<String>,
}

/// Source of a data set. In JSON the tag is `whence`, which scripts read.
#[derive(Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "whence", rename_all = "snake_case")]
pub(crate) enum Availability {
    Files { folder: PathBuf },
    Generated,
    AlwaysGenerated,
    Missing,
}

impl Availability {
    pub(crate) fn text(&self) -> String {
        match self {
            Self::Files { folder } => format!("files in {}", quoted(folder)),
            Self::Generated => "generated; set --babi to the folder of the published files".to_owned(),
            Self::AlwaysGenerated => "always generated, never ranked".to_owned(),
            Self::Missing => "missing; fetched when needed, or with `native-runner fetch-data`".to_owned(),
        }
    }
}

impl LocalData {
    /// Reads from the chosen folder alone, or from the usual places.
    pub(crate) fn new(chosen: &DataArgs) -> Self {
        let places = chosen.folder.as_ref().map_or_else(usual_places, |folder| vec![folder.clone()]);
        Self { places, stories: chosen.babi.clone(), noise: false, loaded: HashMap::new(), repairs: Vec::new() }
    }

    /// Reads from the same places, but first fetches sets that these workloads need and no place has, unless a folder
    /// was chosen. With `noise`, generates noise instead of reading files.
    pub(crate) fn with_data_of(chosen: &DataArgs, workloads: &[Workload], noise: bool) -> Result<Self> {
        let folder = Self { noise, ..Self::new(chosen) };
        let is_missing =
            |name: &&str| engine::data_set(name).is_some_and(|set| folder.availability(set) == Availability::Missing);
        let mut missing: Vec<&str> = workloads.iter().map(|workload| workload.data_set).filter(is_missing).collect();
        missing.dedup();
        if chosen.folder.is_none() && !missing.is_empty() {
            make(&missing, &place_to_fetch_to(), false)?;
        }
        Ok(folder)
    }

    pub(crate) fn availability(&self, definition: &DataSetDefinition) -> Availability {
        match (&definition.origin, &self.stories) {
            (Origin::Files { .. } | Origin::Text { .. }, _) if self.noise => Availability::AlwaysGenerated,
            (Origin::Files { .. } | Origin::Text { .. }, _) => self
                .folder_of(definition)
                .map_or(Availability::Missing, |folder| Availability::Files { folder: folder.clone() }),
            (Origin::Stories(_), Some(folder)) => Availability::Files { folder: folder.clone() },
            (Origin::Stories(_), None) => Availability::Generated,
            (Origin::Images { .. }, _) => Availability::AlwaysGenerated,
        }
    }

    /// Adds the commands that fetch missing data sets.
    pub(crate) fn advised(&self, failure: impl Into<Failure>) -> Failure {
        let failure = failure.into();
        if self.repairs.is_empty() {
            return failure;
        }
        failure.with_advice(format!("To fetch it again:\n  {}", self.repairs.join("\n  ")))
    }

    fn read(&self, definition: &'static DataSetDefinition) -> Result<DataSet, DataError> {
        match self.availability(definition) {
            Availability::Files { folder } => read_from(&folder, definition),
            Availability::Generated | Availability::AlwaysGenerated => {
                Ok(DataSet::generated(definition).unwrap_or_else(|| DataSet::noise(definition)))
            }
            Availability::Missing => {
                let places: Vec<String> = self.places.iter().map(|place| quoted(place)).collect();
                let (file, place) = (files_of(definition)[0].to_owned(), places.join(" and in "));
                Err(DataError::Missing { file, place })
            }
        }
    }

    fn folder_of(&self, definition: &DataSetDefinition) -> Option<&PathBuf> {
        self.places.iter().find(|folder| folder.join(files_of(definition)[0]).exists())
    }
}

pub(crate) fn fetching(name: &str, folder: Option<&Path>) -> String {
    let quoted = |folder: &Path| format!(" --data {}", text::quoted(&folder.display().to_string()));
    format!("native-runner fetch-data {name}{}", folder.map(quoted).unwrap_or_default())
}

fn files_of(definition: &DataSetDefinition) -> [&str; 2] {
    definition.file_names().expect("only what has files is looked for in folders")
}

/// Reads both files of the set from the same folder, so that they match.
fn read_from(folder: &Path, definition: &'static DataSetDefinition) -> Result<DataSet, DataError> {
    let read = |name: &str| {
        let path = folder.join(name);
        fs::read(&path).map_err(|error| {
            let (file, place) = (name.to_owned(), quoted(folder));
            match (error.kind(), &definition.origin) {
                (io::ErrorKind::NotFound, Origin::Stories(_)) => DataError::NoStories { file, place },
                (io::ErrorKind::NotFound, _) => DataError::Missing { file, place },
                _ => DataError::Unreadable { file: path.display().to_string(), reason: error.to_string() },
            }
        })
    };
    let [train, test] = files_of(definition).map(read);
    DataSet::from_files(definition, train?, test?).map_err(|mut error| {
        // The folder identifies one of several copies.
        match &mut error {
            DataError::Missing { .. } | DataError::NoStories { .. } => {}
            DataError::Unreadable { file, .. }
            | DataError::WrongSize { file, .. }
            | DataError::Altered { file, .. }
            | DataError::NotADataFile { file, .. }
            | DataError::BadLine { file, .. }
            | DataError::NotStories { file, .. } => *file = folder.join(&*file).display().to_string(),
        }
        error
    })
}

#[async_trait(?Send)]
impl DataSource for LocalData {
    async fn load(&mut self, definition: &'static DataSetDefinition) -> Result<Arc<DataSet>, DataError> {
        if let Some(data) = self.loaded.get(&definition.name) {
            return Ok(Arc::clone(data));
        }
        tracing::info!(set = %definition.name, "data: {}", self.availability(definition).text());
        let data = self.read(definition);
        if data.is_err() && definition.compact_files().is_some() {
            let folder = self.folder_of(definition).or(self.places.first());
            self.repairs.push(fetching(&definition.name, folder.map(PathBuf::as_path)));
        }
        let data = Arc::new(data?);
        self.loaded.insert(definition.name.clone(), Arc::clone(&data));
        Ok(data)
    }
}

/// Returns `data` in the working folder, in the workspace of the build, next to the program, and in the user's cache.
fn usual_places() -> Vec<PathBuf> {
    let beside = env::current_exe().ok().and_then(|program| Some(program.parent()?.join("data")));
    let cache = cache().map(|cache| cache.join("data"));
    [Some(PathBuf::from("data")), workspace(), beside, cache].into_iter().flatten().collect()
}

pub(crate) fn place_to_fetch_to() -> PathBuf {
    workspace().or_else(|| Some(cache()?.join("data"))).unwrap_or_else(|| PathBuf::from("data"))
}

/// Returns the data folder of the workspace that the program was built in, if it still exists.
fn workspace() -> Option<PathBuf> {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).parent()?;
    top.join("Cargo.lock").is_file().then(|| top.join("data"))
}

fn quoted(folder: &Path) -> String {
    format!("`{}`", folder.display())
}

/// Download time of 170 MB at half a megabit per second.
const DOWNLOAD_TIMEOUT: Duration = Duration::from_secs(3600);
const CONNECTION_TIMEOUT: Duration = Duration::from_secs(30);
const MAX_ARCHIVE_BYTES: u64 = 1 << 30;
const TEMPLATE: &str = "  {wide_bar:.cyan/dim} {bytes} of {total_bytes}, {bytes_per_sec}";

/// Creates these data sets in a folder, optionally with compressed twins, from cached or downloaded archives.
pub(crate) fn make(sets: &[&str], folder: &Path, compressed: bool) -> Result<()> {
    let archives = cache().unwrap_or_else(env::temp_dir).join("archives");
    let store = Store::new(folder.to_owned(), archives, Registry).only(sets);
    let store = if compressed { store } else { store.uncompressed() };
    store.ensure(false).map_err(|error| Failure::Incomplete(format!("{error:#}")))?;
    Ok(())
}

struct Registry;

impl StoreHost for Registry {
    fn download(&self, package: &Package, to: &Path) -> anyhow::Result<()> {
        let config = Agent::config_builder()
            .timeout_connect(Some(CONNECTION_TIMEOUT))
            .timeout_global(Some(DOWNLOAD_TIMEOUT))
            .tls_config(leaderboard::trusted())
            .user_agent(concat!("gradmark-native-runner/", env!("CARGO_PKG_VERSION")));
        let mut answer = config.build().new_agent().get(package.address()).call()?;
        let bytes = answer.body().content_length();
        let bar = bar(TEMPLATE, bytes.is_some());
        bar.set_length(bytes.unwrap_or_default());
        let body = answer.body_mut().with_config().limit(MAX_ARCHIVE_BYTES).reader();
        let copied = io::copy(&mut bar.wrap_read(body), &mut File::create(to)?);
        bar.finish_and_clear();
        copied?;
        Ok(())
    }

    fn step(&self, verb: &'static str, what: &str) {
        // Without standard error, no progress is shown.
        drop(Screen::Error.line(&format!("{verb} {what}")));
    }

    fn note(&self, what: &str) {
        drop(Screen::Error.line(&format!("note: {what}")));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data(folder: &Path, babi: Option<&Path>) -> LocalData {
        LocalData::new(&DataArgs { folder: Some(folder.to_owned()), babi: babi.map(Path::to_owned) })
    }

    #[test]
    fn half_a_set_names_the_file_that_is_missing() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("mnist-train.bin"), b"GMDS").unwrap();
        let error = data(folder.path(), None).read(engine::data_set("mnist").unwrap()).unwrap_err();
        assert!(matches!(&error, DataError::Missing { file, .. } if file == "mnist-test.bin"), "{error}");
    }

    #[test]
    fn stories_are_generated_only_where_no_folder_was_named() {
        let folder = tempfile::tempdir().unwrap();
        let stories = engine::data_set("babi-qa2").unwrap();
        assert_eq!(data(folder.path(), None).availability(stories), Availability::Generated);
        assert!(data(folder.path(), None).read(stories).unwrap().generated);

        let images = engine::data_set("generated-images-224").unwrap();
        assert_eq!(data(folder.path(), Some(folder.path())).availability(images), Availability::AlwaysGenerated);

        let published = data(folder.path(), Some(folder.path()));
        let error = published.read(stories).unwrap_err();
        assert!(matches!(&error, DataError::NoStories { file, .. } if file == files_of(stories)[0]), "{error}");
        for (name, line) in files_of(stories).into_iter().zip(["1 Ina ran to the pier.", "Ina ran."]) {
            fs::write(folder.path().join(name), line).unwrap();
        }
        let error = published.read(stories).unwrap_err().to_string();
        let path = folder.path().join(files_of(stories)[0]).display().to_string();
        assert!(error.starts_with(&path) && error.contains("0 questions"), "{error}");
    }
}
