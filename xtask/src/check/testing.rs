//! Small trees for the tests of checks.

use super::{Check, Tree};

/// What a check finds in a tree that keeps its promise.
pub(super) const NOTHING: [&str; 0] = [];

/// A tree of the given files and what a check finds in it, one line per violation.
pub(super) fn found(check: &Check, files: &[(&str, &str)]) -> Vec<String> {
    let top = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = top.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    (check.find)(&Tree::new(top.path())).unwrap().iter().map(ToString::to_string).collect()
}
