//! Which of many kept records a candidate is held beside.

use results::{RunRecord, regression};

use crate::failure::Failure;
use crate::records::KeptRecord;

/// The records that were chosen, and how, in sentences.
#[derive(Debug)]
pub(super) struct Choice {
    pub(super) chosen: Vec<KeptRecord>,
    pub(super) told: Vec<String>,
}

/// What was left out, and how often.
#[derive(Default)]
struct LeftOut {
    candidates: usize,
    suites: usize,
    devices: usize,
    commits: usize,
}

/// Of the records of folders those of the candidates' suites and devices, of the commit that was asked for or else of the
/// newest; records whose files were named are taken as they are, but for a commit that was asked for. Where mismatches are
/// allowed, other devices and other versions of the suites are taken as well.
///
/// # Errors
/// None is left.
pub(super) fn choose(
    baseline: Vec<KeptRecord>,
    candidates: &[&KeptRecord],
    commit: Option<&str>,
    allow_mismatch: bool,
) -> Result<Choice, Failure> {
    let all = baseline.len();
    let same_suite: fn(&RunRecord, &RunRecord) -> bool = if allow_mismatch {
        |one, other| one.suite.name == other.suite.name
    } else {
        |one, other| one.suite == other.suite
    };
    let mut left_out = LeftOut::default();
    let mut fitting = Vec::new();
    for kept in baseline {
        let is_like = |same: fn(&RunRecord, &RunRecord) -> bool| {
            !kept.is_of_folder || candidates.iter().any(|other| same(&kept.record, &other.record))
        };
        if kept.is_of_folder && candidates.iter().any(|other| other.record == kept.record) {
            left_out.candidates += 1;
        } else if !is_like(same_suite) {
            left_out.suites += 1;
        } else if !allow_mismatch && !is_like(|one, other| regression::device(one) == regression::device(other)) {
            left_out.devices += 1;
        } else {
            fitting.push(kept);
        }
    }
    let commits = commits(&fitting);
    let newest = commits.last().map(String::as_str);
    let is_chosen = |kept: &KeptRecord| match commit {
        Some(wanted) => is_commit(&kept.record.provenance.commit, wanted),
        None => !kept.is_of_folder || newest == Some(kept.record.provenance.commit.as_str()),
    };
    let (chosen, others): (Vec<_>, Vec<_>) = fitting.into_iter().partition(is_chosen);
    left_out.commits = others.len();
    if chosen.is_empty() {
        return Err(nothing_left(candidates, commit, &commits, &left_out));
    }
    let told = (chosen.len() < all).then(|| told(&chosen, all, commit, &commits, &left_out));
    Ok(Choice { chosen, told: told.into_iter().collect() })
}

/// The commits of records, the one with the newest run last.
fn commits(records: &[KeptRecord]) -> Vec<String> {
    let mut by_time: Vec<(f64, &str)> = records
        .iter()
        .map(|kept| (kept.record.provenance.started_unix_seconds, kept.record.provenance.commit.as_str()))
        .collect();
    by_time.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut commits: Vec<String> = Vec::new();
    for (_, commit) in by_time {
        commits.retain(|other| other != commit);
        commits.push(commit.to_owned());
    }
    commits
}

/// Whether both name the same commit: records have short names, and people may type longer ones.
fn is_commit(of_record: &str, wanted: &str) -> bool {
    !of_record.is_empty() && (of_record.starts_with(wanted) || wanted.starts_with(of_record))
}

fn told(chosen: &[KeptRecord], all: usize, commit: Option<&str>, commits: &[String], left_out: &LeftOut) -> String {
    let mut names: Vec<&str> = chosen.iter().map(|kept| kept.record.provenance.commit.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    let how = match commit {
        Some(_) => ", as asked".to_owned(),
        None if commits.len() > 1 => format!(", the newest of {} commits", commits.len()),
        None => String::new(),
    };
    let taken = chosen.len();
    format!(
        "The baseline is {taken} of {all} records: those of commit {}{how}. {}",
        names.join(", "),
        left_out.sentence()
    )
}

fn nothing_left(candidates: &[&KeptRecord], commit: Option<&str>, commits: &[String], left_out: &LeftOut) -> Failure {
    let distinct = |value: fn(&RunRecord) -> String| {
        let mut values: Vec<String> = candidates.iter().map(|kept| value(&kept.record)).collect();
        values.sort();
        values.dedup();
        values.join(" and ")
    };
    let suites = distinct(|record| format!("{} {}", record.suite.name, record.suite.version));
    let devices = distinct(regression::device);
    let commit = commit.map_or_else(String::new, |commit| {
        format!(
            " of commit {commit} (those of {} are there)",
            if commits.is_empty() { "no other".to_owned() } else { commits.join(", ") }
        )
    });
    Failure::Usage(format!(
        "the baseline has no record of the suite {suites} on {devices}{commit}. {}",
        left_out.sentence()
    ))
}

impl LeftOut {
    /// What was left out; empty where nothing was.
    fn sentence(&self) -> String {
        let counts = [
            (self.commits, "of other commits"),
            (self.devices, "of other devices"),
            (self.suites, "of other suites or versions"),
            (self.candidates, "of the candidate itself"),
        ];
        let parts: Vec<String> =
            counts.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")).collect();
        if parts.is_empty() { String::new() } else { format!("Left out: {}.", parts.join(", ")) }
    }
}
