//! Small trees for the tests of checks.

use super::Check;
use tempfile::TempDir;

/// What a check finds in a tree that keeps its promise.
pub(super) const NOTHING: [&str; 0] = [];

/// A tree of the given files.
pub(super) fn tree(files: &[(&str, &str)]) -> TempDir {
    let top = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = top.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    top
}

/// What a check finds in a tree of the given files.
pub(super) fn found(check: &Check, files: &[(&str, &str)]) -> Vec<String> {
    (check.find)(tree(files).path()).unwrap()
}

/// What a check finds in a workspace of these crates, each with what its manifest says of dependencies, and files.
pub(super) fn found_in_workspace(check: &Check, crates: &[(&str, &str)], files: &[(&str, &str)]) -> Vec<String> {
    let mut all: Vec<(String, String)> =
        files.iter().map(|(path, text)| (path.to_string(), text.to_string())).collect();
    let names: Vec<&str> = crates.iter().map(|(name, _)| *name).collect();
    let path = |name: &&str| format!("{name} = {{ path = \"{name}\", default-features = false }}\n");
    let paths: String = names.iter().map(path).collect();
    let top = format!("[workspace]\nmembers = {names:?}\n[workspace.dependencies]\n{paths}");
    all.push(("Cargo.toml".to_owned(), top));
    for (name, dependencies) in crates {
        let manifest = format!("[package]\nname = \"{name}\"\n[features]\nwgsl = []\n{dependencies}");
        all.push((format!("{name}/Cargo.toml"), manifest));
        all.push((format!("{name}/src/lib.rs"), String::new()));
    }
    let all: Vec<(&str, &str)> = all.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    found(check, &all)
}
