//! Comparison of stored records from before and after a change.

mod findings;
mod selection;

use results::regression::{Regressions, Rules, compare};
use results::{Provenance, RunRecord};
use serde::Serialize;

use crate::commands::compare_records::findings::{ComparedSides, reason};
pub(crate) use crate::commands::compare_records::selection::CompareRecordsArgs;
use crate::commands::compare_records::selection::{RecordGroup, Sides};
use crate::failure::Failure;
use crate::json_output::{JsonTarget, to_json};
use crate::machine::provenance;
use crate::records::KeptRecord;

const DOCUMENT_VERSION: u32 = 1;
/// Number of reasons that are shown if nothing can be compared.
const MAX_REASONS: usize = 8;

#[derive(Serialize)]
struct ComparisonDocument<'a> {
    schema_version: u32,
    baseline: SideDocument<'a>,
    candidates: Vec<CandidateDocument<'a>>,
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

pub(crate) fn compare_records(arguments: &CompareRecordsArgs) -> Result<(), Failure> {
    arguments.json.as_ref().map_or(Ok(()), JsonTarget::check)?;
    let sides = Sides::read(arguments)?;
    let rules = Rules { fail_if_slower: arguments.fail_if_slower, fail_if_missing: arguments.fail_if_missing };
    let baseline = records(&sides.baseline);
    let beside = |candidate| {
        let regressions = compare(&baseline, &records(candidate), rules);
        ComparedSides { baseline: &sides.baseline, candidate, regressions }
    };
    let compared: Vec<ComparedSides<'_>> = sides.candidates.iter().map(beside).collect();
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

fn records(group: &RecordGroup) -> Vec<RunRecord> {
    group.records.iter().map(|kept| kept.record.clone()).collect()
}

fn refuse_mismatches(compared: &[ComparedSides<'_>], arguments: &CompareRecordsArgs) -> Result<(), Failure> {
    if arguments.fail_if_slower.is_none() || arguments.allow_mismatch {
        return Ok(());
    }
    let all = compared.iter().flat_map(|of| &of.regressions.mismatches);
    let texts: Vec<String> = all.map(ToString::to_string).collect();
    if texts.is_empty() {
        return Ok(());
    }
    let advice = "measure both sides on one device, or compare them anyway with --allow-mismatch";
    Err(Failure::Usage(format!("the speeds cannot be compared: {}; {advice}", texts.join("; "))))
}

fn refuse_nothing(compared: &[ComparedSides<'_>]) -> Result<(), Failure> {
    let has_any = |of: &ComparedSides<'_>| of.regressions.has_verdicts() || of.regressions.failures().next().is_some();
    if compared.iter().any(has_any) {
        return Ok(());
    }
    let lines = compared.iter().flat_map(|of| of.regressions.lines.iter());
    let mut reasons: Vec<String> = lines.map(|line| format!("{}: {}", line.key, reason(line))).collect();
    let left_out = reasons.len().saturating_sub(MAX_REASONS);
    reasons.truncate(MAX_REASONS);
    if left_out > 0 {
        reasons.push(format!("and {left_out} more"));
    }
    let advice = "both sides need the same workload, backend, precision and batch size; \
                  `--backend all` compares backends";
    Err(Failure::Usage(format!("nothing can be compared\n{}\n{advice}", reasons.join("\n"))))
}

fn document<'a>(sides: &'a Sides, compared: &'a [ComparedSides<'a>]) -> ComparisonDocument<'a> {
    let record = |kept: &'a KeptRecord| RecordDocument {
        place: &kept.place,
        commit: &kept.record.provenance.commit,
        seed: kept.record.requested.seed,
        started_unix_seconds: kept.record.provenance.started_unix_seconds,
    };
    let side = |group: &'a RecordGroup| SideDocument {
        name: &group.name,
        records: group.records.iter().map(record).collect(),
    };
    let candidate = |of: &'a ComparedSides<'a>| CandidateDocument {
        side: side(of.candidate),
        fails: of.regressions.failures().next().is_some(),
        regressions: &of.regressions,
    };
    ComparisonDocument {
        schema_version: DOCUMENT_VERSION,
        baseline: side(&sides.baseline),
        candidates: compared.iter().map(candidate).collect(),
        notes: &sides.notes,
        provenance: provenance(),
    }
}

fn conclude(compared: &[ComparedSides<'_>]) -> Result<(), Failure> {
    let failures = compared.iter().flat_map(|of| of.regressions.failures());
    let failures: Vec<String> = failures.map(|line| format!("{}: {}", line.key, reason(line))).collect();
    if failures.is_empty() { Ok(()) } else { Err(Failure::Regression(failures.join("\n"))) }
}
