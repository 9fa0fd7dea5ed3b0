//! Progress of measurements: a bar on a terminal, occasional lines elsewhere.

use std::time::{Duration, Instant};

use console::{Style, Term};
use engine::{Event, Observer, measure};
use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressStyle};
use results::kernels::{KernelReport, KernelSummary};
use results::{Evaluation, Outcome, Summary, Warning, WorkloadRecord};

use crate::device::describe;
use crate::figures::{amount, figure};
use crate::interrupt::Interrupt;
use crate::logs;
use crate::screen::Screen;
use crate::study::estimate::Forecast;
use crate::study::finished::{Ending, Finished};

/// Redraws per second, few enough not to disturb measurements.
const DRAWS_PER_SECOND: u8 = 4;
/// Interval of progress lines without a terminal.
const LINE_INTERVAL: Duration = Duration::from_secs(10);

struct Progress {
    /// Absent without a terminal, and while logs are shown.
    bar: Option<ProgressBar>,
    interrupt: Interrupt,
    next_line: Instant,
}

impl Progress {
    /// Handles Ctrl-C from now on, with a notice that it stops after `unit`. `template` is indicatif's.
    fn new(interrupt: Interrupt, template: &str, unit: &'static str) -> Self {
        Self::with_notice(interrupt, template, format!("Stopping after this {unit}"))
    }

    fn with_notice(interrupt: Interrupt, template: &str, notice: String) -> Self {
        let bar = (Screen::Error.is_terminal() && !logs::are_shown()).then(|| {
            let target = ProgressDrawTarget::stderr_with_hz(DRAWS_PER_SECOND);
            let style = ProgressStyle::with_template(template).expect("the template is constant").progress_chars("━╸─");
            let bar = ProgressBar::with_draw_target(None, target).with_style(style);
            // The clock goes on while something long says nothing, such as the compilation of kernels.
            bar.enable_steady_tick(Duration::from_millis(250));
            bar
        });
        interrupt.listen(stop_notice(bar.clone(), notice));
        Self { bar, interrupt, next_line: Instant::now() + LINE_INTERVAL }
    }

    fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }

    fn say(&mut self, line: &str) {
        say_beside(self.bar.as_ref(), line);
        self.next_line = Instant::now() + LINE_INTERVAL;
    }

    /// Prints a line if there is no bar, at most every [`LINE_INTERVAL`].
    fn say_now_and_then(&mut self, line: &str) {
        if self.bar.is_none() && Instant::now() >= self.next_line {
            self.say(line);
        }
    }

    fn allow_line(&mut self) {
        self.next_line = Instant::now();
    }

    fn show(&self, prefix: Option<&str>, message: String) {
        if let Some(bar) = &self.bar {
            if let Some(prefix) = prefix {
                bar.set_prefix(prefix.to_owned());
            }
            bar.set_message(message);
        }
    }

    fn show_position(&self, position: u64, length: u64) {
        if let Some(bar) = &self.bar {
            bar.set_length(length);
            bar.set_position(position);
        }
    }
}

fn stop_notice(bar: Option<ProgressBar>, notice: String) -> impl Fn() + Send + 'static {
    move || {
        if bar.is_some() {
            // The bar ends at the right edge, so the `^C` that the terminal wrote is on a separate line, and the bar
            // would be wiped away one line too low. A cursor that cannot be moved leaves only a blemish.
            drop(Term::stderr().move_cursor_up(1));
        }
        say_beside(bar.as_ref(), &format!("{notice}; press Ctrl-C again to end at once."));
    }
}

/// Shows a message while something without a length goes on; hidden without a terminal, and while logs are shown.
pub(crate) fn spinner() -> ProgressBar {
    if !Screen::Error.is_terminal() || logs::are_shown() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{spinner} {wide_msg} {elapsed}").expect("the template is constant");
    let spinner = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr()).with_style(style);
    spinner.enable_steady_tick(Duration::from_millis(120));
    spinner
}

fn say_beside(bar: Option<&ProgressBar>, line: &str) {
    match bar {
        Some(bar) => bar.println(line),
        // Progress that cannot be shown is no reason to end a run.
        None => drop(Screen::Error.line(line)),
    }
}

const BAR_PARTS: u64 = 1000;
const RUN_TEMPLATE: &str = "{spinner:.cyan} {prefix}\n  {wide_bar:.cyan/dim} {percent:>3} %  {elapsed}\n  {wide_msg}";

pub(crate) struct RunProgress {
    progress: Progress,
    steps_per_epoch: u32,
    part: Option<Part>,
}

struct Part {
    index: usize,
    count: usize,
    /// Distinguishes it from the others.
    title: String,
}

impl RunProgress {
    pub(crate) fn new(interrupt: Interrupt) -> Self {
        Self { progress: Progress::new(interrupt, RUN_TEMPLATE, "window"), steps_per_epoch: 1, part: None }
    }

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

/// Logs events that the progress display leaves out or delays.
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
        // Not requested by this program.
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

/// Returns a line about a finished workload; `None` if its failure was already reported.
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

pub(crate) fn ended(good: bool, text: &str) -> String {
    let mark = if good {
        Screen::Error.paint(Style::new().green().bold(), "✓")
    } else {
        Screen::Error.paint(Style::new().red().bold(), "✗")
    };
    Screen::Error.wrapped(&format!("  {mark} "), text, 4)
}

pub(crate) fn headline(summary: &Summary) -> String {
    let rate = summary.samples_per_second.map(|rate| figure("samples_per_second", rate));
    let accuracy = summary.accuracy.map(|share| format!("test accuracy {}", figure("accuracy", share)));
    let facts: Vec<String> = rate.into_iter().chain(accuracy).collect();
    if facts.is_empty() { "done".to_owned() } else { facts.join(" · ") }
}

const LIST_TEMPLATE: &str = "{wide_bar:.cyan/dim} {pos:>3} of {len}  {elapsed}\n  {prefix} {wide_msg}";

/// Progress of a sequence of measurements: steps per second, or kernels.
pub(crate) struct ListProgress {
    progress: Progress,
    what: String,
    /// True until the first result, which is printed at once.
    first: bool,
}

impl ListProgress {
    /// Handles Ctrl-C, which ends the measurements after one `unit`.
    pub(crate) fn new(interrupt: Interrupt, unit: &'static str) -> Self {
        Self { progress: Progress::new(interrupt, LIST_TEMPLATE, unit), what: String::new(), first: true }
    }

    pub(crate) fn finish(&self) {
        self.progress.finish();
    }

    pub(crate) fn prepare(&self, text: &str) {
        self.progress.show(None, text.to_owned());
    }

    fn begin(&mut self, what: &str) {
        what.clone_into(&mut self.what);
        self.progress.show(Some(what), String::new());
        self.first = true;
    }
}

impl Observer<measure::Event> for ListProgress {
    fn event(&mut self, event: &measure::Event) {
        match event {
            measure::Event::Opened { adapter } => {
                // As `Progress::say`, but wrapped.
                drop(Screen::Error.prose("device    ", &describe(adapter), 10));
            }
            measure::Event::Started { what, number, count } => {
                self.progress.say_now_and_then(&format!("  {number} of {count}: {what}"));
                self.begin(what);
                self.progress.show_position(*number as u64 - 1, *count as u64);
            }
            measure::Event::Again { what } => self.begin(what),
            measure::Event::Phase { who, phase } => self.progress.show(None, format!("· {who}: {}", phase.title())),
            measure::Event::Window { who, window } => {
                // Rates of kernels are shown in the table, with their meaning.
                if window.samples.is_some() {
                    let text = format!("· {who} {}", figure("samples_per_second", window.rate()));
                    if std::mem::take(&mut self.first) {
                        self.progress.allow_line();
                    }
                    self.progress.say_now_and_then(&format!("  {} {text}", self.what));
                    self.progress.show(None, text);
                }
            }
        }
    }

    fn cancelled(&self) -> bool {
        self.progress.interrupt.asked()
    }
}

const STUDY_TEMPLATE: &str = "{wide_bar:.cyan/dim} {pos:>3} of {len}  {elapsed}\n  {prefix}\n  {wide_msg}";

pub(crate) struct StudyProgress {
    progress: Progress,
}

impl StudyProgress {
    pub(crate) fn new(interrupt: Interrupt) -> Self {
        let notice = "Ending the cell that runs; what is finished is kept".to_owned();
        Self { progress: Progress::with_notice(interrupt, STUDY_TEMPLATE, notice) }
    }

    pub(crate) fn finish(&self) {
        self.progress.finish();
    }

    /// Announces cell `number`, from 1, of `count`.
    pub(crate) fn begin(&mut self, number: usize, count: usize, what: &str, left: Option<&Left>) {
        let name = Screen::Error.paint(Style::new().bold(), what);
        let left = left.map(|left| format!(", {}", left.text())).unwrap_or_default();
        let place = format!("({number} of {count}{left})");
        self.progress.say(&Screen::Error.wrapped(&format!("{name} "), &place, 2));
        self.progress.show_position(number as u64 - 1, count as u64);
        self.progress.show(Some(&place), String::new());
    }

    /// Shows a line of the cell's output if it reports progress.
    pub(crate) fn heard(&mut self, line: &str) {
        let line = line.trim();
        if line.contains("epoch ") || counts_entries(line) {
            self.progress.say_now_and_then(&format!("  {line}"));
            self.progress.show(None, line.to_owned());
        }
    }

    pub(crate) fn ended(&mut self, finished: &Finished) {
        let took = format!("{} in all", figure("training_seconds", finished.seconds));
        let figures = finished.workload().map(|workload| headline(&workload.summary));
        let figures = figures.or_else(|| finished.kernels().map(|record| in_short(&record.report)));
        let text = match (finished.ending, figures, &finished.reason) {
            (Ending::Completed, Some(figures), _) => format!("{figures} · {took}"),
            (_, _, Some(reason)) => reason.clone(),
            (_, _, None) => took,
        };
        self.progress.say(&ended(finished.ending == Ending::Completed, &text));
    }
}

/// Returns true for a line that begins with a count such as `3 of 39: …`.
fn counts_entries(line: &str) -> bool {
    let is_number = |word: Option<&str>| word.is_some_and(|word| word.parse::<u32>().is_ok());
    let mut words = line.split(": ").next().unwrap_or_default().split(' ');
    is_number(words.next()) && words.next() == Some("of") && is_number(words.next()) && words.next().is_none()
}

fn in_short(report: &KernelReport) -> String {
    let KernelSummary { entries, measured, peak_share, .. } = KernelSummary::of(&report.entries);
    let share = peak_share.map(|share| format!("{:.1} % of the peak in the median", share * 100.0));
    let of_entries = (entries > 0).then(|| format!("{measured} of {entries} entries"));
    let peaks = report.peaks.iter().map(|peak| amount(peak.unit, peak.value)).collect::<Vec<_>>().join(", ");
    of_entries.into_iter().chain(share).chain([format!("peaks {peaks}")]).collect::<Vec<_>>().join(" · ")
}

/// Forecast of the time that the remaining cells take.
pub(crate) struct Left {
    /// Sum over the cells whose duration is known; absent without any.
    pub(crate) known: Option<Forecast>,
    /// Number of cells of unknown duration.
    pub(crate) unknown: usize,
}

impl Left {
    pub(crate) fn new(seconds: impl Iterator<Item = Option<Forecast>> + Clone) -> Self {
        Self { known: Forecast::sum(seconds.clone().flatten()), unknown: seconds.filter(Option::is_none).count() }
    }

    pub(crate) fn text(&self) -> String {
        let cells = format!("{} cell{}", self.unknown, if self.unknown == 1 { "" } else { "s" });
        match (self.known, self.unknown) {
            (Some(known), 0) => format!("about {} left", duration(known.value)),
            (Some(known), _) => format!("about {} left, and {cells} of unknown duration", duration(known.value)),
            (None, _) => "duration unknown".to_owned(),
        }
    }
}

pub(crate) fn duration(seconds: f64) -> String {
    let whole = Duration::try_from_secs_f64(seconds.max(1.0)).unwrap_or(Duration::MAX);
    HumanDuration(Duration::from_secs(whole.as_secs())).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::estimate::Source;

    #[test]
    fn time_is_said_as_a_person_would() {
        assert_eq!([0.2, 45.0, 700.0, 9000.0].map(duration), ["1 second", "45 seconds", "12 minutes", "3 hours"]);
    }

    #[test]
    fn lines_that_count_entries_are_told_from_others() {
        assert!(counts_entries("3 of 39: gemm 512 × 512 × 512, forward"));
        for other in ["device    A GPU of 3", "3 of them", "of 3: x", ""] {
            assert!(!counts_entries(other), "{other}");
        }
    }

    #[test]
    fn cells_of_unknown_duration_are_counted() {
        let known = Forecast { value: 60.0, source: Source::Cell };
        assert_eq!(Left::new([None, None].into_iter()).text(), "duration unknown");
        let text = Left::new([Some(known), None, Some(known)].into_iter()).text();
        assert_eq!(text, "about 2 minutes left, and 1 cell of unknown duration");
    }
}
