use std::fs::{self, OpenOptions};
use std::io;
use std::path::Path;

use serde_json::json;

use super::{Chapter, Circumstances, Examination, Finding};
use crate::published_data::cache;

pub(super) const EXAMINATION: Examination = Examination { chapter: Chapter::Data, title: "the cache", examine };

fn examine(_: &mut Circumstances<'_>) -> Vec<Finding> {
    let Some(folder) = cache() else {
        let advice = "Set HOME or XDG_CACHE_HOME, so that data sets and tuned kernels are kept.";
        return vec![Finding::warning("cache", "This system names no folder for caches.").with_advice(advice)];
    };
    vec![judge(&folder, try_to_write(&folder))]
}

/// Writes a file there, or where the folder would be made, and removes it: a doctor leaves nothing behind.
fn try_to_write(folder: &Path) -> io::Result<()> {
    let existing = folder.ancestors().find(|ancestor| ancestor.exists()).ok_or(io::ErrorKind::NotFound)?;
    let probe = existing.join(format!(".gradmark-doctor-{}", std::process::id()));
    OpenOptions::new().write(true).create_new(true).open(&probe)?;
    fs::remove_file(probe)
}

fn judge(folder: &Path, written: io::Result<()>) -> Finding {
    let shown = folder.display();
    let details = json!({ "path": folder, "writable": written.is_ok() });
    let finding = match written {
        Ok(()) => Finding::fine("cache", format!("The cache is {shown}, and can be written.")),
        Err(error) => Finding::warning("cache", format!("The cache, {shown}, cannot be written: {error}. Kernels are tuned anew in every run, and data sets cannot be kept there."))
            .with_advice("Give this user the right to write there, or name another folder with XDG_CACHE_HOME."),
    };
    finding.with_details(details)
}

#[cfg(test)]
mod tests {
    use super::super::Severity;
    use super::*;

    #[test]
    fn a_cache_is_tried_without_leaving_anything_behind() {
        let folder = tempfile::tempdir().unwrap();
        let deep = folder.path().join("not/there/yet");
        assert_eq!(judge(&deep, try_to_write(&deep)).severity, Severity::Fine);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        let file = folder.path().join("file");
        fs::write(&file, "").unwrap();
        let inside = file.join("cache");
        assert_eq!(judge(&inside, try_to_write(&inside)).severity, Severity::Warning);
    }
}
