use engine::Observer;
use engine::measure::Event;

use super::Progress;
use crate::device::describe;
use crate::figures::figure;
use crate::interrupt::Interrupt;
use crate::screen::Screen;

const TEMPLATE: &str = "{wide_bar:.cyan/dim} {pos:>3} of {len}  {elapsed}\n  {prefix} {wide_msg}";

/// Shows measurements that follow each other: of steps per second, or of kernels.
pub(crate) struct ListProgress {
    progress: Progress,
    /// What is measured just now.
    what: String,
    /// Whether it has no figure yet; the first one of each is printed as soon as it is there.
    first: bool,
}

impl ListProgress {
    /// Listens to Ctrl-C, which ends the measurements after one `unit` of them.
    pub(crate) fn new(interrupt: Interrupt, unit: &'static str) -> Self {
        Self { progress: Progress::new(interrupt, TEMPLATE, unit), what: String::new(), first: true }
    }

    pub(crate) fn finish(&self) {
        self.progress.finish();
    }

    /// What goes on before the first measurement.
    pub(crate) fn prepare(&self, text: &str) {
        self.progress.show(None, text.to_owned());
    }

    fn begin(&mut self, what: &str) {
        what.clone_into(&mut self.what);
        self.progress.show(Some(what), String::new());
        self.first = true;
    }
}

impl Observer<Event> for ListProgress {
    fn event(&mut self, event: &Event) {
        match event {
            Event::Opened { adapter } => {
                // As `Progress::say`, but wrapped.
                drop(Screen::Error.prose("device    ", &describe(adapter), 10));
            }
            Event::Started { what, number, count } => {
                self.progress.say_now_and_then(&format!("  {number} of {count}: {what}"));
                self.begin(what);
                self.progress.show_position(*number as u64 - 1, *count as u64);
            }
            Event::Again { what } => self.begin(what),
            Event::Phase { who, phase } => self.progress.show(None, format!("· {who}: {}", phase.title())),
            Event::Window { who, window } => {
                // How fast a kernel is, stands in its table beside what that means.
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
