use std::path::Path;

use engine::SUITES;
use results::kernels::KernelSummary;
use results::{Length, RunRecord, WorkloadRecord};
use serde::Serialize;
use serde_json::json;
use view::comparison::{self, Figures};

use crate::commands::compare_table::{accuracy, device_memory, digits, host_memory};
use crate::commands::study::arguments::{StudyArgs, answer, obstacles, select_cells, show_obstacles};
use crate::failure::Result;
use crate::figures::{figure, list_peaks};
use crate::json_output::{JsonTarget, to_json};
use crate::screen::{Screen, TableColumn, TableRows, TextTable};
use crate::study::cell::{AXES, Axis, CellSettings, StudyCell, varying};
use crate::study::folder::{CellEnding, FinishedCell, Folder, StudyPlan, find_finished};

/// Cells that differ only in their seeds, in one row of the table.
struct SeedRow<'a> {
    settings: CellSettings,
    cells: Vec<&'a StudyCell>,
    finished: Vec<&'a FinishedCell>,
}

const ABOUT_RUNS: &str = "Times and throughput are medians over the seeds. ≈ marks epochs extrapolated from counted \
                          windows because no epoch was finished, and throughput over all training, warm-up included, \
                          if no window counts. – means that the cell was too short for this metric. Accuracy is the \
                          mean over the seeds ± one standard deviation. Memory, of the backend on its device and of \
                          the whole process, is from the first seed.";

pub(crate) fn show(plan: &StudyPlan, cells: &[&StudyCell], finished: &[FinishedCell], screen: Screen) -> Result<()> {
    let rows = rows(cells, finished);
    screen.line("")?;
    screen.prose(&format!("{}  ", screen.bold(&plan.name)), &plan.definition.title, 2)?;
    let settings: Vec<&CellSettings> = rows.iter().map(|row| &row.settings).collect();
    screen.prose("", &constants(&settings, plan.scale), 0)?;
    screen.line("")?;
    let titles = titles(&settings);
    let figures: fn(&[SeedRow<'_>], Vec<String>) -> TextTable = if plan.is_of_kernels() { kernel_table } else { table };
    screen.table(&figures(&rows, titles.clone()))?;
    screen.line("")?;
    for (row, title) in rows.iter().zip(&titles) {
        for finished in &row.finished {
            let Some(reason) = &finished.reason else { continue };
            let seed = finished.settings.run().filter(|_| row.cells.len() > 1);
            let seed = seed.map(|run| format!("seed {}: ", run.spec.seed)).unwrap_or_default();
            screen.caution(&format!("{title}: {seed}{reason}"))?;
        }
    }
    let missing: usize = rows.iter().map(|row| row.cells.len() - row.finished.len()).sum();
    if missing > 0 {
        screen.prose("", &format!("{missing} of {} cells have not run yet.", cells.len()), 0)?;
    }
    for (label, text) in [("Repeats", &plan.definition.repeats), ("Differs", &plan.definition.differs)] {
        let label = screen.bold(label);
        text.as_ref().map_or(Ok(()), |text| screen.prose(&format!("{label}  "), text.trim(), 9))?;
    }
    screen.legend(if plan.is_of_kernels() { ABOUT_KERNELS } else { ABOUT_RUNS })
}

/// Names each cell by the settings that differ.
fn titles(settings: &[&CellSettings]) -> Vec<String> {
    let mut axes = varying(settings.iter().copied());
    if let Some(first) = settings.first().filter(|_| axes.is_empty()) {
        axes.extend(AXES.iter().find(|axis| axis.is_asked_for(first)));
    }
    // A backend without a choice of devices has no adapter to name.
    let says = |axis: &Axis, of: &CellSettings| axis.name != "adapter" || axis.is_asked_for(of);
    let title = |of: &&CellSettings| {
        let said: Vec<String> = axes.iter().filter(|axis| says(axis, of)).map(|axis| axis.text(of)).collect();
        if said.is_empty() { axes[0].text(of) } else { said.join(" · ") }
    };
    settings.iter().map(title).collect()
}

fn constants(settings: &[&CellSettings], scale: f64) -> String {
    let Some(first) = settings.first() else { return String::new() };
    let varying = varying(settings.iter().copied());
    let is_same = |axis: &&Axis| axis.name != "seed" && varying.iter().all(|other| other.name != axis.name);
    let said = AXES.iter().filter(is_same).filter(|axis| axis.is_asked_for(first)).map(|axis| axis.text(first));
    let scaled = (scale < 1.0).then(|| match first {
        CellSettings::Run(_) => format!("scaled to {scale} of the full length, so not standard"),
        CellSettings::Kernels(_) => format!("scaled to {scale} of the full seconds of an entry"),
    });
    said.chain(scaled).collect::<Vec<_>>().join(" · ")
}

fn rows<'a>(cells: &[&'a StudyCell], finished: &'a [FinishedCell]) -> Vec<SeedRow<'a>> {
    let mut cells = cells.to_vec();
    cells.sort_by_key(|cell| cell.place);
    let mut rows: Vec<SeedRow<'a>> = Vec::new();
    for cell in cells {
        let settings = cell.settings.without_seed();
        let known = rows.iter().position(|row| row.settings == settings);
        let index = known.unwrap_or_else(|| {
            rows.push(SeedRow { settings, cells: Vec::new(), finished: Vec::new() });
            rows.len() - 1
        });
        rows[index].cells.push(cell);
        rows[index].finished.extend(find_finished(finished, cell));
    }
    rows
}

fn table(rows: &[SeedRow<'_>], titles: Vec<String>) -> TextTable {
    let figures: Vec<Option<Figures>> = rows.iter().map(figures).collect();
    let approximate = |is_exact: bool, value| format!("{}{}", if is_exact { "" } else { "≈" }, digits(value));
    let mut table = TableRows { titles, items: &figures }.columns(&[
        ("accuracy\n%", &|of| accuracy(of.as_ref()?)),
        ("epoch\ns", &|of| Some(approximate(!of.as_ref()?.epoch_is_projected, of.as_ref()?.epoch?.seconds))),
        ("throughput\nsamples/s", &|of| of.as_ref()?.throughput().map(|(rate, exact)| approximate(exact, rate))),
        ("training\ns", &|of| Some(digits(of.as_ref()?.training?.seconds))),
        ("testing\ns", &|of| Some(digits(of.as_ref()?.testing?.seconds))),
        ("device\nMiB", &|of| device_memory(of.as_ref()?)),
        ("host\nMiB", &|of| host_memory(of.as_ref()?)),
    ]);
    table.columns.extend(shares("input waits\n%", rows, WorkloadRecord::input_share));
    table.columns.extend(shares("communication\n%", rows, WorkloadRecord::communication_share));
    if rows.iter().any(|row| row.cells.len() > 1) {
        let seeds = |row: &SeedRow<'_>| {
            let completed = row.finished.iter().filter(|finished| finished.ending == CellEnding::Completed).count();
            Some(format!("{completed} of {}", row.cells.len()))
        };
        table.columns.push(TableColumn::new("seeds", rows.iter().map(seeds)));
    }
    table
}

/// Builds a column of shares of the timed seconds, averaged over a row's seeds; `None` if there are none.
fn shares(name: &str, rows: &[SeedRow<'_>], share: fn(&WorkloadRecord) -> Option<f64>) -> Option<TableColumn> {
    let of_row = |row: &SeedRow<'_>| {
        let shares: Vec<f64> = row.finished.iter().filter_map(|finished| share(finished.workload()?)).collect();
        (!shares.is_empty()).then(|| format!("{:.2}", 100.0 * shares.iter().sum::<f64>() / shares.len() as f64))
    };
    let cells: Vec<Option<String>> = rows.iter().map(of_row).collect();
    cells.iter().any(Option::is_some).then(|| TableColumn::new(name, cells))
}

fn figures(row: &SeedRow<'_>) -> Option<Figures> {
    let records: Vec<RunRecord> = row.finished.iter().filter_map(|finished| finished.run().cloned()).collect();
    comparison::compare(row.settings.run()?.workload(), &records, &[]).rows.into_iter().next()?.figures
}

const ABOUT_KERNELS: &str = "Shares of the peak of arithmetic, which was measured in turns with each entry: the median \
                                of all measured entries, the lowest and the highest. Other entries exceed their time \
                                or memory budget, or have no kernel; the files of the cells and the report list the \
                                reasons.";

fn kernel_table(rows: &[SeedRow<'_>], titles: Vec<String>) -> TextTable {
    let measured = |row: &SeedRow<'_>| {
        let report = &row.finished.iter().find_map(|finished| finished.kernels())?.report;
        Some((KernelSummary::of(&report.entries), list_peaks(report)))
    };
    let measured: Vec<Option<(KernelSummary, String)>> = rows.iter().map(measured).collect();
    let percent = |share: f64| format!("{:.1}", share * 100.0);
    TableRows { titles, items: &measured }.columns(&[
        ("measured\nentries", &|of| {
            let KernelSummary { entries, measured, .. } = of.as_ref()?.0;
            (entries > 0).then(|| format!("{measured} of {entries}"))
        }),
        ("of peak\nmedian %", &|of| of.as_ref()?.0.peak_share.map(percent)),
        ("lowest\n%", &|of| of.as_ref()?.0.peak_share_lowest.map(percent)),
        ("highest\n%", &|of| of.as_ref()?.0.peak_share_highest.map(percent)),
        ("best rate", &|of| Some(figure("flops_per_second", of.as_ref()?.0.flops_per_second?))),
        ("peaks of the device", &|of| Some(of.as_ref()?.1.clone()).filter(|text| !text.is_empty())),
    ])
}

#[derive(Serialize)]
struct PlannedCell<'a> {
    number: usize,
    cell: &'a StudyCell,
    /// True if the cell would run now; otherwise it has finished or has an obstacle.
    would_run: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    obstacle: Option<String>,
    /// Operations of the training, from shapes; null for kernels, and if the length is in seconds.
    flops: Option<f64>,
}

/// Lists the cells with their work. Backends are opened; nothing is written or trained.
pub(crate) fn dry_run(arguments: &StudyArgs, plan: &StudyPlan, folder: &Path) -> Result<()> {
    arguments.json.as_ref().map_or(Ok(()), JsonTarget::check)?;
    let asked = select_cells(arguments, plan)?;
    let finished = Folder::read(folder, plan)?;
    let is_missing = |cell: &StudyCell| answer(&finished, cell, arguments.retry_failed).is_none();
    let missing: Vec<(usize, &StudyCell)> = asked.iter().copied().filter(|(_, cell)| is_missing(cell)).collect();
    let mut obstacles = obstacles(arguments, plan, &missing)?.into_iter();
    let listed = asked.iter().map(|&(number, cell)| {
        let obstacle = if is_missing(cell) { obstacles.next().flatten() } else { None };
        PlannedCell { number, cell, would_run: is_missing(cell) && obstacle.is_none(), obstacle, flops: flops(cell) }
    });
    let listed: Vec<PlannedCell<'_>> = listed.collect();

    let screen = JsonTarget::screen_beside(arguments.json.as_ref());
    screen.prose(&format!("{}  ", screen.bold(&plan.name)), &plan.definition.title, 2)?;
    let settings: Vec<_> = listed.iter().map(|listed| &listed.cell.settings).collect();
    screen.prose("", &constants(&settings, plan.scale), 0)?;
    screen.line("")?;
    let titled: Vec<(String, &PlannedCell<'_>)> = titles(&settings).into_iter().zip(&listed).collect();
    screen.table(&TableRows::new(&titled, |(title, of)| format!("{:>3}  {title}", of.number)).columns(&[
        ("work\nGFLOP", &|(_, of)| Some(format!("{:.0}", of.flops? / 1e9))),
        ("state", &|(_, of)| (!of.would_run && of.obstacle.is_none()).then(|| "finished".to_owned())),
    ]))?;
    screen.line("")?;
    show_obstacles(listed.iter().filter_map(|of| of.obstacle.as_deref()), listed.len(), screen)?;
    let would_run = match listed.iter().filter(|listed| listed.would_run).count() {
        0 => format!("All {} cells are finished.", listed.len()),
        missing => format!("{missing} of {} cells would run.", listed.len()),
    };
    screen.prose("", &would_run, 0)?;
    let Some(target) = &arguments.json else { return Ok(()) };
    let folder = folder.to_string_lossy();
    target.write(&to_json(&json!({ "schema_version": 1, "plan": plan, "folder": folder, "cells": listed }))?)
}

fn flops(cell: &StudyCell) -> Option<f64> {
    let run = cell.settings.run()?;
    let workload = run.network().ok()?;
    let samples = engine::data_set(workload.data_set)?.train.samples;
    let batches = workload.batches(samples, run.spec.batch_size.unwrap_or(workload.batch_size)).ok()?;
    let steps = match run.spec.length {
        Some(Length::Epochs(epochs)) => batches.steps_of_epochs(epochs.get()),
        Some(Length::Steps(steps)) => steps.get(),
        Some(Length::Seconds(_)) => return None,
        None => batches.steps_of_epochs(SUITES[0].epochs),
    };
    Some(batches.samples_of_steps(steps) as f64 * workload.model.operations().ok()?.training_flops() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::definition::StudyDefinition;
    use crate::study::matrix::Host;

    #[test]
    fn title_has_what_differs_and_seeds_share_a_row() {
        let several = "batch_sizes = [64, 640]\nlimits = [{ epochs = 2 }]\nseeds = [1, 2, 3]";
        for (lines, scale, expected_titles, expected_constants) in [
            (
                &*format!("[[matrix]]\nworkloads = [\"caffe-mnist\"]\nbackends = [\"reference\"]\n{several}"),
                1.0,
                &["batch 64", "batch 640"] as &[&str],
                "caffe-mnist · reference · 2 epochs",
            ),
            (
                "[[matrix]]\nworkloads = [\"caffe-mnist\"]\nbackends = [\"wgsl\", \"reference\"]\nadapters = [\"cpu\"]",
                0.1,
                // Only what has adapters names one.
                &["wgsl · cpu", "reference"],
                "caffe-mnist · 3 s of training · scaled to 0.1 of the full length, so not standard",
            ),
            (
                "[[kernels]]\nsuites = [\"gemm\", \"rnn\"]\nadapters = [\"cpu\"]",
                0.1,
                &["kernels gemm", "kernels rnn"],
                "cpu · 0.2 s an entry · 1024 MiB an entry · scaled to 0.1 of the full seconds of an entry",
            ),
            ("[[matrix]]\nworkloads = [\"caffe-mnist\"]", 1.0, &["caffe-mnist"], "caffe-mnist · wgsl"),
        ] {
            let definition = StudyDefinition::parse(&format!("title = \"t\"\n{lines}")).unwrap();
            let plan = StudyPlan::new("t", definition, scale, Host { cores: 2, has_remote: false }).unwrap();
            let cells: Vec<&StudyCell> = plan.cells.iter().collect();
            let rows = rows(&cells, &[]);
            let settings: Vec<&CellSettings> = rows.iter().map(|row| &row.settings).collect();
            assert_eq!(titles(&settings), expected_titles);
            assert_eq!(constants(&settings, scale), expected_constants);
            assert!(rows.iter().all(|row| row.cells.len() == cells.len() / rows.len()));
        }
    }
}
