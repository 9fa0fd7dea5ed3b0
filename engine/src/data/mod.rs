//! Data sets: what they are ([`DATA_SETS`]), and how their compact files are read and checked.

mod definition;
mod file;
mod images;
pub mod statistics;
mod stories;

use std::sync::Arc;

use async_trait::async_trait;

pub use definition::{DATA_SETS, DataFile, DataSetDefinition, Origin, SplitDefinition, data_set};
pub use images::GeneratedImages;
use statistics::Statistics;
pub use stories::{Reading, StorySet, StoryTask};

/// One half of a data set, in memory as bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Split {
    /// Samples, rows, columns, channels in row-major order; one byte each.
    pub images: Vec<u8>,
    /// One class number for each sample.
    pub labels: Vec<u16>,
}

impl Split {
    pub fn samples(&self) -> u32 {
        u32::try_from(self.labels.len()).unwrap_or(u32::MAX)
    }

    /// Share of the samples that belong to the most frequent class.
    pub fn chance_accuracy(&self) -> f64 {
        let classes = self.labels.iter().max().map_or(0, |&last| usize::from(last) + 1);
        let mut counts = vec![0_u32; classes];
        self.labels.iter().for_each(|&label| counts[usize::from(label)] += 1);
        let most = counts.into_iter().max().unwrap_or_default();
        f64::from(most) / f64::from(self.samples().max(1))
    }
}

/// A data set whose files were read and verified.
#[derive(Clone, Debug)]
pub struct DataSet {
    pub definition: &'static DataSetDefinition,
    pub train: Split,
    pub test: Split,
    /// Whether the samples were made up here, instead of read from what was published.
    pub generated: bool,
    statistics: Statistics,
}

impl DataSet {
    pub fn new(definition: &'static DataSetDefinition, train: Split, test: Split, generated: bool) -> Self {
        Self { definition, train, test, generated, statistics: Statistics::default() }
    }

    /// Reads the two files of `definition`: compact ones, whose size and SHA-256 must fit, or published stories.
    ///
    /// # Errors
    /// A file that is truncated, altered or something else; the error names it, and the line where it has lines. A set that
    /// no files hold.
    pub fn from_files(
        definition: &'static DataSetDefinition,
        train: Vec<u8>,
        test: Vec<u8>,
    ) -> Result<Self, DataError> {
        let [train, test] = match &definition.origin {
            Origin::Files { train: train_file, test: test_file } => {
                [file::read(train_file, train)?, file::read(test_file, test)?]
            }
            Origin::Stories(set) => stories::read(*set, &train, &test)?,
            Origin::Images(_) => {
                let reason = "this set is generated wherever it is needed, and no file holds it".to_owned();
                return Err(DataError::NotADataFile { file: definition.name.clone(), reason });
            }
        };
        Ok(Self::new(definition, train, test, false))
    }

    /// Samples of this set that are made up from a fixed seed, the same everywhere; nothing for a set that can only be read.
    pub fn generated(definition: &'static DataSetDefinition) -> Option<Self> {
        let [train, test] = match definition.origin {
            Origin::Files { .. } => return None,
            Origin::Stories(stories) => stories::generated(stories),
            Origin::Images(images) => images::generated(images),
        };
        Some(Self::new(definition, train, test, true))
    }
}

/// Brings data sets from wherever they are: files, a server, a test's memory.
#[async_trait(?Send)]
pub trait DataSource {
    async fn load(&mut self, definition: &'static DataSetDefinition) -> Result<Arc<DataSet>, DataError>;
}

/// A data set that cannot be used, and what to do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DataError {
    #[error(
        "{file} is missing in {place}; `native-runner fetch-data` or, in a checkout, `cargo xtask data` fetches it"
    )]
    Missing { file: String, place: String },
    #[error("{file} could not be read: {reason}")]
    Unreadable { file: String, reason: String },
    #[error(
        "{file} has {found} bytes where {expected} are expected, so it is truncated or not this file; `cargo xtask data` fetches it again"
    )]
    WrongSize { file: String, expected: u64, found: u64 },
    #[error("{file} was altered: its SHA-256 is {found}, not {expected}; `cargo xtask data` fetches it again")]
    Altered { file: String, expected: String, found: String },
    #[error("{file} is not a data file of Gradmark: {reason}; `cargo xtask data` fetches it again")]
    NotADataFile { file: String, reason: String },
    #[error(
        "{file} is missing in {place}; it belongs to the published archive of the bAbI tasks, whose folder with the \
         files of 1,000 training questions, `en`, is wanted here (with `en-10k` beside it)"
    )]
    NoStories { file: String, place: String },
    #[error("{file}, line {line}: {reason}; the published file has no such line")]
    BadLine { file: String, line: u32, reason: String },
    #[error("{file} is not the published file of this task: {reason}")]
    NotStories { file: String, reason: String },
}

impl DataError {
    /// The same without the folders of this machine, which may have somebody's name in them.
    pub(crate) fn without_folders(&self) -> Self {
        let mut error = self.clone();
        match &mut error {
            Self::Missing { file, place } | Self::NoStories { file, place } => {
                *place = "the data folder".to_owned();
                *file = without_folder(file);
            }
            Self::Unreadable { file, .. }
            | Self::WrongSize { file, .. }
            | Self::Altered { file, .. }
            | Self::NotADataFile { file, .. }
            | Self::BadLine { file, .. }
            | Self::NotStories { file, .. } => *file = without_folder(file),
        }
        error
    }
}

fn without_folder(file: &str) -> String {
    file.rsplit(['/', '\\']).next().unwrap_or(file).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_without_folders_names_nobody_and_still_says_what_to_do() {
        let file = "/home/alice/data/mnist-train.bin".to_owned();
        let missing = DataError::Missing { file: file.clone(), place: "/home/alice/data".to_owned() };
        let altered = DataError::Altered { file, expected: "a".to_owned(), found: "b".to_owned() };
        for error in [missing, altered] {
            let text = error.without_folders().to_string();
            assert!(text.starts_with("mnist-train.bin ") && !text.contains("alice"), "{text}");
            assert!(text.contains("`cargo xtask data` fetches it"), "{text}");
        }
        let windows = DataError::Unreadable { file: r"C:\Users\Alice\a.bin".to_owned(), reason: "denied".to_owned() };
        assert_eq!(windows.without_folders().to_string(), "a.bin could not be read: denied");
    }
}
