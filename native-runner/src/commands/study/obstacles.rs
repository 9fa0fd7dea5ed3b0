//! Obstacles to running cells on this machine, found by opening back ends and reading data sets.

use std::collections::BTreeMap;
use std::time::Duration;

use engine::DataSource;
use indicatif::ProgressBar;

use super::{Cell, arguments_of};
use crate::cli::StudyArgs;
use crate::data_folder::{Availability, DataFolder, fetching};
use crate::failure::Failure;
use crate::logs;
use crate::screen::Screen;
use crate::study::{Axis, Child, Plan};

/// Returns the obstacle of each cell, if any.
///
/// # Errors
/// No cell of the whole study can run.
pub(super) fn obstacles(arguments: &StudyArgs, plan: &Plan, cells: &[&Cell]) -> Result<Vec<Option<String>>, Failure> {
    let spinner = spinner();
    let mut of_openings: BTreeMap<[String; 7], Option<String>> = BTreeMap::new();
    let mut of_data_sets: BTreeMap<&str, Option<String>> = BTreeMap::new();
    let obstacle = |cell: &&Cell| {
        let opening = Axis::OF_OPENING.map(|axis| axis.text(&cell.settings));
        let found = of_openings.entry(opening).or_insert_with(|| of_opening(arguments, plan, cell, &spinner));
        found.clone().or_else(|| {
            let name = cell.settings.run()?.network().ok()?.data_set;
            of_data_sets.entry(name).or_insert_with(|| of_data(name, arguments)).clone()
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

/// Shows each obstacle with the number of cells that it stops.
pub(super) fn show<'a>(obstacles: impl Iterator<Item = &'a str>, cells: usize, screen: Screen) -> Result<(), Failure> {
    let mut stopped: BTreeMap<&str, usize> = BTreeMap::new();
    obstacles.for_each(|obstacle| *stopped.entry(obstacle).or_default() += 1);
    let mark = screen.paint(console::Style::new().yellow().bold(), "!");
    for (obstacle, count) in stopped {
        screen.prose(&format!("{mark} "), &format!("{count} of {cells} cells cannot run here: {obstacle}"), 2)?;
    }
    Ok(())
}

/// Opens the back end as the cell's run does, in a child process: a crash of the driver ends only the child, and no device
/// stays open while cells are measured.
fn of_opening(arguments: &StudyArgs, plan: &Plan, cell: &Cell, spinner: &ProgressBar) -> Option<String> {
    let asked = Axis::OF_OPENING.into_iter().filter(|axis| axis.is_asked_for(&cell.settings));
    let name = asked.map(|axis| axis.text(&cell.settings)).collect::<Vec<_>>().join(" · ");
    spinner.set_message(format!("opening {name}"));
    let mut words = arguments_of(arguments, plan, cell);
    words.push("--opens-only".to_owned());
    let timeout = arguments.cell_timeout.map(Duration::from_secs_f64);
    let ended = Child::start(&words).and_then(|child| child.wait(timeout, &|| false, &mut |_| ()));
    let reason = match ended {
        // A cell that takes too long says so itself.
        Ok(ended) => ended?.failure()?,
        Err(error) => error.to_string(),
    };
    Some(if name.is_empty() { reason } else { format!("{name}: {reason}") })
}

/// Reads the data set as a run does. One that is missing is no obstacle where a run fetches it.
fn of_data(name: &str, arguments: &StudyArgs) -> Option<String> {
    let set = engine::data_set(name)?;
    let mut data = DataFolder::new(&arguments.data);
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

fn spinner() -> ProgressBar {
    if !Screen::Error.is_terminal() || logs::are_shown() {
        return ProgressBar::hidden();
    }
    let spinner = ProgressBar::new_spinner();
    spinner.enable_steady_tick(Duration::from_millis(120));
    spinner
}
