use serde_json::json;
use sysinfo::System;

use super::{Chapter, Circumstances, Examination, Finding};
use crate::figures::mebibytes;

/// The largest workloads take about this much beside their device's memory, and on a software adapter all of it.
const COMFORTABLE_BYTES: u64 = 2 << 30;

pub(super) const EXAMINATION: Examination = Examination { chapter: Chapter::System, title: "memory", examine };

fn examine(_: &mut Circumstances<'_>) -> Vec<Finding> {
    let Ok(mut system) = System::new() else { return Vec::new() };
    system.refresh_memory();
    let of_container = system.cgroup_limits().map(|limits| (limits.total_memory, limits.free_memory));
    let (total, free) = (system.total_memory(), system.available_memory());
    judge((total, free), of_container).into_iter().collect()
}

/// Of the machine, and of the container that this runs in: each total and free.
fn judge(machine: (u64, u64), container: Option<(u64, u64)>) -> Option<Finding> {
    if machine.0 == 0 {
        return None;
    }
    // A limit above what the machine has is none.
    let container = container.filter(|(total, _)| (1..machine.0).contains(total));
    let (total, free) = container.map_or(machine, |(total, free)| (total, free.min(machine.1)));
    let whose = if container.is_some() { " that this container may use" } else { "" };
    let sentence = format!("{} of memory{whose}, {} of it free.", mebibytes(total), mebibytes(free));
    let details = json!({ "total_bytes": total, "free_bytes": free, "limited": container.is_some() });
    let finding = if free < COMFORTABLE_BYTES {
        Finding::warning("memory", format!("{sentence} The larger networks may not fit."))
            .with_advice("Close what needs memory, or choose smaller batches with --batch-size.")
    } else {
        Finding::fine("memory", sentence)
    };
    Some(finding.with_details(details))
}

#[cfg(test)]
mod tests {
    use super::super::Severity;
    use super::*;

    const GIB: u64 = 1 << 30;

    #[test]
    fn little_memory_is_warned_of_whoever_limits_it() {
        let severity = |machine, container| judge(machine, container).map(|finding| finding.severity);
        assert_eq!(severity((16 * GIB, 8 * GIB), None), Some(Severity::Fine));
        assert_eq!(severity((16 * GIB, GIB), None), Some(Severity::Warning));
        assert_eq!(severity((16 * GIB, 8 * GIB), Some((GIB, GIB))), Some(Severity::Warning));
        assert_eq!(severity((16 * GIB, 8 * GIB), Some((u64::MAX, u64::MAX))), Some(Severity::Fine));
        assert_eq!(severity((0, 0), None), None);
    }

    #[test]
    fn a_containers_memory_is_called_that() {
        let found = judge((16 * GIB, 8 * GIB), Some((4 * GIB, 3 * GIB))).unwrap();
        assert!(found.sentence.contains("this container may use") && found.sentence.contains("4096.0 MiB"));
    }
}
