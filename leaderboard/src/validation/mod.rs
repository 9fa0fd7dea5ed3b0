//! What a record must be before it is stored, and which tier it earns.
//!
//! Each rule refuses with a machine code, a plain sentence and the path of the field. The files
//! follow the record: [`run`] what surrounds the workloads, [`workload`] and [`training`] one
//! workload, [`work`] whether it is the work that the suite asks for, [`summary`] the recomputation,
//! [`time`] whether the claimed time can have passed, and [`plausibility`] what looks wrong without
//! being impossible, which is flagged and never refused.

mod bounds;
mod correctness;
mod plausibility;
mod run;
mod summary;
mod time;
mod training;
mod work;
mod workload;

use results::api::{StartRun, Tier};
use results::{Outcome, RunRecord};

pub(crate) use bounds::{Checked, FieldPath, Refusal};
pub(crate) use run::check_schema_version;

/// How a record came here.
pub(crate) enum Origin {
    /// The server gave it a seed this many seconds ago.
    Announced {
        seconds_ago: f64,
    },
    Imported,
}

/// The tier of a record that may be stored, and why.
#[derive(Debug, PartialEq)]
pub(crate) struct Verdict {
    pub(crate) tier: Tier,
    pub(crate) notes: Vec<String>,
}

/// Bounds what a client says when it announces a run.
pub(crate) fn check_start(request: &StartRun) -> Checked {
    let path = FieldPath::ROOT;
    run::check_suite(&path.field("suite"), &request.suite)?;
    work::known_suite(&path.field("suite"), &request.suite)?;
    run::check_engine_version(&path.field("engine_version"), &request.engine_version)
}

/// Holds `record` to every rule.
///
/// # Errors
/// The first rule that it breaks.
pub(crate) fn check(record: &RunRecord, origin: &Origin) -> Result<Verdict, Refusal> {
    run::check(record)?;
    let workloads = FieldPath::ROOT.field("workloads");
    for (i, workload) in record.workloads.iter().enumerate() {
        workload::check(&workloads.item(i), workload)?;
        summary::check(&workloads.item(i).field("summary"), workload)?;
    }
    check_completed(&workloads, record)?;
    time::check(record, origin)?;
    work::check(record)?;
    Ok(verdict(record, origin))
}

fn check_completed(workloads: &FieldPath<'_>, record: &RunRecord) -> Checked {
    if record.workloads.iter().any(|w| w.outcome == Outcome::Completed) {
        return Ok(());
    }
    workloads.refuse(
        "nothing_completed",
        "No workload of this run was completed, so there is no result to keep. The file on your side is the record of \
         what went wrong.",
    )
}

fn verdict(record: &RunRecord, origin: &Origin) -> Verdict {
    let doubts = plausibility::doubts(record);
    let tier = match origin {
        _ if !doubts.is_empty() => Tier::Flagged,
        Origin::Announced { .. } => Tier::Checked,
        Origin::Imported => Tier::Unverified,
    };
    let mut notes = doubts;
    if matches!(origin, Origin::Imported) {
        notes.push("The seed did not come from this leaderboard, so nothing shows when the run was made.".to_owned());
    }
    for workload in record.workloads.iter().filter(|w| w.outcome != Outcome::Completed) {
        notes.push(format!("{} was not completed and is left out of the table.", workload.workload));
    }
    Verdict { tier, notes }
}
