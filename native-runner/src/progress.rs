//! Progress of measurements: a bar on a terminal, occasional lines elsewhere; and Ctrl-C.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use std::{io, thread};

use console::Term;
use engine::{Event, Observer, WantedTexts, Writer, measure};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use results::kernels::{KernelReport, KernelSummary};
use results::{Goal, Outcome, Warning, WorkloadRecord, bits_per_character};

use crate::device::describe;
use crate::figures::{figure, list_peaks};
use crate::report::tested;
use crate::screen::{self, NoteMark, Screen};
use crate::study::folder::{CellEnding, FinishedCell};

/// Redraws per second, few enough not to disturb measurements.
const DRAWS_PER_SECOND: u8 = 4;
const LINE_INTERVAL: Duration = Duration::from_secs(10);

/// Returns a bar with a template in indicatif's syntax; hidden without a terminal.
pub(crate) fn bar(template: &str, is_shown: bool) -> ProgressBar {
    if !is_shown || !Screen::Error.is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template(template).expect("the template is constant").progress_chars("━╸─");
    let target = ProgressDrawTarget::stderr_with_hz(DRAWS_PER_SECOND);
    let bar = ProgressBar::with_draw_target(None, target).with_style(style);
    // Keeps the clock running during long silent work, such as kernel compilation.
    bar.enable_steady_tick(Duration::from_millis(250));
    bar
}

/// Shows a message during work of unknown length; hidden while logs are shown.
pub(crate) fn spinner() -> ProgressBar {
    bar("{spinner} {wide_msg} {elapsed}", !screen::are_logs_shown())
}

struct ProgressScreen {
    bar: ProgressBar,
    interrupt: Interrupt,
    next_line: Instant,
}

impl ProgressScreen {
    /// Handles Ctrl-C from now on, with this notice.
    fn new(interrupt: Interrupt, template: &str, notice: &'static str) -> Self {
        let bar = bar(template, !screen::are_logs_shown());
        let shown = bar.clone();
        interrupt.listen(move || {
            if !shown.is_hidden() {
                // The bar ends at the right edge, so the terminal's `^C` is on its own line, and the bar would be
                // cleared one line too low. If the cursor cannot be moved, only a blemish remains.
                drop(Term::stderr().move_cursor_up(1));
            }
            say_above(&shown, &format!("{notice}; press Ctrl-C again to end at once."));
        });
        Self { bar, interrupt, next_line: Instant::now() + LINE_INTERVAL }
    }

    fn say(&mut self, line: &str) {
        say_above(&self.bar, line);
        self.next_line = Instant::now() + LINE_INTERVAL;
    }

    /// Prints a line if there is no bar, at most every [`LINE_INTERVAL`].
    fn say_now_and_then(&mut self, line: &str) {
        if self.bar.is_hidden() && Instant::now() >= self.next_line {
            self.say(line);
        }
    }

    fn show_position(&self, position: u64, length: u64) {
        self.bar.set_length(length);
        self.bar.set_position(position);
    }

    /// Starts a part of the work, without a message yet.
    fn begin(&self, part: &str) {
        self.bar.set_prefix(part.to_owned());
        self.bar.set_message("");
    }
}

impl Drop for ProgressScreen {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

fn say_above(bar: &ProgressBar, line: &str) {
    if bar.is_hidden() {
        // Failure to show progress is no reason to end a run.
        drop(Screen::Error.line(line));
    } else {
        bar.println(line);
    }
}

const AFTER_WINDOW: &str = "Stopping after this window";
const BAR_PARTS: u64 = 1000;
const RUN_TEMPLATE: &str = "{spinner:.cyan} {prefix}\n  {wide_bar:.cyan/dim} {percent:>3} %  {elapsed}\n  {wide_msg}";

pub(crate) struct RunProgress {
    progress: ProgressScreen,
    steps_per_epoch: u32,
    target: Option<Goal>,
    /// Number of parts before this one, total number, and a title that distinguishes it; absent in a single run.
    pub(crate) part: Option<(usize, usize, String)>,
}

impl RunProgress {
    pub(crate) fn new(interrupt: Interrupt) -> Self {
        let progress = ProgressScreen::new(interrupt, RUN_TEMPLATE, AFTER_WINDOW);
        Self { progress, steps_per_epoch: 1, target: None, part: None }
    }

    fn is_loss_the_goal(&self) -> bool {
        matches!(self.target, Some(Goal::Loss(_)))
    }
}

impl Observer<Event> for RunProgress {
    fn event(&mut self, event: &Event) {
        log(event);
        match event {
            // A user who needs a proven run need not wait for the end.
            Event::Warned { warning: warning @ Warning::CheckpointMissed { .. } } => {
                self.progress.say(&Screen::Error.note(NoteMark::Careful, &warning.to_string()));
            }
            // Other warnings are shown below the results, where they are not overlooked.
            Event::RunStarted { .. } | Event::Warned { .. } | Event::Examples { .. } | Event::Answered { .. } => {}
            Event::WorkloadStarted { workload, index, count, steps_per_epoch, target, .. } => {
                let name = Screen::Error.bold(workload);
                self.progress.say(&match &self.part {
                    Some((index, count, title)) => format!("{name} {title} ({} of {count})", index + 1),
                    None => format!("{name} ({} of {count})", index + 1),
                });
                self.steps_per_epoch = *steps_per_epoch;
                self.target = Some(*target);
            }
            Event::PhaseStarted { phase, .. } => self.progress.begin(phase.title()),
            Event::Progress { run_fraction, epochs, loss, training_accuracy, samples_per_second, .. } => {
                let rate = figure("samples_per_second", *samples_per_second);
                let mut text = format!("epoch {epochs:.2} · {rate} · loss {loss:.4}");
                if !self.is_loss_the_goal() {
                    text += &format!(" · training accuracy {}", figure("accuracy", *training_accuracy));
                }
                let (index, count) = self.part.as_ref().map_or((0, 1), |(index, count, _)| (*index, *count));
                let run_fraction = (index as f64 + run_fraction.clamp(0.0, 1.0)) / count as f64;
                #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of the bar")]
                let position = (run_fraction * BAR_PARTS as f64) as u64;
                self.progress.show_position(position, BAR_PARTS);
                self.progress.say_now_and_then(&format!("  {:3} %  {text}", position * 100 / BAR_PARTS));
                self.progress.bar.set_message(text);
            }
            Event::Evaluated { workload, evaluation } => {
                let epochs = evaluation.step as f64 / f64::from(self.steps_per_epoch.max(1));
                let (accuracy, loss) = (figure("accuracy", evaluation.accuracy), evaluation.loss);
                let time = figure("training_seconds", evaluation.training_seconds);
                let tested = if self.is_loss_the_goal() {
                    let bits = bits_per_character(loss);
                    let reads_text = engine::workload(workload).is_some_and(|of| of.reads_text());
                    let bits = if reads_text { format!(" ({bits:.4} bits per character)") } else { String::new() };
                    format!("test loss {loss:.4}{bits} · accuracy {accuracy}")
                } else {
                    format!("test accuracy {accuracy} · loss {loss:.4}")
                };
                let text = format!("epoch {epochs:.2} · {tested} · {time} of training");
                self.progress.say(&Screen::Error.wrapped("  ", &text, 2));
            }
            Event::Wrote { text, .. } => {
                // Line breaks and runs of spaces would break the list of evaluations.
                let words: Vec<&str> = text.split_whitespace().collect();
                let paragraph = format!("“{}{} …”", Writer::PROMPT, words.join(" "));
                self.progress.say(&Screen::Error.wrapped("    ", &paragraph, 4));
            }
            Event::WorkloadFailed { message, .. } => {
                self.progress.say(&ended(NoteMark::Bad, &format!("not trained: {message}")));
            }
            Event::WorkloadFinished { record } => {
                let text = match &record.outcome {
                    Outcome::Completed => return self.progress.say(&ended(NoteMark::Good, &headline(record))),
                    Outcome::Diverged { step } => format!("diverged at step {step}"),
                    Outcome::Incorrect => "disagrees with the reference, so it was not timed".to_owned(),
                    Outcome::Cancelled => "cancelled".to_owned(),
                    // Its failure was already reported.
                    Outcome::Failed { .. } => return,
                };
                self.progress.say(&ended(NoteMark::Bad, &text));
            }
        }
    }

    fn cancelled(&self) -> bool {
        self.progress.interrupt.asked()
    }

    /// Texts would clutter the table of a comparison.
    fn wants_texts(&self) -> WantedTexts {
        if self.part.is_none() { WantedTexts::AtEvaluations } else { WantedTexts::None }
    }
}

/// Logs events that the progress display omits or delays.
fn log(event: &Event) {
    match event {
        Event::RunStarted { workloads, seed, .. } => tracing::info!(?workloads, seed, "run"),
        Event::WorkloadStarted { workload, steps_per_epoch, target, .. } => {
            tracing::info!(workload, steps_per_epoch, ?target, "workload");
        }
        Event::PhaseStarted { workload, phase } => tracing::info!(workload, "{}", phase.title()),
        Event::Progress { workload, step, training_seconds, loss, samples_per_second, .. } => {
            tracing::debug!(workload, step, training_seconds, loss, samples_per_second, "window");
        }
        Event::Evaluated { workload, evaluation } => tracing::info!(workload, ?evaluation, "test"),
        Event::Wrote { workload, text } => tracing::info!(workload, text, "text"),
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

fn ended(mark: NoteMark, text: &str) -> String {
    Screen::Error.wrapped(&format!("  {} ", mark.shown(Screen::Error)), text, 4)
}

fn headline(record: &WorkloadRecord) -> String {
    let rate = record.summary.samples_per_second.map(|rate| figure("samples_per_second", rate));
    let facts: Vec<String> = rate.into_iter().chain(tested(record)).collect();
    if facts.is_empty() { "done".to_owned() } else { facts.join(" · ") }
}

const LIST_TEMPLATE: &str = "{wide_bar:.cyan/dim} {pos:>3} of {len}  {elapsed}\n  {prefix} {wide_msg}";

/// Progress of a sequence of measurements: steps per second, or kernels.
pub(crate) struct ListProgress {
    progress: ProgressScreen,
    /// True until the first result, which is printed at once.
    first: bool,
}

impl ListProgress {
    pub(crate) fn new(interrupt: Interrupt) -> Self {
        Self { progress: ProgressScreen::new(interrupt, LIST_TEMPLATE, AFTER_WINDOW), first: true }
    }

    pub(crate) fn prepare(&self, text: &str) {
        self.progress.bar.set_message(text.to_owned());
    }

    fn begin(&mut self, what: &str) {
        self.progress.begin(what);
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
            measure::Event::Phase { who, phase } => {
                self.progress.bar.set_message(format!("· {who}: {}", phase.title()))
            }
            // Rates of kernels are shown in the table, with their meaning.
            measure::Event::Window { window, .. } if window.samples.is_none() => {}
            measure::Event::Window { who, window } => {
                let text = format!("· {who} {}", figure("samples_per_second", window.rate()));
                if std::mem::take(&mut self.first) {
                    self.progress.next_line = Instant::now();
                }
                self.progress.say_now_and_then(&format!("  {} {text}", self.progress.bar.prefix()));
                self.progress.bar.set_message(text);
            }
        }
    }

    fn cancelled(&self) -> bool {
        self.progress.interrupt.asked()
    }
}

const STUDY_TEMPLATE: &str = "{wide_bar:.cyan/dim} {pos:>3} of {len}  {elapsed}\n  {prefix}\n  {wide_msg}";

pub(crate) struct StudyProgress(ProgressScreen);

impl StudyProgress {
    pub(crate) fn new(interrupt: Interrupt) -> Self {
        let notice = "Ending the current cell; finished cells are stored";
        Self(ProgressScreen::new(interrupt, STUDY_TEMPLATE, notice))
    }

    pub(crate) fn begin(&mut self, number: usize, count: usize, what: &str) {
        let name = Screen::Error.bold(what);
        let place = format!("({number} of {count})");
        self.0.say(&Screen::Error.wrapped(&format!("{name} "), &place, 2));
        self.0.show_position(number as u64 - 1, count as u64);
        self.0.begin(&place);
    }

    pub(crate) fn heard(&mut self, line: &str) {
        let line = line.trim();
        if !line.is_empty() {
            self.0.say_now_and_then(&format!("  {line}"));
            self.0.bar.set_message(line.to_owned());
        }
    }

    pub(crate) fn ended(&mut self, finished: &FinishedCell) {
        let took = format!("{} in total", figure("training_seconds", finished.seconds));
        let figures = finished.workload().map(headline);
        let figures = figures.or_else(|| finished.kernels().map(|record| summarize_kernels(&record.report)));
        let text = match (finished.ending, figures, &finished.reason) {
            (CellEnding::Completed, Some(figures), _) => format!("{figures} · {took}"),
            (_, _, Some(reason)) => reason.clone(),
            (_, _, None) => took,
        };
        let mark = if finished.ending == CellEnding::Completed { NoteMark::Good } else { NoteMark::Bad };
        self.0.say(&ended(mark, &text));
    }
}

fn summarize_kernels(report: &KernelReport) -> String {
    let KernelSummary { entries, measured, peak_share, .. } = KernelSummary::of(&report.entries);
    let share = peak_share.map(|share| format!("median {:.1} % of the peak", share * 100.0));
    let of_entries = (entries > 0).then(|| format!("{measured} of {entries} entries"));
    let peaks = format!("peaks {}", list_peaks(report));
    of_entries.into_iter().chain(share).chain([peaks]).collect::<Vec<_>>().join(" · ")
}

/// Exit status after Ctrl-C by shell convention: 128 plus the signal's number.
const EXIT_STATUS: i32 = 130;

/// Ctrl-C handler: the first one stops the run after its window, the second one ends the program.
#[derive(Clone, Debug, Default)]
pub(crate) struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Handles Ctrl-C from now on; `notice` reports the first one. Otherwise, Ctrl-C ends the program at once.
    pub(crate) fn listen(&self, notice: impl Fn() + Send + 'static) {
        let asked = self.clone();
        let handler = move || {
            if asked.0.swap(true, Ordering::SeqCst) {
                // The shell's prompt belongs on a new line.
                drop(Screen::Error.line(""));
                end_now();
            }
            notice();
        };
        drop(ctrlc::set_handler(handler));
    }

    /// Lets the next Ctrl-C end the program, because nothing is left to save.
    pub(crate) fn end_at_once(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    pub(crate) fn asked(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}

/// Ends the program when its standard input closes, because its parent has exited.
pub(crate) fn end_with_input() {
    thread::spawn(|| {
        // An unreadable input counts as closed.
        let _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
        end_now();
    });
}

/// Ends the program without the drivers' exit functions, which free memory of other threads; NVIDIA's would crash.
fn end_now() -> ! {
    #[cfg(unix)]
    // SAFETY: `_exit` has no preconditions.
    unsafe {
        nix::libc::_exit(EXIT_STATUS)
    }
    #[cfg(not(unix))]
    std::process::exit(EXIT_STATUS)
}
