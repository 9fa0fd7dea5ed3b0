use console::Style;
use engine::{Event, Observer};
use results::{Evaluation, Outcome, Summary, Warning, WorkloadRecord};

use super::Progress;
use crate::figures::figure;
use crate::interrupt::Interrupt;
use crate::screen::Screen;

/// Parts that the bar is divided into.
const BAR_PARTS: u64 = 1000;
const TEMPLATE: &str = "{spinner:.cyan} {prefix}\n  {wide_bar:.cyan/dim} {percent:>3} %  {elapsed}\n  {wide_msg}";

/// Shows a run, or several of them.
pub(crate) struct RunProgress {
    progress: Progress,
    /// Of the workload that is running.
    steps_per_epoch: u32,
    /// Absent where there is one run only.
    part: Option<Part>,
}

/// One of several runs.
struct Part {
    index: usize,
    count: usize,
    /// What tells it from the others.
    title: String,
}

impl RunProgress {
    /// Listens to Ctrl-C, which ends the run after a window.
    pub(crate) fn new(interrupt: Interrupt) -> Self {
        Self { progress: Progress::new(interrupt, TEMPLATE, "window"), steps_per_epoch: 1, part: None }
    }

    /// From now on the events are those of run number `index`, from 0, of `count`.
    pub(crate) fn begin_part(&mut self, index: usize, count: usize, title: String) {
        self.part = Some(Part { index, count, title });
    }

    pub(crate) fn finish(&self) {
        self.progress.finish();
    }

    fn show_progress(&mut self, run_fraction: f64, text: String) {
        let (index, count) = self.part.as_ref().map_or((0, 1), |part| (part.index, part.count));
        let run_fraction = (index as f64 + run_fraction.clamp(0.0, 1.0)) / count as f64;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of the bar's parts")]
        let position = (run_fraction * BAR_PARTS as f64) as u64;
        self.progress.show_position(position, BAR_PARTS);
        self.progress.say_now_and_then(&format!("  {:3} %  {text}", position * 100 / BAR_PARTS));
        self.progress.show(None, text);
    }
}

impl Observer<Event> for RunProgress {
    fn event(&mut self, event: &Event) {
        log(event);
        match event {
            // A user who needs a proven run need not wait for its end.
            Event::Warned { warning: warning @ Warning::CheckpointMissed { .. } } => {
                let mark = Screen::Error.paint(Style::new().yellow().bold(), "!");
                self.progress.say(&Screen::Error.wrapped(&format!("{mark} "), &warning.to_string(), 2));
            }
            // The other warnings are shown below the results, where they are not overlooked.
            Event::RunStarted { .. } | Event::Warned { .. } | Event::Examples { .. } | Event::Answered { .. } => {}
            Event::WorkloadStarted { workload, index, count, steps_per_epoch, .. } => {
                let name = Screen::Error.paint(Style::new().bold(), workload);
                self.progress.say(&match &self.part {
                    Some(Part { index, count, title }) => format!("{name} {title} ({} of {count})", index + 1),
                    None => format!("{name} ({} of {count})", index + 1),
                });
                self.steps_per_epoch = *steps_per_epoch;
            }
            Event::PhaseStarted { phase, .. } => self.progress.show(Some(phase.title()), String::new()),
            Event::Progress { run_fraction, epochs, loss, training_accuracy, samples_per_second, .. } => {
                let text = format!(
                    "epoch {epochs:.2} · {} · loss {loss:.4} · training accuracy {}",
                    figure("samples_per_second", *samples_per_second),
                    figure("accuracy", *training_accuracy)
                );
                self.show_progress(*run_fraction, text);
            }
            Event::Evaluated { evaluation, .. } => {
                let epochs = evaluation.step as f64 / f64::from(self.steps_per_epoch.max(1));
                self.progress.say(&evaluated(epochs, evaluation));
            }
            Event::WorkloadFailed { message, .. } => {
                self.progress.say(&ended(false, &format!("not trained: {message}")));
            }
            Event::WorkloadFinished { record } => {
                if let Some(line) = finished(record) {
                    self.progress.say(&line);
                }
            }
        }
    }

    fn cancelled(&self) -> bool {
        self.progress.interrupt.asked()
    }
}

/// What a person is not told, or not at once.
fn log(event: &Event) {
    match event {
        Event::RunStarted { workloads, seed, .. } => tracing::info!(?workloads, seed, "run"),
        Event::WorkloadStarted { workload, steps_per_epoch, target_accuracy, .. } => {
            tracing::info!(workload, steps_per_epoch, target_accuracy, "workload");
        }
        Event::PhaseStarted { workload, phase } => tracing::info!(workload, "{}", phase.title()),
        Event::Progress { workload, step, training_seconds, loss, samples_per_second, .. } => {
            tracing::debug!(workload, step, training_seconds, loss, samples_per_second, "window");
        }
        Event::Evaluated { workload, evaluation } => tracing::info!(workload, ?evaluation, "test"),
        // Nobody here asks for them.
        Event::Examples { .. } | Event::Answered { .. } => {}
        Event::Warned { warning } => tracing::warn!(?warning, "warning for the record"),
        Event::WorkloadFailed { workload, message } => tracing::error!(workload, reason = message, "not trained"),
        Event::WorkloadFinished { record } => {
            let WorkloadRecord { workload, outcome, settings, .. } = record.as_ref();
            tracing::info!(workload, ?outcome, variants = ?settings.variants, "finished");
        }
    }
}

fn evaluated(epochs: f64, evaluation: &Evaluation) -> String {
    let text = format!(
        "epoch {epochs:.2} · test accuracy {} · loss {:.4} · {} of training",
        figure("accuracy", evaluation.accuracy),
        evaluation.loss,
        figure("training_seconds", evaluation.training_seconds)
    );
    Screen::Error.wrapped("  ", &text, 2)
}

/// How a workload has ended; nothing where that was said before, at length.
fn finished(record: &WorkloadRecord) -> Option<String> {
    let (good, text) = match &record.outcome {
        Outcome::Completed => (true, headline(&record.summary)),
        Outcome::Diverged { step } => (false, format!("diverged at step {step}")),
        Outcome::Incorrect => (false, "disagrees with the reference, so it was not timed".to_owned()),
        Outcome::Cancelled => (false, "cancelled".to_owned()),
        Outcome::Failed { .. } => return None,
    };
    Some(ended(good, &text))
}

pub(super) fn ended(good: bool, text: &str) -> String {
    let mark = if good {
        Screen::Error.paint(Style::new().green().bold(), "✓")
    } else {
        Screen::Error.paint(Style::new().red().bold(), "✗")
    };
    Screen::Error.wrapped(&format!("  {mark} "), text, 4)
}

/// Throughput and accuracy, as far as the run has them.
pub(super) fn headline(summary: &Summary) -> String {
    let rate = summary.samples_per_second.map(|rate| figure("samples_per_second", rate));
    let accuracy = summary.accuracy.map(|share| format!("test accuracy {}", figure("accuracy", share)));
    let facts: Vec<String> = rate.into_iter().chain(accuracy).collect();
    if facts.is_empty() { "done".to_owned() } else { facts.join(" · ") }
}
