//! Remarks of the crates `engine`, `results` and `view` about a run: agreement, departures, failures and warnings. The
//! English texts match the crates, with titles for names, as tests verify.

use results::software::program_of_architecture;
use results::{Departure, FailureCause, Length, UNNAMED_ADAPTER, Warning};
use training_worker::RunTrouble;
use view::comparison::{Agreement, Basis, Obstacle, Pair};

use super::language;
use crate::backend::title;
use crate::t;
use crate::text::{count, number, percent, workload_title};

/// Formats a verdict as a sentence without its period.
pub fn agreement(of: &Agreement) -> String {
    let evidence = match of {
        Agreement::Agree { evidence } | Agreement::Disagree { evidence, .. } | Agreement::Unclear { evidence } => {
            evidence
        }
        Agreement::NotCompared { obstacle } => {
            let obstacle = match obstacle {
                Obstacle::TooFewBackEnds => t!(agreement_too_few),
                Obstacle::NoCommonSeed => t!(agreement_no_common_seed),
                Obstacle::NoCommonStep => t!(agreement_no_common_step),
            };
            return t!(agreement_not_compared, obstacle);
        }
    };
    let after_step = || t!(agreement_after_step, step = evidence.step.to_string());
    let subject = if evidence.is_final { t!(agreement_final).to_owned() } else { after_step() };
    let spread = match evidence.basis {
        Basis::Seeds => t!(agreement_spread_of_seeds, seeds = count(evidence.seeds.len())),
        Basis::TestSamples => t!(agreement_sampling_error, samples = evidence.test_samples.to_string()),
    };
    let [allowed, largest] = [evidence.allowed_difference, evidence.largest_difference].map(points);
    if let Agreement::Disagree { pairs, .. } = of {
        let pair = |of: &Pair| {
            let difference = points(of.difference);
            t!(agreement_pair, higher = title(&of.higher), difference, lower = title(&of.lower))
        };
        let pairs = pairs.iter().map(pair).collect::<Vec<_>>().join(", ");
        return t!(agreement_disagree, subject, pairs, spread, allowed);
    }
    let nothing_found = t!(agreement_nothing_found, subject, allowed, spread, largest);
    if matches!(of, Agreement::Unclear { .. }) { t!(agreement_unclear, nothing_found) } else { nothing_found }
}

fn points(difference: f64) -> String {
    t!(agreement_points, number = number(difference * 100.0, 2))
}

pub fn departure(of: &Departure) -> String {
    let decimal = |value: f64| language().number(&value.to_string());
    match of {
        Departure::LeftOut { trained, networks } => {
            t!(departure_networks, some = trained.to_string(), all = networks.to_string())
        }
        Departure::OtherNetworks => t!(departure_not_of_suite).to_owned(),
        Departure::NetworkFile { workload, digest } => {
            t!(departure_network_file, workload, digest)
        }
        Departure::BatchSize { size } => t!(departure_batch_size, size = size.to_string()),
        Departure::FittedBatch { workload, size, usual } => {
            t!(departure_fitted_batch, workload, size = size.to_string(), usual = usual.to_string())
        }
        Departure::LearningRate { rate } => t!(departure_learning_rate, rate = decimal(*rate)),
        Departure::Length { length } => match length {
            Length::Epochs(epochs) => t!(common_epochs, number = u64::from(epochs.get())),
            Length::Steps(steps) => t!(common_steps, number = steps.get()),
            Length::Seconds(seconds) => t!(departure_seconds, number = decimal(seconds.get())),
        },
        Departure::TargetAccuracy { accuracy } => t!(departure_target, target = decimal(*accuracy)),
        Departure::Precision { precision } => t!(departure_computed_in, precision = precision.name()),
        Departure::Reference => t!(departure_reference).to_owned(),
        Departure::External { program } => t!(departure_program, program),
        Departure::Layout { layout } => t!(departure_layout, layout = layout.name()),
        Departure::Without { feature } => t!(departure_without, feature = feature.name()),
        Departure::Input { mode } => t!(departure_input, mode = mode.text()),
        Departure::Devices { count, logical: false } => t!(departure_devices, count = count.to_string()),
        Departure::Devices { count, logical: true } => t!(departure_logical_devices, count = count.to_string()),
        Departure::Overlap { on: true } => t!(departure_overlap_on).to_owned(),
        Departure::Overlap { on: false } => t!(departure_overlap_off).to_owned(),
    }
}

/// Returns the cause of an untrained workload as part of a sentence. `reason` comes from the engine.
pub fn failure_of_workload(cause: FailureCause, reason: &str) -> String {
    let reason = reason.trim_end_matches('.');
    match cause {
        FailureCause::DoesNotFit | FailureCause::OutOfMemory => t!(failure_out_of_memory, reason),
        FailureCause::DeviceRefused => t!(failure_device_refused, reason),
        FailureCause::Data => t!(failure_data, reason),
        FailureCause::Unsupported => t!(failure_unsupported, reason),
    }
}

/// Returns the cause of an aborted run as part of a sentence. `reason` comes from the engine.
pub fn failure_of_run(trouble: RunTrouble, reason: &str) -> String {
    let reason = reason.trim_end_matches('.');
    match trouble {
        RunTrouble::Workload(cause) => failure_of_workload(cause, reason),
        RunTrouble::DeviceLost => t!(failure_device_lost, reason),
        RunTrouble::NoAnswer => t!(failure_no_answer, reason),
        RunTrouble::WorkDropped => t!(failure_work_dropped, reason),
        RunTrouble::NoAdapter => t!(failure_no_adapter, reason),
        RunTrouble::NoPrecision => t!(failure_no_precision, reason),
        RunTrouble::Framework | RunTrouble::Other => t!(failure_other, reason),
    }
}

/// Reason in the record of a run that was not registered because its seed was fixed.
pub const SEED_BY_HAND: &str = "the seed was chosen by hand";

/// Separates the fact of a warning from the advice.
const ADVICE: &str = " | ";

/// A warning, with a workload's title instead of its name. The advice is for the person who can run it again.
pub fn warning(warning: &Warning, with_advice: bool) -> String {
    let whole = fact_and_advice(warning);
    let (fact, advice) = whole.rsplit_once(ADVICE).unwrap_or((&whole, ""));
    if with_advice && !advice.is_empty() { format!("{fact} {advice}") } else { fact.to_owned() }
}

fn fact_and_advice(warning: &Warning) -> String {
    let workload = warning.workload().map(workload_title).unwrap_or_default();
    match warning {
        Warning::SoftwareAdapter { name } => {
            // In a browser, the name consists of vendor and architecture.
            let program = name.split_once(' ').and_then(|(_, architecture)| program_of_architecture(architecture));
            let hidden = name == UNNAMED_ADAPTER;
            let name = if hidden { t!(warning_this_adapter) } else { program.unwrap_or(name) };
            t!(warning_software_adapter, name)
        }
        Warning::PerhapsSoftware { flops_per_second, processors } => {
            t!(
                warning_perhaps_software,
                gigaflops = number(flops_per_second / 1e9, 0),
                processors = processors.to_string()
            )
        }
        Warning::NotStabilised { half_width_percent, .. } => {
            t!(warning_not_stabilised, workload, half_width = number(*half_width_percent, 1))
        }
        Warning::TooFewWindows { windows, .. } => t!(warning_too_few_windows, workload, windows = windows.to_string()),
        Warning::NotLearned { accuracy, chance, .. } => {
            t!(warning_not_learned, workload, accuracy = percent(*accuracy), chance = percent(*chance))
        }
        Warning::CheckpointMissed { reason, .. } => t!(warning_checkpoint_missed, workload, reason),
        Warning::StoppedByBudget { budget_seconds, .. } => {
            t!(warning_stopped_by_budget, workload, budget = number(*budget_seconds, 0))
        }
        Warning::TabHidden { seconds, paused_seconds } if *paused_seconds > 0.0 => {
            t!(warning_tab_paused, seconds = number(*seconds, 0), paused = number(*paused_seconds, 0))
        }
        Warning::TabHidden { seconds, .. } => t!(warning_tab_hidden, seconds = number(*seconds, 0)),
        Warning::CoarseTimer { resolution_seconds: of } => t!(warning_coarse_timer, milliseconds = number(of * 1e3, 1)),
        Warning::Untuned { backend } => t!(warning_untuned, backend),
        Warning::TuningNotSettled { steps, .. } => t!(warning_tuning_not_settled, workload, steps = steps.to_string()),
        Warning::NoWakeLock => t!(warning_no_wake_lock).to_owned(),
        Warning::OnBattery => t!(warning_on_battery).to_owned(),
        Warning::ProcessorPressed { share } => t!(warning_processor_pressed, percent = number(share * 100.0, 0)),
        Warning::NotIsolated => t!(warning_not_isolated).to_owned(),
        Warning::Unregistered { reason } if reason == SEED_BY_HAND => {
            t!(warning_unregistered, reason = t!(warning_seed_by_hand))
        }
        Warning::Unregistered { reason } => t!(warning_unregistered, reason),
        Warning::StoppedEarly { .. } => t!(warning_stopped_early, workload),
        Warning::SmallerBatch { asked, used, needed_bytes, allowed_bytes, .. } => {
            let [needed, allowed] = [needed_bytes, allowed_bytes].map(|bytes| (bytes >> 20).to_string());
            t!(warning_smaller_batch, workload, used = used.to_string(), asked = asked.to_string(), needed, allowed)
        }
        Warning::GeneratedData { .. } => t!(warning_generated_data, workload),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::words::{PageLanguage, in_language, speak};

    #[test]
    fn verdicts_match_results_in_english_and_exist_in_german() {
        let evidence = |basis: &str, is_final: bool| {
            json!({
                "basis": basis, "seeds": [1, 2, 3], "step": 1200, "is_final": is_final, "test_samples": 10_000,
                "spread": 0.002, "largest_difference": 0.0123, "allowed_difference": 0.0045,
                "largest_same_seed_difference": 0.001,
            })
        };
        let (seeds, samples) = (evidence("seeds", true), evidence("test_samples", false));
        let contender = |backend: &str| json!({ "backend": backend, "precision": "f32" });
        let pair = json!({ "higher": contender("wgsl"), "lower": contender("burn-wgpu"), "difference": 0.0123 });
        let judged = [
            json!({ "verdict": "agree", "evidence": seeds }),
            json!({ "verdict": "agree", "evidence": samples }),
            json!({ "verdict": "disagree", "evidence": seeds, "pairs": [pair, pair] }),
            json!({ "verdict": "unclear", "evidence": samples }),
        ];
        let obstacles = [Obstacle::TooFewBackEnds, Obstacle::NoCommonSeed, Obstacle::NoCommonStep];
        let not_compared = obstacles.map(|obstacle| Agreement::NotCompared { obstacle });
        for of in judged.map(|of| serde_json::from_value(of).unwrap()).into_iter().chain(not_compared) {
            let expected = of.to_string().replace("burn-wgpu", "Burn on WebGPU").replace("wgsl", "WGSL (Gradmark)");
            assert_eq!(agreement(&of), expected);
            let german = in_language(PageLanguage::German, || agreement(&of));
            assert!(german != of.to_string() && !german.contains("1.23 "), "{german}");
        }
    }

    #[test]
    fn departures_match_results_in_english_and_exist_in_german() {
        let all = json!([
            { "kind": "left_out", "trained": 1, "networks": 2 },
            { "kind": "other_networks" },
            { "kind": "network_file", "workload": "theano-mnist", "digest": "1234abcd" },
            { "kind": "batch_size", "size": 32 },
            { "kind": "fitted_batch", "workload": "theano-mnist", "size": 32, "usual": 64 },
            { "kind": "learning_rate", "rate": 0.01 },
            { "kind": "length", "length": { "epochs": 1 } },
            { "kind": "length", "length": { "steps": 40 } },
            { "kind": "length", "length": { "seconds": 2.5 } },
            { "kind": "target_accuracy", "accuracy": 0.5 },
            { "kind": "precision", "precision": "f16-matrix" },
            { "kind": "reference" },
            { "kind": "external", "program": "tfjs-webgpu" },
            { "kind": "layout", "layout": "nchw" },
            { "kind": "without", "feature": "subgroups" },
            { "kind": "input", "mode": "stream" },
            { "kind": "devices", "count": 2, "logical": false },
            { "kind": "devices", "count": 2, "logical": true },
            { "kind": "overlap", "on": true },
            { "kind": "overlap", "on": false },
        ]);
        for of in serde_json::from_value::<Vec<Departure>>(all).unwrap() {
            assert_eq!(departure(&of), of.to_string());
            assert_ne!(in_language(PageLanguage::German, || departure(&of)), of.to_string());
        }
    }

    #[test]
    fn failure_quotes_engine_in_german() {
        let reason = "the device ran out of memory: 7 bytes; try a smaller batch size.";
        let said = || failure_of_run(RunTrouble::Workload(FailureCause::OutOfMemory), reason);
        assert_eq!(said(), reason.trim_end_matches('.'));
        speak(PageLanguage::German);
        assert!(said().starts_with("dem Gerät fehlt Speicher") && said().contains("7 bytes"), "{}", said());
        for trouble in [RunTrouble::DeviceLost, RunTrouble::NoAnswer, RunTrouble::WorkDropped, RunTrouble::Framework] {
            let said = failure_of_run(trouble, "it broke");
            assert!(said.ends_with("(auf Englisch: „it broke“)"), "{said}");
        }
    }

    /// Returns one warning of each kind.
    fn all_warnings() -> Vec<Warning> {
        let all = json!([
            { "kind": "software_adapter", "name": "llvmpipe" },
            { "kind": "perhaps_software", "flops_per_second": 12.4e9, "processors": 8 },
            { "kind": "not_stabilised", "workload": "theano-mnist", "half_width_percent": 3.25 },
            { "kind": "too_few_windows", "workload": "theano-mnist", "windows": 4 },
            { "kind": "not_learned", "workload": "theano-mnist", "accuracy": 0.1, "chance": 0.1135 },
            { "kind": "checkpoint_missed", "workload": "theano-mnist", "reason": "the wire was cut" },
            { "kind": "stopped_by_budget", "workload": "theano-mnist", "budget_seconds": 30.0 },
            { "kind": "tab_hidden", "seconds": 2.6, "paused_seconds": 0.0 },
            { "kind": "tab_hidden", "seconds": 12.6, "paused_seconds": 11.4 },
            { "kind": "coarse_timer", "resolution_seconds": 0.0167 },
            { "kind": "untuned", "backend": "burn-wgpu" },
            { "kind": "tuning_not_settled", "workload": "theano-mnist", "steps": 40 },
            { "kind": "no_wake_lock" },
            { "kind": "on_battery" },
            { "kind": "processor_pressed", "share": 0.253 },
            { "kind": "not_isolated" },
            { "kind": "unregistered", "reason": SEED_BY_HAND },
            { "kind": "unregistered", "reason": "the wire was cut" },
            { "kind": "stopped_early", "workload": "theano-mnist" },
            {
                "kind": "smaller_batch", "workload": "theano-mnist", "asked": 128, "used": 64,
                "needed_bytes": 5_u64 << 30, "allowed_bytes": 3_u64 << 30,
            },
            { "kind": "generated_data", "workload": "theano-mnist" },
        ]);
        serde_json::from_value(all).unwrap()
    }

    #[test]
    fn warnings_match_results_in_english_with_title_and_exist_in_german() {
        for of in all_warnings() {
            let expected = of.to_string().replace("theano-mnist", &workload_title("theano-mnist"));
            assert_eq!(warning(&of, true), expected);
            assert_ne!(in_language(PageLanguage::German, || warning(&of, true)), of.to_string());
        }
        speak(PageLanguage::German);
        let unstable = Warning::NotStabilised { workload: "unheard-of".to_owned(), half_width_percent: 3.25 };
        let text = warning(&unstable, false);
        assert!(text.starts_with("unheard-of: ") && text.contains("±3,2 %"), "{text}");
    }

    #[test]
    fn only_the_runner_gets_advice() {
        let unnamed = Warning::SoftwareAdapter { name: UNNAMED_ADAPTER.to_owned() };
        assert!(warning(&unnamed, false).starts_with("This adapter is a software adapter: "));
        let hidden = Warning::TabHidden { seconds: 3.0, paused_seconds: 0.0 };
        let fact = "The page was hidden for 3 s, and browsers slow hidden pages down.";
        assert_eq!(warning(&hidden, false), fact);
        for language in PageLanguage::ALL {
            speak(language);
            for of in all_warnings() {
                let [whole, fact] = [true, false].map(|with_advice| warning(&of, with_advice));
                assert!(whole.starts_with(&fact) && !whole.contains(ADVICE.trim()), "{whole}");
                assert!(fact.len() < whole.len() || !fact_and_advice(&of).contains(ADVICE), "{whole}");
            }
            let no_advice = |of: &Warning| !fact_and_advice(of).contains(ADVICE);
            assert_eq!(all_warnings().iter().filter(|of| no_advice(of)).count(), 2, "{language:?}");
        }
    }
}
