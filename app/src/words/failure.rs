//! Why something could not be trained. In English the engine says it best, with its particulars; other languages tell what
//! kind of failure it was, and quote the engine.

use results::FailureCause;
use training_worker::Trouble;

use crate::t;

/// Why a workload could not be trained, as a part of a sentence. `reason` is the engine's.
pub fn of_workload(cause: FailureCause, reason: &str) -> String {
    let reason = reason.trim_end_matches('.');
    match cause {
        FailureCause::DoesNotFit => t!(failure_does_not_fit, reason = reason),
        FailureCause::OutOfMemory => t!(failure_out_of_memory, reason = reason),
        FailureCause::DeviceRefused => t!(failure_device_refused, reason = reason),
        FailureCause::Data => t!(failure_data, reason = reason),
        FailureCause::Unsupported => t!(failure_unsupported, reason = reason),
    }
}

/// Why a run could not go on, as a part of a sentence. `reason` is the engine's.
pub fn of_run(trouble: Trouble, reason: &str) -> String {
    let reason = reason.trim_end_matches('.');
    match trouble {
        Trouble::Workload(cause) => of_workload(cause, reason),
        Trouble::DeviceLost => t!(failure_device_lost, reason = reason),
        Trouble::NoAnswer => t!(failure_no_answer, reason = reason),
        Trouble::WorkDropped => t!(failure_work_dropped, reason = reason),
        Trouble::Framework => t!(failure_framework, reason = reason),
        Trouble::NoAdapter => t!(failure_no_adapter, reason = reason),
        Trouble::NoPrecision => t!(failure_no_precision, reason = reason),
        Trouble::Other => t!(failure_other, reason = reason),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::{Language, speak};

    #[test]
    fn a_failure_is_in_english_as_the_engine_says_it_and_in_german_told_by_its_kind() {
        let reason = "the device ran out of memory: 7 bytes; try a smaller batch size.";
        let said = || of_run(Trouble::Workload(FailureCause::OutOfMemory), reason);
        assert_eq!(said(), reason.trim_end_matches('.'));
        speak(Language::German);
        assert!(said().starts_with("dem Gerät fehlt Speicher") && said().contains("7 bytes"), "{}", said());
        for trouble in [Trouble::DeviceLost, Trouble::NoAnswer, Trouble::WorkDropped, Trouble::Framework] {
            let said = of_run(trouble, "it broke");
            assert!(said.ends_with("(auf Englisch: „it broke“)"), "{said}");
        }
    }
}
