//! Validation of records before they are stored, and the tier that a record earns. Each rule refuses with a code, a
//! sentence and the path of the field. The files follow the record; [`proof`] compares it with the history of the run,
//! and [`plausibility`] finds values that look wrong, which are flagged and never refused.

mod bounds;
mod plausibility;
mod proof;
mod record;
mod table;
mod training;
mod work;

use results::api::{Note, OPEN_SUITE, StartRun, StoredRun, Tier};
use results::{Outcome, RunRecord, WorkloadRecord};
use serde::Serialize;

use engine::{ProofObstacle, Standard};

use crate::devices::DeviceIdentity;
use crate::proof::{SeenWorkload, limited_summaries, proof_obstacle};
use bounds::check_values;
pub(crate) use bounds::{Checked, FieldPath, Refusal};
pub(crate) use record::{Networks, check_comparison, check_networks, check_schema_version};
pub(crate) use table::MAX_ROWS;

/// Origin of a record.
pub(crate) enum RecordOrigin<'a> {
    /// The server gave it a seed.
    Announced {
        seconds_ago: f64,
        /// History of its training since then.
        seen: &'a [SeenWorkload],
    },
    Imported,
}

/// Checks the values of a request of a run before or while it trains.
pub(crate) fn check_request(request: &impl Serialize) -> Checked {
    check_values(request, table::REQUEST)
}

/// Checks the values that all queries have in common.
pub(crate) fn check_query(query: &impl Serialize) -> Checked {
    check_values(query, table::QUERY)
}

pub(crate) fn check_start(request: &StartRun) -> Checked {
    check_request(request)?;
    let suite = work::known_suite(&FieldPath::ROOT.field("suite"), &request.suite)?;
    let path = FieldPath::ROOT.field("network");
    match &request.network {
        Some(network) if suite.is_open() => Standard::of_network(network).map(drop).map_err(|refusal| {
            let field = [path.to_string(), refusal.field].into_iter().filter(|part| !part.is_empty());
            Refusal { code: refusal.code, message: refusal.message, field: field.collect::<Vec<_>>().join(".") }
        }),
        None if suite.is_open() => path.refuse("missing_network", "A run of the open class needs its network."),
        Some(_) => path.refuse("network_of_a_file", "Only runs of the suite `open` can bring their own network."),
        None => Ok(()),
    }
}

/// Returns a record with its verdict as the run to store, submitted `now`, or its first broken rule.
pub(crate) fn check(record: RunRecord, origin: &RecordOrigin<'_>, id: String, now: f64) -> Result<StoredRun, Refusal> {
    let may_have_networks = matches!(origin, RecordOrigin::Announced { .. }) && record.suite.name == OPEN_SUITE;
    record::check(&record, may_have_networks)?;
    if !record.workloads.iter().any(|w| w.outcome == Outcome::Completed) {
        FieldPath::ROOT.field("workloads").refuse(
            "nothing_completed",
            "The run completed no workload, so there is no result to store. Your local copy of the record shows what \
             went wrong.",
        )?;
    }
    work::check_time(&record, origin)?;
    work::check(&record)?;
    let suite = work::known_suite(&FieldPath::ROOT.field("suite"), &record.suite)?;
    let (unsuspicious, mut reasons, listed) = match origin {
        RecordOrigin::Announced { seen, .. } => {
            let missing = proof::check(&record, suite, seen)?;
            (Tier::Checked, missing.into_iter().map(Note::finding).collect(), limited_summaries(&record, seen))
        }
        RecordOrigin::Imported => (Tier::Unverified, vec![Note::SeedFromElsewhere], Vec::new()),
    };
    reasons.extend(plausibility::unmarked_coarse_clock(&record).map(Note::finding));
    let doubts = plausibility::find_doubts(&record);
    let tier = if doubts.is_empty() { unsuspicious } else { Tier::Flagged };
    // Only runs that may be ranked are verified, by throughput or in the open class.
    let being_verified = tier == Tier::Checked && reasons.is_empty() && record.follows_rules();
    let notes = doubts.into_iter().map(Note::finding).chain(reasons).chain(notes(&record)).collect();
    Ok(StoredRun { run_id: id, tier, notes, submitted_unix_seconds: now, being_verified, listed, record })
}

/// Returns notes that do not depend on the tier.
pub(crate) fn notes(record: &RunRecord) -> Vec<Note> {
    let note = |of: &WorkloadRecord| {
        let workload = of.workload.clone();
        match of.outcome {
            Outcome::Completed => match proof_obstacle(&workload)? {
                ProofObstacle::AlternatingImages => Some(Note::NotProvable { workload }),
                ProofObstacle::LargeStates => Some(Note::LargeStates { workload }),
            },
            Outcome::Failed { .. } => Some(Note::NotTrained { workload }),
            Outcome::Diverged { .. } | Outcome::Incorrect | Outcome::Cancelled => Some(Note::NotCompleted { workload }),
        }
    };
    let hides = results::software::may_be_a_program(record).then_some(Note::PerhapsSoftware);
    let misfit = DeviceIdentity::of(record).misfit.map(Note::finding);
    record.workloads.iter().filter_map(note).chain(hides).chain(misfit).collect()
}

#[cfg(test)]
mod tests {
    use results::api::PartHashes;
    use serde_json::json;

    use super::*;

    #[test]
    fn losses_must_be_finite() {
        let code = |loss| {
            let hashes = PartHashes { draw: 0, steps: [0, 2], state_sha256: Vec::new(), losses: vec![1.0, loss] };
            check_request(&json!({ "hashes": hashes })).err().map(|refusal| (refusal.code, refusal.field))
        };
        assert_eq!(code(-0.5), None);
        for loss in [f32::INFINITY, f32::NAN] {
            assert_eq!(code(loss), Some(("not_finite", "hashes.losses[1]".to_owned())));
        }
    }
}
