//! What a person sees while a run goes on: a bar on a terminal, now and then a line elsewhere.

use std::time::{Duration, Instant};

use console::{Style, Term};
use engine::{Event, Observer};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use results::{Evaluation, Outcome, Summary, WorkloadRecord};

use crate::figures::figure;
use crate::interrupt::Interrupt;
use crate::screen::Screen;

/// Drawing must not compete with the training for the machine.
const DRAWS_PER_SECOND: u8 = 4;
/// How often progress is printed where standard error is not a terminal.
const LINE_INTERVAL: Duration = Duration::from_secs(10);
/// Parts that the bar is divided into.
const BAR_PARTS: u64 = 1000;
const TEMPLATE: &str = "{spinner:.cyan} {prefix}\n  {wide_bar:.cyan/dim} {percent:>3} %  {elapsed}\n  {wide_msg}";

/// Shows the events of a run on standard error and passes Ctrl-C on to it.
pub(crate) struct LiveProgress {
    /// Absent away from a terminal.
    bar: Option<ProgressBar>,
    interrupt: Interrupt,
    last_line: Instant,
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

impl LiveProgress {
    pub(crate) fn new(interrupt: Interrupt) -> Self {
        let bar = Screen::Error.is_terminal().then(|| {
            let target = ProgressDrawTarget::stderr_with_hz(DRAWS_PER_SECOND);
            let style = ProgressStyle::with_template(TEMPLATE).expect("the template is constant").progress_chars("━╸─");
            let bar = ProgressBar::with_draw_target(Some(BAR_PARTS), target).with_style(style);
            // The spinner turns while something long says nothing, such as the compilation of kernels.
            bar.enable_steady_tick(Duration::from_millis(250));
            bar
        });
        Self { bar, interrupt, last_line: Instant::now(), steps_per_epoch: 1, part: None }
    }

    /// From now on the events are those of run number `index`, from 0, of `count`.
    pub(crate) fn begin_part(&mut self, index: usize, count: usize, title: String) {
        self.part = Some(Part { index, count, title });
    }

    /// Takes the bar away; the lines above it stay.
    pub(crate) fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }

    /// Says, from any thread, that the run will stop.
    pub(crate) fn stop_notice(&self) -> impl Fn() + Send + 'static {
        let bar = self.bar.clone();
        move || {
            if bar.is_some() {
                // The bar ends at the right edge, so the `^C` that the terminal wrote stands on a line of its own, and
                // the bar would be wiped away one line too low. A cursor that cannot be moved leaves only a blemish.
                drop(Term::stderr().move_cursor_up(1));
            }
            say_beside(bar.as_ref(), "Stopping after this window; press Ctrl-C again to end at once.");
        }
    }

    fn say(&mut self, line: &str) {
        say_beside(self.bar.as_ref(), line);
        self.last_line = Instant::now();
    }

    fn show_phase(&self, phase: &'static str) {
        if let Some(bar) = &self.bar {
            bar.set_prefix(phase);
            bar.set_message("");
        }
    }

    fn show_progress(&mut self, run_fraction: f64, text: String) {
        let (index, count) = self.part.as_ref().map_or((0, 1), |part| (part.index, part.count));
        let run_fraction = (index as f64 + run_fraction.clamp(0.0, 1.0)) / count as f64;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of the bar's parts")]
        let position = (run_fraction * BAR_PARTS as f64) as u64;
        if let Some(bar) = &self.bar {
            bar.set_position(position);
            bar.set_message(text);
        } else if self.last_line.elapsed() >= LINE_INTERVAL {
            self.say(&format!("  {:3} %  {text}", position * 100 / BAR_PARTS));
        }
    }
}

impl Observer for LiveProgress {
    fn event(&mut self, event: &Event) {
        match event {
            // The warnings stand under the figures, where nobody overlooks them.
            Event::RunStarted { .. } | Event::Warned { .. } => {}
            Event::WorkloadStarted { workload, index, count, steps_per_epoch, .. } => {
                let name = Screen::Error.paint(Style::new().bold(), workload);
                self.say(&match &self.part {
                    Some(Part { index, count, title }) => format!("{name} {title} ({} of {count})", index + 1),
                    None => format!("{name} ({} of {count})", index + 1),
                });
                self.steps_per_epoch = *steps_per_epoch;
            }
            Event::PhaseStarted { phase, .. } => self.show_phase(phase.title()),
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
                self.say(&evaluated(epochs, evaluation));
            }
            Event::WorkloadFinished { record } => self.say(&finished(record)),
        }
    }

    fn cancelled(&self) -> bool {
        self.interrupt.asked()
    }
}

/// Prints a line that stays, above the bar if there is one.
fn say_beside(bar: Option<&ProgressBar>, line: &str) {
    match bar {
        Some(bar) => bar.println(line),
        // Progress that cannot be shown is no reason to end a run.
        None => drop(Screen::Error.line(line)),
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

/// How a workload has ended.
fn finished(record: &WorkloadRecord) -> String {
    let (good, text) = match &record.outcome {
        Outcome::Completed => (true, headline(&record.summary)),
        Outcome::Diverged { step } => (false, format!("diverged at step {step}")),
        Outcome::Incorrect => (false, "disagrees with the reference, so it was not timed".to_owned()),
        Outcome::Cancelled => (false, "cancelled".to_owned()),
    };
    let mark = if good {
        Screen::Error.paint(Style::new().green().bold(), "✓")
    } else {
        Screen::Error.paint(Style::new().red().bold(), "✗")
    };
    Screen::Error.wrapped(&format!("  {mark} "), &text, 4)
}

/// Throughput and accuracy, as far as the run has them.
fn headline(summary: &Summary) -> String {
    let rate = summary.samples_per_second.map(|rate| figure("samples_per_second", rate));
    let accuracy = summary.accuracy.map(|share| format!("test accuracy {}", figure("accuracy", share)));
    let facts: Vec<String> = rate.into_iter().chain(accuracy).collect();
    if facts.is_empty() { "done".to_owned() } else { facts.join(" · ") }
}
