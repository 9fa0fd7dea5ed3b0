use std::path::PathBuf;

use crate::proof::KeyError;
use crate::storage::{DatabaseAddress, StorageError};

/// The reason why a server cannot start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error("cannot listen on {address}: {cause}. Choose another address or port with --listen.")]
    Listen { address: String, cause: std::io::Error },
    #[error("cannot listen on {address} for metrics: {cause}. Choose another address or port with --metrics-listen.")]
    ListenForMetrics { address: String, cause: std::io::Error },
    #[error("cannot use the database {address}: {cause}{}", advice_for(address))]
    Database { address: DatabaseAddress, cause: StorageError },
    #[error(transparent)]
    Secret(#[from] KeyError),
    #[error(
        "the page folder {} has no readable index.html ({cause}). Build the page with `cargo xtask run`, or omit \
         --page to serve only the API.",
        folder.display()
    )]
    Page { folder: PathBuf, cause: std::io::Error },
    #[error(
        "the data folder {} cannot be read ({cause}). Fetch the data sets with `native-runner fetch-data \
         --compressed`, or omit --data.",
        folder.display()
    )]
    Data { folder: PathBuf, cause: std::io::Error },
    #[error(
        "cannot create the snapshot folder {} ({cause}). Choose another one with --snapshots, or omit the option.",
        folder.display()
    )]
    Snapshots { folder: PathBuf, cause: std::io::Error },
}

fn advice_for(address: &DatabaseAddress) -> &'static str {
    match address {
        DatabaseAddress::File(_) => ". Choose another file with --database, or check the permissions of this one.",
        DatabaseAddress::Postgres(_) => {
            ". Check that the PostgreSQL server is running, that the database exists and that its owner may log in \
             (docs/HOSTING.md)."
        }
    }
}
