//! What lies below a folder.

use anyhow::Result;
use std::path::{Path, PathBuf};
use walkdir::WalkDir;

/// Every file below a folder, sorted by path; folders that cannot be read are errors.
pub(crate) fn files_below(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = WalkDir::new(folder).follow_links(true).sort_by_file_name().into_iter();
    let files = entries.filter(|entry| entry.as_ref().map_or(true, |entry| !entry.file_type().is_dir()));
    files.map(|entry| Ok(entry?.into_path())).collect()
}
