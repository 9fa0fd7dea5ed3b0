//! Runs the cells of a study, one process after another.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

use results::kernels::KernelSummary;
use results::{InputMode, RunRecord, Summary};
use serde::Serialize;
use serde_json::json;

use crate::child::Child;
use crate::commands::study::arguments::{
    StudyArgs, answer, arguments_of, obstacles, resume, select_cells, show_obstacles,
};
use crate::commands::study::table;
use crate::commands::upload::Uploader;
use crate::data_folder::LocalData;
use crate::failure::{Failure, Result};
use crate::json_output::{JsonTarget, deliver, to_json};
use crate::machine::provenance;
use crate::progress::{Interrupt, StudyProgress};
use crate::screen::Screen;
use crate::study::cell::{RunSettings, StudyCell};
use crate::study::folder::{CellEnding, FinishedCell, Folder, StudyPlan, Uploaded, find_finished};

const STAYS_HERE: &str = "Nothing will be uploaded, because leaderboards rank only runs of networks. Results of \
                          kernels stay in the files of their cells.\n";

pub(crate) fn run(arguments: &StudyArgs, plan: &StudyPlan, path: &Path) -> Result<()> {
    let asked = select_cells(arguments, plan)?;
    // Requests no consent for an upload that will not happen.
    let address = arguments.upload_to.as_ref().filter(|_| !plan.is_of_kernels());
    let submission = address.map(|address| Uploader::new(address, &arguments.consent)).transpose()?;
    arguments.json.as_ref().map_or(Ok(()), JsonTarget::check)?;
    let missing_of = |finished: &[FinishedCell]| {
        let is_missing = |(_, cell): &(usize, &StudyCell)| answer(finished, cell, arguments.retry_failed).is_none();
        asked.iter().copied().filter(is_missing).collect::<Vec<_>>()
    };
    // A study that cannot start leaves no folder.
    let obstacles = obstacles(arguments, plan, &missing_of(&Folder::read(path, plan)?))?;
    // Downloads happen once and must not count as time of a cell.
    let runs = asked.iter().filter_map(|(_, cell)| cell.settings.run());
    let by_name: BTreeMap<&str, &RunSettings> = runs.map(|run| (run.workload(), run)).collect();
    let networks = by_name.into_values().map(|run| run.network().map_err(Failure::Usage));
    LocalData::with_data_of(&arguments.data, &networks.collect::<Result<Vec<_>, _>>()?, false)?;
    let folder = Folder::open(path, plan)?;
    let mut finished = Folder::read(path, plan)?;
    let missing = missing_of(&finished);
    introduce(plan, &folder, asked.len(), missing.len())?;
    show_obstacles(obstacles.iter().flatten().map(String::as_str), asked.len(), Screen::Error)?;
    if plan.is_of_kernels() && arguments.upload_to.is_some() {
        Screen::Error.prose("", STAYS_HERE, 0)?;
    }

    let interrupt = Interrupt::default();
    run_cells(arguments, plan, &folder, &missing, &mut finished, &interrupt)?;
    let was_interrupted = interrupt.asked();
    // Results are stored: Ctrl-C at a question ends the program.
    interrupt.end_at_once();

    let cells: Vec<&StudyCell> = asked.iter().map(|(_, cell)| *cell).collect();
    let target = arguments.json.as_ref();
    let shown = table::show(plan, &cells, &finished, JsonTarget::screen_beside(target));
    deliver(shown, target, &document(plan, path, &cells, &finished)?)?;
    let answered = cells.iter().filter_map(|cell| find_finished(&finished, cell)).count();
    if was_interrupted && answered < cells.len() {
        // The command stays on one line for copying.
        Screen::Error.line(&format!("\nTo resume the study:\n  {}\n", resume(path)))?;
        return Err(Failure::Stopped { reached: format!("with {answered} of {} cells finished", cells.len()) });
    }
    if let Some(submission) = &submission {
        upload(submission, &folder, &mut finished)?;
    }
    conclude(&cells, &finished, path)
}

fn introduce(plan: &StudyPlan, folder: &Folder, asked: usize, missing: usize) -> Result<()> {
    let screen = Screen::Error;
    let labelled = |name: &str, text: &str| screen.prose(&screen.label(name, 10), text, 10);
    let title = screen.bold("Gradmark");
    screen.prose("", &format!("{title} {}, study {}", env!("CARGO_PKG_VERSION"), plan.name), 0)?;
    labelled("asks", &plan.definition.title)?;
    for (name, text) in [("repeats", &plan.definition.repeats), ("differs", &plan.definition.differs)] {
        text.as_ref().map_or(Ok(()), |text| labelled(name, text.trim()))?;
    }
    let scale = plan.scale;
    if scale < 1.0 {
        let text = if plan.is_of_kernels() {
            format!("every entry has {scale} of its seconds: fewer windows, and slow entries are skipped")
        } else {
            format!("every cell is shortened to {scale} of its length, so none is standard")
        };
        labelled("scale", &text)?;
    }
    let kept = if missing == asked { "" } else { &format!(", {} of them already finished", asked - missing) };
    labelled("cells", &format!("{asked}, shuffled with seed {}{kept}", plan.definition.order_seed))?;
    labelled("folder", &folder.path.display().to_string())?;
    for change in folder.changes(plan) {
        screen.caution(&format!("{change}; the file of each cell records its own"))?;
    }
    screen.line("")
}

fn run_cells(
    arguments: &StudyArgs,
    plan: &StudyPlan,
    folder: &Folder,
    cells: &[(usize, &StudyCell)],
    finished: &mut Vec<FinishedCell>,
    interrupt: &Interrupt,
) -> Result<()> {
    let mut progress = StudyProgress::new(interrupt.clone());
    for &(number, cell) in cells {
        if interrupt.asked() {
            break;
        }
        cell.settings.run().map(RunSettings::network).transpose().map_err(Failure::Usage)?;
        progress.begin(number, plan.cells.len(), &cell.settings.text());
        let started_unix_seconds = provenance().started_unix_seconds;
        let attempt = (started_unix_seconds, folder.begin_attempt(&cell.id, started_unix_seconds)?);
        let words = arguments_of(arguments, plan, cell);
        let timeout = arguments.cell_timeout.map(Duration::from_secs_f64);
        let ended = Child::start_cell(&words)
            .and_then(|child| child.wait(timeout, &|| interrupt.asked(), &mut |line| progress.heard(line)))
            .map_err(|source| Failure::File { what: format!("cannot run cell {}", cell.id), source })?;
        let Some(ended) = ended else { break };
        let ended = FinishedCell::of(plan, number, words, attempt, ended);
        progress.ended(&ended);
        folder.keep(&ended)?;
        finished.retain(|before| before.id != ended.id);
        finished.push(ended);
    }
    Ok(())
}

fn conclude(cells: &[&StudyCell], finished: &[FinishedCell], path: &Path) -> Result<()> {
    let of_cells = cells.iter().filter_map(|cell| find_finished(finished, cell));
    let wrong = of_cells.clone().filter(|finished| finished.ending == CellEnding::Incorrect);
    Failure::if_wrong(wrong.filter_map(|finished| finished.reason.clone()))?;
    let failed = of_cells.filter(|finished| finished.ending.is_failure()).count();
    if failed == 0 {
        return Ok(());
    }
    Err(Failure::Incomplete(format!(
        "{failed} of {} cells have no results; the reasons are above and in {}. The same command with --retry-failed \
         runs them again",
        cells.len(),
        path.join("cells").display()
    )))
}

#[derive(Serialize)]
struct CellSummary<'a> {
    #[serde(flatten)]
    cell: &'a StudyCell,
    ending: Option<CellEnding>,
    reason: Option<&'a str>,
    seconds: Option<f64>,
    summary: Option<&'a Summary>,
    #[serde(skip_serializing_if = "Option::is_none")]
    kernels: Option<KernelSummary>,
}

fn document(plan: &StudyPlan, folder: &Path, cells: &[&StudyCell], done: &[FinishedCell]) -> Result<String> {
    let summarize = |cell| {
        let finished = find_finished(done, cell);
        let (ending, seconds) = (finished.map(|of| of.ending), finished.map(|of| of.seconds));
        let reason = finished.and_then(|finished| finished.reason.as_deref());
        let summary = finished.and_then(FinishedCell::workload).map(|workload| &workload.summary);
        let kernels = finished.and_then(FinishedCell::kernels);
        let kernels = kernels.map(|record| KernelSummary::of(&record.report.entries));
        CellSummary { cell, ending, reason, seconds, summary, kernels }
    };
    let cells: Vec<CellSummary<'_>> = cells.iter().copied().map(summarize).collect();
    let (StudyPlan { name, scale, .. }, folder) = (plan, folder.to_string_lossy());
    to_json(&json!({ "schema_version": 1, "name": name, "folder": folder, "scale": scale, "cells": cells }))
}

/// Uploads new records after asking once, and notes each in its cell's file, so that uploads can be resumed.
fn upload(submission: &Uploader, folder: &Folder, finished: &mut [FinishedCell]) -> Result<()> {
    let leaderboard = submission.leaderboard.address.to_string();
    let mut missing: Vec<(&mut FinishedCell, String)> = Vec::new();
    let mut left_out: BTreeMap<&str, usize> = BTreeMap::new();
    for finished in finished {
        let is_there = finished.uploads.iter().any(|upload| upload.leaderboard == leaderboard);
        let is_due = finished.ending == CellEnding::Completed && !is_there;
        let Some((settings, record)) = finished.settings.run().zip(finished.run()).filter(|_| is_due) else { continue };
        let why = if settings.is_of_external_program() || settings.file.is_some() {
            "of external programs or networks from files are not uploaded, because they cannot be proven"
        } else if record.devices() > 1 {
            "of several devices are not uploaded, because leaderboards rank single devices"
        } else if record.input_mode() != InputMode::Resident {
            "with streamed input are not uploaded, because leaderboards rank only resident input"
        } else {
            let json = to_json(record)?;
            missing.push((finished, json));
            continue;
        };
        *left_out.entry(why).or_default() += 1;
    }
    let screen = Screen::Error;
    left_out.iter().try_for_each(|(why, count)| screen.prose("", &format!("{count} {why}."), 0))?;
    if missing.is_empty() {
        return screen.line(&format!("{leaderboard} already has every record that it accepts."));
    }
    if !submission.asks(&about(&leaderboard, &missing), "Upload all of them?", &missing[0].1)? {
        return screen.line("Not uploaded.");
    }
    let count = missing.len();
    for (number, (finished, json)) in (1..).zip(missing) {
        let accepted = submission.import(json)?.map_err(|error| {
            let (done, command) = (number - 1, resume(&folder.path));
            Failure::from(error).with_advice(format!(
                "{done} of {count} records were uploaded, as noted in their cells. To upload the others:\n  {command}"
            ))
        })?;
        let address = &submission.leaderboard.address;
        let [permalink, deletion_link] = [accepted.permalink, accepted.deletion_link].map(|path| address.join(&path));
        let (leaderboard, run_id) = (leaderboard.clone(), accepted.run_id);
        finished.uploads.push(Uploaded { leaderboard, run_id, permalink, deletion_link });
        folder.keep(finished)?;
        screen.prose("  uploaded ", &format!("{number} of {count}: {}", finished.settings.text()), 4)?;
    }
    let (records, files) = (if count == 1 { "record was" } else { "records were" }, folder.path.join("cells"));
    let text = format!(
        "{count} {records} uploaded as unverified, because the runs were not registered. Permalinks and deletion links \
         are in the files of {}. Keep these files: the links are not stored elsewhere.",
        files.display()
    );
    screen.prose("", &text, 0)
}

fn about(leaderboard: &str, missing: &[(&mut FinishedCell, String)]) -> String {
    let bytes: usize = missing.iter().map(|(_, json)| json.len()).sum();
    let records: Vec<&RunRecord> = missing.iter().filter_map(|(finished, _)| finished.run()).collect();
    let workloads = records.iter().flat_map(|record| &record.workloads).map(|workload| workload.workload.as_str());
    let workloads = Vec::from_iter(BTreeSet::from_iter(workloads));
    let (count, workloads) = (records.len(), workloads.join(", "));
    format!(
        "To {leaderboard}: {count} records, {bytes} bytes of JSON with the device and driver, system, settings, losses \
         and times of {workloads}. [s] shows the first record."
    )
}
