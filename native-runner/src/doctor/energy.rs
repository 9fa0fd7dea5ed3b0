//! Whether a run can tell how much energy the processor takes.

use std::fs;
use std::io;
use std::path::PathBuf;

use serde_json::json;

use super::{Chapter, Circumstances, Examination, Finding, files};

pub(super) const EXAMINATION: Examination =
    Examination { chapter: Chapter::System, title: "the processor's energy", examine };

fn examine(circumstances: &mut Circumstances<'_>) -> Vec<Finding> {
    let folders = files::entries(circumstances.file("sys/class/powercap"));
    let is_package =
        |folder: &PathBuf| files::text(folder.join("name")).is_some_and(|name| name.starts_with("package-"));
    let packages = folders.into_iter().filter(is_package);
    judge(packages.map(|folder| fs::read_to_string(folder.join("energy_uj")))).into_iter().collect()
}

/// Nothing where the processor counts no energy.
fn judge(read: impl Iterator<Item = io::Result<String>>) -> Option<Finding> {
    let read: Vec<bool> = read.map(|counter| counter.is_ok()).collect();
    let details = json!({ "packages": read.len(), "readable": read.iter().all(|readable| *readable) });
    let finding = if read.is_empty() {
        return None;
    } else if read.iter().all(|readable| *readable) {
        Finding::fine("processor_energy", "The processor tells its energy (RAPL), and runs keep it.")
    } else {
        Finding::note(
            "processor_energy",
            "The processor counts its energy (RAPL), which this user must not read: records lack it.",
        )
        .with_advice(
            "`sudo chmod a+r /sys/class/powercap/intel-rapl:*/energy_uj` lets every user read it until the next start. \
                 It is closed because energy, read often, can betray what others compute.",
        )
    };
    Some(finding.with_details(details))
}

#[cfg(test)]
mod tests {
    use super::super::Severity;
    use super::*;

    #[test]
    fn a_counter_that_must_not_be_read_comes_with_how_to_open_it() {
        let denied = || Err(io::ErrorKind::PermissionDenied.into());
        let severity = |read: Vec<io::Result<String>>| judge(read.into_iter()).map(|finding| finding.severity);
        assert_eq!(severity(Vec::new()), None);
        assert_eq!(severity(vec![Ok("1".to_owned())]), Some(Severity::Fine));
        assert_eq!(severity(vec![Ok("1".to_owned()), denied()]), Some(Severity::Note));
    }
}
