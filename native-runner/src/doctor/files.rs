//! The system's small files.

use std::fs;
use std::path::{Path, PathBuf};

use super::Circumstances;

/// The text of a small file without the line end; nothing where there is none.
pub(super) fn text(path: impl AsRef<Path>) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
}

/// What is in a folder, by name; nothing where there is none.
pub(super) fn entries(folder: impl AsRef<Path>) -> Vec<PathBuf> {
    let listed = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    let mut entries: Vec<PathBuf> = listed.map(|entry| entry.path()).collect();
    entries.sort();
    entries
}

/// The name of a file, as text.
pub(super) fn name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// A number such as `0x10de`.
pub(super) fn hexadecimal(text: &str) -> Option<u32> {
    u32::from_str_radix(text.trim().trim_start_matches("0x"), 16).ok()
}

/// Where the loader finds a library by its name, in the usual folders and in `LD_LIBRARY_PATH`.
pub(super) fn library(circumstances: &Circumstances<'_>, name: &str) -> Option<PathBuf> {
    let chosen = circumstances.variable("LD_LIBRARY_PATH").unwrap_or_default();
    let chosen = chosen.split(':').filter(|folder| !folder.is_empty()).map(PathBuf::from);
    let multiarch = format!("{}-linux-gnu", std::env::consts::ARCH);
    let usual = ["usr/local/lib", "usr/lib", "lib", "usr/lib64", "lib64", "run/opengl-driver/lib", "usr/lib/wsl/lib"];
    let usual = usual.into_iter().flat_map(|folder| {
        let folder = circumstances.file(folder);
        [folder.join(&multiarch), folder]
    });
    chosen.chain(usual).map(|folder| folder.join(name)).find(|path| path.exists())
}
