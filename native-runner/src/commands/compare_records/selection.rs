//! Arguments of a comparison, and the records that they select.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::{mem, slice};

use clap::Args;
use results::RunRecord;
use view::regression;

use crate::arguments::number;
use crate::export::Format;
use crate::failure::{Failure, Result};
use crate::json_output::JsonTarget;
use crate::records::{self, KeptRecord};

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
    pub(crate) fail_if_missing: bool,
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

/// Selects from folders the records with the candidates' suites and devices, of the requested or the newest commit.
/// Records named by file are kept, unless a commit was requested and theirs differs. If mismatches are allowed, other
/// devices and suite versions are kept too.
fn choose(
    baseline: &mut RecordGroup,
    candidates: &[&KeptRecord],
    arguments: &CompareRecordsArgs,
) -> Result<Option<String>> {
    let CompareRecordsArgs { baseline_commit, allow_mismatch, .. } = arguments;
    let all = baseline.records.len();
    let mut left_out: BTreeMap<&str, usize> = BTreeMap::new();
    let mut fitting = Vec::new();
    for kept in mem::take(&mut baseline.records) {
        let is_like = |is_same: &dyn Fn(&RunRecord) -> bool| candidates.iter().any(|other| is_same(&other.record));
        let suite = &kept.record.suite;
        let is_of_suite = is_like(&|other| other.suite == *suite || *allow_mismatch && other.suite.name == suite.name);
        let is_known = is_like(&|other| *other == kept.record);
        let device = regression::device(&kept.record);
        let is_of_device = *allow_mismatch || is_like(&|other| regression::device(other) == device);
        let misfit = if !kept.is_of_folder || is_of_suite && is_of_device && !is_known {
            fitting.push(kept);
            continue;
        } else if is_known {
            "that are also in the candidate"
        } else if !is_of_suite {
            "from other suites or versions"
        } else {
            "from other devices"
        };
        *left_out.entry(misfit).or_default() += 1;
    }
    let commits = commits(&fitting);
    let is_chosen = |KeptRecord { record, is_of_folder, .. }: &KeptRecord| {
        let commit = &record.provenance.commit;
        match baseline_commit {
            // Records have short names of commits, and users may type longer ones.
            Some(wanted) => !commit.is_empty() && (commit.starts_with(wanted) || wanted.starts_with(commit)),
            None => !is_of_folder || commits.last() == Some(commit),
        }
    };
    let (chosen, others): (Vec<_>, Vec<_>) = fitting.into_iter().partition(is_chosen);
    if !others.is_empty() {
        left_out.insert("from other commits", others.len());
    }
    let left_out: Vec<String> = left_out.iter().map(|(what, count)| format!("{count} {what}")).collect();
    let left_out = if left_out.is_empty() { String::new() } else { format!("Left out: {}.", left_out.join(", ")) };
    if chosen.is_empty() {
        return Err(nothing_left(candidates, baseline_commit.as_deref(), &commits, &left_out));
    }
    baseline.records = chosen;
    let how = match baseline_commit {
        Some(_) => ", set with --baseline-commit",
        None if commits.len() > 1 => &format!(", the newest of {} commits", commits.len()),
        None => "",
    };
    let (taken, names) = (baseline.records.len(), join_commits(&baseline.records));
    let note = format!("The baseline has {taken} of {all} records, from commit {names}{how}. {left_out}");
    Ok((taken < all).then_some(note))
}

/// Lists the commits by their newest record.
fn commits(records: &[KeptRecord]) -> Vec<String> {
    let mut by_time: Vec<_> = records.iter().map(|kept| &kept.record.provenance).collect();
    by_time.sort_by(|a, b| a.started_unix_seconds.total_cmp(&b.started_unix_seconds));
    let mut commits: Vec<String> = Vec::new();
    for provenance in by_time {
        commits.retain(|other| *other != provenance.commit);
        commits.push(provenance.commit.clone());
    }
    commits
}

fn nothing_left(candidates: &[&KeptRecord], commit: Option<&str>, commits: &[String], left_out: &str) -> Failure {
    let join = |value: fn(&RunRecord) -> String| join_texts(candidates.iter().map(|kept| value(&kept.record)), " and ");
    let suites = join(|record| format!("{} {}", record.suite.name, record.suite.version));
    let devices = join(regression::device);
    let available = if commits.is_empty() { "none".to_owned() } else { commits.join(", ") };
    let commit = commit.map(|commit| format!(" from commit {commit} (available commits: {available})"));
    let commit = commit.unwrap_or_default();
    Failure::Usage(format!("the baseline has no record of suite {suites} on {devices}{commit}. {left_out}"))
}

pub(crate) struct RecordGroup {
    /// The path, or the first of several.
    pub(crate) name: String,
    pub(crate) records: Vec<KeptRecord>,
}

pub(crate) struct Sides {
    pub(crate) baseline: RecordGroup,
    pub(crate) candidates: Vec<RecordGroup>,
    pub(crate) notes: Vec<String>,
}

impl Sides {
    pub(crate) fn read(arguments: &CompareRecordsArgs) -> Result<Self> {
        let (baseline, candidates) = split(arguments)?;
        let is_option = |path: &&PathBuf| path.to_string_lossy().starts_with("--") && !path.exists();
        if let Some(option) = arguments.candidates.iter().find(is_option) {
            let option = option.display();
            return Err(Failure::Usage(format!("everything after `--` is a path; put {option} before it")));
        }
        let paths = baseline.iter().chain(candidates.iter().copied().flatten());
        if paths.filter(|path| **path == Path::new("-")).count() > 1 {
            return Err(Failure::Usage("`-` was given twice, but standard input can be read only once".to_owned()));
        }
        let mut notes = Vec::new();
        let mut baseline = read(baseline, &mut notes)?;
        let candidates = candidates.iter().map(|paths| read(paths, &mut notes)).collect::<Result<Vec<_>, _>>()?;
        if !arguments.baseline.is_empty() {
            let all: Vec<&KeptRecord> = candidates.iter().flat_map(|group| &group.records).collect();
            notes.extend(choose(&mut baseline, &all, arguments)?);
        }
        Ok(Self { baseline, candidates, notes })
    }
}

fn split(arguments: &CompareRecordsArgs) -> Result<(&[PathBuf], Vec<&[PathBuf]>)> {
    let CompareRecordsArgs { baseline, candidates, .. } = arguments;
    match (baseline.as_slice(), candidates.as_slice()) {
        ([], [first, others @ ..]) if !others.is_empty() => Ok((slice::from_ref(first), others.chunks(1).collect())),
        ([], _) => {
            let text = "there is nothing to compare with; name two records, or folders of them, as in `native-runner \
                        compare before.json after.json`, or a --baseline";
            Err(Failure::Usage(text.to_owned()))
        }
        // The second of two records can only be the candidate.
        ([first, second], []) => Ok((slice::from_ref(first), vec![slice::from_ref(second)])),
        (_, []) => {
            let text = "there is no candidate; --baseline takes every path after it, so name the candidates before it \
                        or after `--`, as in `native-runner compare head/*.json --baseline base/*.json`";
            Err(Failure::Usage(text.to_owned()))
        }
        (baseline, candidates) => Ok((baseline, vec![candidates])),
    }
}

fn read(paths: &[PathBuf], notes: &mut Vec<String>) -> Result<RecordGroup> {
    let mut kept: Vec<KeptRecord> = Vec::new();
    for path in paths {
        let found = records::read(path)?;
        if found.records.is_empty() {
            let (place, advice) = (path.display(), "`--output FOLDER` and `--json FILE` write them");
            return Err(Failure::Usage(format!("there are no records in {place}; {advice}")));
        }
        let others = found.kernels.into_iter().map(|(place, _)| place).chain(found.others);
        notes.extend(others.map(|other| format!("{other} has no records and was left out.")));
        for one in found.records {
            // A record that counts twice would make the others look steadier than they are.
            if let Some(other) = kept.iter().find(|other| other.record == one.record) {
                notes.push(format!("{} is the same record as {} and counts once.", one.place, other.place));
            } else {
                kept.push(one);
            }
        }
    }
    let first = paths.first().map(|path| path.display().to_string()).unwrap_or_default();
    let first = if first == "-" { "standard input".to_owned() } else { first };
    let name = if paths.len() > 1 { format!("{first} and {} more", paths.len() - 1) } else { first };
    Ok(RecordGroup { name, records: kept })
}

pub(crate) fn join_commits(records: &[KeptRecord]) -> String {
    join_texts(records.iter().map(|kept| kept.record.provenance.commit.as_str()), ", ")
}

fn join_texts<T: AsRef<str> + Ord>(texts: impl Iterator<Item = T>, separator: &str) -> String {
    BTreeSet::from_iter(texts).iter().map(AsRef::as_ref).collect::<Vec<_>>().join(separator)
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
}
