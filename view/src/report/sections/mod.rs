//! Sections of a report.

mod curves;
mod kernels;
mod sweeps;
mod workload;

use results::summary::MeasuredWorkload;
use results::{Adapter, IN_COMPATIBILITY_MODE, Outcome, Provenance, Summary, WorkloadRecord};

use crate::report::findings::{Finding, Kind, RULES, cautions};
use crate::report::group::group_by_key;
use crate::report::html::{ReportBlock, Section};
use crate::report::input::{GatheredRuns, ReportEntry, Trouble};
use crate::report::kernels::suites;
use crate::report::table::{ABSENT, Table, number, shown, words};
use crate::table::{LocalRun, Sheet, local_columns};
use crate::text;

pub(crate) fn all(gathered: &GatheredRuns<'_>, findings: &[Finding]) -> Vec<Section> {
    let (cautions, found): (Vec<Finding>, Vec<Finding>) =
        findings.iter().cloned().partition(|found| found.kind == Kind::Caution);
    let mut sections = Vec::new();
    if !cautions.is_empty() {
        sections.push(Section::new("Cautions", vec![ReportBlock::Findings(cautions)]));
    }
    let found = if found.is_empty() {
        ReportBlock::Text("No findings: no two groups differ in a single setting and both have results.".to_owned())
    } else {
        ReportBlock::Findings(found)
    };
    sections.push(Section::new("Findings", vec![found]));
    sections.extend(kernels::sections(gathered));
    sections.extend(gathered.workloads().into_iter().map(|(name, groups)| workload::section(name, &groups)));
    sections.extend(troubles(gathered));
    sections.extend(machines(gathered));
    sections.push(method(gathered, findings));
    sections.extend(runs(gathered));
    sections
}

/// Returns the paragraphs before the sections.
pub(crate) fn lead(gathered: &GatheredRuns<'_>) -> Vec<String> {
    let names: Vec<String> = gathered.workloads().iter().map(|(name, _)| (*name).to_owned()).collect();
    let mut lead = Vec::new();
    for study in &gathered.input.studies {
        lead.extend([study.description.trim().to_owned()].into_iter().filter(|text| !text.is_empty()));
        lead.extend(study.repeats.as_ref().map(|repeats| format!("Repeats: {}", repeats.trim())));
        lead.extend(study.differs.as_ref().map(|differs| format!("Differences: {}", differs.trim())));
    }
    if !gathered.kernels.is_empty() {
        let devices: Vec<String> = gathered.kernels.iter().map(|device| device.name.clone()).collect();
        let suites: Vec<String> = suites(&gathered.kernels).iter().map(|suite| suite.title().to_lowercase()).collect();
        let suites = text::listed(&suites);
        let of = if suites.is_empty() { suites } else { format!(", and kernel benchmarks: {suites}") };
        lead.push(format!("Peaks of {}{of}.", text::listed(&devices)));
    }
    if !names.is_empty() {
        lead.push(format!(
            "{} of {} in {}, which differ in more than the seed.",
            text::counted(gathered.runs().count(), "run"),
            text::listed(&names),
            text::counted(gathered.groups.len(), "group")
        ));
    }
    lead
}

fn troubles(gathered: &GatheredRuns<'_>) -> Option<Section> {
    let rows: Vec<(String, Trouble)> = cautions::troubles(gathered);
    let columns = [
        words("Run", "run", |(what, _): &(String, Trouble)| what.clone().into()),
        words("Outcome", "ending", |(_, trouble)| trouble.kind.clone().into()),
        words("Reason", "reason", |(_, trouble)| trouble.reason.clone().into()),
    ];
    let caption = "Runs without results. A run that diverged is a result about its settings; the others are failures.";
    let table = Table::of(caption, &rows, &columns);
    (!rows.is_empty()).then(|| Section::new("Runs without results", vec![ReportBlock::Table(table)]))
}

/// Device, backend, interface, driver, system and program.
type Machine = [String; 6];

fn machine(name: &str, backend: &str, adapter: &Adapter, provenance: &Provenance) -> Machine {
    let client = &provenance.client;
    let software = if adapter.software { ", software" } else { "" };
    let mode = if adapter.compatibility { IN_COMPATIBILITY_MODE } else { "" };
    let processors = client.logical_processors.map(|count| format!(", {count} logical processors")).unwrap_or_default();
    let (engine, commit) = (&provenance.engine_version, &provenance.commit);
    [
        format!("{name}{software}{mode}"),
        backend.to_owned(),
        adapter.api.clone(),
        if adapter.driver.is_empty() { ABSENT.to_owned() } else { adapter.driver.clone() },
        format!("{}{processors}", client.operating_system),
        format!("{} {}, engine {engine} ({commit})", client.name, client.version),
    ]
}

fn machines(gathered: &GatheredRuns<'_>) -> Option<Section> {
    let of_runs = gathered.runs().map(|run| {
        let device = &run.record.device;
        let reported = &device.adapter.name;
        let claimed = device.claimed_name.as_ref().map(|own| format!("{own} (reported as {reported})"));
        let name = claimed.as_ref().unwrap_or(reported);
        machine(name, &device.backend, &device.adapter, &run.record.provenance)
    });
    let kernels = gathered.kernels.iter().flat_map(|device| device.records.iter().map(move |record| (device, record)));
    let of_kernels = kernels.map(|(device, record)| {
        machine(&device.adapter.name, "wgsl, kernel benchmarks", device.adapter, &record.provenance)
    });
    let rows = group_by_key(of_runs.chain(of_kernels).map(|machine| (machine, ())));
    let columns = [
        words("Device", "device", |(cells, _): &(Machine, Vec<()>)| cells[0].clone().into()),
        words("Backend", "backend", |(cells, _)| cells[1].clone().into()),
        words("Interface", "interface", |(cells, _)| cells[2].clone().into()),
        words("Driver", "driver", |(cells, _)| cells[3].clone().into()),
        words("System", "system", |(cells, _)| cells[4].clone().into()),
        words("Program", "program", |(cells, _)| cells[5].clone().into()),
        number("Runs", "runs", |(_, runs)| runs.len().into()),
    ];
    let table = Table::of("Devices, as reported by their platforms.", &rows, &columns);
    (!rows.is_empty()).then(|| Section::new("Machines and programs", vec![ReportBlock::Table(table)]))
}

/// Returns the paragraph below a heading of `method.md`.
fn method_text(title: &str) -> &'static str {
    let mut parts = include_str!("../method.md").split("# ").filter_map(|part| part.split_once('\n'));
    let text = parts.find(|(heading, _)| *heading == title).map(|(_, text)| text.trim());
    text.unwrap_or_else(|| panic!("method.md has no {title}"))
}

fn method(gathered: &GatheredRuns<'_>, findings: &[Finding]) -> Section {
    let rules = RULES.iter().map(|rule| {
        let said = match findings.iter().filter(|found| found.rule == rule.title).count() {
            0 => " No findings here.".to_owned(),
            1 => String::new(),
            count => format!(" {count} findings."),
        };
        (rule.title, format!("{}{said}", method_text(rule.title)))
    });
    let general = [
        ("Groups of runs", gathered.runs().next().is_some()),
        ("Kernel benchmarks", !gathered.kernels.is_empty()),
        ("Chance", true),
    ];
    let general = general.into_iter().filter(|(_, is_needed)| *is_needed);
    let rest = [
        ReportBlock::Heading("Kinds of findings"),
        ReportBlock::Pairs(Kind::ALL.map(|kind| (kind.name(), method_text(kind.name()).to_owned())).to_vec()),
        ReportBlock::Heading("Rules"),
        ReportBlock::Pairs(rules.collect()),
    ];
    Section::new(
        "Method",
        general.map(|(title, _)| ReportBlock::Text(method_text(title).to_owned())).chain(rest).collect(),
    )
}

/// Returns the throughput over counted windows, or a marked one over the whole training.
fn throughput(summary: &Summary) -> Option<String> {
    let of_all = || Some(format!("≈ {}", text::rate(summary.samples_per_second_of_all_training()?)));
    summary.samples_per_second.map(text::rate).or_else(of_all)
}

fn runs(gathered: &GatheredRuns<'_>) -> Option<Section> {
    type RunRow<'a> = (&'a MeasuredWorkload<'a>, &'a ReportEntry);
    let rows = gathered.runs().filter_map(|run| {
        let is_source =
            |entry: &&ReportEntry| entry.record.as_ref().is_some_and(|record| std::ptr::eq(record, run.record));
        Some((run, gathered.input.entries.iter().find(is_source)?))
    });
    let rows: Vec<RunRow<'_>> = rows.collect();
    if rows.is_empty() {
        return None;
    }
    let columns = [
        words("Run", "", |(run, entry): &RunRow<'_>| format!("{} ({})", run.workload.workload, entry.place).into()),
        words("Backend", "", |(run, _)| run.record.device.backend.clone().into()),
        words("Outcome", "", |(run, _)| match &run.workload.outcome {
            Outcome::Failed { .. } => "not trained".into(),
            outcome => outcome.name().into(),
        }),
        number("Batch", "", |(run, _)| run.workload.settings.batch_size.into()),
        number("Rate", "", |(run, _)| shown(run.workload.settings.learning_rate, text::plain)),
        number("Seed", "", |(run, _)| run.seed().into()),
        number("Throughput", "", |(run, _)| throughput(&run.summary).unwrap_or_else(|| ABSENT.to_owned()).into()),
        number("Accuracy", "", |(run, _)| shown(run.summary.accuracy, text::percent)),
    ];
    let caption = format!("All {} with their files; the CSV has more columns.", text::counted(rows.len(), "run"));
    let mut table = Table::of(caption, &rows, &columns).folded();
    let exported = local_columns();
    table.sheet = Sheet::new(&exported.iter().map(|column| column.name).collect::<Vec<_>>());
    for (run, entry) in &rows {
        let local = LocalRun { place: &entry.place, record: run.record, scale: entry.scale };
        // The summary stored in the record is not read.
        let workload = WorkloadRecord { summary: run.summary.clone(), ..run.workload.clone() };
        let cells = exported.iter().map(|column| column.values.cell(&local, &workload));
        table.sheet.rows.push(cells.collect());
    }
    let mut blocks = vec![ReportBlock::Table(table)];
    if !gathered.input.others.is_empty() {
        let others = text::listed(&gathered.input.others);
        blocks.push(ReportBlock::Text(format!("Other files, which are not records: {others}.")));
    }
    Some(Section::new("All runs", blocks))
}
