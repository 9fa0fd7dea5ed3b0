//! Cells that a study would run, with estimates.

use std::path::Path;

use serde::Serialize;

use crate::commands::compare_table::mebibytes;
use crate::commands::study::run::{calibrate, obstacles};
use crate::commands::study::table::{constants, titles};
use crate::commands::study::{StudyArgs, answer, asked, run};
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::json_output::{JsonTarget, to_json};
use crate::progress::{Left, StudyProgress, duration};
use crate::screen::{Column, Screen, Table};
use crate::study::cell::{Cell, Settings};
use crate::study::estimate::{Estimate, Estimator, Forecast};
use crate::study::finished::Finished;
use crate::study::folder::{Folder, Plan};

const DOCUMENT_VERSION: u32 = 1;

#[derive(Serialize)]
struct Document<'a> {
    schema_version: u32,
    plan: &'a Plan,
    folder: &'a Path,
    cells: Vec<Listed<'a>>,
    seconds: Option<Forecast>,
    /// Number of cells that would run, with unknown duration.
    unknown: usize,
}

#[derive(Serialize)]
struct Listed<'a> {
    number: usize,
    cell: &'a Cell,
    /// True if the cell would run now; otherwise it has finished or has an obstacle.
    would_run: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    obstacle: Option<String>,
    estimate: Option<Estimate>,
}

/// Lists the cells with estimates. Back ends are opened; nothing is written, and only the calibration trains.
pub(crate) fn dry_run(arguments: &StudyArgs, plan: &Plan, folder: &Path) -> Result<(), Failure> {
    arguments.json.as_ref().map_or(Ok(()), JsonTarget::check)?;
    let asked = asked(arguments, plan)?;
    let finished = Folder::read(folder, plan)?;
    let mut estimator = Estimator::new(&finished);
    let is_missing = |cell: &Cell| answer(&finished, cell, arguments.retry_failed).is_none();
    let missing: Vec<(usize, &Cell)> = asked.iter().copied().filter(|(_, cell)| is_missing(cell)).collect();
    let cells: Vec<&Cell> = missing.iter().map(|(_, cell)| *cell).collect();
    let mut obstacles = obstacles(arguments, plan, &cells)?.into_iter();
    if arguments.calibrate {
        let interrupt = Interrupt::default();
        let mut progress = StudyProgress::new(interrupt.clone());
        calibrate(arguments, plan, &missing, &mut estimator, &interrupt, &mut progress)?;
        progress.finish();
        interrupt.end_at_once();
    }
    let listed = asked.iter().map(|&(number, cell)| {
        let estimate = estimator.estimate(&cell.settings);
        let obstacle = if is_missing(cell) { obstacles.next().flatten() } else { None };
        Listed { number, cell, would_run: is_missing(cell) && obstacle.is_none(), obstacle, estimate }
    });
    let listed: Vec<Listed<'_>> = listed.collect();
    let seconds = |listed: &Listed<'_>| listed.estimate.as_ref()?.seconds;
    let left = Left::new(listed.iter().filter(|listed| listed.would_run).map(seconds));
    let screen = JsonTarget::screen_beside(arguments.json.as_ref());
    show(plan, &listed, &left, &finished, screen)?;
    let Some(target) = &arguments.json else { return Ok(()) };
    let (seconds, unknown) = (left.known, left.unknown);
    target.write(&to_json(&Document {
        schema_version: DOCUMENT_VERSION,
        plan,
        folder,
        cells: listed,
        seconds,
        unknown,
    })?)
}

fn show(plan: &Plan, listed: &[Listed<'_>], left: &Left, finished: &[Finished], screen: Screen) -> Result<(), Failure> {
    screen.prose(&format!("{}  ", screen.bold(&plan.name)), &plan.definition.title, 2)?;
    let settings: Vec<_> = listed.iter().map(|listed| &listed.cell.settings).collect();
    screen.prose("", &constants(&settings, plan.scale), 0)?;
    screen.line("")?;
    screen.table(&table(listed, &settings))?;
    screen.line("")?;
    run::show(listed.iter().filter_map(|of| of.obstacle.as_deref()), listed.len(), screen)?;
    let missing = listed.iter().filter(|listed| listed.would_run).count();
    let would_run = match missing {
        0 => format!("All {} cells are finished.", listed.len()),
        _ => {
            let advice = if left.unknown > 0 { " (use `--calibrate`, which measures two seconds of each)" } else { "" };
            format!("{missing} of {} cells would run: {}{advice}.", listed.len(), left.text())
        }
    };
    screen.prose("", &would_run, 0)?;
    let evidence = finished.iter().filter(|finished| finished.record.is_some()).count();
    let text = format!(
        "Estimates are from what the last column names ({evidence} finished cells here). \
         Memory is the back end's on its device, and the whole process's where it computes on the processor."
    );
    screen.legend(&text)
}

fn table(listed: &[Listed<'_>], settings: &[&Settings]) -> Table {
    let column = |name: &str, cell: &dyn Fn(&Listed<'_>) -> Option<String>| Column::new(name, listed.iter().map(cell));
    let estimate = |listed: &Listed<'_>| listed.estimate.clone();
    let titles =
        titles(settings).into_iter().zip(listed).map(|(title, listed)| format!("{:>3}  {title}", listed.number));
    Table {
        titles: titles.collect(),
        columns: vec![
            column("work\nGFLOP", &|of| Some(format!("{:.0}", estimate(of)?.flops? / 1e9))),
            column("memory\nMiB", &|of| {
                #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "bytes")]
                let bytes = estimate(of)?.memory_bytes.value as u64;
                Some(format!("~{:.0}", mebibytes(bytes)))
            }),
            column("time", &|of| {
                if !of.would_run {
                    return of.obstacle.is_none().then(|| "finished".to_owned());
                }
                let seconds = estimate(of)?.seconds;
                Some(seconds.map_or_else(|| "unknown".to_owned(), |seconds| format!("~{}", duration(seconds.value))))
            }),
            column("from", &|of| {
                let estimate = estimate(of)?;
                Some(estimate.seconds.unwrap_or(estimate.memory_bytes).source.text().to_owned())
            }),
        ],
    }
}
