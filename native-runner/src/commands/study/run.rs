//! Running the cells of a study, one process after another.

use std::path::Path;
use std::time::Duration;

use console::Style;
use engine::Workload;

use super::calibration::calibrate;
use super::document::document;
use super::obstacles::{self, obstacles};
use super::upload::upload;
use super::{Cell, answer, arguments_of, asked, resume, table};
use crate::cli::{JsonTarget, StudyArgs};
use crate::commands::submission::Submission;
use crate::data_folder::DataFolder;
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::json_output::deliver;
use crate::progress::{Left, StudyProgress};
use crate::provenance::provenance;
use crate::screen::Screen;
use crate::study::{Attempt, Child, Ending, Estimator, Finished, Folder, Guess, Plan, RunSettings};

const STAYS_HERE: &str = "Nothing will be uploaded: leaderboards rank runs of networks, and kernels by themselves stay here, \
                          in the files of their cells.\n";

/// Runs what has no answer yet, shows everything, and uploads it as asked.
pub(super) fn run(arguments: &StudyArgs, plan: &Plan, path: &Path) -> Result<(), Failure> {
    let asked = asked(arguments, plan)?;
    // Nobody is asked to agree to what will not happen.
    let address = arguments.upload_to.as_ref().filter(|_| !plan.is_of_kernels());
    let submission = address.map(|address| Submission::new(address, &arguments.consent)).transpose()?;
    arguments.json.as_ref().map_or(Ok(()), JsonTarget::check)?;
    let missing_of = |finished: &[Finished]| {
        let is_missing = |(_, cell): &(usize, &Cell)| answer(finished, cell, arguments.retry_failed).is_none();
        asked.iter().copied().filter(is_missing).collect::<Vec<_>>()
    };
    // A study that cannot begin leaves no folder.
    let cells: Vec<&Cell> = missing_of(&Folder::read(path, plan)?).into_iter().map(|(_, cell)| cell).collect();
    let obstacles = obstacles(arguments, plan, &cells)?;
    // Downloads happen once and must not count as a cell's time.
    DataFolder::with_data_of(&arguments.data, &networks(&asked)?)?;
    let folder = Folder::open(path, plan)?;
    let finished = Folder::read(path, plan)?;
    let missing = missing_of(&finished);
    introduce(plan, &folder, asked.len(), missing.len())?;
    obstacles::show(obstacles.iter().flatten().map(String::as_str), asked.len(), Screen::Error)?;
    if plan.is_of_kernels() && arguments.upload_to.is_some() {
        Screen::Error.prose("", STAYS_HERE, 0)?;
    }

    let interrupt = Interrupt::default();
    let mut progress = StudyProgress::new(interrupt.clone());
    let mut session = Session { arguments, plan, folder: &folder, estimator: Estimator::of(&finished), finished };
    if arguments.calibrate {
        calibrate(arguments, plan, &missing, &mut session.estimator, &interrupt, &mut progress)?;
    }
    let ran = session.run(&missing, &interrupt, &mut progress);
    progress.finish();
    ran?;
    let was_interrupted = interrupt.asked();
    // What is finished is kept: Ctrl-C at a question ends the program.
    interrupt.end_at_once();

    let mut finished = session.finished;
    let cells: Vec<&Cell> = asked.iter().map(|(_, cell)| *cell).collect();
    let target = arguments.json.as_ref();
    let shown = table::show(plan, &cells, &finished, JsonTarget::screen_beside(target));
    deliver(shown, target, &document(plan, path, &cells, &finished)?)?;
    let has_answer = |cell: &&Cell| finished.iter().any(|finished| finished.id == cell.id);
    let answered = cells.iter().filter(|cell| has_answer(cell)).count();
    if was_interrupted && answered < cells.len() {
        // Whole, however long it is: a command is copied.
        Screen::Error.line(&format!("\nTo go on with the rest:\n  {}\n", resume(path)))?;
        return Err(Failure::Stopped { reached: format!("with {answered} of {} cells finished", cells.len()) });
    }
    if let Some(submission) = &submission {
        upload(submission, &folder, &mut finished)?;
    }
    conclude(&cells, &finished, path)
}

/// # Errors
/// The file of a network is not what it was when the study was planned.
fn has_its_network(run: &RunSettings) -> Result<(), Failure> {
    run.network().map(drop).map_err(Failure::Usage)
}

/// The networks of these cells, each once.
fn networks(cells: &[(usize, &Cell)]) -> Result<Vec<Workload>, Failure> {
    let mut networks: Vec<Workload> = Vec::new();
    for run in cells.iter().filter_map(|(_, cell)| cell.settings.run()) {
        if networks.iter().all(|network| network.name != run.workload) {
            networks.push(run.network().map_err(Failure::Usage)?);
        }
    }
    Ok(networks)
}

/// Says what will run, and where it is kept.
fn introduce(plan: &Plan, folder: &Folder, asked: usize, missing: usize) -> Result<(), Failure> {
    let screen = Screen::Error;
    let label = |text: &str| screen.paint(Style::new().dim(), format!("{text:<10}"));
    let title = screen.paint(Style::new().bold(), "Gradmark");
    screen.prose("", &format!("{title} {}, study {}", env!("CARGO_PKG_VERSION"), plan.name), 0)?;
    screen.prose(&label("asks"), &plan.definition.title, 10)?;
    let texts = [("repeats", &plan.definition.repeats), ("differs", &plan.definition.differs)];
    for (name, text) in texts {
        text.as_ref().map_or(Ok(()), |text| screen.prose(&label(name), text.trim(), 10))?;
    }
    if plan.scale < 1.0 {
        let text = if plan.is_of_kernels() {
            format!("every entry has {} of its seconds: fewer windows, and what is slow is left out", plan.scale)
        } else {
            format!("every cell is shortened to {} of its length, and none is standard", plan.scale)
        };
        screen.prose(&label("scale"), &text, 10)?;
    }
    let kept = if missing == asked { String::new() } else { format!(", {} of them finished before", asked - missing) };
    let order = format!("{asked} in an order from seed {}{kept}", plan.definition.order_seed);
    screen.prose(&label("cells"), &order, 10)?;
    screen.prose(&label("folder"), &folder.path().display().to_string(), 10)?;
    let mark = screen.paint(Style::new().yellow().bold(), "!");
    for change in folder.changes(plan) {
        screen.prose(&format!("{mark} "), &format!("{change}; each cell's file says what it was run with"), 2)?;
    }
    screen.line("")
}

/// The cells that have been run, and what they tell about the others.
struct Session<'a> {
    arguments: &'a StudyArgs,
    plan: &'a Plan,
    folder: &'a Folder,
    estimator: Estimator,
    finished: Vec<Finished>,
}

impl Session<'_> {
    /// Runs these cells, until all are done or somebody interrupts.
    ///
    /// # Errors
    /// No process can be started, a cell's file cannot be written, or the file of a network is not what it was. What
    /// becomes of a cell is never an error.
    fn run(
        &mut self,
        missing: &[(usize, &Cell)],
        interrupt: &Interrupt,
        progress: &mut StudyProgress,
    ) -> Result<(), Failure> {
        for (index, (number, cell)) in missing.iter().enumerate() {
            if interrupt.asked() {
                break;
            }
            cell.settings.run().map_or(Ok(()), has_its_network)?;
            let left = self.left(&missing[index..]);
            progress.begin(*number, self.plan.cells.len(), &cell.settings.text(), Some(&left));
            let Some(finished) = self.run_cell(*number, cell, interrupt, progress)? else { break };
            progress.ended(&finished);
            self.folder.keep(&finished)?;
            self.estimator.learn(&finished);
            self.finished.retain(|before| before.id != finished.id);
            self.finished.push(finished);
        }
        Ok(())
    }

    /// `None` where somebody interrupted it.
    fn run_cell(
        &self,
        number: usize,
        cell: &Cell,
        interrupt: &Interrupt,
        progress: &mut StudyProgress,
    ) -> Result<Option<Finished>, Failure> {
        let words = arguments_of(self.arguments, self.plan, cell);
        let started_unix_seconds = provenance().started_unix_seconds;
        let attempts = self.folder.begin_attempt(&cell.id, started_unix_seconds)?;
        let timeout = self.arguments.cell_timeout.map(Duration::from_secs_f64);
        let ended = Child::start(&words)
            .and_then(|child| child.wait(timeout, &|| interrupt.asked(), &mut |line| progress.heard(line)))
            .map_err(|source| Failure::File { what: format!("cannot run cell {}", cell.id), source })?;
        let attempt = Attempt { number, scale: self.plan.scale, started_unix_seconds, attempts };
        Ok(ended.map(|ended| Finished::of(cell, words, attempt, ended)))
    }

    fn left(&self, cells: &[(usize, &Cell)]) -> Left {
        let seconds = |(_, cell): &(usize, &Cell)| self.estimator.estimate(&cell.settings)?.seconds;
        Left {
            known: Guess::sum(cells.iter().filter_map(seconds)),
            unknown: cells.iter().filter(|cell| seconds(cell).is_none()).count(),
        }
    }
}

/// # Errors
/// Cells that computed something wrong, or that have no figures. One that diverged has answered.
fn conclude(cells: &[&Cell], finished: &[Finished], path: &Path) -> Result<(), Failure> {
    let of_cells: Vec<&Finished> =
        cells.iter().filter_map(|cell| finished.iter().find(|finished| finished.id == cell.id)).collect();
    let wrong: Vec<&str> = of_cells
        .iter()
        .filter(|finished| finished.ending == Ending::Incorrect)
        .filter_map(|finished| finished.reason.as_deref())
        .collect();
    if !wrong.is_empty() {
        return Err(Failure::WrongResults(wrong.join("; ")));
    }
    let failed = of_cells.iter().filter(|finished| finished.ending.is_failure()).count();
    if failed == 0 {
        return Ok(());
    }
    Err(Failure::NotMeasured(format!(
        "{failed} of {} cells have no figures; their reasons are above and in {}. The same command with --retry-failed runs \
         them once more",
        cells.len(),
        path.join("cells").display()
    )))
}
