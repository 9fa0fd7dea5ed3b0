//! What a person sees while kernels are measured: a bar on a terminal, now and then a line elsewhere.

use std::time::{Duration, Instant};

use engine::backends::wgsl::microbenchmarks::{Event, Observer};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::interrupt::Interrupt;
use crate::screen::Screen;

/// Drawing must not compete with what is measured.
const DRAWS_PER_SECOND: u8 = 4;
/// How often progress is printed where standard error is not a terminal.
const LINE_INTERVAL: Duration = Duration::from_secs(10);
const TEMPLATE: &str = "{wide_bar:.cyan/dim} {pos:>3} of {len}  {elapsed}\n  {wide_msg}";

/// Shows what is measured on standard error and passes Ctrl-C on.
pub(crate) struct KernelProgress {
    /// Absent away from a terminal.
    bar: Option<ProgressBar>,
    interrupt: Interrupt,
    last_line: Instant,
}

impl KernelProgress {
    pub(crate) fn new(interrupt: Interrupt) -> Self {
        let bar = Screen::Error.is_terminal().then(|| {
            let target = ProgressDrawTarget::stderr_with_hz(DRAWS_PER_SECOND);
            let style = ProgressStyle::with_template(TEMPLATE).expect("the template is constant").progress_chars("━╸─");
            ProgressBar::with_draw_target(None, target).with_style(style)
        });
        Self { bar, interrupt, last_line: Instant::now() }
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
            let text = "Stopping after this measurement; press Ctrl-C again to end at once.";
            match &bar {
                Some(bar) => bar.println(text),
                // Progress that cannot be shown is no reason to end a run.
                None => drop(Screen::Error.line(text)),
            }
        }
    }
}

impl Observer for KernelProgress {
    fn event(&mut self, event: &Event<'_>) {
        match event {
            Event::Opened { adapter } => {
                let facts = [adapter.name.as_str(), adapter.kind.name(), adapter.api.as_str(), adapter.driver.as_str()];
                let facts: Vec<&str> = facts.into_iter().filter(|fact| !fact.is_empty()).collect();
                // As above.
                drop(Screen::Error.prose("device    ", &facts.join(" · "), 10));
            }
            Event::Started { what, number, count } => match &self.bar {
                Some(bar) => {
                    bar.set_length(*count as u64);
                    bar.set_position(*number as u64 - 1);
                    bar.set_message((*what).to_owned());
                    bar.tick();
                }
                None if self.last_line.elapsed() >= LINE_INTERVAL => {
                    drop(Screen::Error.line(&format!("  {number} of {count}: {what}")));
                    self.last_line = Instant::now();
                }
                None => {}
            },
            // The figures stand in the table, together.
            Event::PeakMeasured(_) | Event::EntryFinished(_) => {}
        }
    }

    fn cancelled(&self) -> bool {
        self.interrupt.asked()
    }
}
