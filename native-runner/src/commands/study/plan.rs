//! Check and list of the cells that would run.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use engine::{DataSource, SUITES};
use indicatif::ProgressBar;
use results::Length;
use serde::Serialize;

use crate::child::Child;
use crate::commands::study::arguments::{StudyArgs, answer, arguments_of, select_cells};
use crate::commands::study::table::{constants, titles};
use crate::data_folder::{Availability, LocalData, fetching};
use crate::failure::Failure;
use crate::json_output::{JsonTarget, to_json};
use crate::progress::spinner;
use crate::screen::{Screen, TextTable};
use crate::study::cell::{AXES, CellSettings, StudyCell};
use crate::study::folder::{Folder, StudyPlan};

const DOCUMENT_VERSION: u32 = 1;

#[derive(Serialize)]
struct PlanDocument<'a> {
    schema_version: u32,
    plan: &'a StudyPlan,
    folder: &'a Path,
    cells: Vec<PlannedCell<'a>>,
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
pub(crate) fn dry_run(arguments: &StudyArgs, plan: &StudyPlan, folder: &Path) -> Result<(), Failure> {
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
    show_plan(plan, &listed, screen)?;
    let Some(target) = &arguments.json else { return Ok(()) };
    target.write(&to_json(&PlanDocument { schema_version: DOCUMENT_VERSION, plan, folder, cells: listed })?)
}

fn flops(cell: &StudyCell) -> Option<f64> {
    let run = cell.settings.run()?;
    let workload = run.network().ok()?;
    let samples = engine::data_set(workload.data_set)?.train.samples;
    let batch_size = run.spec.batch_size.unwrap_or(workload.batch_size);
    let batches = workload.batches(samples, batch_size).ok()?;
    let steps = match run.spec.length {
        Some(Length::Epochs(epochs)) => batches.steps_of_epochs(epochs.get()),
        Some(Length::Steps(steps)) => steps.get(),
        Some(Length::Seconds(_)) => return None,
        None => batches.steps_of_epochs(SUITES[0].epochs),
    };
    let operations = workload.model.operations().ok()?;
    Some(batches.samples_of_steps(steps) as f64 * operations.training_flops() as f64)
}

fn show_plan(plan: &StudyPlan, listed: &[PlannedCell<'_>], screen: Screen) -> Result<(), Failure> {
    screen.prose(&format!("{}  ", screen.bold(&plan.name)), &plan.definition.title, 2)?;
    let settings: Vec<_> = listed.iter().map(|listed| &listed.cell.settings).collect();
    screen.prose("", &constants(&settings, plan.scale), 0)?;
    screen.line("")?;
    screen.table(&plan_table(listed, &settings))?;
    screen.line("")?;
    show_obstacles(listed.iter().filter_map(|of| of.obstacle.as_deref()), listed.len(), screen)?;
    let missing = listed.iter().filter(|listed| listed.would_run).count();
    let would_run = match missing {
        0 => format!("All {} cells are finished.", listed.len()),
        _ => format!("{missing} of {} cells would run.", listed.len()),
    };
    screen.prose("", &would_run, 0)
}

fn plan_table(listed: &[PlannedCell<'_>], settings: &[&CellSettings]) -> TextTable {
    let titled: Vec<(String, &PlannedCell<'_>)> = titles(settings).into_iter().zip(listed).collect();
    TextTable::of(
        &titled,
        |(title, of)| format!("{:>3}  {title}", of.number),
        &[
            ("work\nGFLOP", &|(_, of)| Some(format!("{:.0}", of.flops? / 1e9))),
            ("state", &|(_, of)| (!of.would_run && of.obstacle.is_none()).then(|| "finished".to_owned())),
        ],
    )
}

/// Returns the reason why each of the cells cannot run, if any.
pub(crate) fn obstacles(
    arguments: &StudyArgs,
    plan: &StudyPlan,
    cells: &[(usize, &StudyCell)],
) -> Result<Vec<Option<String>>, Failure> {
    let spinner = spinner();
    let mut of_openings: BTreeMap<Vec<String>, Option<String>> = BTreeMap::new();
    let mut of_data_sets: BTreeMap<&str, Option<String>> = BTreeMap::new();
    let obstacle = |(_, cell): &(usize, &StudyCell)| {
        let axes = AXES.iter().filter(|axis| axis.is_of_opening);
        let opening = axes.map(|axis| axis.text(&cell.settings)).collect();
        let found = of_openings.entry(opening).or_insert_with(|| check_opening(arguments, plan, cell, &spinner));
        found.clone().or_else(|| {
            let name = cell.settings.run()?.network().ok()?.data_set;
            of_data_sets.entry(name).or_insert_with(|| check_data(name, arguments)).clone()
        })
    };
    let obstacles: Vec<Option<String>> = cells.iter().map(obstacle).collect();
    spinner.finish_and_clear();
    match obstacles.first() {
        Some(Some(first)) if cells.len() == plan.cells.len() && obstacles.iter().all(Option::is_some) => {
            Err(Failure::Usage(format!("no cell of {} can run here: {first}", plan.name)))
        }
        _ => Ok(obstacles),
    }
}

pub(crate) fn show_obstacles<'a>(
    obstacles: impl Iterator<Item = &'a str>,
    cells: usize,
    screen: Screen,
) -> Result<(), Failure> {
    let mut stopped: BTreeMap<&str, usize> = BTreeMap::new();
    obstacles.for_each(|obstacle| *stopped.entry(obstacle).or_default() += 1);
    let mut stopped = stopped.iter();
    stopped.try_for_each(|(why, count)| screen.caution(&format!("{count} of {cells} cells cannot run here: {why}")))
}

/// Opens the backend of a cell in a child process: a crash ends only the child, and no device stays open.
fn check_opening(arguments: &StudyArgs, plan: &StudyPlan, cell: &StudyCell, spinner: &ProgressBar) -> Option<String> {
    let asked = AXES.iter().filter(|axis| axis.is_of_opening && axis.is_asked_for(&cell.settings));
    let name = asked.map(|axis| axis.text(&cell.settings)).collect::<Vec<_>>().join(" · ");
    spinner.set_message(format!("opening {name}"));
    let mut words = arguments_of(arguments, plan, cell);
    words.push("--opens-only".to_owned());
    let timeout = arguments.cell_timeout.map(Duration::from_secs_f64);
    let ended = Child::start_cell(&words).and_then(|child| child.wait(timeout, &|| false, &mut |_| ()));
    let reason = match ended {
        // A cell that takes too long is reported later.
        Ok(ended) => ended?.failure()?,
        Err(error) => error.to_string(),
    };
    Some(if name.is_empty() { reason } else { format!("{name}: {reason}") })
}

/// Reads the data set as a run does. A missing one is no obstacle if a run fetches it.
fn check_data(name: &str, arguments: &StudyArgs) -> Option<String> {
    let set = engine::data_set(name)?;
    let mut data = LocalData::new(&arguments.data);
    match (data.availability(set), &arguments.data.folder) {
        (Availability::Files { .. }, _) => pollster::block_on(data.load(set)).err().map(|error| error.to_string()),
        (Availability::Missing, Some(folder)) => Some(format!(
            "{} is not in {}; `{}` fetches it",
            set.name,
            folder.display(),
            fetching(&set.name, Some(folder))
        )),
        (Availability::Missing, None) | (Availability::Generated | Availability::AlwaysGenerated, _) => None,
    }
}
