//! Download of the libraries in Cargo.lock before several builds start at once: a cargo that downloads blocks the others.

use crate::say;
use crate::task::Task;
use crate::workspace::{WASM, cargo};
use std::path::Path;

/// Downloads the missing libraries for this machine, which also runs the page's build scripts and macros, and for the
/// browser. Builds are not `--offline`: after a failure, they download what they need, or report what they lack.
pub(crate) fn dependencies(top: &Path) {
    let task = Task::new("Fetching", "the libraries in Cargo.lock");
    match task.follow(cargo(top).args(["fetch", "--locked", "--target", "host-tuple", "--target", WASM])) {
        Ok(_) => task.done("Fetched"),
        Err(_) => say::warn("not every library could be downloaded; continuing with those that were"),
    }
}
