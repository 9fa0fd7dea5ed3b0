//! What the person at the terminal sees: one line for each thing being done, on stderr, in the manner of cargo.

use std::io::IsTerminal;

const GREEN: u8 = 32;
const YELLOW: u8 = 33;
const RED: u8 = 31;

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

#[expect(clippy::print_stderr, reason = "this is the one place where progress is written")]
fn line(colour: u8, verb: &str, what: &str) {
    if colours_wanted() {
        eprintln!("\x1b[1;{colour}m{verb:>12}\x1b[0m {what}");
    } else {
        eprintln!("{verb:>12} {what}");
    }
}

/// Whether standard error is a terminal of somebody who likes colours.
pub(crate) fn colours_wanted() -> bool {
    std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}
