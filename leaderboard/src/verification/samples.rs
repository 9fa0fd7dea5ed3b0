use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use engine::{DataSet, data_set};

/// The data sets, as runs are computed again with them; cloning shares them.
#[derive(Clone)]
pub(crate) struct Samples {
    folder: Option<PathBuf>,
    /// The latest one: runs of a suite use few.
    latest: Arc<Mutex<Option<Named>>>,
}

/// A data set and its name.
type Named = (String, Arc<DataSet>);

impl Samples {
    pub(crate) fn new(folder: Option<PathBuf>) -> Self {
        Self { folder, latest: Arc::default() }
    }

    /// The set of this name.
    ///
    /// # Errors
    /// Why there is none, as a part of a sentence.
    pub(crate) fn of(&self, name: &str) -> Result<Arc<DataSet>, String> {
        // What is kept is whole even where a thread ended while it held this.
        let mut latest = self.latest.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, set)) = latest.as_ref().filter(|(of, _)| of == name) {
            return Ok(Arc::clone(set));
        }
        // The one before makes room first.
        *latest = None;
        let set = Arc::new(self.read(name)?);
        *latest = Some((name.to_owned(), Arc::clone(&set)));
        Ok(set)
    }

    fn read(&self, name: &str) -> Result<DataSet, String> {
        let definition = data_set(name).ok_or_else(|| format!("it knows no data set named {name}"))?;
        if let Some(generated) = DataSet::generated(definition) {
            return Ok(generated);
        }
        let files = definition.file_names().ok_or("no files hold its data set")?;
        let folder = self.folder.as_ref().ok_or("it has no data sets")?;
        let read =
            |file: &str| std::fs::read(folder.join(file)).map_err(|cause| format!("it cannot read {file}: {cause}"));
        let [train, test] = files.map(read);
        DataSet::from_files(definition, train?, test?).map_err(|cause| cause.to_string())
    }
}
