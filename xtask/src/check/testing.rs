//! Small trees for the tests of checks.

use super::{Check, Tree};
use tempfile::TempDir;

/// What a check finds in a tree that keeps its promise.
pub(super) const NOTHING: [&str; 0] = [];

/// A tree of the given files; it is gone with the folder.
pub(super) fn tree(files: &[(&str, &str)]) -> (TempDir, Tree) {
    let top = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = top.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let tree = Tree::new(top.path());
    (top, tree)
}

/// What a check finds in a tree of the given files, one line per violation.
pub(super) fn found(check: &Check, files: &[(&str, &str)]) -> Vec<String> {
    let (_top, tree) = tree(files);
    (check.find)(&tree).unwrap().iter().map(ToString::to_string).collect()
}
