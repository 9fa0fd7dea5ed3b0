//! Validation of records before they are stored, and the tier that a record earns. Each rule refuses with a code, a
//! sentence and the path of the field. The files follow the record; [`proof`] compares it with the history of the run,
//! and [`plausibility`] finds values that look wrong, which are flagged and never refused.

mod bounds;
mod plausibility;
mod proof;
mod requests;
mod run;
mod training;
mod work;
mod workload;

use results::api::{Note, StartRun, Tier, Verdict};
use results::{Outcome, RunRecord, WorkloadRecord};

use crate::devices::Identity;
use crate::proof::{SeenWorkload, is_provable};
pub(crate) use bounds::{Checked, FieldPath, Refusal};
pub(crate) use requests::{check_commitment, check_comparison, check_lap, check_proof};
pub(crate) use run::check_schema_version;
pub(crate) use workload::{Networks, check_networks};

/// Origin of a record.
pub(crate) enum Origin<'a> {
    /// The server gave it a seed.
    Announced {
        seconds_ago: f64,
        /// History of its training since then.
        seen: &'a [SeenWorkload],
    },
    Imported,
}

pub(crate) fn check_start(request: &StartRun) -> Checked {
    let path = FieldPath::ROOT;
    run::check_suite(&path.field("suite"), &request.suite)?;
    work::known_suite(&path.field("suite"), &request.suite)?;
    run::check_engine_version(&path.field("engine_version"), &request.engine_version)
}

/// Returns the verdict on a record, or its first broken rule.
pub(crate) fn check(record: &RunRecord, origin: &Origin<'_>) -> Result<Verdict, Refusal> {
    run::check(record)?;
    check_workloads(record)?;
    check_completed(&FieldPath::ROOT.field("workloads"), record)?;
    work::check_time(record, origin)?;
    work::check(record)?;
    let suite = work::known_suite(&FieldPath::ROOT.field("suite"), &record.suite)?;
    let missing = match origin {
        Origin::Announced { seen, .. } => {
            Some(proof::check(record, suite, seen)?.into_iter().map(Note::finding).collect())
        }
        Origin::Imported => None,
    };
    Ok(verdict(record, missing))
}

fn check_workloads(record: &RunRecord) -> Checked {
    FieldPath::ROOT.field("workloads").each(&record.workloads, |path, of| {
        workload::check(&path, of)?;
        check_alone(&path, of)?;
        requests::check(&path, of)?;
        training::check_summary(&path.field("summary"), of)
    })
}

fn check_completed(workloads: &FieldPath<'_>, record: &RunRecord) -> Checked {
    if record.workloads.iter().any(|w| w.outcome == Outcome::Completed) {
        return Ok(());
    }
    workloads.refuse(
        "nothing_completed",
        "The run completed no workload, so there is no result to store. Your local copy of the record shows what went \
         wrong.",
    )
}

/// Checks that one device trained the workload, with its data set in its memory.
fn check_alone(path: &FieldPath<'_>, workload: &WorkloadRecord) -> Checked {
    if workload.communication.is_some() {
        return path.field("communication").refuse(
            "several_devices",
            "Several devices trained this workload together. The leaderboard only accepts runs on one device.",
        );
    }
    if workload.input.is_some() {
        return path.field("input").refuse(
            "streamed_input",
            "The host streamed the batches to the device. The leaderboard only accepts data sets on the device.",
        );
    }
    Ok(())
}

/// Returns the verdict on a record. `missing` lists what an announced run lacks for a proof.
fn verdict(record: &RunRecord, missing: Option<Vec<Note>>) -> Verdict {
    let doubts = plausibility::find_doubts(record);
    let is_announced = missing.is_some();
    let mut reasons = missing.unwrap_or_else(|| vec![Note::SeedFromElsewhere]);
    reasons.extend(plausibility::unmarked_coarse_clock(record).map(Note::finding));
    let tier = match is_announced {
        _ if !doubts.is_empty() => Tier::Flagged,
        true => Tier::Checked,
        false => Tier::Unverified,
    };
    // Only runs that may be ranked are verified.
    let being_verified = tier == Tier::Checked && reasons.is_empty() && record.is_standard();
    let notes = doubts.into_iter().map(Note::finding).chain(reasons).chain(notes(record)).collect();
    Verdict { tier, notes, being_verified }
}

/// Returns notes that do not depend on the tier.
pub(crate) fn notes(record: &RunRecord) -> Vec<Note> {
    let note = |of: &WorkloadRecord| {
        let workload = of.workload.clone();
        match of.outcome {
            Outcome::Completed if is_provable(&workload) => None,
            Outcome::Completed => Some(Note::NotProvable { workload }),
            Outcome::Failed { .. } => Some(Note::NotTrained { workload }),
            Outcome::Diverged { .. } | Outcome::Incorrect | Outcome::Cancelled => Some(Note::NotCompleted { workload }),
        }
    };
    let hides = results::software::may_be_a_program(record).then_some(Note::PerhapsSoftware);
    let misfit = Identity::of(record).misfit.map(Note::finding);
    record.workloads.iter().filter_map(note).chain(hides).chain(misfit).collect()
}
