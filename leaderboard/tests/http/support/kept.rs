//! Values that take seconds to compute, stored in files because tests may run in separate processes.

use std::fs::{self, File};
use std::path::Path;

/// Returns the result of `compute`, from a file if any process has computed it since `program` was built. Other
/// processes that need it at the same time wait for the first one.
pub(crate) fn computed_once(name: &str, program: &Path, compute: impl FnOnce() -> Vec<u8>) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    fs::create_dir_all(folder).unwrap();
    let file = folder.join(format!("{name}.kept"));
    let modified = |path: &Path| fs::metadata(path).and_then(|metadata| metadata.modified());
    let built = modified(program).unwrap();
    let kept = || modified(&file).is_ok_and(|kept| kept > built).then(|| fs::read(&file).unwrap());
    if let Some(bytes) = kept() {
        return bytes;
    }
    let lock = File::create(folder.join(format!("{name}.lock"))).unwrap();
    lock.lock().unwrap();
    if let Some(bytes) = kept() {
        return bytes;
    }
    let bytes = compute();
    let partial = folder.join(format!("{name}.partial"));
    fs::write(&partial, &bytes).unwrap();
    fs::rename(&partial, &file).unwrap();
    bytes
}
