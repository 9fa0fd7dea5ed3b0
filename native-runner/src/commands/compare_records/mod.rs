//! Kept records of before and after a change, held beside each other.

mod baseline;
mod details;
mod findings;
mod sheet;
mod sides;

use results::regression::{Regressions, Rules, compare};
use results::{Provenance, RunRecord};
use serde::Serialize;

use crate::cli::{CompareRecordsArgs, JsonTarget};
use crate::failure::Failure;
use crate::json_output::to_json;
use crate::provenance::provenance;
use sides::{Group, Sides};

/// Version of the layout of what `--json` writes.
const DOCUMENT_VERSION: u32 = 1;
/// So many reasons are told where nothing can be compared.
const MOST_REASONS: usize = 8;

/// What `--json` writes.
#[derive(Serialize)]
struct Document<'a> {
    schema_version: u32,
    baseline: SideDocument<'a>,
    candidates: Vec<CandidateDocument<'a>>,
    /// How the records were chosen.
    notes: &'a [String],
    provenance: Provenance,
}

#[derive(Serialize)]
struct SideDocument<'a> {
    name: &'a str,
    records: Vec<RecordDocument<'a>>,
}

#[derive(Serialize)]
struct RecordDocument<'a> {
    place: &'a str,
    commit: &'a str,
    seed: u32,
    started_unix_seconds: f64,
}

#[derive(Serialize)]
struct CandidateDocument<'a> {
    #[serde(flatten)]
    side: SideDocument<'a>,
    fails: bool,
    regressions: &'a Regressions,
}

/// A candidate with what holding it beside the baseline came to.
struct Compared<'a> {
    baseline: &'a Group,
    candidate: &'a Group,
    regressions: Regressions,
}

/// Holds candidates beside a baseline, shows where they are slower, and fails where that was asked for.
pub(crate) fn compare_records(arguments: &CompareRecordsArgs) -> Result<(), Failure> {
    arguments.json.as_ref().map_or(Ok(()), JsonTarget::check)?;
    let sides = Sides::read(arguments)?;
    let rules = Rules { fail_if_slower: arguments.fail_if_slower, fail_if_missing: arguments.fail_if_missing };
    let baseline = records(&sides.baseline);
    let beside = |candidate| {
        let regressions = compare(&baseline, &records(candidate), rules);
        Compared { baseline: &sides.baseline, candidate, regressions }
    };
    let compared: Vec<Compared<'_>> = sides.candidates.iter().map(beside).collect();
    refuse_mismatches(&compared, arguments)?;
    refuse_nothing(&compared)?;
    if let Some(target) = &arguments.json {
        target.write(&to_json(&document(&sides, &compared))?)?;
    }
    let screen = JsonTarget::screen_beside(arguments.json.as_ref());
    let shown = screen.line(&arguments.format.text(&findings::report(&compared, &sides.notes), screen)?);
    // A regression counts even if the output was closed.
    conclude(&compared).and(shown)
}

fn records(group: &Group) -> Vec<RunRecord> {
    group.records.iter().map(|kept| kept.record.clone()).collect()
}

/// A verdict on another device is none. Without one, figures stand beside each other with a note.
fn refuse_mismatches(compared: &[Compared<'_>], arguments: &CompareRecordsArgs) -> Result<(), Failure> {
    if arguments.fail_if_slower.is_none() || arguments.allow_mismatch {
        return Ok(());
    }
    let all = compared.iter().flat_map(|of| &of.regressions.mismatches);
    let texts: Vec<String> = all.map(ToString::to_string).collect();
    if texts.is_empty() {
        return Ok(());
    }
    let advice = "measure both sides on one device, or decide all the same with --allow-mismatch";
    Err(Failure::Usage(format!("nothing follows from these speeds: {}; {advice}", texts.join("; "))))
}

fn refuse_nothing(compared: &[Compared<'_>]) -> Result<(), Failure> {
    let has_any = |of: &Compared<'_>| of.regressions.has_verdicts() || of.regressions.failures().next().is_some();
    if compared.iter().any(has_any) {
        return Ok(());
    }
    let lines = compared.iter().flat_map(|of| of.regressions.lines.iter());
    let mut reasons: Vec<String> = lines.map(|line| format!("{}: {}", line.key, details::reason(line))).collect();
    let left_out = reasons.len().saturating_sub(MOST_REASONS);
    reasons.truncate(MOST_REASONS);
    if left_out > 0 {
        reasons.push(format!("and {left_out} more"));
    }
    let advice = "both sides need the same workload on the same back end, with the same precision and batch size; \
                  `--backend all` compares back ends";
    Err(Failure::Usage(format!("nothing can be compared\n{}\n{advice}", reasons.join("\n"))))
}

fn document<'a>(sides: &'a Sides, compared: &'a [Compared<'a>]) -> Document<'a> {
    let side = |group: &'a Group| SideDocument {
        name: &group.name,
        records: group
            .records
            .iter()
            .map(|kept| RecordDocument {
                place: &kept.place,
                commit: &kept.record.provenance.commit,
                seed: kept.record.seed,
                started_unix_seconds: kept.record.provenance.started_unix_seconds,
            })
            .collect(),
    };
    let candidate = |of: &'a Compared<'a>| CandidateDocument {
        side: side(of.candidate),
        fails: of.regressions.failures().next().is_some(),
        regressions: &of.regressions,
    };
    Document {
        schema_version: DOCUMENT_VERSION,
        baseline: side(&sides.baseline),
        candidates: compared.iter().map(candidate).collect(),
        notes: &sides.notes,
        provenance: provenance(),
    }
}

/// # Errors
/// Something failed a candidate.
fn conclude(compared: &[Compared<'_>]) -> Result<(), Failure> {
    let failures = compared.iter().flat_map(|of| of.regressions.failures());
    let failures: Vec<String> = failures.map(|line| format!("{}: {}", line.key, details::reason(line))).collect();
    if failures.is_empty() { Ok(()) } else { Err(Failure::Regression(failures.join("\n"))) }
}
