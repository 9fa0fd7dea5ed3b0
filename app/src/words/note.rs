//! What a leaderboard says of a run besides its tier.

use results::api::UsualNote;

use crate::t;
use crate::text::workload_title;

/// A note in the language of the page; nothing where it is none of the usual ones, which only the server's words tell.
pub fn note(sentence: &str) -> Option<String> {
    Some(match UsualNote::of(sentence)? {
        UsualNote::PerhapsSoftware => t!(note_perhaps_software).to_owned(),
        UsualNote::SeedFromElsewhere => t!(note_seed_from_elsewhere).to_owned(),
        UsualNote::ComputedInPart => t!(note_computed_in_part).to_owned(),
        UsualNote::NotTrained { workload } => t!(note_not_trained, workload = workload_title(&workload)),
        UsualNote::NotCompleted { workload } => t!(note_not_completed, workload = workload_title(&workload)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::{Language, speak};

    #[test]
    fn the_usual_notes_are_in_the_language_of_the_page_and_with_a_networks_title() {
        let usual = UsualNote::NotTrained { workload: "keras-mnist-mlp".to_owned() }.to_string();
        assert_eq!(
            note(&usual).unwrap(),
            "MNIST, multilayer perceptron (Keras) could not be trained on this device and is left out of the table."
        );
        for same in [UsualNote::PerhapsSoftware, UsualNote::SeedFromElsewhere, UsualNote::ComputedInPart] {
            assert_eq!(note(&same.to_string()), Some(same.to_string()));
        }
        speak(Language::German);
        assert!(note(&usual).unwrap().contains("auf diesem Gerät"));
        assert_eq!(note("A moderator flagged this run: it looks odd."), None);
    }
}
