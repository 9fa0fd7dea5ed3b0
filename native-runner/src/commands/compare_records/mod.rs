//! Comparison of stored records from before and after a change.

mod findings;
mod selection;

use results::RunRecord;
use serde_json::{Value, json};
use view::regression::{Rules, compare};

use crate::commands::compare_records::findings::{ComparedSides, reason};
pub(crate) use crate::commands::compare_records::selection::CompareRecordsArgs;
use crate::commands::compare_records::selection::{RecordGroup, Sides};
use crate::failure::{Failure, Result};
use crate::json_output::{JsonTarget, to_json};
use crate::machine::provenance;
use crate::records::KeptRecord;

const DOCUMENT_VERSION: u32 = 1;
/// Number of reasons that are shown if nothing can be compared.
const MAX_REASONS: usize = 8;

pub(crate) fn compare_records(arguments: &CompareRecordsArgs) -> Result<()> {
    arguments.json.as_ref().map_or(Ok(()), JsonTarget::check)?;
    let sides = Sides::read(arguments)?;
    let rules = Rules { fail_if_slower: arguments.fail_if_slower, fail_if_missing: arguments.fail_if_missing };
    let baseline = records(&sides.baseline);
    let beside = |candidate| {
        let regressions = compare(&baseline, &records(candidate), rules);
        ComparedSides { baseline: &sides.baseline, candidate, regressions }
    };
    let compared: Vec<ComparedSides<'_>> = sides.candidates.iter().map(beside).collect();
    if arguments.fail_if_slower.is_some() && !arguments.allow_mismatch {
        refuse_mismatches(&compared)?;
    }
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

fn refuse_mismatches(compared: &[ComparedSides<'_>]) -> Result<()> {
    let all = compared.iter().flat_map(|of| &of.regressions.mismatches);
    let texts: Vec<String> = all.map(ToString::to_string).collect();
    if texts.is_empty() {
        return Ok(());
    }
    let advice = "measure both sides on one device, or compare them anyway with --allow-mismatch";
    Err(Failure::Usage(format!("the speeds cannot be compared: {}; {advice}", texts.join("; "))))
}

fn refuse_nothing(compared: &[ComparedSides<'_>]) -> Result<()> {
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

fn document(sides: &Sides, compared: &[ComparedSides<'_>]) -> Value {
    let record = |kept: &KeptRecord| {
        let RunRecord { provenance, requested, .. } = &kept.record;
        json!({
            "place": kept.place,
            "commit": provenance.commit,
            "seed": requested.seed,
            "started_unix_seconds": provenance.started_unix_seconds,
        })
    };
    let records = |group: &RecordGroup| group.records.iter().map(record).collect::<Value>();
    let candidate = |of: &ComparedSides<'_>| {
        json!({
            "name": of.candidate.name,
            "records": records(of.candidate),
            "fails": of.regressions.failures().next().is_some(),
            "regressions": of.regressions,
        })
    };
    json!({
        "schema_version": DOCUMENT_VERSION,
        "baseline": { "name": sides.baseline.name, "records": records(&sides.baseline) },
        "candidates": compared.iter().map(candidate).collect::<Value>(),
        "notes": sides.notes,
        "provenance": provenance(),
    })
}

fn conclude(compared: &[ComparedSides<'_>]) -> Result<()> {
    let failures = compared.iter().flat_map(|of| of.regressions.failures());
    let failures: Vec<String> = failures.map(|line| format!("{}: {}", line.key, reason(line))).collect();
    if failures.is_empty() { Ok(()) } else { Err(Failure::Regression(failures.join("\n"))) }
}
