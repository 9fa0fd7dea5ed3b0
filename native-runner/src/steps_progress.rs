//! What a person sees while steps are timed: a bar on a terminal, now and then a line elsewhere.

use std::time::{Duration, Instant};

use engine::steps::{Event, Observer};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::figures::figure;
use crate::interrupt::Interrupt;
use crate::screen::Screen;

/// Drawing must not compete with what is measured.
const DRAWS_PER_SECOND: u8 = 4;
/// How often progress is printed where standard error is not a terminal.
const LINE_INTERVAL: Duration = Duration::from_secs(10);
const TEMPLATE: &str = "{wide_bar:.cyan/dim} {pos:>3} of {len}  {elapsed}\n  {prefix} {wide_msg}";

/// Shows what is measured on standard error and passes Ctrl-C on.
pub(crate) struct StepsProgress {
    /// Absent away from a terminal.
    bar: Option<ProgressBar>,
    interrupt: Interrupt,
    /// When there is a line again, away from a terminal.
    next_line: Instant,
    /// Workload and batch size that are measured just now.
    part: String,
}

impl StepsProgress {
    pub(crate) fn new(interrupt: Interrupt) -> Self {
        let bar = Screen::Error.is_terminal().then(|| {
            let target = ProgressDrawTarget::stderr_with_hz(DRAWS_PER_SECOND);
            let style = ProgressStyle::with_template(TEMPLATE).expect("the template is constant").progress_chars("━╸─");
            ProgressBar::with_draw_target(None, target).with_style(style)
        });
        Self { bar, interrupt, next_line: Instant::now() + LINE_INTERVAL, part: String::new() }
    }

    /// Takes the bar away.
    pub(crate) fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }

    /// Says, from any thread, that the measurements will stop.
    pub(crate) fn stop_notice(&self) -> impl Fn() + Send + 'static {
        let bar = self.bar.clone();
        move || {
            let text = "Stopping after this window; press Ctrl-C again to end at once.";
            match &bar {
                Some(bar) => bar.println(text),
                // Progress that cannot be shown is no reason to end a run.
                None => drop(Screen::Error.line(text)),
            }
        }
    }

    /// What goes on just now.
    pub(crate) fn message(&self, text: String) {
        if let Some(bar) = &self.bar {
            bar.set_message(text);
            bar.tick();
        }
    }

    /// Away from a terminal, now and then.
    fn line(&mut self, text: &str) {
        if self.bar.is_none() && Instant::now() >= self.next_line {
            // As above.
            drop(Screen::Error.line(text));
            self.next_line = Instant::now() + LINE_INTERVAL;
        }
    }

    /// The first figure of each part is printed as soon as there is one.
    fn begin(&mut self, part: String) {
        if let Some(bar) = &self.bar {
            bar.set_prefix(part.clone());
        }
        self.part = part;
        self.next_line = Instant::now();
    }
}

impl Observer for StepsProgress {
    fn event(&mut self, event: &Event<'_>) {
        match event {
            Event::Started { workload, batch_size, number, count } => {
                let part = format!("{workload}, batches of {batch_size}");
                self.line(&format!("  {number} of {count}: {part}"));
                self.begin(part);
                if let Some(bar) = &self.bar {
                    bar.set_length(*count as u64);
                    bar.set_position(*number as u64 - 1);
                }
                self.message(String::new());
            }
            Event::Checking { backend } => self.message(format!("· {backend} beside the reference")),
            Event::Building { backend } => self.message(format!("· building for {backend}")),
            Event::WarmingUp { backend } => self.message(format!("· warming {backend} up")),
            Event::Window { backend, samples_per_second } => {
                let text = format!("· {backend} {}", figure("samples_per_second", *samples_per_second));
                self.line(&format!("  {} {text}", self.part));
                self.message(text);
            }
            Event::LookingAgain { workload, backend, from_batch_size, to_batch_size } => {
                self.begin(format!("{workload}, {from_batch_size} and {to_batch_size} in turns"));
                self.message(format!("· building for {backend}"));
            }
            // The figures stand in the table, together.
            Event::Finished { .. } => {}
        }
    }

    fn cancelled(&self) -> bool {
        self.interrupt.asked()
    }
}
