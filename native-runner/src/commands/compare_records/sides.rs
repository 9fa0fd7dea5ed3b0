//! Which records stand on which side.

use std::path::{Path, PathBuf};

use super::baseline::{Choice, choose};
use crate::cli::CompareRecordsArgs;
use crate::failure::Failure;
use crate::records::{self, KeptRecord};

/// The runs of one side.
pub(super) struct Group {
    /// For people: the path, or the first of several.
    pub(super) name: String,
    pub(super) records: Vec<KeptRecord>,
}

pub(super) struct Sides {
    pub(super) baseline: Group,
    /// At least one.
    pub(super) candidates: Vec<Group>,
    /// How the records were chosen, and what was left out.
    pub(super) notes: Vec<String>,
}

impl Sides {
    /// # Errors
    /// A side is missing or empty, or something cannot be read.
    pub(super) fn read(arguments: &CompareRecordsArgs) -> Result<Self, Failure> {
        let (baseline, candidates) = split(arguments)?;
        let is_option = |path: &&PathBuf| path.to_string_lossy().starts_with("--") && !path.exists();
        if let Some(option) = arguments.candidates.iter().find(is_option) {
            let option = option.display();
            return Err(Failure::Usage(format!("behind `--` everything is a path; put {option} before it")));
        }
        let inputs =
            baseline.iter().chain(candidates.iter().copied().flatten()).filter(|path| **path == Path::new("-"));
        if inputs.count() > 1 {
            return Err(Failure::Usage("`-` was given twice, and standard input can be read once".to_owned()));
        }
        let mut notes = Vec::new();
        let mut group = |paths: &[PathBuf]| read(paths, &mut notes);
        let mut before = group(baseline)?;
        let candidates = candidates.iter().map(|paths| group(paths)).collect::<Result<Vec<_>, _>>()?;
        if !arguments.baseline.is_empty() {
            let all: Vec<&KeptRecord> = candidates.iter().flat_map(|group| &group.records).collect();
            let commit = arguments.baseline_commit.as_deref();
            let Choice { chosen, told } = choose(before.records, &all, commit, arguments.allow_mismatch)?;
            before.records = chosen;
            notes.extend(told);
        }
        Ok(Self { baseline: before, candidates, notes })
    }
}

/// The paths of the baseline, and those of each candidate.
fn split(arguments: &CompareRecordsArgs) -> Result<(&[PathBuf], Vec<&[PathBuf]>), Failure> {
    let CompareRecordsArgs { baseline, candidates, .. } = arguments;
    match (baseline.as_slice(), candidates.as_slice()) {
        ([], [first, others @ ..]) if !others.is_empty() => {
            Ok((std::slice::from_ref(first), others.chunks(1).collect()))
        }
        ([], _) => {
            let text = "there is nothing to compare with: name two records, or folders of them, as in `native-runner compare \
                        before.json after.json`, or a --baseline";
            Err(Failure::Usage(text.to_owned()))
        }
        // Of two, the second can only be the candidate.
        ([first, second], []) => Ok((std::slice::from_ref(first), vec![std::slice::from_ref(second)])),
        (_, []) => {
            let text = "there is no candidate: --baseline takes every path behind it, so name the candidates before it or \
                        behind `--`, as in `native-runner compare head/*.json --baseline base/*.json`";
            Err(Failure::Usage(text.to_owned()))
        }
        (baseline, candidates) => Ok((baseline, vec![candidates])),
    }
}

fn read(paths: &[PathBuf], notes: &mut Vec<String>) -> Result<Group, Failure> {
    let mut kept: Vec<KeptRecord> = Vec::new();
    for path in paths {
        let found = records::read(path)?;
        if found.records.is_empty() {
            let text =
                format!("there are no records in {}; `--output FOLDER` and `--json FILE` keep some", path.display());
            return Err(Failure::Usage(text));
        }
        let others = found.kernels.into_iter().map(|(place, _)| place).chain(found.others);
        notes.extend(others.map(|other| format!("{other} holds no records and was left out.")));
        for one in found.records {
            // A run that counts twice would make the others look steadier than they are.
            match kept.iter().find(|other| other.record == one.record) {
                Some(other) => notes.push(format!("{} is the record of {} and counts once.", one.place, other.place)),
                None => kept.push(one),
            }
        }
    }
    let first = paths.first().map_or_else(String::new, |path| match path.display().to_string() {
        input if input == "-" => "standard input".to_owned(),
        path => path,
    });
    let name = if paths.len() > 1 { format!("{first} and {} more", paths.len() - 1) } else { first };
    Ok(Group { name, records: kept })
}
