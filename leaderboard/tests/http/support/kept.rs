//! Values that take seconds to compute, stored in files because tests may run in separate processes.

use std::fs::{self, File};
use std::path::Path;
use std::time::UNIX_EPOCH;

/// Returns the result of `compute`, from a file if any process has computed it with this build of `program` before.
/// Other processes that need it at the same time wait for the first one.
pub(crate) fn computed_once(name: &str, program: &Path, compute: impl FnOnce() -> Vec<u8>) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    fs::create_dir_all(folder).unwrap();
    let built = fs::metadata(program).and_then(|metadata| metadata.modified()).unwrap();
    let file = folder.join(format!("{name}-{}.kept", built.duration_since(UNIX_EPOCH).unwrap().as_nanos()));
    if let Ok(bytes) = fs::read(&file) {
        return bytes;
    }
    let lock = File::create(folder.join(format!("{name}.lock"))).unwrap();
    lock.lock().unwrap();
    if let Ok(bytes) = fs::read(&file) {
        return bytes;
    }
    let bytes = compute();
    remove_other_builds(folder, name);
    let partial = folder.join(format!("{name}.partial"));
    fs::write(&partial, &bytes).unwrap();
    fs::rename(&partial, &file).unwrap();
    bytes
}

/// Removes the files of this value from other builds of the program.
fn remove_other_builds(folder: &Path, name: &str) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let other = entry.file_name().to_string_lossy().into_owned();
        let build = other.strip_prefix(name).and_then(|rest| rest.strip_prefix('-')?.strip_suffix(".kept"));
        if build.is_some_and(|build| build.bytes().all(|byte| byte.is_ascii_digit())) {
            // Another process may have been faster.
            fs::remove_file(entry.path()).ok();
        }
    }
}
