//! Comparison of a finished record with the history that the leaderboard stored during the run.

use engine::{Standard, SuiteDefinition};
use results::{Outcome, RunRecord, Warning, WorkloadRecord};

use super::bounds::{Checked, FieldPath, Refusal};
use crate::proof::{SeenWorkload, draws};

/// Text after the name of a network.
const DRAWN: &str = ": it was not completed, although its client already knew which parts would be recomputed.";

/// Returns the obstacles to a proof, as sentences. A bad connection or a closed laptop can also cause them.
///
/// # Errors The record contradicts the history: a record does not change by accident.
pub(super) fn check(
    record: &RunRecord,
    suite: &SuiteDefinition,
    seen: &[SeenWorkload],
) -> Result<Vec<String>, Refusal> {
    let workloads = FieldPath::ROOT.field("workloads");
    let nothing = SeenWorkload::default();
    // A client with unfavourable draws would give up a network after a segment.
    let is_completed = |seen: &SeenWorkload| {
        record.workloads.iter().any(|of| of.workload == seen.workload && of.outcome == Outcome::Completed)
    };
    let given_up = seen.iter().filter(|seen| !seen.segments.is_empty() && !is_completed(seen));
    let mut missing: Vec<String> = given_up.map(|seen| format!("{}{DRAWN}", seen.workload)).collect();
    let mut is_any_provable = false;
    for (i, of) in record.workloads.iter().enumerate() {
        let seen = seen.iter().find(|seen| seen.workload == of.workload).unwrap_or(&nothing);
        check_segments(&workloads.item(i).field("segments"), of, seen)?;
        check_tests(&workloads.item(i), of, seen)?;
        let known = Standard::of_record(suite, of);
        // Networks that cannot be proven are not ranked, and do not prevent a proof of the others.
        let known = known.filter(|known| of.outcome == Outcome::Completed && known.workload.is_provable());
        is_any_provable |= known.is_some();
        let obstacle = known.and_then(|known| obstacle(of, &known, seen));
        missing.extend(obstacle.map(|reason| format!("{}: {reason}.", of.workload)));
    }
    if !is_any_provable {
        missing.push("The run completed no network that a leaderboard can prove.".to_owned());
    }
    let paused_seconds = record.paused_seconds();
    // Only the warning excludes a run from the ranking.
    if paused_seconds > 0.0 && !record.warnings.iter().any(|warning| matches!(warning, Warning::TabHidden { .. })) {
        missing.push(format!(
            "The run paused for {paused_seconds:.1} s, but the record has no warning about a hidden page."
        ));
    }
    Ok(missing)
}

/// Refuses a record whose segments differ from the segments received. The last ones may not have arrived.
fn check_segments(path: &FieldPath<'_>, of: &WorkloadRecord, seen: &SeenWorkload) -> Checked {
    let mut step = 0;
    for (i, ((segment, window), seen)) in of.segments.iter().zip(&of.windows).zip(&seen.segments).enumerate() {
        step += u64::from(window.steps);
        let is_same = segment.beacon == seen.beacon && segment.state_sha256 == seen.state_sha256 && step == seen.step;
        let message = "The segment differs from the one that the leaderboard received.";
        path.item(i).require(is_same, "wrong_segment", message)?;
    }
    let is_whole = !of.segments.is_empty() && of.segments.len() == of.windows.len();
    let message = "The leaderboard received more segments than the record contains.";
    path.require(!is_whole || of.segments.len() >= seen.segments.len(), "wrong_segment", message)
}

/// Refuses a record whose evaluations differ from the request that began the proof.
fn check_tests(path: &FieldPath<'_>, of: &WorkloadRecord, seen: &SeenWorkload) -> Checked {
    let Some(proof) = seen.proof.as_ref().filter(|_| of.outcome == Outcome::Completed) else { return Ok(()) };
    let is_last = of.evaluations.last().is_some_and(|last| last.step == proof.tested_step);
    let message = "The last evaluation differs from the one named at the start of the proof.";
    path.field("evaluations").require(is_last, "wrong_segment", message)?;
    let is_target = of.target.and_then(|target| target.reached_step) == proof.target_step;
    let message = "The step differs from the one named at the start of the proof.";
    path.field("target.reached_step").require(is_target, "wrong_segment", message)
}

/// Returns what is missing for a proof of a workload, as the rest of a sentence.
fn obstacle(of: &WorkloadRecord, known: &Standard, seen: &SeenWorkload) -> Option<&'static str> {
    if seen.segments.is_empty() {
        return Some("the leaderboard received no segments of its training");
    }
    if of.segments.len() != of.windows.len() || of.segments.len() != seen.segments.len() {
        return Some("the leaderboard received only some segments of its training");
    }
    let proof = seen.proof.as_ref().filter(|proof| seen.has_ended() && proof.segments == seen.segments.len());
    if proof.is_none() {
        return Some("the client sent no proof of its training");
    }
    let wanted = draws::next_wanted(seen, known);
    match (wanted.hashes, wanted.states.is_empty()) {
        (Some(_), _) => Some("the client did not send all requested hashes"),
        (None, false) => Some("the client did not send all requested states"),
        (None, true) => None,
    }
}

#[cfg(test)]
mod tests {
    use results::api::{PartHashes, WantedHashes};
    use results::{Beacon, Evaluation, Goal, Segment, Target, Window};

    use super::*;
    use crate::devices::testing::native;
    use crate::proof::testing::seen;
    use crate::proof::{BegunProof, SeenSegment};

    /// Returns a run of one network in a lap of two segments, and its history.
    fn proven() -> (RunRecord, SeenWorkload) {
        let mut record = native("Example GPU 9000", "");
        let of = &mut record.workloads[0];
        of.windows = vec![Window { steps: 1, samples: 128, seconds: 1.0 }; 2];
        of.evaluations = vec![Evaluation { step: 2, training_seconds: 2.0, seconds: 1.0, loss: 1.0, accuracy: 0.5 }];
        let proof =
            BegunProof { word: "a".to_owned(), segments: 2, drawn: vec![0, 1], tested_step: 2, target_step: None };
        let mut seen = SeenWorkload { proof: Some(proof), ..seen(&[2], 1) };
        let known = Standard::of(&engine::SUITES[0], &of.workload).unwrap();
        while let Some(WantedHashes { draw, steps, .. }) = draws::next_wanted(&seen, &known).hashes {
            seen.hashes.push(PartHashes { draw, steps, state_sha256: Vec::new(), losses: vec![1.0] });
        }
        seen.states = draws::next_wanted(&seen, &known).states;
        let shown = |seen: &SeenSegment| Segment { beacon: seen.beacon, state_sha256: seen.state_sha256.clone() };
        of.segments = seen.segments.iter().map(shown).collect();
        (record, seen)
    }

    fn checked(record: &RunRecord, seen: &SeenWorkload) -> Result<Vec<String>, Refusal> {
        check(record, &engine::SUITES[0], std::slice::from_ref(seen))
    }

    fn reason(record: &RunRecord, seen: &SeenWorkload) -> String {
        let missing = checked(record, seen).unwrap();
        assert_eq!(missing.len(), 1, "{missing:?}");
        missing[0].clone()
    }

    #[test]
    fn nothing_is_missing_where_all_was_seen() {
        let (record, seen) = proven();
        assert_eq!(checked(&record, &seen), Ok(Vec::new()));
    }

    #[test]
    fn missing_data_is_named_once_per_workload() {
        let (record, seen) = proven();
        let without = |seen: SeenWorkload| reason(&record, &seen);
        assert!(without(SeenWorkload::default()).contains("received no segments"));
        let one = SeenWorkload { segments: seen.segments[..1].to_vec(), ..seen.clone() };
        assert!(without(one).contains("only some segments"));
        assert!(without(SeenWorkload { proof: None, ..seen.clone() }).contains("no proof of its training"));
        assert!(without(SeenWorkload { hashes: Vec::new(), ..seen.clone() }).contains("hashes"));
        assert!(without(SeenWorkload { states: Vec::new(), ..seen.clone() }).contains("states"));
        let mut open = seen.clone();
        open.segments[1].ends_lap = false;
        assert!(without(open).contains("no proof of its training"));
        let mut unseen = record.clone();
        unseen.workloads[0].segments.clear();
        assert!(reason(&unseen, &seen).contains("only some segments"));
    }

    #[test]
    fn networks_that_are_given_up_after_their_draws_are_named() {
        let (mut record, seen) = proven();
        let mut other = seen.clone();
        other.workload = "caffe-mnist".to_owned();
        let missing = |record: &RunRecord, seen: &[SeenWorkload]| check(record, &engine::SUITES[0], seen).unwrap();
        let expected = [format!("caffe-mnist{DRAWN}")];
        assert_eq!(missing(&record, &[seen.clone(), other.clone()]), expected);
        let mut given_up = record.workloads[0].clone();
        (given_up.workload, given_up.outcome) = (other.workload.clone(), Outcome::Cancelled);
        record.workloads.push(given_up);
        assert_eq!(missing(&record, &[seen.clone(), other.clone()]), expected);
        other.proof = None;
        assert_eq!(missing(&record, &[seen.clone(), other.clone()]), expected);
        other.segments.clear();
        assert_eq!(missing(&record, &[seen, other]), [""; 0]);
    }

    #[test]
    fn networks_that_cannot_be_proven_leave_the_proof_to_others() {
        let (mut record, seen) = proven();
        let mut other = record.workloads[0].clone();
        other.workload = "airbench94".to_owned();
        other.segments.clear();
        record.workloads.push(other);
        assert_eq!(checked(&record, &seen), Ok(Vec::new()));
        record.workloads.remove(0);
        assert!(reason(&record, &SeenWorkload::default()).starts_with("The run completed no network"));
    }

    #[test]
    fn a_record_with_other_segments_than_were_seen_is_refused() {
        let (record, seen) = proven();
        let refused = |change: &dyn Fn(&mut WorkloadRecord)| {
            let mut record = record.clone();
            change(&mut record.workloads[0]);
            checked(&record, &seen).unwrap_err().code
        };
        let target = Target { goal: Goal::Accuracy(0.9), reached_seconds: Some(1.0), reached_step: Some(1) };
        let changes: [&dyn Fn(&mut WorkloadRecord); 7] = [
            &|of| of.segments[1].beacon = Beacon([8; 16]),
            &|of| of.segments[0].state_sha256 = "state 9".to_owned(),
            &|of| of.windows[0].steps = 2,
            &|of| of.evaluations[0].step = 1,
            &|of| of.evaluations.clear(),
            &|of| of.target = Some(target),
            &|of| drop((of.segments.pop(), of.windows.pop())),
        ];
        for (number, change) in changes.into_iter().enumerate() {
            assert_eq!(refused(change), "wrong_segment", "change {number}");
        }
    }
}
