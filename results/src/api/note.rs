//! What a leaderboard says of a run besides its tier. The API has it as sentences; readers of other languages tell the
//! usual ones by their words, and say them anew.

use std::fmt;

/// One of the sentences that are said of many runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UsualNote {
    /// The device may be a program that acts as a GPU.
    PerhapsSoftware,
    /// It has no seed of this leaderboard.
    SeedFromElsewhere,
    /// It was not computed again as a whole.
    ComputedInPart,
    /// This workload failed.
    NotTrained { workload: String },
    /// This workload came to no end.
    NotCompleted { workload: String },
}

const PERHAPS_SOFTWARE: &str = "The browser hides what the adapter is, and it is no faster than a processor may be: nothing \
                                tells it from a program that acts as a GPU, so it is shown and not ranked. A browser that \
                                names the GPU's maker, or native-runner, gets it ranked.";
const SEED_FROM_ELSEWHERE: &str =
    "The seed did not come from this leaderboard, so nothing shows when the run was made.";
const COMPUTED_IN_PART: &str = "This run could be computed again in part only, because its weights are not kept: nothing \
                                that was found contradicts it.";
const NOT_TRAINED: &str = " could not be trained on this device and is left out of the table.";
const NOT_COMPLETED: &str = " was not completed and is left out of the table.";

impl fmt::Display for UsualNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PerhapsSoftware => f.write_str(PERHAPS_SOFTWARE),
            Self::SeedFromElsewhere => f.write_str(SEED_FROM_ELSEWHERE),
            Self::ComputedInPart => f.write_str(COMPUTED_IN_PART),
            Self::NotTrained { workload } => write!(f, "{workload}{NOT_TRAINED}"),
            Self::NotCompleted { workload } => write!(f, "{workload}{NOT_COMPLETED}"),
        }
    }
}

impl UsualNote {
    /// The one of these words; nothing where a leaderboard says something else.
    pub fn of(sentence: &str) -> Option<Self> {
        Some(match sentence {
            PERHAPS_SOFTWARE => Self::PerhapsSoftware,
            SEED_FROM_ELSEWHERE => Self::SeedFromElsewhere,
            COMPUTED_IN_PART => Self::ComputedInPart,
            _ => match (sentence.strip_suffix(NOT_TRAINED), sentence.strip_suffix(NOT_COMPLETED)) {
                (Some(workload), _) => Self::NotTrained { workload: workload.to_owned() },
                (_, Some(workload)) => Self::NotCompleted { workload: workload.to_owned() },
                (None, None) => return None,
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_usual_note_is_told_by_its_words() {
        let workload = || "keras-mnist-mlp".to_owned();
        for note in [
            UsualNote::PerhapsSoftware,
            UsualNote::SeedFromElsewhere,
            UsualNote::ComputedInPart,
            UsualNote::NotTrained { workload: workload() },
            UsualNote::NotCompleted { workload: workload() },
        ] {
            assert_eq!(UsualNote::of(&note.to_string()), Some(note));
        }
        assert_eq!(UsualNote::of("A moderator flagged this run: it looks odd."), None);
    }
}
