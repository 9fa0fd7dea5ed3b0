//! A few seconds of each network, back end and batch size, to estimate what the cells will take.

use std::num::NonZero;
use std::time::Duration;

use super::{Cell, arguments_of};
use crate::cli::StudyArgs;
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::progress::StudyProgress;
use crate::provenance::provenance;
use crate::study::{Attempt, Child, Estimator, Finished, Length, Plan, RunSettings, Settings};

/// Long enough for the first steps to weigh little, short enough for a hundred of them.
const SECONDS: u32 = 2;

/// Measures what nothing is known of among these cells, each once, whatever its learning rate, length and seed.
///
/// # Errors
/// No process can be started. What cannot be trained stays unknown.
pub(super) fn calibrate(
    arguments: &StudyArgs,
    plan: &Plan,
    cells: &[(usize, &Cell)],
    estimator: &mut Estimator,
    interrupt: &Interrupt,
    progress: &mut StudyProgress,
) -> Result<(), Failure> {
    let shapes = shapes(cells.iter().filter_map(|(_, cell)| cell.settings.run()));
    for (index, shape) in shapes.iter().enumerate() {
        let cell = Cell::new(Settings::Run(shape.clone()), None);
        progress.begin(index + 1, shapes.len(), &format!("calibration: {}", cell.settings.text()), None);
        let words = arguments_of(arguments, plan, &cell);
        let started_unix_seconds = provenance().started_unix_seconds;
        let timeout = arguments.cell_timeout.map(Duration::from_secs_f64);
        let ended = Child::start(&words)
            .and_then(|child| child.wait(timeout, &|| interrupt.asked(), &mut |line| progress.heard(line)))
            .map_err(|source| Failure::File { what: "cannot start a calibration".to_owned(), source })?;
        let Some(ended) = ended else { break };
        let attempt = Attempt { number: index + 1, scale: 1.0, started_unix_seconds, attempts: 1 };
        let finished = Finished::of(&cell, words, attempt, ended);
        progress.ended(&finished);
        estimator.learn_calibration(&finished);
    }
    Ok(())
}

/// What differs in time and memory for a step, each once.
fn shapes<'a>(cells: impl Iterator<Item = &'a RunSettings>) -> Vec<RunSettings> {
    let mut shapes: Vec<RunSettings> = Vec::new();
    for settings in cells {
        let limit = NonZero::new(SECONDS).map(Length::seconds);
        let shape = RunSettings { learning_rate: None, limit, seed: 1, ..settings.clone() };
        if !shapes.contains(&shape) {
            shapes.push(shape);
        }
    }
    shapes
}
