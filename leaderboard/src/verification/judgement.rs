//! The result of a verification.

use results::RunRecord;
use results::api::{Note, Tier};

use super::examination::Found;
use crate::storage::{Conclusion, Own};
use crate::validation;

/// Judges a verification, whole or `in_part`. Only a whole one of an unjudged run proves anything.
pub(super) fn judge(own: &Own, found: &Found, in_part: bool, record: &RunRecord) -> Conclusion {
    if in_part { judge_part(own, found) } else { judge_whole(own, found, record) }
}

fn judge_whole(own: &Own, found: &Found, record: &RunRecord) -> Conclusion {
    if own.tier != Tier::Checked {
        return keep_unchanged(own, "its tier was changed in the meantime.");
    }
    match found {
        Found::Proof(measured) => {
            let own = Own { tier: Tier::Proven, notes: validation::notes(record) };
            let said = "It was checked and is proven now.".to_owned();
            Conclusion { own, said, unexamined: false, measured: measured.clone() }
        }
        Found::Doubt(doubt) => flag(own, vec![Note::finding(doubt)]),
        Found::Nothing(reason) => {
            let kept = Own { tier: Tier::Checked, notes: vec![Note::finding(reason)] };
            Conclusion { unexamined: true, ..keep_unchanged(&kept, reason) }
        }
        Found::Interrupted => keep_unchanged(own, "the server stopped."),
    }
}

fn judge_part(own: &Own, found: &Found) -> Conclusion {
    match found {
        Found::Proof(_) => {
            let mut own = own.clone();
            // Proven runs stay proven, and flagged runs have their reasons.
            let has_room = matches!(own.tier, Tier::Checked | Tier::Unverified);
            if has_room && !own.notes.contains(&Note::ComputedInPart) {
                own.notes.push(Note::ComputedInPart);
            }
            keep_unchanged(&own, &Note::ComputedInPart.to_string())
        }
        Found::Doubt(doubt) => {
            let doubt = Note::finding(doubt);
            let others = own.notes.iter().filter(|note| **note != doubt && **note != Note::ComputedInPart);
            let notes = [&doubt].into_iter().chain(others).cloned().collect();
            flag(own, notes)
        }
        Found::Nothing(reason) => keep_unchanged(own, reason),
        Found::Interrupted => keep_unchanged(own, "the server stopped."),
    }
}

fn flag(own: &Own, notes: Vec<Note>) -> Conclusion {
    let reasons: Vec<String> = notes.iter().map(ToString::to_string).collect();
    let said = format!("It was {} and is flagged now: {}", own.tier.name(), reasons.join(" "));
    Conclusion { own: Own { tier: Tier::Flagged, notes }, said, unexamined: false, measured: Vec::new() }
}

fn keep_unchanged(own: &Own, why: &str) -> Conclusion {
    let said = format!("It stays {}: {why}", own.tier.name());
    Conclusion { own: own.clone(), said, unexamined: false, measured: Vec::new() }
}

/// Returns the conclusion for a run after too many crashed verifications.
pub(super) fn given_up(own: &Own, in_part: bool) -> Conclusion {
    let is_open = own.tier == Tier::Checked && !in_part;
    let own = if is_open { Own { tier: Tier::Checked, notes: vec![Note::NotComputed] } } else { own.clone() };
    keep_unchanged(&own, &Note::NotComputed.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIERS: [Tier; 5] = [Tier::Proven, Tier::Checked, Tier::Unverified, Tier::Flagged, Tier::Hidden];

    fn own(tier: Tier) -> Own {
        Own { tier, notes: vec![Note::finding("As it was.")] }
    }

    fn proof() -> Found {
        Found::Proof(vec![("a".to_owned(), 0.97)])
    }

    fn doubt() -> Found {
        Found::Doubt("a: step 1 has another loss.".to_owned())
    }

    fn found() -> [Found; 3] {
        [proof(), doubt(), Found::Nothing("There is no such data set.".to_owned())]
    }

    #[test]
    fn in_part_nothing_becomes_proven_that_was_not() {
        for tier in TIERS {
            for found in found() {
                let Conclusion { own: after, unexamined, .. } = judge_part(&own(tier), &found);
                let expected = if matches!(found, Found::Doubt(_)) { Tier::Flagged } else { tier };
                assert_eq!((after.tier, unexamined), (expected, false));
            }
        }
    }

    #[test]
    fn partial_findings_are_noted_once_and_not_on_proven_runs() {
        let proven = judge_part(&own(Tier::Proven), &proof());
        assert_eq!(proven.own, own(Tier::Proven));
        assert_eq!(proven.said, format!("It stays proven: {}", Note::ComputedInPart));
        let once = judge_part(&own(Tier::Checked), &proof()).own;
        assert_eq!(once.notes, [Note::finding("As it was."), Note::ComputedInPart]);
        assert_eq!(judge_part(&once, &proof()).own, once);
        let doubted = judge_part(&once, &doubt());
        assert_eq!(doubted.own.notes, ["a: step 1 has another loss.", "As it was."].map(Note::finding));
        assert!(doubted.said.starts_with("It was checked and is flagged now: a: step 1"), "{}", doubted.said);
        assert_eq!(judge_part(&doubted.own, &doubt()).own, doubted.own);
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
