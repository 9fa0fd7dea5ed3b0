//! What a person sees while a run goes on: a bar on a terminal, now and then a line elsewhere.

use std::time::{Duration, Instant};

use console::Style;
use engine::{Event, Observer};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use results::{Evaluation, Outcome, Summary, WorkloadRecord};

use crate::figures::figure;
use crate::interrupt::Interrupt;
use crate::screen::Screen;

/// Drawing must not compete with the training for the machine.
const DRAWS_PER_SECOND: u8 = 4;
/// Away from a terminal progress is told so often.
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
    place: Place,
}

/// The workload that is running.
#[derive(Default)]
struct Place {
    /// Such as `caffe-mnist (2 of 2)`.
    title: String,
    steps_per_epoch: u32,
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
        Self { bar, interrupt, last_line: Instant::now(), place: Place::default() }
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
        move || say_beside(bar.as_ref(), "Stopping after this window; press Ctrl-C again to end at once.")
    }

    fn say(&mut self, line: &str) {
        say_beside(self.bar.as_ref(), line);
        self.last_line = Instant::now();
    }

    fn show_phase(&self, phase: &str) {
        if let Some(bar) = &self.bar {
            let title = Screen::Error.paint(Style::new().bold(), &self.place.title);
            bar.set_prefix(format!("{title}  {phase}"));
            bar.set_message("");
        }
    }

    fn show_progress(&mut self, run_fraction: f64, text: String) {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of the bar's parts")]
        let position = (run_fraction.clamp(0.0, 1.0) * BAR_PARTS as f64) as u64;
        if let Some(bar) = &self.bar {
            bar.set_position(position);
            bar.set_message(text);
        } else if self.last_line.elapsed() >= LINE_INTERVAL {
            self.say(&format!("  {:3} %  {text}", position * 100 / BAR_PARTS));
        }
    }

    fn epochs(&self, step: u64) -> f64 {
        step as f64 / f64::from(self.place.steps_per_epoch.max(1))
    }
}

impl Observer for LiveProgress {
    fn event(&mut self, event: &Event) {
        match event {
            // The warnings stand under the figures, where nobody overlooks them.
            Event::RunStarted { .. } | Event::Warned { .. } => {}
            Event::WorkloadStarted { workload, index, count, steps_per_epoch, .. } => {
                let title = format!("{workload} ({} of {count})", index + 1);
                if self.bar.is_none() {
                    self.say(&title);
                }
                self.place = Place { title, steps_per_epoch: *steps_per_epoch };
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
            Event::Evaluated { workload, evaluation } => {
                let line = evaluated(workload, self.epochs(evaluation.step), evaluation);
                self.say(&line);
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

fn evaluated(workload: &str, epochs: f64, evaluation: &Evaluation) -> String {
    format!(
        "  {workload}: epoch {epochs:.2}, test accuracy {}, loss {:.4}, after {} of training",
        figure("accuracy", evaluation.accuracy),
        evaluation.loss,
        figure("training_seconds", evaluation.training_seconds)
    )
}

/// One line for a workload that has ended.
fn finished(record: &WorkloadRecord) -> String {
    let good = Style::new().green().bold();
    let bad = Style::new().red().bold();
    let (mark, text) = match &record.outcome {
        Outcome::Completed => (Screen::Error.paint(good, "✓"), headline(&record.summary)),
        Outcome::Diverged { step } => (Screen::Error.paint(bad, "✗"), format!("diverged at step {step}")),
        Outcome::Incorrect => (Screen::Error.paint(bad, "✗"), "disagrees with the reference, so not timed".to_owned()),
        Outcome::Cancelled => (Screen::Error.paint(bad, "✗"), "cancelled".to_owned()),
    };
    let name = Screen::Error.paint(Style::new().bold(), &record.workload);
    format!("{mark} {name}  {text}")
}

/// Throughput and accuracy, as far as the run has them.
fn headline(summary: &Summary) -> String {
    let rate = summary.samples_per_second.map(|rate| figure("samples_per_second", rate));
    let accuracy = summary.accuracy.map(|share| format!("test accuracy {}", figure("accuracy", share)));
    let facts: Vec<String> = rate.into_iter().chain(accuracy).collect();
    if facts.is_empty() { "done".to_owned() } else { facts.join(" · ") }
}
