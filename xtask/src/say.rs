//! What the person at the terminal sees: one line for each thing being done, on stderr, in the manner of cargo.

use std::io::IsTerminal;

/// Says what is being done: a right-aligned verb, then the rest of the sentence.
#[expect(clippy::print_stderr, reason = "this is the one place where progress is written")]
pub(crate) fn step(verb: &str, what: impl AsRef<str>) {
    let what = what.as_ref();
    if colours_wanted() {
        eprintln!("\x1b[1;32m{verb:>12}\x1b[0m {what}");
    } else {
        eprintln!("{verb:>12} {what}");
    }
}

/// Says something that a person should read although the work goes on.
#[expect(clippy::print_stderr, reason = "this is the one place where warnings are written")]
pub(crate) fn warn(what: impl AsRef<str>) {
    let what = what.as_ref();
    if colours_wanted() {
        eprintln!("\x1b[1;33m{:>12}\x1b[0m {what}", "Note");
    } else {
        eprintln!("{:>12} {what}", "Note");
    }
}

fn colours_wanted() -> bool {
    std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}
