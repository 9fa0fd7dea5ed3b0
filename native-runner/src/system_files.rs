//! Small files in which Linux describes its devices.

use std::fs;
use std::path::{Path, PathBuf};

pub(crate) fn read_text(path: impl AsRef<Path>) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
}

/// Lists a folder by name; empty if it does not exist.
pub(crate) fn list_folder(folder: impl AsRef<Path>) -> Vec<PathBuf> {
    let listed = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    let mut entries: Vec<PathBuf> = listed.map(|entry| entry.path()).collect();
    entries.sort();
    entries
}

pub(crate) fn file_name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

pub(crate) fn parse_hexadecimal(text: &str) -> Option<u32> {
    u32::from_str_radix(text.trim().trim_start_matches("0x"), 16).ok()
}
