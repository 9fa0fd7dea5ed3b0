//! Data sets from files.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::{env, fs, io};

use async_trait::async_trait;
use engine::{DataError, DataFile, DataSet, DataSetDefinition, DataSource};

/// Reads data sets from the first of some folders that has them, each set once.
pub(crate) struct DataFolder {
    /// Where to look, in this order.
    places: Vec<PathBuf>,
    loaded: HashMap<String, Rc<DataSet>>,
}

impl DataFolder {
    /// Looks in `chosen` and nowhere else, or in the usual places if nothing was chosen.
    pub(crate) fn new(chosen: Option<&Path>) -> Self {
        let places = chosen.map_or_else(usual_places, |folder| vec![folder.to_owned()]);
        Self { places, loaded: HashMap::new() }
    }

    /// The two files of the set, from a single folder so that they belong together.
    fn read(&self, definition: &'static DataSetDefinition) -> Result<DataSet, DataError> {
        let here = |folder: &&PathBuf| folder.join(&definition.train.file).exists();
        let folder = self.places.iter().find(here).ok_or_else(|| self.missing(&definition.train))?;
        let file = |file: &DataFile| {
            let path = folder.join(&file.file);
            fs::read(&path).map_err(|error| match error.kind() {
                io::ErrorKind::NotFound => DataError::Missing { file: file.file.clone(), place: quoted(folder) },
                _ => DataError::Unreadable { file: path.display().to_string(), reason: error.to_string() },
            })
        };
        let (train, test) = (file(&definition.train)?, file(&definition.test)?);
        DataSet::from_files(definition, &train, &test).map_err(|error| in_folder(error, folder))
    }

    fn missing(&self, file: &DataFile) -> DataError {
        let places: Vec<String> = self.places.iter().map(|place| quoted(place)).collect();
        DataError::Missing { file: file.file.clone(), place: places.join(" and in ") }
    }
}

#[async_trait(?Send)]
impl DataSource for DataFolder {
    async fn load(&mut self, definition: &'static DataSetDefinition) -> Result<Rc<DataSet>, DataError> {
        if let Some(data) = self.loaded.get(&definition.name) {
            return Ok(Rc::clone(data));
        }
        let data = Rc::new(self.read(definition)?);
        self.loaded.insert(definition.name.clone(), Rc::clone(&data));
        Ok(data)
    }
}

/// `data` where the program was started, in the workspace it was built in, and beside the program.
fn usual_places() -> Vec<PathBuf> {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).parent().map(|folder| folder.join("data"));
    let beside = env::current_exe().ok().and_then(|program| Some(program.parent()?.join("data")));
    let mut places = vec![PathBuf::from("data")];
    // A program that was moved to another machine does not speak of folders that are not there.
    places.extend(workspace.filter(|folder| folder.is_dir()));
    places.extend(beside);
    places
}

/// The same error with the file's whole path, so that one of several copies can be found.
fn in_folder(error: DataError, folder: &Path) -> DataError {
    let path = |file: String| folder.join(file).display().to_string();
    match error {
        DataError::Missing { file, place } => DataError::Missing { file, place },
        DataError::Unreadable { file, reason } => DataError::Unreadable { file: path(file), reason },
        DataError::WrongSize { file, expected, found } => DataError::WrongSize { file: path(file), expected, found },
        DataError::Altered { file, expected, found } => DataError::Altered { file: path(file), expected, found },
        DataError::NotADataFile { file, reason } => DataError::NotADataFile { file: path(file), reason },
    }
}

fn quoted(folder: &Path) -> String {
    format!("`{}`", folder.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chosen_folder_is_the_only_place_searched() {
        let empty = tempfile::tempdir().unwrap();
        let error = DataFolder::new(Some(empty.path())).read(engine::data_set("mnist").unwrap()).unwrap_err();
        let expected = DataError::Missing { file: "mnist-train.bin".to_owned(), place: quoted(empty.path()) };
        assert_eq!(error, expected);
    }

    #[test]
    fn half_a_set_names_the_file_that_is_missing() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("mnist-train.bin"), b"GMDS").unwrap();
        let error = DataFolder::new(Some(folder.path())).read(engine::data_set("mnist").unwrap()).unwrap_err();
        assert!(matches!(&error, DataError::Missing { file, .. } if file == "mnist-test.bin"), "{error}");
    }
}
