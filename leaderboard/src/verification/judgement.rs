//! What a verification makes of a run.

use results::RunRecord;
use results::api::{Tier, UsualNote};

use super::examination::Found;
use crate::storage::{Conclusion, Own};
use crate::validation;

/// What a run is of its own after it was computed again, whole or `in_part`. Only a whole verification proves anything,
/// and only of a run that nobody and nothing has judged since it was handed in.
pub(super) fn judge(own: &Own, found: &Found, in_part: bool, record: &RunRecord) -> Conclusion {
    if in_part { judge_part(own, found) } else { judge_whole(own, found, record) }
}

fn judge_whole(own: &Own, found: &Found, record: &RunRecord) -> Conclusion {
    if own.tier != Tier::Checked {
        return unchanged(own, "somebody gave it another tier meanwhile.");
    }
    match found {
        Found::Proof => {
            let own = Own { tier: Tier::Proven, notes: validation::notes(record) };
            Conclusion { own, said: "It was checked and is proven now.".to_owned(), unexamined: false }
        }
        Found::Doubts(doubts) => flagged(own, doubts.clone()),
        Found::Nothing(reason) => {
            let kept = Own { tier: Tier::Checked, notes: vec![reason.clone()] };
            Conclusion { unexamined: true, ..unchanged(&kept, reason) }
        }
        Found::Interrupted => unchanged(own, "the server stopped."),
    }
}

fn judge_part(own: &Own, found: &Found) -> Conclusion {
    match found {
        Found::Proof => {
            let mut own = own.clone();
            // What is proven stays so, and what is flagged has its reasons.
            let has_room = matches!(own.tier, Tier::Checked | Tier::Unverified);
            let in_part = UsualNote::ComputedInPart.to_string();
            if has_room && !own.notes.contains(&in_part) {
                own.notes.push(in_part.clone());
            }
            unchanged(&own, &in_part)
        }
        Found::Doubts(doubts) => {
            let in_part = UsualNote::ComputedInPart.to_string();
            let others = own.notes.iter().filter(|note| !doubts.contains(note) && **note != in_part);
            let notes = doubts.iter().chain(others).cloned().collect();
            flagged(own, notes)
        }
        Found::Nothing(reason) => unchanged(own, reason),
        Found::Interrupted => unchanged(own, "the server stopped."),
    }
}

fn flagged(own: &Own, notes: Vec<String>) -> Conclusion {
    let said = format!("It was {} and is flagged now: {}", own.tier.name(), notes.join(" "));
    Conclusion { own: Own { tier: Tier::Flagged, notes }, said, unexamined: false }
}

fn unchanged(own: &Own, why: &str) -> Conclusion {
    Conclusion { own: own.clone(), said: format!("It stays {}: {why}", own.tier.name()), unexamined: false }
}

/// A run that has brought down so many verifications is left alone.
pub(super) fn given_up(own: &Own, in_part: bool) -> Conclusion {
    let reason = "This run could not be computed again, whatever the reason.";
    let is_open = own.tier == Tier::Checked && !in_part;
    let own = if is_open { Own { tier: Tier::Checked, notes: vec![reason.to_owned()] } } else { own.clone() };
    unchanged(&own, reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIERS: [Tier; 5] = [Tier::Proven, Tier::Checked, Tier::Unverified, Tier::Flagged, Tier::Hidden];

    fn own(tier: Tier) -> Own {
        Own { tier, notes: vec!["As it was.".to_owned()] }
    }

    fn doubts() -> Found {
        Found::Doubts(vec!["a: step 1 has another loss.".to_owned()])
    }

    fn found() -> [Found; 3] {
        [Found::Proof, doubts(), Found::Nothing("There is no such data set.".to_owned())]
    }

    #[test]
    fn in_part_nothing_becomes_proven_that_was_not() {
        for tier in TIERS {
            for found in found() {
                let Conclusion { own: after, unexamined, .. } = judge_part(&own(tier), &found);
                let expected = if matches!(found, Found::Doubts(_)) { Tier::Flagged } else { tier };
                assert_eq!((after.tier, unexamined), (expected, false));
            }
        }
    }

    #[test]
    fn what_a_part_says_is_said_once_and_not_of_proven_runs() {
        let proven = judge_part(&own(Tier::Proven), &Found::Proof);
        assert_eq!(proven.own, own(Tier::Proven));
        assert_eq!(proven.said, format!("It stays proven: {}", UsualNote::ComputedInPart));
        let once = judge_part(&own(Tier::Checked), &Found::Proof).own;
        assert_eq!(once.notes, ["As it was.".to_owned(), UsualNote::ComputedInPart.to_string()]);
        assert_eq!(judge_part(&once, &Found::Proof).own, once);
        let doubted = judge_part(&once, &doubts());
        assert_eq!(doubted.own.notes, ["a: step 1 has another loss.", "As it was."]);
        assert!(doubted.said.starts_with("It was checked and is flagged now: a: step 1"), "{}", doubted.said);
        assert_eq!(judge_part(&doubted.own, &doubts()).own, doubted.own);
    }

    #[test]
    fn a_whole_verification_that_could_not_be_made_leaves_the_weights_for_the_next() {
        let whole = |found: &Found| judge_whole(&own(Tier::Checked), found, &record());
        let open = whole(&Found::Nothing("There is no such data set.".to_owned()));
        assert!(open.unexamined);
        assert_eq!((open.own.tier, open.own.notes), (Tier::Checked, vec!["There is no such data set.".to_owned()]));
        assert!(!whole(&Found::Proof).unexamined && !whole(&doubts()).unexamined);
    }

    #[test]
    fn what_somebody_judged_meanwhile_is_not_judged_again() {
        for tier in TIERS.into_iter().filter(|tier| *tier != Tier::Checked) {
            for found in found() {
                assert_eq!(judge_whole(&own(tier), &found, &record()).own, own(tier));
            }
            assert_eq!(given_up(&own(tier), false).own, own(tier));
        }
        assert_eq!(given_up(&own(Tier::Checked), true).own, own(Tier::Checked));
    }

    fn record() -> RunRecord {
        crate::devices::testing::native("Example GPU 9000", "")
    }
}
