use std::collections::BTreeMap;

use results::estimate::Estimate;
use view::comparison::Basis;
use view::regression::{
    AccuracyVerdict, Change, Line, QUANTITIES, Quantity, RegressionVerdict, Regressions, Rules, Side, device,
};
use view::table::{Sheet, SheetCell};

use crate::commands::compare_records::selection::{RecordGroup, join_commits};
use crate::export::{ReportNote, ReportSection, TextReport};
use crate::figures::figure;
use crate::screen::NoteMark::{Bad, Careful, Good, Open, Plain};
use crate::screen::{NONE, TableColumn, TableRows, TextTable};

pub(crate) struct ComparedSides<'a> {
    pub(crate) baseline: &'a RecordGroup,
    pub(crate) candidate: &'a RecordGroup,
    pub(crate) regressions: Regressions,
}

pub(crate) fn report(compared: &[ComparedSides<'_>], notes: &[String]) -> TextReport {
    let mut sections: Vec<ReportSection> = compared.iter().flat_map(sections).collect();
    if let Some(first) = sections.first_mut() {
        first.notes.splice(0..0, notes.iter().map(|text| (Plain, text.clone())));
    }
    TextReport { headline: headline(compared), sections, sheet: build_sheet(compared) }
}

fn headline(compared: &[ComparedSides<'_>]) -> ReportNote {
    let is_failing = compared.iter().any(|of| of.regressions.failures().next().is_some());
    let verdicts = || {
        let lines = compared.iter().flat_map(|of| of.regressions.lines.iter().map(move |line| (of, &line.verdict)));
        lines.filter(|(of, verdict)| verdict.is_told() || verdict.fails(&of.regressions.rules))
    };
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    verdicts().for_each(|(_, verdict)| *counts.entry(verdict.words()).or_default() += 1);
    let counts: Vec<String> = counts.iter().map(|(words, count)| format!("{count} {words}")).collect();
    let counts = format!("{} compared: {}", verdicts().count(), counts.join(", "));
    let rules = compared.first().map(|of| of.regressions.rules).unwrap_or_default();
    let is_open = verdicts()
        .any(|(_, verdict)| matches!(verdict, RegressionVerdict::PerhapsSlower | RegressionVerdict::Undecided));
    let is_slower = verdicts().any(|(_, verdict)| *verdict == RegressionVerdict::Slower);
    let (mark, text) = match rules.fail_if_slower.map(percent_details) {
        _ if is_failing => (Bad, "A regression. ".to_owned()),
        Some(limit) if is_open => {
            (Open, format!("No regression is certain, but a loss of more than {limit} is not excluded. "))
        }
        Some(limit) => (Good, format!("No regression of more than {limit}. ")),
        None if is_slower => (Careful, String::new()),
        None if is_open => (Open, String::new()),
        None => (Good, String::new()),
    };
    (mark, format!("{text}{counts}."))
}

fn sections(of: &ComparedSides<'_>) -> Vec<ReportSection> {
    let regressions = &of.regressions;
    let names = names(&regressions.lines);
    let lines = || regressions.lines.iter().zip(&names);
    let shown: Vec<(&Line, &String)> =
        lines().filter(|(line, _)| line.verdict.is_told() || line.throughput.is_some()).collect();
    let mismatches = regressions.mismatches.iter();
    let mismatches = mismatches.map(|mismatch| (Careful, format!("Not fully comparable: {mismatch}.")));
    let mut notes: Vec<ReportNote> = mismatches.collect();
    notes.extend(lines().flat_map(|(line, name)| self::notes(line, name, &regressions.rules)));
    if regressions.lines.iter().any(|line| line.throughput.is_some() && runs(line) == Some([1, 1])) {
        let text = "With a single run per side, the interval only covers the windows within a run, which vary less \
                    than separate runs do; make three to five runs a side, alternating between the sides.";
        notes.push((Plain, text.to_owned()));
    }
    let compared: Vec<(&Line, &String)> = shown.iter().filter(|(line, _)| !line.changes.is_empty()).copied().collect();
    let surroundings = regressions.differences.iter().map(|difference| {
        let values: Vec<&str> = difference.values.iter().map(|value| value.as_deref().unwrap_or(NONE)).collect();
        (Plain, format!("{}: {}", difference.what.replace('_', " "), values.join(" → ")))
    });
    let title = format!("{} against {}", of.candidate.name, of.baseline.name);
    let table = (!shown.is_empty()).then(|| verdicts(&shown));
    let detail = |title: &str, conditions: &str, table, notes| {
        let (title, conditions) = (title.to_owned(), conditions.to_owned());
        ReportSection { title, conditions, table, notes, is_detail: true }
    };
    let meaning = "candidate over baseline: below 1 is less time or memory; accuracy in points";
    let others = (!compared.is_empty()).then(|| others(&compared));
    let mut sections = vec![
        ReportSection { title, conditions: conditions(of), table, notes, is_detail: false },
        detail("Other metrics", meaning, others, Vec::new()),
        detail("Differences in the environment", "baseline → candidate", None, surroundings.collect()),
    ];
    sections.retain(|section| !section.is_detail || section.table.is_some() || !section.notes.is_empty());
    sections
}

/// Returns the shortest names that distinguish the lines.
fn names(lines: &[Line]) -> Vec<String> {
    let contender = |line: &Line| line.key.contender();
    let has_one = common(lines.iter().map(contender)).is_some();
    let name = |line: &Line| {
        let key = &line.key;
        let twins = |other: &&Line| other.key.workload == key.workload && contender(other) == contender(line);
        let one = if has_one { String::new() } else { format!(" {}", contender(line)) };
        let is_alone = lines.iter().filter(twins).count() < 2;
        let batches = if is_alone { String::new() } else { format!(" in batches of {}", key.batch_size) };
        format!("{}{one}{batches}", key.workload)
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
    let mut table = TableRows::new(lines, |(_, name)| (*name).clone()).columns(&[
        ("baseline\nsamples/s", &|(line, _)| Some(rate(line.throughput?.baseline))),
        ("candidate\nsamples/s", &|(line, _)| Some(rate(line.throughput?.candidate))),
        ("ratio\n", &|(line, _)| Some(format!("{:.3}", line.throughput?.ratio.value))),
        ("95 %\ninterval", &|(of, _)| of.throughput?.ratio.interval.map(|of| format!("{:.3}–{:.3}", of.low, of.high))),
        ("runs\n", &|(line, _)| runs(line).map(|[before, after]| format!("{before}, {after}"))),
        ("verdict\n", &|(line, _)| Some(line.verdict.words().to_owned())),
    ]);
    table.columns.retain(|column| has_runs || column.name != "runs\n");
    table
}

fn others(lines: &[(&Line, &String)]) -> TextTable {
    let points = |(line, _): &(&Line, &String)| {
        let accuracy = line.accuracy.as_ref().filter(|of| of.verdict != AccuracyVerdict::OtherSteps)?;
        // A value that rounds to zero has no sign.
        let points = accuracy.difference * 100.0;
        Some(if points.abs() < 0.005 { "0.00".to_owned() } else { format!("{points:+.2}") })
    };
    let quantities = QUANTITIES.iter().enumerate().map(|(index, quantity)| {
        let ratio = |line: &Line| Some(format!("{:.2}", line.changes.get(index)?.ratio?.value));
        // The two words are on separate lines.
        TableColumn::new(&quantity.title.replace(' ', "\n"), lines.iter().map(|(line, _)| ratio(line)))
    });
    let accuracy = TableColumn::new("accuracy\npoints", lines.iter().map(points));
    let titles = lines.iter().map(|(_, name)| (*name).clone()).collect();
    TextTable { titles, columns: quantities.chain([accuracy]).collect() }
}

/// Returns a row of unrounded values for each line.
fn build_sheet(compared: &[ComparedSides<'_>]) -> Sheet {
    let mut sheet = Sheet::default();
    for (of, line) in compared.iter().flat_map(|of| of.regressions.lines.iter().map(move |line| (of, line))) {
        let (names, cells) = cells(of, line).into_iter().unzip();
        sheet.columns = names;
        sheet.rows.push(cells);
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

fn notes(line: &Line, name: &str, rules: &Rules) -> Vec<ReportNote> {
    let limit = rules.fail_if_slower.map(percent_details).unwrap_or_default();
    let verdict = match &line.verdict {
        RegressionVerdict::Faster | RegressionVerdict::Tied => None,
        RegressionVerdict::Undecided => Some((Open, "; make more or longer runs on each side to decide".to_owned())),
        verdict if verdict.fails(rules) => Some((Bad, String::new())),
        RegressionVerdict::PerhapsSlower => {
            Some((Open, format!("; a loss of more than {limit} can be neither shown nor excluded")))
        }
        RegressionVerdict::SlightlySlower => Some((Careful, format!(", within the allowed loss of {limit}"))),
        RegressionVerdict::OnlyInBaseline | RegressionVerdict::OnlyInCandidate => Some((Plain, String::new())),
        _ => Some((Careful, String::new())),
    };
    let verdict = verdict.map(|(mark, end)| (mark, format!("{}{end}.", reason(line))));
    let sides = [(&line.baseline, "baseline"), (&line.candidate, "candidate")].into_iter();
    let sides = sides.flat_map(|(side, whose)| side.iter().flat_map(move |side| about_side(side, whose)));
    let changes = QUANTITIES.iter().zip(&line.changes).filter_map(|(of, change)| describe_change(of, change));
    let notes = verdict.into_iter().chain(sides).chain(accuracy(line)).chain(target(line));
    notes.chain(changes).chain(variants(line)).map(|(mark, text)| (mark, format!("{name}: {text}"))).collect()
}

fn about_side(side: &Side, whose: &str) -> impl Iterator<Item = ReportNote> {
    let Side { runs, completed, unsteady, .. } = side;
    let unsteady = (*unsteady > 0)
        .then(|| format!("{unsteady} of {completed} runs of the {whose} did not settle, so their speed is unsteady."));
    let cancelled = (completed < runs && side.trouble().is_none())
        .then(|| format!("{} of {runs} runs of the {whose} were cancelled and do not count.", runs - completed));
    unsteady.into_iter().chain(cancelled).map(|text| (Careful, text))
}

fn accuracy(line: &Line) -> Option<ReportNote> {
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
        AccuracyVerdict::Lower => (Careful, "lower"),
        AccuracyVerdict::Higher => (Plain, "higher"),
        AccuracyVerdict::OtherSteps => {
            let text = "the runs did not train the same number of steps, so accuracies are not compared; set --epochs \
                        to give all runs the same work.";
            return Some((Plain, text.to_owned()));
        }
    };
    Some((mark, format!("the accuracy is {how}, {shares}: {difference} {explained}.")))
}

fn target(line: &Line) -> Option<ReportNote> {
    let (before, after) = (line.baseline.as_ref()?, line.candidate.as_ref()?);
    let always = |side: &Side| side.reached_target == side.completed;
    if before.completed == 0 || after.completed == 0 || always(before) == always(after) {
        return None;
    }
    let share = |side: &Side| format!("{} of {} runs", side.reached_target, side.completed);
    let [before_share, after_share] = [before, after].map(share);
    let text = format!(
        "the target accuracy was reached by {after_share} of the candidate and {before_share} of the baseline."
    );
    Some((if always(before) { Careful } else { Plain }, text))
}

fn describe_change(quantity: &Quantity, change: &Change) -> Option<ReportNote> {
    let ratio = change.ratio.filter(|_| quantity.id != "step_seconds_p50" && change.is_certain())?;
    let interval = ratio.interval.filter(|_| ratio.value > 1.0 + MIN_CHANGE)?;
    let (title, low, high) = (quantity.title, interval.low, interval.high);
    Some((Careful, format!("{title}: {:.2} times the baseline, between {low:.2} and {high:.2}.", ratio.value)))
}

fn variants(line: &Line) -> Option<ReportNote> {
    let list = |variants: &[String]| match variants {
        [] => "no other kernels".to_owned(),
        few if few.len() <= MAX_VARIANTS => few.join(", "),
        many => format!("{} and {} more", many[..MAX_VARIANTS].join(", "), many.len() - MAX_VARIANTS),
    };
    let (before, after) = (&line.variants_only_in_baseline, &line.variants_only_in_candidate);
    let text = || format!("the candidate uses {}, the baseline uses {}.", list(after), list(before));
    (!(before.is_empty() && after.is_empty())).then(|| (Plain, text()))
}

/// Formats a share without insignificant digits.
fn percent_details(share: f64) -> String {
    format!("{} %", (share * 1e4).round() / 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tolerance_is_shown_as_it_was_typed() {
        assert_eq!([0.05, 0.025, 0.07].map(percent_details), ["5 %", "2.5 %", "7 %"]);
    }
}
