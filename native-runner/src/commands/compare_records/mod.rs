//! Comparison of stored records from before and after a change.

mod findings;

use std::path::PathBuf;

use clap::Args;
use results::comparison::Basis;
use results::estimate::Estimate;
use results::regression::{
    AccuracyVerdict, Change, Line, QUANTITIES, Quantity, RegressionVerdict, Regressions, Rules, Side, compare,
};
use results::{Provenance, RunRecord};
use serde::Serialize;
use view::table::{Sheet, SheetCell};

use crate::cli::number;
use crate::commands::compare_records::findings::{RecordGroup, Sides};
use crate::export::{Format, NoteMark, ReportNote};
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

pub(crate) struct ComparedSides<'a> {
    baseline: &'a RecordGroup,
    candidate: &'a RecordGroup,
    regressions: Regressions,
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

const EXAMPLES: &str = "\
Examples:
  native-runner compare before.json after.json     compare two records; the first is the baseline
  native-runner compare --baseline base head --fail-if-slower 5%
                                                   compare two folders of records
  native-runner compare head/*.json --baseline base/*.json --fail-if-slower 5%
                                                   the same with files
  native-runner compare new.json --baseline kept   compare with the newest commit in a folder
  native-runner compare new.json --baseline kept --baseline-commit 2694632 --fail-if-missing
                                                   compare with one commit; fail if a result is missing
  native-runner compare --baseline base head --format markdown > comment.md
                                                   write a comment for a pull request

Exit status:
  0 no regression   1 a file cannot be read or written   2 wrong usage, damaged records, or
    nothing to compare
  6 a regression: the whole 95 % interval is below the limit of --fail-if-slower; or the candidate
    failed to train a workload of the baseline, or lacks it with --fail-if-missing

Make three to five runs a side, alternating between the sides. docs/REGRESSIONS.md has a workflow.";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CompareRecordsArgs {
    /// Records to compare: files from `--json` or `--output`, folders of them, or `-` for standard input. With
    /// `--baseline`, all of them are the candidate; otherwise each is compared with the first
    #[arg(value_name = "RECORDS")]
    pub(crate) candidates: Vec<PathBuf>,
    /// Records to compare with. A folder contributes the records of the newest commit with the candidate's suite and
    /// device; `--` ends the list
    #[arg(long, value_name = "RECORDS", num_args = 1.., help_heading = "Baseline")]
    pub(crate) baseline: Vec<PathBuf>,
    /// Commit whose records to use from the baseline's folders, instead of the newest
    #[arg(long, value_name = "COMMIT", requires = "baseline", help_heading = "Baseline", value_parser = commit)]
    pub(crate) baseline_commit: Option<String>,
    /// Fail if a throughput is certainly more than this much below the baseline's
    #[arg(long, value_name = "PERCENT", help_heading = "Failure", value_parser = percent)]
    pub(crate) fail_if_slower: Option<f64>,
    /// Fail if the candidate lacks a result of the baseline
    #[arg(long, help_heading = "Failure")]
    fail_if_missing: bool,
    /// Compare despite different devices or suite versions, and use such records from the baseline's folders too
    #[arg(long, help_heading = "Failure")]
    pub(crate) allow_mismatch: bool,
    /// Output format
    #[arg(long, value_name = "FORMAT", default_value = "table", help_heading = "Output")]
    pub(crate) format: Format,
    /// Write the comparison as JSON; `-` is standard output, and everything else then goes to standard error
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) json: Option<JsonTarget>,
}

/// Parses a share such as `5%`. A bare number would be ambiguous.
fn percent(text: &str) -> Result<f64, String> {
    let wrong = "it must be a percentage from 0% and below 100%, such as 5%";
    let text = text.trim().strip_suffix('%').ok_or(wrong)?;
    Ok(number(text.trim(), |percent| (0.0..100.0).contains(&percent), wrong)? / 100.0)
}

/// Parses a commit prefix that git would accept.
fn commit(text: &str) -> Result<String, String> {
    let text = text.trim().to_lowercase();
    let is_name = (4..=64).contains(&text.len()) && text.chars().all(|letter| letter.is_ascii_hexdigit());
    if is_name { Ok(text) } else { Err("it must be at least four hexadecimal digits of a commit".to_owned()) }
}

/// Returns a row of unrounded values for each line.
pub(crate) fn build_sheet(compared: &[ComparedSides<'_>]) -> Sheet {
    let mut sheet = Sheet::default();
    for of in compared {
        for line in &of.regressions.lines {
            let (names, cells) = cells(of, line).into_iter().unzip();
            sheet.columns = names;
            sheet.rows.push(cells);
        }
    }
    sheet
}

fn cells(of: &ComparedSides<'_>, line: &Line) -> Vec<(String, SheetCell)> {
    let mut cells: Vec<(String, SheetCell)> = Vec::new();
    let mut add = |name: &str, cell: SheetCell| cells.push((name.to_owned(), cell));
    add("baseline", of.baseline.name.clone().into());
    add("candidate", of.candidate.name.clone().into());
    add("workload", line.key.workload.clone().into());
    add("backend", line.key.backend.clone().into());
    add("precision", line.key.precision.name().into());
    add("batch_size", line.key.batch_size.into());
    add("verdict", line.verdict.words().into());
    add("fails", line.verdict.fails(&of.regressions.rules).into());
    add("reason", reason(line).into());
    for (name, side) in [("baseline", &line.baseline), ("candidate", &line.candidate)] {
        let side = side.as_ref();
        add(&format!("{name}_runs"), side.map(|side| side.runs).into());
        add(&format!("{name}_completed"), side.map(|side| side.completed).into());
        add(&format!("{name}_unsteady"), side.map(|side| side.unsteady).into());
        add(&format!("{name}_reached_target"), side.map(|side| side.reached_target).into());
    }
    let change = |id: &str, both: [Option<f64>; 2], ratio: Option<Estimate>| -> [(String, SheetCell); 5] {
        let interval = ratio.and_then(|ratio| ratio.interval);
        [
            (format!("baseline_{id}"), both[0].into()),
            (format!("candidate_{id}"), both[1].into()),
            (format!("{id}_ratio"), ratio.map(|ratio| ratio.value).into()),
            (format!("{id}_ratio_low"), interval.map(|of| of.low).into()),
            (format!("{id}_ratio_high"), interval.map(|of| of.high).into()),
        ]
    };
    let rates = line.throughput.map_or([None; 2], |of| [Some(of.baseline), Some(of.candidate)]);
    cells.extend(change("samples_per_second", rates, line.throughput.map(|of| of.ratio)));
    let accuracy = line.accuracy.as_ref();
    let mut add = |name: &str, cell: SheetCell| cells.push((name.to_owned(), cell));
    add("baseline_accuracy", accuracy.map(|of| of.baseline).into());
    add("candidate_accuracy", accuracy.map(|of| of.candidate).into());
    add("accuracy_difference", accuracy.map(|of| of.difference).into());
    add("accuracy_difference_explained", accuracy.and_then(|of| of.allowance).map(|of| of.difference).into());
    add("accuracy_verdict", accuracy.map(|of| of.verdict.name()).into());
    for (index, quantity) in QUANTITIES.iter().enumerate() {
        let of = line.changes.get(index);
        let both = of.map_or([None; 2], |of| [of.baseline, of.candidate]);
        cells.extend(change(quantity.id, both, of.and_then(|of| of.ratio)));
    }
    cells
}

/// Smallest change of a quantity that gets a line.
const MIN_CHANGE: f64 = 0.02;
/// Number of kernels to name. A newly tuned device may differ in dozens.
const MAX_VARIANTS: usize = 4;

pub(crate) fn reason(line: &Line) -> String {
    match &line.verdict {
        RegressionVerdict::Broken { reason } => {
            format!("the candidate failed to train it, but the baseline did not: {reason}")
        }
        RegressionVerdict::Untold { reason } => reason.clone(),
        RegressionVerdict::OnlyInBaseline => "only the baseline has it".to_owned(),
        RegressionVerdict::OnlyInCandidate => "only the candidate has it".to_owned(),
        verdict => {
            let ratio = line.throughput.map(|throughput| throughput.ratio);
            let interval = ratio.and_then(|ratio| ratio.interval);
            let interval = interval.map(|of| format!(", between {:.3} and {:.3}", of.low, of.high));
            let ratio = ratio.map(|ratio| format!("{:.3} of the baseline's throughput", ratio.value));
            format!("{}, {}{}", verdict.words(), ratio.unwrap_or_default(), interval.unwrap_or_default())
        }
    }
}

pub(crate) fn notes(line: &Line, name: &str, rules: &Rules) -> Vec<ReportNote> {
    let mut notes = Vec::new();
    let mut add = |mark, text: String| notes.push(ReportNote { mark, text: format!("{name}: {text}") });
    let tolerance = rules.fail_if_slower.map(percent_details);
    match &line.verdict {
        RegressionVerdict::Faster | RegressionVerdict::Tied => {}
        RegressionVerdict::Undecided => {
            let text = format!("{}; make more or longer runs on each side to decide.", reason(line));
            add(NoteMark::Open, text);
        }
        verdict if verdict.fails(rules) => add(NoteMark::Bad, format!("{}.", reason(line))),
        RegressionVerdict::PerhapsSlower => {
            let limit = tolerance.unwrap_or_default();
            let text = format!("{}; a loss of more than {limit} can be neither shown nor excluded.", reason(line));
            add(NoteMark::Open, text);
        }
        RegressionVerdict::SlightlySlower => {
            let limit = tolerance.unwrap_or_default();
            add(NoteMark::Careful, format!("{}, within the allowed loss of {limit}.", reason(line)));
        }
        RegressionVerdict::Slower | RegressionVerdict::Broken { .. } | RegressionVerdict::Untold { .. } => {
            add(NoteMark::Careful, format!("{}.", reason(line)))
        }
        RegressionVerdict::OnlyInBaseline | RegressionVerdict::OnlyInCandidate => {
            add(NoteMark::Plain, format!("{}.", reason(line)))
        }
    }
    for (side, whose) in [(&line.baseline, "baseline"), (&line.candidate, "candidate")] {
        for text in side.iter().flat_map(|side| about_side(side, whose)) {
            add(NoteMark::Careful, text);
        }
    }
    let changes = QUANTITIES.iter().zip(&line.changes);
    let changes =
        changes.filter_map(|(quantity, change)| Some((NoteMark::Careful, describe_change(quantity, change)?)));
    let variants = variants(line).map(|text| (NoteMark::Plain, text));
    for (mark, text) in accuracy(line).into_iter().chain(target(line)).chain(changes).chain(variants) {
        add(mark, text);
    }
    notes
}

fn about_side(side: &Side, whose: &str) -> Vec<String> {
    let Side { runs, completed, unsteady, .. } = side;
    let mut texts = Vec::new();
    if *unsteady > 0 {
        texts
            .push(format!("{unsteady} of {completed} runs of the {whose} did not settle, so their speed is unsteady."));
    }
    if completed < runs && side.trouble().is_none() {
        texts.push(format!("{} of {runs} runs of the {whose} were cancelled and do not count.", runs - completed));
    }
    texts
}

fn accuracy(line: &Line) -> Option<(NoteMark, String)> {
    let accuracy = line.accuracy.as_ref()?;
    let shares = format!("{:.2} % against {:.2} %", accuracy.candidate * 100.0, accuracy.baseline * 100.0);
    let points = |share: f64| format!("{:.2} points", share.abs() * 100.0);
    let explained = accuracy.allowance.map_or_else(String::new, |allowance| {
        let by = match allowance.basis {
            Basis::Seeds => "the spread of the seeds",
            Basis::TestSamples => "the sampling error of the test set (one seed)",
        };
        format!("where {by} explains {}", points(allowance.difference))
    });
    let difference = points(accuracy.difference);
    let (mark, how) = match accuracy.verdict {
        AccuracyVerdict::Alike => return None,
        AccuracyVerdict::Lower => (NoteMark::Careful, "lower"),
        AccuracyVerdict::Higher => (NoteMark::Plain, "higher"),
        AccuracyVerdict::OtherSteps => {
            let text = "the runs did not train the same number of steps, so accuracies are not compared; set --epochs \
                        to give all runs the same work.";
            return Some((NoteMark::Plain, text.to_owned()));
        }
    };
    Some((mark, format!("the accuracy is {how}, {shares}: {difference} {explained}.")))
}

fn target(line: &Line) -> Option<(NoteMark, String)> {
    let (before, after) = (line.baseline.as_ref()?, line.candidate.as_ref()?);
    let always = |side: &Side| side.reached_target == side.completed;
    if before.completed == 0 || after.completed == 0 || always(before) == always(after) {
        return None;
    }
    let share = |side: &Side| format!("{} of {} runs", side.reached_target, side.completed);
    let text = format!(
        "the target accuracy was reached by {} of the candidate and {} of the baseline.",
        share(after),
        share(before)
    );
    Some((if always(before) { NoteMark::Careful } else { NoteMark::Plain }, text))
}

fn describe_change(quantity: &Quantity, change: &Change) -> Option<String> {
    let ratio = change.ratio.filter(|_| quantity.id != "step_seconds_p50" && change.is_certain())?;
    let interval = ratio.interval.filter(|_| ratio.value > 1.0 + MIN_CHANGE)?;
    let Quantity { title, .. } = quantity;
    Some(format!(
        "{title}: {:.2} times the baseline, between {:.2} and {:.2}.",
        ratio.value, interval.low, interval.high
    ))
}

fn variants(line: &Line) -> Option<String> {
    let list = |variants: &[String]| match variants {
        [] => "no other kernels".to_owned(),
        few if few.len() <= MAX_VARIANTS => few.join(", "),
        many => format!("{} and {} more", many[..MAX_VARIANTS].join(", "), many.len() - MAX_VARIANTS),
    };
    let (before, after) = (&line.variants_only_in_baseline, &line.variants_only_in_candidate);
    if before.is_empty() && after.is_empty() {
        return None;
    }
    Some(format!("the candidate uses {}, the baseline uses {}.", list(after), list(before)))
}

/// Formats a share without insignificant digits.
pub(crate) fn percent_details(share: f64) -> String {
    format!("{} %", (share * 1e4).round() / 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tolerance_needs_a_percent_sign() {
        assert_eq!((percent("5%"), percent("2.5 %"), percent("0%")), (Ok(0.05), Ok(0.025), Ok(0.0)));
        for text in ["5", "0.05", "100%", "-1%", "%", "NaN%"] {
            assert!(percent(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_commit_is_hexadecimal_and_long_enough_to_name_one() {
        assert_eq!(commit("2694632A"), Ok("2694632a".to_owned()));
        assert!(commit("269").is_err() && commit("main").is_err());
    }

    #[test]
    fn a_tolerance_is_shown_as_it_was_typed() {
        assert_eq!([0.05, 0.025, 0.07].map(percent_details), ["5 %", "2.5 %", "7 %"]);
    }
}
