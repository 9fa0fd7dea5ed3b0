use std::thread;
use std::time::Duration;

use serde_json::json;
use sysinfo::System;

use super::{Chapter, Circumstances, Examination, Finding};

/// Shorter looks see single moments.
const LOOK: Duration = Duration::from_millis(600);
/// Share of all cores, in percent, that others may take without being seen in figures.
const HARMLESS_PERCENT: f64 = 10.0;

pub(super) const EXAMINATION: Examination = Examination { chapter: Chapter::System, title: "other programs", examine };

/// How busy others keep the processor while this program waits.
fn examine(_: &mut Circumstances<'_>) -> Vec<Finding> {
    let Ok(mut system) = System::new() else { return Vec::new() };
    system.refresh_cpu_usage();
    thread::sleep(LOOK);
    system.refresh_cpu_usage();
    if system.cpus().is_empty() {
        return Vec::new();
    }
    let average = System::load_average().ok().map(|load| [load.one, load.five, load.fifteen]);
    vec![judge(f64::from(system.global_cpu_usage()), average)]
}

fn judge(percent: f64, average: Option<[f64; 3]>) -> Finding {
    let sentence = format!("Other programs keep the processor busy for {percent:.0} % of its time.");
    let finding = if percent > HARMLESS_PERCENT {
        Finding::warning("load", sentence).with_advice("Figures suffer; end what runs beside the benchmark.")
    } else {
        Finding::fine("load", sentence)
    };
    finding.with_details(json!({ "busy_percent": percent, "load_average": average }))
}

#[cfg(test)]
mod tests {
    use super::super::Severity;
    use super::*;

    #[test]
    fn other_programs_are_warned_of_where_they_take_more_than_a_little() {
        assert_eq!(judge(3.0, None).severity, Severity::Fine);
        assert_eq!(judge(60.0, Some([1.5, 1.0, 1.0])).severity, Severity::Warning);
    }
}
