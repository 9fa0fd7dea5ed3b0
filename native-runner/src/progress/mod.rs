//! What a person sees while something is measured: a bar on a terminal, now and then a line elsewhere.

mod list;
mod run;
mod study;

use std::time::{Duration, Instant};

use console::Term;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

pub(crate) use list::ListProgress;
pub(crate) use run::RunProgress;
pub(crate) use study::{Left, StudyProgress, duration};

use crate::interrupt::Interrupt;
use crate::logs;
use crate::screen::Screen;

/// Drawing must not compete with what is measured.
const DRAWS_PER_SECOND: u8 = 4;
/// How often progress is printed where standard error is not a terminal.
const LINE_INTERVAL: Duration = Duration::from_secs(10);

/// Shows progress on standard error and knows of Ctrl-C.
struct Progress {
    /// Absent away from a terminal, and where logs are shown.
    bar: Option<ProgressBar>,
    interrupt: Interrupt,
    /// When there is a line again, away from a terminal.
    next_line: Instant,
}

impl Progress {
    /// Listens to Ctrl-C from now on, and then says that it stops after `unit`. The bar is drawn by indicatif's `template`.
    fn new(interrupt: Interrupt, template: &str, unit: &'static str) -> Self {
        Self::with_notice(interrupt, template, format!("Stopping after this {unit}"))
    }

    /// The same, with what is said after Ctrl-C.
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

    /// Takes the bar away; the lines above it stay.
    fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }

    /// Prints a line that stays, above the bar if there is one.
    fn say(&mut self, line: &str) {
        say_beside(self.bar.as_ref(), line);
        self.next_line = Instant::now() + LINE_INTERVAL;
    }

    /// Prints a line where there is no bar, but not often.
    fn say_now_and_then(&mut self, line: &str) {
        if self.bar.is_none() && Instant::now() >= self.next_line {
            self.say(line);
        }
    }

    /// The next line is printed however soon it comes.
    fn allow_line(&mut self) {
        self.next_line = Instant::now();
    }

    /// What goes on, and its details.
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

/// Says, from any thread, that the measurement will stop.
fn stop_notice(bar: Option<ProgressBar>, notice: String) -> impl Fn() + Send + 'static {
    move || {
        if bar.is_some() {
            // The bar ends at the right edge, so the `^C` that the terminal wrote stands on a line of its own, and the bar
            // would be wiped away one line too low. A cursor that cannot be moved leaves only a blemish.
            drop(Term::stderr().move_cursor_up(1));
        }
        say_beside(bar.as_ref(), &format!("{notice}; press Ctrl-C again to end at once."));
    }
}

fn say_beside(bar: Option<&ProgressBar>, line: &str) {
    match bar {
        Some(bar) => bar.println(line),
        // Progress that cannot be shown is no reason to end a run.
        None => drop(Screen::Error.line(line)),
    }
}
