//! Data sets: what they are ([`DATA_SETS`]), and how their compact files are read and checked.

mod definition;
mod file;
pub mod statistics;

use std::rc::Rc;

use async_trait::async_trait;

pub use definition::{DATA_SETS, DataFile, DataSetDefinition, data_set};

/// One half of a data set, in memory as bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Split {
    /// Samples, rows, columns, channels in row-major order; one byte each.
    pub images: Vec<u8>,
    /// One class number for each sample.
    pub labels: Vec<u8>,
}

impl Split {
    pub fn samples(&self) -> u32 {
        u32::try_from(self.labels.len()).unwrap_or(u32::MAX)
    }
}

/// A data set whose files were read and verified.
#[derive(Clone, Debug)]
pub struct DataSet {
    pub definition: &'static DataSetDefinition,
    pub train: Split,
    pub test: Split,
}

impl DataSet {
    /// Reads the two files of `definition`, checking size and SHA-256.
    pub fn from_files(definition: &'static DataSetDefinition, train: &[u8], test: &[u8]) -> Result<Self, DataError> {
        Ok(Self { definition, train: file::read(&definition.train, train)?, test: file::read(&definition.test, test)? })
    }
}

/// Brings data sets from wherever they are: files, a server, a test's memory.
#[async_trait(?Send)]
pub trait DataSource {
    async fn load(&mut self, definition: &'static DataSetDefinition) -> Result<Rc<DataSet>, DataError>;
}

/// A data set that cannot be used, and what to do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DataError {
    #[error("{file} is missing in {place}; `cargo xtask data` fetches it")]
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
}
