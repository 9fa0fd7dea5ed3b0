//! The result of a verification.

use results::RunRecord;
use results::api::{Note, Tier};

use super::examination::Examined;
use crate::storage::{Conclusion, Own};
use crate::validation;

/// Judges a verification, whole or `in_part`. Only a whole one of an unjudged run proves anything.
pub(super) fn judge(own: &Own, examined: &Examined, in_part: bool, record: &RunRecord) -> Conclusion {
    match (examined, in_part) {
        (Examined::GivenUp, _) => {
            let is_open = own.tier == Tier::Checked && !in_part;
            let own = if is_open { Own { tier: Tier::Checked, notes: vec![Note::NotComputed] } } else { own.clone() };
            keep_unchanged(&own, &Note::NotComputed.to_string())
        }
        (_, false) if own.tier != Tier::Checked => keep_unchanged(own, "its tier was changed in the meantime."),
        (Examined::Proof(measured), false) => {
            let own = Own { tier: Tier::Proven, notes: validation::notes(record) };
            let said = "It was checked and is proven now.".to_owned();
            Conclusion { own, said, unexamined: false, measured: measured.clone() }
        }
        (Examined::Doubt(doubt), false) => flag(own, vec![Note::finding(doubt)]),
        (Examined::Nothing(reason), false) => {
            let kept = Own { tier: Tier::Checked, notes: vec![Note::finding(reason)] };
            Conclusion { unexamined: true, ..keep_unchanged(&kept, reason) }
        }
        (Examined::Proof(_), true) => {
            let mut own = own.clone();
            // Proven runs stay proven, and flagged runs have their reasons.
            let has_room = matches!(own.tier, Tier::Checked | Tier::Unverified);
            if has_room && !own.notes.contains(&Note::ComputedInPart) {
                own.notes.push(Note::ComputedInPart);
            }
            keep_unchanged(&own, &Note::ComputedInPart.to_string())
        }
        (Examined::Doubt(doubt), true) => {
            let doubt = Note::finding(doubt);
            let others = own.notes.iter().filter(|note| **note != doubt && **note != Note::ComputedInPart);
            let notes = [&doubt].into_iter().chain(others).cloned().collect();
            flag(own, notes)
        }
        (Examined::Nothing(reason), true) => keep_unchanged(own, reason),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::MeasuredResult;

    const TIERS: [Tier; 5] = [Tier::Proven, Tier::Checked, Tier::Unverified, Tier::Flagged, Tier::Hidden];

    fn own(tier: Tier) -> Own {
        Own { tier, notes: vec![Note::finding("As it was.")] }
    }

    fn proof() -> Examined {
        Examined::Proof(vec![MeasuredResult { workload: "a".to_owned(), accuracy: 0.97, loss: 0.1 }])
    }

    fn doubt() -> Examined {
        Examined::Doubt("a: step 1 has another loss.".to_owned())
    }

    fn examined() -> [Examined; 4] {
        [proof(), doubt(), Examined::Nothing("There is no such data set.".to_owned()), Examined::GivenUp]
    }

    fn judged(own: &Own, examined: &Examined, in_part: bool) -> Conclusion {
        judge(own, examined, in_part, &crate::devices::testing::native("Example GPU 9000", ""))
    }

    #[test]
    fn in_part_nothing_becomes_proven_that_was_not() {
        for tier in TIERS {
            for examined in examined() {
                let Conclusion { own: after, unexamined, .. } = judged(&own(tier), &examined, true);
                let expected = if matches!(examined, Examined::Doubt(_)) { Tier::Flagged } else { tier };
                assert_eq!((after.tier, unexamined), (expected, false));
            }
        }
        assert_eq!(judged(&own(Tier::Checked), &Examined::GivenUp, true).own, own(Tier::Checked));
    }

    #[test]
    fn partial_findings_are_noted_once_and_not_on_proven_runs() {
        let proven = judged(&own(Tier::Proven), &proof(), true);
        assert_eq!(proven.own, own(Tier::Proven));
        assert_eq!(proven.said, format!("It stays proven: {}", Note::ComputedInPart));
        let once = judged(&own(Tier::Checked), &proof(), true).own;
        assert_eq!(once.notes, [Note::finding("As it was."), Note::ComputedInPart]);
        assert_eq!(judged(&once, &proof(), true).own, once);
        let doubted = judged(&once, &doubt(), true);
        assert_eq!(doubted.own.notes, ["a: step 1 has another loss.", "As it was."].map(Note::finding));
        assert!(doubted.said.starts_with("It was checked and is flagged now: a: step 1"), "{}", doubted.said);
        assert_eq!(judged(&doubted.own, &doubt(), true).own, doubted.own);
    }

    #[test]
    fn what_somebody_judged_meanwhile_is_not_judged_again() {
        for tier in TIERS.into_iter().filter(|tier| *tier != Tier::Checked) {
            for examined in examined() {
                assert_eq!(judged(&own(tier), &examined, false).own, own(tier));
            }
        }
    }
}
