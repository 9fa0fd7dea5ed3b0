//! What a comparison came to, for people.

use std::collections::BTreeMap;

use results::comparison::Contender;
use results::regression::{AccuracyVerdict, Change, Line, QUANTITIES, Regressions, Side, Verdict, device};

use super::details::{self, percent};
use super::sheet::sheet;
use super::{Compared, Group};
use crate::export::{Mark, Note, Report, Section};
use crate::figures::figure;
use crate::table::{Column, Table};

const NONE: &str = "–";

/// The whole of what is shown. `notes` say how the records were chosen.
pub(super) fn report(compared: &[Compared<'_>], notes: &[String]) -> Report {
    let mut sections: Vec<Section> = compared.iter().flat_map(sections).collect();
    if let Some(first) = sections.first_mut() {
        let chosen = notes.iter().map(|text| Note { mark: Mark::Plain, text: text.clone() });
        first.notes.splice(0..0, chosen);
    }
    Report { headline: headline(compared), sections, sheet: sheet(compared) }
}

/// Whether anything fails, and what the others are.
fn headline(compared: &[Compared<'_>]) -> Note {
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
    let is_open = lines().any(|(_, line)| matches!(line.verdict, Verdict::PerhapsSlower | Verdict::Undecided));
    let is_slower = lines().any(|(_, line)| line.verdict == Verdict::Slower);
    let (mark, text) = match rules.fail_if_slower.map(percent) {
        _ if failing > 0 => (Mark::Bad, format!("A regression. {counts}.")),
        Some(limit) if is_open => {
            (Mark::Open, format!("No regression is certain, and one of more than {limit} is not excluded. {counts}."))
        }
        Some(limit) => (Mark::Good, format!("No regression of more than {limit}. {counts}.")),
        None if is_slower => (Mark::Careful, format!("{counts}.")),
        None if is_open => (Mark::Open, format!("{counts}.")),
        None => (Mark::Good, format!("{counts}.")),
    };
    Note { mark, text }
}

fn sections(of: &Compared<'_>) -> Vec<Section> {
    let regressions = &of.regressions;
    let names = names(&regressions.lines);
    let shown: Vec<(&Line, &String)> = regressions
        .lines
        .iter()
        .zip(&names)
        .filter(|(line, _)| line.verdict.is_told() || line.throughput.is_some())
        .collect();
    let mut notes: Vec<Note> = regressions
        .mismatches
        .iter()
        .map(|mismatch| Note { mark: Mark::Careful, text: format!("Hardly comparable: {mismatch}.") })
        .collect();
    let of_lines = regressions.lines.iter().zip(&names);
    notes.extend(of_lines.flat_map(|(line, name)| details::notes(line, name, &regressions.rules)));
    if is_single(&regressions.lines) {
        let text = "With a single run on each side the interval is that of the windows inside the runs, which agree more \
                    than the next run would; three to five runs a side, taken in turns, tell more.";
        notes.push(Note { mark: Mark::Plain, text: text.to_owned() });
    }
    let mut sections = vec![Section {
        title: format!("{} against {}", of.candidate.name, of.baseline.name),
        conditions: conditions(of),
        table: (!shown.is_empty()).then(|| verdicts(&shown)),
        notes,
        is_detail: false,
    }];
    let compared: Vec<(&Line, &String)> = shown.iter().filter(|(line, _)| !line.changes.is_empty()).copied().collect();
    if !compared.is_empty() {
        sections.push(Section {
            title: "Other figures".to_owned(),
            conditions: "the candidate's over the baseline's: below 1 is less time or memory; accuracy in points"
                .to_owned(),
            table: Some(others(&compared)),
            notes: Vec::new(),
            is_detail: true,
        });
    }
    sections.extend(surroundings(regressions));
    sections
}

/// What tells a line from the others, no longer than it has to be.
fn names(lines: &[Line]) -> Vec<String> {
    let contender = |line: &Line| line.key.contender();
    let first: Option<Contender> = lines.first().map(contender);
    let has_one = lines.iter().all(|line| Some(contender(line)) == first);
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

/// What holds for all lines: how many runs, of which commits, on what.
fn conditions(of: &Compared<'_>) -> String {
    let lines = &of.regressions.lines;
    let mut parts = Vec::new();
    if let Some(runs) = common(lines.iter().filter_map(runs)) {
        let [before, after] = runs;
        parts.push(format!("{after} {} against {before}", if after == 1 { "run" } else { "runs" }));
    }
    let [before, after] = [of.baseline, of.candidate].map(|group| joined(group, |kept| &kept.provenance.commit));
    if before != after {
        parts.push(format!("commit {after} against {before}"));
    }
    parts.extend(common(lines.iter().map(|line| line.key.contender())).map(|contender| contender.to_string()));
    let devices = [of.baseline, of.candidate].into_iter().flat_map(|group| &group.records);
    parts.extend(common(devices.map(|kept| device(&kept.record))));
    parts.join(" · ")
}

fn joined(group: &Group, value: fn(&results::RunRecord) -> &String) -> String {
    let mut values: Vec<&str> = group.records.iter().map(|kept| value(&kept.record).as_str()).collect();
    values.sort_unstable();
    values.dedup();
    values.join(", ")
}

/// The value of all, if they have one.
fn common<T: PartialEq>(mut values: impl Iterator<Item = T>) -> Option<T> {
    let first = values.next()?;
    values.all(|value| value == first).then_some(first)
}

/// How many runs of both sides count; nothing where a side has none.
fn runs(line: &Line) -> Option<[usize; 2]> {
    let completed = |side: &Option<Side>| side.as_ref().map(|side| side.completed).filter(|runs| *runs > 0);
    Some([completed(&line.baseline)?, completed(&line.candidate)?])
}

fn is_single(lines: &[Line]) -> bool {
    lines.iter().any(|line| line.throughput.is_some() && runs(line) == Some([1, 1]))
}

fn verdicts(lines: &[(&Line, &String)]) -> Table {
    let column = |name: &str, cell: &dyn Fn(&Line) -> Option<String>| Column {
        name: name.to_owned(),
        cells: lines.iter().map(|(line, _)| cell(line).unwrap_or_else(|| NONE.to_owned())).collect(),
    };
    // The unit stands in the heading.
    let rate = |value: f64| figure("samples_per_second", value).replace(" samples/s", "");
    let mut columns = vec![
        column("baseline\nsamples/s", &|line| line.throughput.map(|of| rate(of.baseline))),
        column("candidate\nsamples/s", &|line| line.throughput.map(|of| rate(of.candidate))),
        column("ratio\n", &|line| line.throughput.map(|of| format!("{:.3}", of.ratio.value))),
        column("95 %\ninterval", &|line| {
            line.throughput.and_then(|of| of.ratio.interval).map(|of| format!("{:.3}–{:.3}", of.low, of.high))
        }),
    ];
    if common(lines.iter().map(|(line, _)| runs(line))).is_none() {
        columns.push(column("runs\n", &|line| runs(line).map(|[before, after]| format!("{before}, {after}"))));
    }
    columns.push(column("verdict\n", &|line| Some(line.verdict.words().to_owned())));
    Table { titles: lines.iter().map(|(_, name)| (*name).clone()).collect(), columns }
}

fn others(lines: &[(&Line, &String)]) -> Table {
    let cell = |line: &Line, index: usize| line.changes.get(index).and_then(ratio).unwrap_or_else(|| NONE.to_owned());
    let mut columns: Vec<Column> = QUANTITIES
        .iter()
        .enumerate()
        .map(|(index, quantity)| Column {
            // Two words stand below each other.
            name: quantity.title.replace(' ', "\n"),
            cells: lines.iter().map(|(line, _)| cell(line, index)).collect(),
        })
        .collect();
    let accuracy = |line: &Line| {
        let accuracy = line.accuracy.as_ref().filter(|of| of.verdict != AccuracyVerdict::OtherSteps)?;
        // What rounds to nothing has no sign.
        let points = accuracy.difference * 100.0;
        Some(if points.abs() < 0.005 { "0.00".to_owned() } else { format!("{points:+.2}") })
    };
    columns.push(Column {
        name: "accuracy\npoints".to_owned(),
        cells: lines.iter().map(|(line, _)| accuracy(line).unwrap_or_else(|| NONE.to_owned())).collect(),
    });
    Table { titles: lines.iter().map(|(_, name)| (*name).clone()).collect(), columns }
}

fn ratio(change: &Change) -> Option<String> {
    change.ratio.map(|ratio| format!("{:.2}", ratio.value))
}

/// What is not alike around the sides.
fn surroundings(regressions: &Regressions) -> Option<Section> {
    let said = |value: &Option<String>| value.clone().unwrap_or_else(|| NONE.to_owned());
    let notes = regressions.differences.iter().map(|difference| {
        let values: Vec<String> = difference.values.iter().map(said).collect();
        Note { mark: Mark::Plain, text: format!("{}: {}", difference.what.replace('_', " "), values.join(" → ")) }
    });
    let notes: Vec<Note> = notes.collect();
    (!notes.is_empty()).then(|| Section {
        title: "What differs around them".to_owned(),
        conditions: "baseline → candidate".to_owned(),
        table: None,
        notes,
        is_detail: true,
    })
}
