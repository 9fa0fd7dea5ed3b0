use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use axum::body::Bytes;
use axum::http::HeaderValue;

use super::policy;

/// The page's index.html, read again when the file changes: it may be built again while the server runs.
pub(super) struct IndexFile {
    path: PathBuf,
    latest: Mutex<Option<Arc<Index>>>,
}

/// One state of the file, and the policy that lets exactly its own inline scripts run.
pub(super) struct Index {
    pub(super) html: Bytes,
    pub(super) policy: HeaderValue,
    modified: SystemTime,
    bytes: u64,
}

impl IndexFile {
    pub(super) fn new(path: PathBuf) -> Self {
        Self { path, latest: Mutex::new(None) }
    }

    /// The file as it is now; it is only looked at when neither its time nor its size has changed.
    pub(super) async fn read(&self) -> io::Result<Arc<Index>> {
        let metadata = tokio::fs::metadata(&self.path).await?;
        let (modified, bytes) = (metadata.modified()?, metadata.len());
        if let Some(index) = self.latest().as_ref().filter(|i| (i.modified, i.bytes) == (modified, bytes)) {
            return Ok(Arc::clone(index));
        }
        let html = tokio::fs::read(&self.path).await?;
        let policy = policy::header(&policy::inline_script_hashes(&String::from_utf8_lossy(&html)));
        let index = Arc::new(Index { html: html.into(), policy, modified, bytes });
        *self.latest() = Some(Arc::clone(&index));
        Ok(index)
    }

    fn latest(&self) -> std::sync::MutexGuard<'_, Option<Arc<Index>>> {
        // A cached file cannot be left half-written by a panic.
        self.latest.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
