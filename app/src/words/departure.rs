//! Why a run is not standard: the engine writes it into the record, in English. What it usually says has words in each
//! language; anything else stays as it is.

use crate::t;
use crate::words::language;

/// A reason of a record's `non_standard`.
pub fn departure(reason: &str) -> String {
    whole(reason)
        .map(str::to_owned)
        .or_else(|| ahead(reason))
        .or_else(|| behind(reason))
        .unwrap_or_else(|| reason.to_owned())
}

fn whole(reason: &str) -> Option<&'static str> {
    match reason {
        "networks that are not of the suite" => Some(t!(departure_not_of_suite)),
        "the reference back end judges and does not compete" => Some(t!(departure_reference)),
        _ => None,
    }
}

/// What begins with words.
fn ahead(reason: &str) -> Option<String> {
    let after = |words: &str| reason.strip_prefix(words).filter(|rest| !rest.contains(' '));
    let number = |text: &str| language().number(text);
    if let Some(size) = after("batch size ") {
        Some(t!(departure_batch_size, size = size))
    } else if let Some(rate) = after("learning rate ") {
        Some(t!(departure_learning_rate, rate = number(rate)))
    } else if let Some(target) = after("target accuracy ") {
        Some(t!(departure_target, target = number(target)))
    } else if let Some(precision) = after("computed in ") {
        Some(t!(departure_computed_in, precision = precision))
    } else if let Some(program) = after("trained by the external program ") {
        Some(t!(departure_program, program = program))
    } else {
        after("without ").map(|feature| t!(departure_without, feature = feature))
    }
}

/// What begins with a number.
fn behind(reason: &str) -> Option<String> {
    let (number, rest) = reason.split_once(' ')?;
    number.parse::<f64>().ok()?;
    let number = language().number(number);
    match rest {
        "epochs" => Some(t!(departure_epochs, number = number)),
        "steps" => Some(t!(departure_steps, number = number)),
        "s of training" => Some(t!(departure_seconds, number = number)),
        _ => {
            let all = rest.strip_prefix("of the suite's ")?.strip_suffix(" networks")?;
            Some(t!(departure_networks, some = number, all = all))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::{Language, speak};

    /// As `engine/src/train/settings.rs` and its back ends write them.
    const KNOWN: [&str; 12] = [
        "batch size 32",
        "learning rate 0.01",
        "1 epochs",
        "40 steps",
        "2.5 s of training",
        "target accuracy 0.5",
        "1 of the suite's 2 networks",
        "networks that are not of the suite",
        "computed in f16-matrix",
        "the reference back end judges and does not compete",
        "trained by the external program tfjs-webgpu",
        "without subgroups",
    ];

    #[test]
    fn a_reason_is_in_english_as_the_record_has_it_and_otherwise_in_german() {
        for reason in KNOWN {
            assert_eq!(departure(reason), reason);
            speak(Language::German);
            assert_ne!(departure(reason), reason);
            speak(Language::English);
        }
    }

    #[test]
    fn what_is_not_known_stays_as_it_is() {
        speak(Language::German);
        assert_eq!(departure("input streamed with prefetch"), "input streamed with prefetch");
        assert_eq!(departure("2.5 s of training"), "2,5 s Training");
    }
}
