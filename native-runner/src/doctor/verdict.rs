use engine::backends::KNOWN_BACKENDS;
use serde::Serialize;

use super::traces::{Outcome, Trial};
use super::{Circumstances, data};

/// What all findings come to for somebody who wants to train.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Verdict {
    /// Whether a run would work as it was asked for.
    pub(super) trains: bool,
    /// Whether that was tried.
    pub(super) tried: bool,
    pub(super) sentence: String,
    /// What to type next.
    pub(super) command: Option<String>,
    pub(super) backend: Option<&'static str>,
    pub(super) adapter_index: Option<usize>,
}

impl Verdict {
    pub(super) fn of(circumstances: &Circumstances<'_>) -> Self {
        let lacking = data::command_for_what_a_run_lacks(circumstances.arguments);
        decide(&circumstances.trials, circumstances.listing.used_by_default(), lacking)
    }
}

/// `default` is the adapter of a run that names none, and `lacking` fetches the data that a run would stop at.
fn decide(trials: &[Trial], default: Option<usize>, lacking: Option<String>) -> Verdict {
    let place = |trial: &Trial| KNOWN_BACKENDS.iter().position(|known| known.name == trial.backend);
    let usable = trials.iter().filter(|trial| trial.outcome != Outcome::Failed);
    let best = usable.min_by_key(|trial| (trial.software, place(trial), trial.adapter != default));
    let Some(best) = best else {
        let sentence = match trials {
            [] => "Nothing can be trained as it was asked for: there is no back end with a device to compute on.",
            _ => "Nothing can be trained as it was asked for: every back end failed on every device.",
        };
        let sentence = format!("{sentence} `--backend reference` trains on any processor, slowly.");
        return Verdict { trains: false, tried: true, sentence, command: None, backend: None, adapter_index: None };
    };
    let tried = best.outcome == Outcome::Right;
    let (backend, adapter_index) = (Some(best.backend), best.adapter);
    if let Some(command) = lacking {
        let sentence = "A run would stop because its data is not in the chosen folder; this fetches it:".to_owned();
        return Verdict { trains: false, tried, sentence, command: Some(command), backend, adapter_index };
    }
    let device = format!("{} on {}", best.backend, best.device);
    let software = if best.software { ", a software adapter, whose results are never ranked" } else { "" };
    let sentence = if tried {
        format!("A run works here, with {device}{software}:")
    } else {
        format!("A run should work here, with {device}{software}; that was not tried:")
    };
    Verdict { trains: true, tried, sentence, command: Some(command(best, default)), backend, adapter_index }
}

/// The run that takes this back end and this adapter.
fn command(trial: &Trial, default: Option<usize>) -> String {
    let mut words = vec!["native-runner".to_owned()];
    if trial.backend != KNOWN_BACKENDS[0].name {
        words.push(format!("--backend {}", trial.backend));
    }
    match trial.adapter {
        Some(index) if trial.software && default.is_none() && index == 0 => words.push("--adapter cpu".to_owned()),
        Some(index) if Some(index) != default => words.push(format!("--adapter {index}")),
        _ => {}
    }
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trial(backend: &'static str, adapter: Option<usize>, software: bool, outcome: Outcome) -> Trial {
        Trial { backend, adapter, device: "X".to_owned(), software, outcome }
    }

    fn decided(trials: &[Trial], default: Option<usize>) -> (bool, Option<String>) {
        let verdict = decide(trials, default, None);
        (verdict.trains, verdict.command)
    }

    #[test]
    fn the_run_to_type_takes_the_best_that_computes_rightly() {
        let works = |command: &str| (true, Some(command.to_owned()));
        let (right, failed) = (Outcome::Right, Outcome::Failed);
        let all = [
            trial("wgsl", Some(0), true, right),
            trial("wgsl", Some(1), false, right),
            trial("burn-flex", None, false, right),
        ];
        assert_eq!(decided(&all, Some(1)), works("native-runner"));
        assert_eq!(decided(&[all[0].clone()], None), works("native-runner --adapter cpu"));
        assert_eq!(decided(&[all[1].clone()], Some(2)), works("native-runner --adapter 1"));
        let broken = [trial("wgsl", Some(1), false, failed), all[2].clone()];
        assert_eq!(decided(&broken, Some(1)), works("native-runner --backend burn-flex"));
        assert_eq!(decided(&broken[..1], Some(1)), (false, None));
        assert_eq!(decided(&[], None), (false, None));
    }

    #[test]
    fn a_run_that_would_stop_at_its_data_does_not_work() {
        let trials = [trial("wgsl", Some(0), false, Outcome::Right)];
        let verdict = decide(&trials, Some(0), Some("native-runner fetch-data mnist".to_owned()));
        assert_eq!((verdict.trains, verdict.command.as_deref()), (false, Some("native-runner fetch-data mnist")));
    }

    #[test]
    fn what_was_not_tried_is_not_said_to_work() {
        let verdict = decide(&[trial("wgsl", Some(0), false, Outcome::Untried)], Some(0), None);
        assert!(verdict.trains && !verdict.tried && verdict.sentence.contains("should work"), "{verdict:?}");
    }
}
