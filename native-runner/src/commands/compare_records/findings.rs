//! Report of a comparison, and selection of its records.

use std::collections::{BTreeMap, BTreeSet};
use std::mem;
use std::path::{Path, PathBuf};

use results::regression::{AccuracyVerdict, Line, QUANTITIES, RegressionVerdict, Regressions, Side, device};
use results::{RunRecord, regression};

use crate::commands::compare_records::{self, CompareRecordsArgs, ComparedSides, build_sheet, percent_details};
use crate::export::{NoteMark, ReportNote, ReportSection, TextReport};
use crate::failure::Failure;
use crate::figures::figure;
use crate::records::{self, KeptRecord};
use crate::screen::{NONE, TableColumn, TextColumn, TextTable};

pub(crate) fn report(compared: &[ComparedSides<'_>], notes: &[String]) -> TextReport {
    let mut sections: Vec<ReportSection> = compared.iter().flat_map(sections).collect();
    if let Some(first) = sections.first_mut() {
        let chosen = notes.iter().map(|text| ReportNote { mark: NoteMark::Plain, text: text.clone() });
        first.notes.splice(0..0, chosen);
    }
    TextReport { headline: headline(compared), sections, sheet: build_sheet(compared) }
}

fn headline(compared: &[ComparedSides<'_>]) -> ReportNote {
    let lines = || compared.iter().flat_map(|of| of.regressions.lines.iter().map(move |line| (&of.regressions, line)));
    let failing = lines().filter(|(of, line)| line.verdict.fails(&of.rules)).count();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for (_, line) in lines().filter(|(of, line)| line.verdict.is_told() || line.verdict.fails(&of.rules)) {
        *counts.entry(line.verdict.words()).or_default() += 1;
    }
    let total: usize = counts.values().sum();
    let counts: Vec<String> = counts.iter().map(|(words, count)| format!("{count} {words}")).collect();
    let counts = format!("{total} compared: {}", counts.join(", "));
    let rules = compared.first().map(|of| of.regressions.rules).unwrap_or_default();
    let is_open = lines()
        .any(|(_, line)| matches!(line.verdict, RegressionVerdict::PerhapsSlower | RegressionVerdict::Undecided));
    let is_slower = lines().any(|(_, line)| line.verdict == RegressionVerdict::Slower);
    let (mark, text) = match rules.fail_if_slower.map(percent_details) {
        _ if failing > 0 => (NoteMark::Bad, "A regression. ".to_owned()),
        Some(limit) if is_open => {
            (NoteMark::Open, format!("No regression is certain, but a loss of more than {limit} is not excluded. "))
        }
        Some(limit) => (NoteMark::Good, format!("No regression of more than {limit}. ")),
        None if is_slower => (NoteMark::Careful, String::new()),
        None if is_open => (NoteMark::Open, String::new()),
        None => (NoteMark::Good, String::new()),
    };
    ReportNote { mark, text: format!("{text}{counts}.") }
}

fn sections(of: &ComparedSides<'_>) -> Vec<ReportSection> {
    let regressions = &of.regressions;
    let names = names(&regressions.lines);
    let lines = || regressions.lines.iter().zip(&names);
    let shown: Vec<(&Line, &String)> =
        lines().filter(|(line, _)| line.verdict.is_told() || line.throughput.is_some()).collect();
    let mismatches = regressions.mismatches.iter();
    let mut notes: Vec<ReportNote> = mismatches
        .map(|mismatch| ReportNote { mark: NoteMark::Careful, text: format!("Not fully comparable: {mismatch}.") })
        .collect();
    notes.extend(lines().flat_map(|(line, name)| compare_records::notes(line, name, &regressions.rules)));
    if regressions.lines.iter().any(|line| line.throughput.is_some() && runs(line) == Some([1, 1])) {
        let text = "With a single run per side, the interval only covers the windows within a run, which vary less \
                    than separate runs do; make three to five runs a side, alternating between the sides.";
        notes.push(ReportNote { mark: NoteMark::Plain, text: text.to_owned() });
    }
    let mut sections = vec![ReportSection {
        title: format!("{} against {}", of.candidate.name, of.baseline.name),
        conditions: conditions(of),
        table: (!shown.is_empty()).then(|| verdicts(&shown)),
        notes,
        is_detail: false,
    }];
    let compared: Vec<(&Line, &String)> = shown.iter().filter(|(line, _)| !line.changes.is_empty()).copied().collect();
    if !compared.is_empty() {
        sections.push(ReportSection {
            title: "Other metrics".to_owned(),
            conditions: "candidate over baseline: below 1 is less time or memory; accuracy in points".to_owned(),
            table: Some(others(&compared)),
            is_detail: true,
            ..ReportSection::default()
        });
    }
    sections.extend(surroundings(regressions));
    sections
}

/// Returns the shortest names that distinguish the lines.
fn names(lines: &[Line]) -> Vec<String> {
    let contender = |line: &Line| line.key.contender();
    let has_one = common(lines.iter().map(contender)).is_some();
    let name = |line: &Line| {
        let key = &line.key;
        let twins = |other: &&Line| other.key.workload == key.workload && contender(other) == contender(line);
        let mut name = key.workload.clone();
        if !has_one {
            name.push_str(&format!(" {}", contender(line)));
        }
        if lines.iter().filter(twins).count() > 1 {
            name.push_str(&format!(" in batches of {}", key.batch_size));
        }
        name
    };
    lines.iter().map(name).collect()
}

fn conditions(of: &ComparedSides<'_>) -> String {
    let lines = &of.regressions.lines;
    let mut parts = Vec::new();
    if let Some(runs) = common(lines.iter().filter_map(runs)) {
        let [before, after] = runs;
        parts.push(format!("{after} {} against {before}", if after == 1 { "run" } else { "runs" }));
    }
    let [before, after] = [of.baseline, of.candidate].map(|group| join_commits(&group.records));
    if before != after {
        parts.push(format!("commit {after} against {before}"));
    }
    parts.extend(common(lines.iter().map(|line| line.key.contender())).map(|contender| contender.to_string()));
    let devices = [of.baseline, of.candidate].into_iter().flat_map(|group| &group.records);
    parts.extend(common(devices.map(|kept| device(&kept.record))));
    parts.join(" · ")
}

fn join_commits(records: &[KeptRecord]) -> String {
    join_texts(records.iter().map(|kept| kept.record.provenance.commit.as_str()), ", ")
}

fn join_texts<T: AsRef<str> + Ord>(texts: impl Iterator<Item = T>, separator: &str) -> String {
    let distinct = BTreeSet::from_iter(texts);
    distinct.iter().map(AsRef::as_ref).collect::<Vec<_>>().join(separator)
}

fn common<T: PartialEq>(mut values: impl Iterator<Item = T>) -> Option<T> {
    let first = values.next()?;
    values.all(|value| value == first).then_some(first)
}

fn runs(line: &Line) -> Option<[usize; 2]> {
    let completed = |side: &Option<Side>| side.as_ref().map(|side| side.completed).filter(|runs| *runs > 0);
    Some([completed(&line.baseline)?, completed(&line.candidate)?])
}

fn verdicts(lines: &[(&Line, &String)]) -> TextTable {
    // The unit is in the heading.
    let rate = |value: f64| figure("samples_per_second", value).replace(" samples/s", "");
    let has_runs = common(lines.iter().map(|(line, _)| runs(line))).is_none();
    let mut table = TextTable::of(
        lines,
        |(_, name)| (*name).clone(),
        &[
            ("baseline\nsamples/s", &|(line, _)| Some(rate(line.throughput?.baseline))),
            ("candidate\nsamples/s", &|(line, _)| Some(rate(line.throughput?.candidate))),
            ("ratio\n", &|(line, _)| Some(format!("{:.3}", line.throughput?.ratio.value))),
            ("95 %\ninterval", &|(line, _)| {
                line.throughput?.ratio.interval.map(|of| format!("{:.3}–{:.3}", of.low, of.high))
            }),
            ("runs\n", &|(line, _)| runs(line).map(|[before, after]| format!("{before}, {after}"))),
            ("verdict\n", &|(line, _)| Some(line.verdict.words().to_owned())),
        ],
    );
    table.columns.retain(|column| has_runs || column.name != "runs\n");
    table
}

fn others(lines: &[(&Line, &String)]) -> TextTable {
    let accuracy: TextColumn<'_, (&Line, &String)> = ("accuracy\npoints", &|(line, _)| {
        let accuracy = line.accuracy.as_ref().filter(|of| of.verdict != AccuracyVerdict::OtherSteps)?;
        // A value that rounds to zero has no sign.
        let points = accuracy.difference * 100.0;
        Some(if points.abs() < 0.005 { "0.00".to_owned() } else { format!("{points:+.2}") })
    });
    let mut table = TextTable::of(lines, |(_, name)| (*name).clone(), &[accuracy]);
    let quantities = QUANTITIES.iter().enumerate().map(|(index, quantity)| {
        let ratio = |line: &Line| Some(format!("{:.2}", line.changes.get(index)?.ratio?.value));
        // The two words are on separate lines.
        TableColumn::new(&quantity.title.replace(' ', "\n"), lines.iter().map(|(line, _)| ratio(line)))
    });
    table.columns.splice(0..0, quantities);
    table
}

fn surroundings(regressions: &Regressions) -> Option<ReportSection> {
    let notes = regressions.differences.iter().map(|difference| {
        let values: Vec<&str> = difference.values.iter().map(|value| value.as_deref().unwrap_or(NONE)).collect();
        ReportNote {
            mark: NoteMark::Plain,
            text: format!("{}: {}", difference.what.replace('_', " "), values.join(" → ")),
        }
    });
    let notes: Vec<ReportNote> = notes.collect();
    (!notes.is_empty()).then(|| ReportSection {
        title: "Differences in the environment".to_owned(),
        conditions: "baseline → candidate".to_owned(),
        notes,
        is_detail: true,
        ..ReportSection::default()
    })
}

/// Selects from folders the records with the candidates' suites and devices, of the requested or the newest commit.
/// Records named by file are kept, unless a commit was requested and theirs differs. If mismatches are allowed, other
/// devices and suite versions are kept too.
fn choose(
    baseline: &mut RecordGroup,
    candidates: &[&KeptRecord],
    arguments: &CompareRecordsArgs,
) -> Result<Option<String>, Failure> {
    let CompareRecordsArgs { baseline_commit, allow_mismatch, .. } = arguments;
    let all = baseline.records.len();
    let (mut other_devices, mut other_suites, mut candidates_too) = (0, 0, 0);
    let mut fitting = Vec::new();
    for kept in mem::take(&mut baseline.records) {
        let is_like = |is_same: &dyn Fn(&RunRecord) -> bool| candidates.iter().any(|other| is_same(&other.record));
        let suite = &kept.record.suite;
        let is_of_suite = is_like(&|other| other.suite == *suite || *allow_mismatch && other.suite.name == suite.name);
        let device = regression::device(&kept.record);
        let is_of_device = *allow_mismatch || is_like(&|other| regression::device(other) == device);
        if kept.is_of_folder && is_like(&|other| *other == kept.record) {
            candidates_too += 1;
        } else if kept.is_of_folder && !is_of_suite {
            other_suites += 1;
        } else if kept.is_of_folder && !is_of_device {
            other_devices += 1;
        } else {
            fitting.push(kept);
        }
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
    let left_out = [
        (others.len(), "from other commits"),
        (other_devices, "from other devices"),
        (other_suites, "from other suites or versions"),
        (candidates_too, "that are also in the candidate"),
    ];
    let left_out: Vec<String> =
        left_out.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")).collect();
    let left_out = if left_out.is_empty() { String::new() } else { format!("Left out: {}.", left_out.join(", ")) };
    if chosen.is_empty() {
        return Err(nothing_left(candidates, baseline_commit.as_deref(), &commits, &left_out));
    }
    baseline.records = chosen;
    let how = match baseline_commit {
        Some(_) => ", set with --baseline-commit".to_owned(),
        None if commits.len() > 1 => format!(", the newest of {} commits", commits.len()),
        None => String::new(),
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
    let distinct =
        |value: fn(&RunRecord) -> String| join_texts(candidates.iter().map(|kept| value(&kept.record)), " and ");
    let suites = distinct(|record| format!("{} {}", record.suite.name, record.suite.version));
    let devices = distinct(regression::device);
    let commit = commit.map_or_else(String::new, |commit| {
        format!(
            " from commit {commit} (available commits: {})",
            if commits.is_empty() { "none".to_owned() } else { commits.join(", ") }
        )
    });
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
    pub(crate) fn read(arguments: &CompareRecordsArgs) -> Result<Self, Failure> {
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
        let mut group = |paths: &[PathBuf]| read(paths, &mut notes);
        let mut before = group(baseline)?;
        let candidates = candidates.iter().map(|paths| group(paths)).collect::<Result<Vec<_>, _>>()?;
        if !arguments.baseline.is_empty() {
            let all: Vec<&KeptRecord> = candidates.iter().flat_map(|group| &group.records).collect();
            notes.extend(choose(&mut before, &all, arguments)?);
        }
        Ok(Self { baseline: before, candidates, notes })
    }
}

fn split(arguments: &CompareRecordsArgs) -> Result<(&[PathBuf], Vec<&[PathBuf]>), Failure> {
    let CompareRecordsArgs { baseline, candidates, .. } = arguments;
    match (baseline.as_slice(), candidates.as_slice()) {
        ([], [first, others @ ..]) if !others.is_empty() => {
            Ok((std::slice::from_ref(first), others.chunks(1).collect()))
        }
        ([], _) => {
            let text = "there is nothing to compare with; name two records, or folders of them, as in `native-runner \
                        compare before.json after.json`, or a --baseline";
            Err(Failure::Usage(text.to_owned()))
        }
        // The second of two records can only be the candidate.
        ([first, second], []) => Ok((std::slice::from_ref(first), vec![std::slice::from_ref(second)])),
        (_, []) => {
            let text = "there is no candidate; --baseline takes every path after it, so name the candidates before it \
                        or after `--`, as in `native-runner compare head/*.json --baseline base/*.json`";
            Err(Failure::Usage(text.to_owned()))
        }
        (baseline, candidates) => Ok((baseline, vec![candidates])),
    }
}

fn read(paths: &[PathBuf], notes: &mut Vec<String>) -> Result<RecordGroup, Failure> {
    let mut kept: Vec<KeptRecord> = Vec::new();
    for path in paths {
        let found = records::read(path)?;
        if found.records.is_empty() {
            let text =
                format!("there are no records in {}; `--output FOLDER` and `--json FILE` write them", path.display());
            return Err(Failure::Usage(text));
        }
        let others = found.kernels.into_iter().map(|(place, _)| place).chain(found.others);
        notes.extend(others.map(|other| format!("{other} has no records and was left out.")));
        for one in found.records {
            // A record that counts twice would make the others look steadier than they are.
            match kept.iter().find(|other| other.record == one.record) {
                Some(other) => {
                    notes.push(format!("{} is the same record as {} and counts once.", one.place, other.place))
                }
                None => kept.push(one),
            }
        }
    }
    let first = paths.first().map(|path| path.display().to_string()).unwrap_or_default();
    let first = if first == "-" { "standard input".to_owned() } else { first };
    let name = if paths.len() > 1 { format!("{first} and {} more", paths.len() - 1) } else { first };
    Ok(RecordGroup { name, records: kept })
}
