//! Messages for the person at the terminal: one line for each step, on standard error, in cargo's style.

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use std::io::IsTerminal;
use std::sync::LazyLock;
use std::time::Duration;

const GREEN: u8 = 32;
const YELLOW: u8 = 33;
const RED: u8 = 31;

/// Moving lines at the bottom of a terminal. They show nothing if standard error is not a terminal.
static MOVING: LazyLock<MultiProgress> = LazyLock::new(MultiProgress::new);

/// Prints a step: a right-aligned verb, and the rest of the sentence.
pub(crate) fn step(verb: &str, what: impl AsRef<str>) {
    line(GREEN, verb, what.as_ref());
}

/// Prints something that a person should read although the work continues.
pub(crate) fn warn(what: impl AsRef<str>) {
    line(YELLOW, "Note", what.as_ref());
}

/// Prints why the work ends, and what to do.
pub(crate) fn error(what: impl AsRef<str>) {
    line(RED, "Error", what.as_ref());
}

fn line(color: u8, verb: &str, what: &str) {
    let colored = std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    if colored {
        print(&format!("\x1b[1;{color}m{verb:>12}\x1b[0m {what}"));
    } else {
        print(&format!("{verb:>12} {what}"));
    }
}

/// Prints text above the moving lines.
#[expect(clippy::print_stderr, reason = "this is the one place where progress is written")]
pub(crate) fn print(text: &str) {
    MOVING.suspend(|| eprintln!("{text}"));
}

/// Starts a line that moves on a terminal while something is done.
pub(crate) fn moving(verb: &'static str, what: &str) -> ProgressBar {
    let bar = MOVING.add(ProgressBar::new_spinner());
    let style = ProgressStyle::with_template("{prefix:>12.cyan.bold} {msg:.dim} {elapsed:.dim}");
    bar.set_style(style.expect("the template is well-formed"));
    bar.set_prefix(verb);
    bar.set_message(what.to_owned());
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

/// Formats a duration: `9 s`, `2 min 05 s`.
pub(crate) fn duration(time: Duration) -> String {
    match time.as_secs() {
        seconds @ 0..60 => format!("{seconds} s"),
        seconds => format!("{} min {:02} s", seconds / 60, seconds % 60),
    }
}
