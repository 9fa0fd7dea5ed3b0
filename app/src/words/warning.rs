//! What was not ideal about a run. In English as the crate `results` says it, which a test holds this to.

use results::Warning;
use results::software::program_of_architecture;

use crate::t;
use crate::text::{number, percent, workload_title};

/// Why a run with a seed of one's own is not known to the leaderboard, as its record says it.
pub const SEED_BY_HAND: &str = "the seed was chosen by hand";

/// A warning, with a workload's title instead of its name.
pub fn warning(warning: &Warning) -> String {
    let title = warning.workload().map(workload_title).unwrap_or_default();
    match warning {
        Warning::SoftwareAdapter { name } => {
            // A browser's name is a vendor and an architecture.
            let program = name.split_once(' ').and_then(|(_, architecture)| program_of_architecture(architecture));
            t!(warning_software_adapter, name = program.unwrap_or(name))
        }
        Warning::PerhapsSoftware { flops_per_second, processors } => t!(
            warning_perhaps_software,
            gigaflops = number(flops_per_second / 1e9, 0),
            processors = processors.to_string()
        ),
        Warning::NotStabilised { half_width_percent, .. } => {
            t!(warning_not_stabilised, workload = title, half_width = number(*half_width_percent, 1))
        }
        Warning::TooFewWindows { windows, .. } => {
            t!(warning_too_few_windows, workload = title, windows = windows.to_string())
        }
        Warning::NotLearned { accuracy, chance, .. } => {
            t!(warning_not_learned, workload = title, accuracy = percent(*accuracy), chance = percent(*chance))
        }
        Warning::CheckpointMissed { reason, .. } => t!(warning_checkpoint_missed, workload = title, reason = reason),
        Warning::StoppedByBudget { budget_seconds, .. } => {
            t!(warning_stopped_by_budget, workload = title, budget = number(*budget_seconds, 0))
        }
        Warning::TabHidden { seconds, paused_seconds } if *paused_seconds > 0.0 => {
            t!(warning_tab_paused, seconds = number(*seconds, 0), paused = number(*paused_seconds, 0))
        }
        Warning::TabHidden { seconds, .. } => t!(warning_tab_hidden, seconds = number(*seconds, 0)),
        Warning::CoarseTimer { resolution_seconds } => {
            t!(warning_coarse_timer, milliseconds = number(resolution_seconds * 1e3, 1))
        }
        Warning::Untuned { backend } => t!(warning_untuned, backend = backend),
        Warning::TuningNotSettled { steps, .. } => {
            t!(warning_tuning_not_settled, workload = title, steps = steps.to_string())
        }
        Warning::NoWakeLock => t!(warning_no_wake_lock).to_owned(),
        Warning::OnBattery => t!(warning_on_battery).to_owned(),
        Warning::ProcessorPressed { share } => t!(warning_processor_pressed, percent = number(share * 100.0, 0)),
        Warning::NotIsolated => t!(warning_not_isolated).to_owned(),
        Warning::Unregistered { reason } if reason == SEED_BY_HAND => {
            t!(warning_unregistered, reason = t!(warning_seed_by_hand))
        }
        Warning::Unregistered { reason } => t!(warning_unregistered, reason = reason),
        Warning::StoppedEarly { .. } => t!(warning_stopped_early, workload = title),
        Warning::SmallerBatch { asked, used, needed_bytes, allowed_bytes, .. } => t!(
            warning_smaller_batch,
            workload = title,
            used = used.to_string(),
            asked = asked.to_string(),
            needed = (needed_bytes >> 20).to_string(),
            allowed = (allowed_bytes >> 20).to_string()
        ),
        Warning::GeneratedData { .. } => t!(warning_generated_data, workload = title),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::{Language, speak};

    /// One of each; the compiler asks for a new one in [`warning`].
    fn all() -> Vec<Warning> {
        let workload = || "theano-mnist".to_owned();
        let reason = || "the wire was cut".to_owned();
        vec![
            Warning::SoftwareAdapter { name: "llvmpipe".to_owned() },
            Warning::PerhapsSoftware { flops_per_second: 12.4e9, processors: 8 },
            Warning::NotStabilised { workload: workload(), half_width_percent: 3.25 },
            Warning::TooFewWindows { workload: workload(), windows: 4 },
            Warning::NotLearned { workload: workload(), accuracy: 0.1, chance: 0.1135 },
            Warning::CheckpointMissed { workload: workload(), reason: reason() },
            Warning::StoppedByBudget { workload: workload(), budget_seconds: 30.0 },
            Warning::TabHidden { seconds: 2.6, paused_seconds: 0.0 },
            Warning::TabHidden { seconds: 12.6, paused_seconds: 11.4 },
            Warning::CoarseTimer { resolution_seconds: 0.0167 },
            Warning::Untuned { backend: "burn-wgpu".to_owned() },
            Warning::TuningNotSettled { workload: workload(), steps: 40 },
            Warning::NoWakeLock,
            Warning::OnBattery,
            Warning::ProcessorPressed { share: 0.253 },
            Warning::NotIsolated,
            Warning::Unregistered { reason: SEED_BY_HAND.to_owned() },
            Warning::Unregistered { reason: reason() },
            Warning::StoppedEarly { workload: workload() },
            Warning::SmallerBatch {
                workload: workload(),
                asked: 128,
                used: 64,
                needed_bytes: 5 << 30,
                allowed_bytes: 3 << 30,
            },
            Warning::GeneratedData { workload: workload() },
        ]
    }

    #[test]
    fn every_warning_is_in_english_as_the_results_say_it_with_the_workloads_title() {
        for of in all() {
            let expected = of.to_string().replace("theano-mnist", &workload_title("theano-mnist"));
            assert_eq!(warning(&of), expected);
        }
    }

    #[test]
    fn every_warning_is_in_german_with_its_numbers() {
        speak(Language::German);
        for of in all() {
            assert_ne!(warning(&of), of.to_string());
        }
        let pressed = warning(&Warning::NotStabilised { workload: "unheard-of".to_owned(), half_width_percent: 3.25 });
        assert!(pressed.starts_with("unheard-of: ") && pressed.contains("±3,2 %"), "{pressed}");
    }
}
