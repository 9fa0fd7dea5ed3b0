//! What the person at the terminal sees: one line for each thing being done, on stderr, in the manner of cargo.

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use std::io::IsTerminal;
use std::sync::LazyLock;
use std::time::Duration;

const GREEN: u8 = 32;
const YELLOW: u8 = 33;
const RED: u8 = 31;

/// The moving lines at the bottom of a terminal; they show nothing where standard error is none.
static MOVING: LazyLock<MultiProgress> = LazyLock::new(MultiProgress::new);

/// Says what is being done: a right-aligned verb, then the rest of the sentence.
pub(crate) fn step(verb: &str, what: impl AsRef<str>) {
    line(GREEN, verb, what.as_ref());
}

/// Says something that a person should read although the work goes on.
pub(crate) fn warn(what: impl AsRef<str>) {
    line(YELLOW, "Note", what.as_ref());
}

/// Says why the work ends, and what to do about it.
pub(crate) fn error(what: impl AsRef<str>) {
    line(RED, "Error", what.as_ref());
}

/// Shows the messages of another program as they are.
pub(crate) fn quote(messages: &str) {
    print(messages);
}

fn line(colour: u8, verb: &str, what: &str) {
    if colours_wanted() {
        print(&format!("\x1b[1;{colour}m{verb:>12}\x1b[0m {what}"));
    } else {
        print(&format!("{verb:>12} {what}"));
    }
}

#[expect(clippy::print_stderr, reason = "this is the one place where progress is written")]
fn print(text: &str) {
    // Above the moving lines, and not into them.
    MOVING.suspend(|| eprintln!("{text}"));
}

/// A line of what was asked for, such as the result of a test, on standard output.
#[expect(clippy::print_stdout, reason = "this is the one place where results are written")]
pub(crate) fn result(text: &str) {
    MOVING.suspend(|| println!("{text}"));
}

/// A line that moves while something is being done, on a terminal; nothing elsewhere.
pub(crate) fn moving(verb: &'static str, what: &str) -> ProgressBar {
    let bar = MOVING.add(ProgressBar::new_spinner());
    let style = ProgressStyle::with_template("{prefix:>12.cyan.bold} {msg:.dim} {elapsed:.dim}");
    bar.set_style(style.expect("the template is well-formed"));
    bar.set_prefix(verb);
    bar.set_message(what.to_owned());
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

/// Whether standard error is a terminal of somebody who likes colours.
pub(crate) fn colours_wanted() -> bool {
    std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// A span of time in words: `9 s`, `2 min 05 s`.
pub(crate) fn duration(time: Duration) -> String {
    match time.as_secs() {
        seconds @ 0..60 => format!("{seconds} s"),
        seconds => format!("{} min {:02} s", seconds / 60, seconds % 60),
    }
}
