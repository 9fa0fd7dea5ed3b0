//! Remarks of the crates `engine` and `results` about a run: agreement, departures, failures and warnings. The English
//! texts match the crates, with titles for names, as tests verify.

use results::comparison::{Agreement, Basis, Evidence, Obstacle, Pair};
use results::software::program_of_architecture;
use results::{Departure, FailureCause, Length, UNNAMED_ADAPTER, Warning};
use training_worker::RunTrouble;

use super::language;
use crate::backend::title;
use crate::t;
use crate::text::{number, percent, workload_title};

/// Formats a verdict as a sentence without its period.
pub fn agreement(of: &Agreement) -> String {
    match of {
        Agreement::Agree { evidence } => nothing_found(evidence),
        Agreement::Disagree { evidence, pairs } => {
            let pairs = pairs.iter().map(pair).collect::<Vec<_>>().join(", ");
            let (subject, spread, allowed) = parts(evidence);
            t!(agreement_disagree, subject, pairs, spread, allowed)
        }
        Agreement::Unclear { evidence } => t!(agreement_unclear, nothing_found = nothing_found(evidence)),
        Agreement::NotCompared { obstacle } => {
            let obstacle = match obstacle {
                Obstacle::TooFewBackEnds => t!(agreement_too_few),
                Obstacle::NoCommonSeed => t!(agreement_no_common_seed),
                Obstacle::NoCommonStep => t!(agreement_no_common_step),
            };
            t!(agreement_not_compared, obstacle)
        }
    }
}

fn pair(of: &Pair) -> String {
    t!(agreement_pair, higher = title(&of.higher), difference = points(of.difference), lower = title(&of.lower))
}

/// Returns what was compared, its spread, and the allowed difference.
fn parts(evidence: &Evidence) -> (String, String, String) {
    let after_step = || t!(agreement_after_step, step = evidence.step.to_string());
    let subject = if evidence.is_final { t!(agreement_final).to_owned() } else { after_step() };
    let spread = match evidence.basis {
        Basis::Seeds => t!(agreement_spread_of_seeds, seeds = evidence.seeds.len()),
        Basis::TestSamples => t!(agreement_sampling_error, samples = evidence.test_samples.to_string()),
    };
    (subject, spread, points(evidence.allowed_difference))
}

fn nothing_found(evidence: &Evidence) -> String {
    let (subject, spread, allowed) = parts(evidence);
    t!(agreement_nothing_found, subject, allowed, spread, largest = points(evidence.largest_difference))
}

fn points(difference: f64) -> String {
    t!(agreement_points, number = number(difference * 100.0, 2))
}

/// Formats a whole number without separators.
fn plain(number: impl ToString) -> String {
    number.to_string()
}

pub fn departure(of: &Departure) -> String {
    let decimal = |value: f64| language().number(&value.to_string());
    match of {
        Departure::LeftOut { trained, networks } => {
            t!(departure_networks, some = plain(trained), all = plain(networks))
        }
        Departure::OtherNetworks => t!(departure_not_of_suite).to_owned(),
        Departure::NetworkFile { workload, digest } => {
            t!(departure_network_file, workload, digest)
        }
        Departure::BatchSize { size } => t!(departure_batch_size, size = plain(size)),
        Departure::FittedBatch { workload, size, usual } => {
            t!(departure_fitted_batch, workload, size = plain(size), usual = plain(usual))
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

/// A warning, with a workload's title instead of its name. The advice is for the person who has just run the benchmark,
/// and can run it again.
pub fn warning(warning: &Warning, with_advice: bool) -> String {
    let whole = fact_and_advice(warning);
    match whole.rsplit_once(ADVICE) {
        Some((fact, advice)) if with_advice => format!("{fact} {advice}"),
        Some((fact, _)) => fact.to_owned(),
        None => whole,
    }
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
            t!(warning_perhaps_software, gigaflops = number(flops_per_second / 1e9, 0), processors = plain(processors))
        }
        Warning::NotStabilised { half_width_percent, .. } => {
            t!(warning_not_stabilised, workload, half_width = number(*half_width_percent, 1))
        }
        Warning::TooFewWindows { windows, .. } => t!(warning_too_few_windows, workload, windows = plain(windows)),
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
        Warning::TuningNotSettled { steps, .. } => t!(warning_tuning_not_settled, workload, steps = plain(steps)),
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
            let [needed, allowed] = [needed_bytes, allowed_bytes].map(|bytes| plain(bytes >> 20));
            t!(warning_smaller_batch, workload, used = plain(used), asked = plain(asked), needed, allowed)
        }
        Warning::GeneratedData { .. } => t!(warning_generated_data, workload),
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZero;

    use results::comparison::Contender;
    use results::{Feature, InputMode, Layout, Positive, Precision};

    use super::*;
    use crate::words::{PageLanguage, in_language, speak};

    fn all_agreements() -> Vec<Agreement> {
        let contender = |name: &str| Contender { backend: name.to_owned(), precision: Precision::F32 };
        let evidence = |basis: Basis, is_final: bool| Evidence {
            basis,
            seeds: vec![1, 2, 3],
            step: 1200,
            is_final,
            test_samples: 10_000,
            spread: 0.002,
            largest_difference: 0.0123,
            allowed_difference: 0.0045,
            largest_same_seed_difference: 0.001,
        };
        let pair = || Pair { higher: contender("wgsl"), lower: contender("burn-wgpu"), difference: 0.0123 };
        let obstacles = [Obstacle::TooFewBackEnds, Obstacle::NoCommonSeed, Obstacle::NoCommonStep];
        let not_compared = obstacles.map(|obstacle| Agreement::NotCompared { obstacle });
        let judged = [
            Agreement::Agree { evidence: evidence(Basis::Seeds, true) },
            Agreement::Agree { evidence: evidence(Basis::TestSamples, false) },
            Agreement::Disagree { evidence: evidence(Basis::Seeds, true), pairs: vec![pair(), pair()] },
            Agreement::Unclear { evidence: evidence(Basis::TestSamples, false) },
        ];
        judged.into_iter().chain(not_compared).collect()
    }

    #[test]
    fn verdicts_match_results_in_english_and_exist_in_german() {
        for of in all_agreements() {
            let expected = of.to_string().replace("burn-wgpu", "Burn on WebGPU").replace("wgsl", "WGSL (Gradmark)");
            assert_eq!(agreement(&of), expected);
            let german = in_language(PageLanguage::German, || agreement(&of));
            assert!(german != of.to_string() && !german.contains("1.23 "), "{german}");
        }
    }

    fn all_departures() -> Vec<Departure> {
        let workload = || "theano-mnist".to_owned();
        let length = |length| Departure::Length { length };
        vec![
            Departure::LeftOut { trained: 1, networks: 2 },
            Departure::OtherNetworks,
            Departure::NetworkFile { workload: workload(), digest: "1234abcd".to_owned() },
            Departure::BatchSize { size: 32 },
            Departure::FittedBatch { workload: workload(), size: 32, usual: 64 },
            Departure::LearningRate { rate: 0.01 },
            length(Length::Epochs(NonZero::new(1).unwrap())),
            length(Length::Steps(NonZero::new(40).unwrap())),
            length(Length::Seconds(Positive::new(2.5).unwrap())),
            Departure::TargetAccuracy { accuracy: 0.5 },
            Departure::Precision { precision: Precision::F16Matrix },
            Departure::Reference,
            Departure::External { program: "tfjs-webgpu".to_owned() },
            Departure::Layout { layout: Layout::Nchw },
            Departure::Without { feature: Feature::Subgroups },
            Departure::Input { mode: InputMode::Stream },
            Departure::Devices { count: 2, logical: false },
            Departure::Devices { count: 2, logical: true },
            Departure::Overlap { on: true },
            Departure::Overlap { on: false },
        ]
    }

    #[test]
    fn departures_match_results_in_english_and_exist_in_german() {
        for of in all_departures() {
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

    /// One warning of each kind. The compiler requires new ones in [`fact_and_advice`].
    fn all_warnings() -> Vec<Warning> {
        let workload = || "theano-mnist".to_owned();
        let reason = || "the wire was cut".to_owned();
        let (needed_bytes, allowed_bytes) = (5 << 30, 3 << 30);
        let smaller = Warning::SmallerBatch { workload: workload(), asked: 128, used: 64, needed_bytes, allowed_bytes };
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
            smaller,
            Warning::GeneratedData { workload: workload() },
        ]
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
