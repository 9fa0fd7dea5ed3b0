//! Texts for the leaderboard's facts, notes, refusals and moderation log.

use results::UNNAMED_ADAPTER;
use results::api::{Deed, ErrorBody, Note, Tier};

use super::{PageLanguage, language, named};
use crate::t;
use crate::text::{capitalised, tier, workload_title};

/// Name of a fact by which results are compared. An unknown one is shown as in the API.
pub fn fact(id: &str) -> String {
    named("fact", id).map_or_else(|| id.replace('_', " "), str::to_owned)
}

pub fn fact_value(id: &str, value: String) -> String {
    match (id, value.as_str()) {
        ("adapter", UNNAMED_ADAPTER) => t!(device_unnamed).to_owned(),
        ("source", "reported") => t!(leaderboard_reported).to_owned(),
        ("source", "claimed") => t!(leaderboard_claimed).to_owned(),
        ("source", "masked") => t!(leaderboard_masked).to_owned(),
        _ => value,
    }
}

/// Translates a note; `None` for findings, whose text comes from the server.
pub fn note(of: &Note) -> Option<String> {
    Some(match of {
        Note::PerhapsSoftware => t!(note_perhaps_software).to_owned(),
        Note::SeedFromElsewhere => t!(note_seed_from_elsewhere).to_owned(),
        Note::ComputedInPart => t!(note_computed_in_part).to_owned(),
        Note::NotComputed => t!(note_not_computed).to_owned(),
        Note::NotTrained { workload } => t!(note_not_trained, workload = workload_title(workload)),
        Note::NotCompleted { workload } => t!(note_not_completed, workload = workload_title(workload)),
        Note::NotProvable { workload } => t!(note_not_provable, workload = workload_title(workload)),
        Note::LargeStates { workload } => t!(note_large_states, workload = workload_title(workload)),
        Note::OtherFlagged => t!(note_other_flagged).to_owned(),
        Note::Moderated { reason } if reason.is_empty() => format!("{}.", t!(note_moderated)),
        Note::Moderated { reason } => format!("{}: {reason}", t!(note_moderated)),
        Note::Finding { .. } => return None,
    })
}

/// Translates a refusal. Only German has own texts, for common codes: the server's English text has details.
pub fn refusal(body: &ErrorBody) -> String {
    let own = match language() {
        PageLanguage::English => None,
        PageLanguage::German => by_code(&body.code),
    };
    let message = own.unwrap_or(&body.message);
    match &body.field {
        Some(field) => format!("{message} ({}, {field})", body.code),
        None => format!("{message} ({})", body.code),
    }
}

fn by_code(code: &str) -> Option<&'static str> {
    Some(match code {
        "unknown_run" | "unknown_comparison" | "unknown_device" => t!(common_nothing_here_why),
        "busy" | "too_many_requests" => t!(refusal_busy),
        "read_only" => t!(refusal_read_only),
        "too_large" => t!(refusal_too_large),
        "already_submitted" => t!(refusal_already_submitted),
        "wrong_secret" => t!(refusal_wrong_secret),
        "bad_name" => t!(refusal_bad_name),
        _ => return None,
    })
}

pub fn deed(deed: Deed, new_tier: Option<Tier>) -> String {
    let with_tier = |done: &str| new_tier.map_or_else(|| done.to_owned(), |new| format!("{done}: {}", tier(new)));
    match deed {
        Deed::Hide => capitalised(tier(Tier::Hidden)),
        Deed::Flag => capitalised(tier(Tier::Flagged)),
        Deed::Restore => with_tier(t!(moderation_restored)),
        Deed::SetTier => with_tier(t!(moderation_set_tier)),
        Deed::Remove => t!(moderation_removed).to_owned(),
        Deed::MergeDevices => t!(moderation_merged).to_owned(),
        Deed::SeparateDevices => t!(moderation_separated).to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::{PageLanguage, messages, speak};

    #[test]
    fn every_compared_fact_has_a_name() {
        let known = |id: &str| messages::ALL.iter().any(|(name, _)| *name == format!("fact_{id}"));
        for (id, _) in results::environment::FACTS {
            assert!(known(id), "give {id} words: app/locales/*/fact.ftl");
            assert!(fact(id).starts_with(&id.replace('_', " ")), "{id}");
        }
        speak(PageLanguage::German);
        assert_eq!((fact("driver").as_str(), fact("new_thing").as_str()), ("Treiber", "new thing"));
        assert_eq!(fact_value("adapter", UNNAMED_ADAPTER.to_owned()), "ohne Namen");
        assert_eq!(fact_value("driver", "580.65".to_owned()), "580.65");
    }

    #[test]
    fn notes_are_translated_with_the_networks_title() {
        let failed = Note::NotTrained { workload: "keras-mnist-mlp".to_owned() };
        assert_eq!(
            note(&failed).unwrap(),
            "MNIST, multilayer perceptron (Keras) could not be trained on this device and is left out of the table."
        );
        for of in [Note::PerhapsSoftware, Note::SeedFromElsewhere, Note::ComputedInPart, Note::OtherFlagged] {
            assert_eq!(note(&of), Some(of.to_string()));
        }
        speak(PageLanguage::German);
        assert!(note(&failed).unwrap().contains("auf diesem Gerät"));
        assert_eq!(note(&Note::finding("It looks odd.")), None);
    }

    fn body(code: &str, field: Option<&str>) -> ErrorBody {
        ErrorBody { code: code.to_owned(), message: "No.".to_owned(), field: field.map(str::to_owned) }
    }

    #[test]
    fn translates_known_refusals_and_keeps_others() {
        assert_eq!(refusal(&body("busy", None)), "No. (busy)");
        assert_eq!(refusal(&body("out_of_range", Some("seed"))), "No. (out_of_range, seed)");
        speak(PageLanguage::German);
        assert!(refusal(&body("busy", None)).starts_with("Der Server ist ausgelastet."));
        assert_eq!(refusal(&body("out_of_range", Some("seed"))), "No. (out_of_range, seed)");
    }

    #[test]
    fn moderation_action_names_new_tier() {
        assert_eq!(deed(Deed::Restore, Some(Tier::Proven)), "Restored: proven");
        assert_eq!(deed(Deed::Restore, None), "Restored");
        assert_eq!(deed(Deed::SetTier, Some(Tier::Checked)), "Tier changed: checked");
        assert_eq!(deed(Deed::Flag, Some(Tier::Flagged)), "Flagged");
    }
}
